"""The supervisor against commands that crash, hang or give up, in place of real workers."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_bridge import supervisor
from taoxr_bridge.settings import Settings
from taoxr_bridge.worker import Worker, WorkerState

pytestmark = pytest.mark.process


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts a program in the place of the worker command; returns the file where it may leave notes."""

    def use(program: str) -> Path:
        notes = tmp_path / "notes"
        script = tmp_path / "python"
        script.write_text(f"#!{sys.executable}\nimport os, sys, time\nnotes = {str(notes)!r}\n{program}\n")
        script.chmod(0o755)
        monkeypatch.setattr(supervisor.sys, "executable", str(script))
        monkeypatch.setattr(supervisor, "ROLES", ("llm",))
        return notes

    return use


async def states_until_down(settings: Settings) -> tuple[list[WorkerState], Worker]:
    states: list[WorkerState] = []
    async with supervisor.supervise({}, settings, lambda w: states.append(w.state)) as workers:
        with pytest.raises(UnavailableError):
            await workers.wait_all_ready(120)
        return states, workers["llm"]


async def test_exit_78_is_final_and_its_reason_is_told(command):
    notes = command(
        'open(notes, "a").write("x")\n'
        'sys.stderr.write("{}\\n{\\"error\\": \\"model m is missing: taoxr models pull m\\"}\\n")\n'
        "sys.exit(78)"
    )
    states, worker = await states_until_down(Settings())
    assert states[-1] is WorkerState.DOWN
    assert worker.reason == "model m is missing: taoxr models pull m"
    assert notes.read_text() == "x"
    assert worker.restarts == 0


async def test_worker_that_never_comes_up_is_given_up_with_its_last_words(command):
    notes = command('open(notes, "a").write("x")\nsys.stderr.write("boom\\n")\nsys.exit(1)')
    _, worker = await states_until_down(Settings())
    assert notes.read_text() == "xxx"
    assert "boom" in worker.reason
    assert "status 1" in worker.reason


async def test_worker_that_never_answers_is_killed(command):
    notes = command('open(notes, "a").write(f"{os.getpid()}\\n")\ntime.sleep(600)')
    _, worker = await states_until_down(Settings(start_timeout_s=0.3))
    assert worker.state is WorkerState.DOWN
    assert all(not psutil.pid_exists(int(pid)) for pid in notes.read_text().split())


async def test_leaving_stops_a_worker_that_ignores_sigterm(command, monkeypatch):
    monkeypatch.setattr(supervisor, "_STOP_S", 0.3)
    notes = command(
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        'open(notes, "w").write(f"{os.getpid()}\\n")\ntime.sleep(600)'
    )
    async with supervisor.supervise({}, Settings(), lambda worker: None):
        async with asyncio.timeout(60):
            # ASYNC110: another process writes the file.
            while not notes.exists() or not notes.read_text().endswith("\n"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    assert not psutil.pid_exists(int(notes.read_text()))


async def test_sockets_lie_in_a_private_folder_that_goes_away(command):
    command("time.sleep(600)")
    async with supervisor.supervise({}, Settings(), lambda worker: None) as workers:
        folder = Path(workers["llm"].target.removeprefix("unix:")).parent
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()


async def test_unknown_role_is_refused():
    with pytest.raises(InvalidInputError, match="brain"):
        async with supervisor.supervise({"brain": "x:1"}, Settings(), lambda worker: None):
            pass


async def test_who_calls_a_worker_just_lost_waits_for_the_next_one():
    """The call that fails knows of it before the supervisor does."""
    states: list[str] = []
    worker = Worker("llm", "unix:/nowhere", lambda w: states.append(w.state))
    await worker.lost()  # not ready yet: nothing to lose
    await worker.set_state(WorkerState.READY)
    await worker.lost()
    waiting = asyncio.create_task(worker.ready(30))
    await asyncio.sleep(0)
    assert not waiting.done()
    await worker.set_state(WorkerState.READY)
    await waiting
    assert states == [WorkerState.READY, WorkerState.STARTING, WorkerState.READY]
    await worker.close()
