"""Starts the model workers, watches them, restarts them after a crash, and stops them."""

import asyncio
import json
import os
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final

import structlog

from taoxr import huge_pages
from taoxr.errors import InvalidInputError
from taoxr_bridge.settings import Settings
from taoxr_bridge.socket_folder import socket_folder
from taoxr_bridge.tasks import nursery
from taoxr_bridge.worker import ON_DEMAND, ROLES, Worker, WorkerState

# Exit status of a worker whose model is missing or damaged: restarting would not help.
EXIT_MODEL: Final = 78
_BACKOFF_S: Final = (0.1, 0.5, 2.0, 5.0, 10.0)
# One that never came up is given up after so many tries; one that did is tried for ever.
_FIRST_TRIES: Final = 3
# A worker that lived for so long starts the series of waits anew.
_STABLE_S: Final = 10.0
_POLL_STARTING_S: Final = 0.05
_POLL_S: Final = 1.0
_STOP_S: Final = 5.0
# sockaddr_un holds 108 bytes on Linux and 104 elsewhere.
_SOCKET_PATH_BYTES: Final = 100
_STDERR_LINES: Final = 20

_log = structlog.get_logger()


class Supervisor:
    """The workers of one bridge, by role; made by `supervise`."""

    def __init__(self, workers: Mapping[str, Worker]) -> None:
        self.workers = workers

    def __getitem__(self, role: str) -> Worker:
        return self.workers[role]

    @property
    def all_ready(self) -> bool:
        """True when every role can be called, apart from those that are started on demand."""
        return all(w.state is WorkerState.READY for w in self.workers.values() if w.role not in ON_DEMAND)

    async def wait_all_ready(self, timeout: float) -> None:
        """Waits until every role can be called, apart from those that are started on demand.

        Raises:
            UnavailableError: One is down for good or was not ready in time.
        """
        deadline = time.monotonic() + timeout
        for worker in self.workers.values():
            if worker.role in ON_DEMAND:
                continue
            await worker.ready(max(0.001, deadline - time.monotonic()))


@asynccontextmanager
async def supervise(
    external: Mapping[str, str],
    settings: Settings,
    on_state: Callable[[Worker], None],
    token: str | None = None,
) -> AsyncGenerator[Supervisor]:
    """Runs the workers for the length of the block.

    Args:
        external: gRPC target of each role that runs elsewhere; the others are started here.
        settings: Time limits.
        on_state: Called after every change of a worker's state.
        token: Secret of the workers that run elsewhere.

    Raises:
        InvalidInputError: A role is unknown, or the temporary folder's path is too long.
    """
    for role in external:
        if role not in ROLES:
            raise InvalidInputError("--worker", role, f"one of {', '.join(ROLES)}")
    with socket_folder() as folder:
        if len(os.fsencode(folder)) > _SOCKET_PATH_BYTES - len("/a2bs.sock"):
            raise InvalidInputError(
                "TMPDIR", str(folder), "a shorter path: Unix sockets allow about 100 bytes"
            )
        workers: dict[str, Worker] = {}
        for role in ROLES:
            target = external.get(role) or f"unix:{folder / role}.sock"
            asleep = role in ON_DEMAND and role not in external
            secret = token if role in external else None
            workers[role] = Worker(role, target, on_state, secret, asleep=asleep)
        async with nursery() as tasks:
            watchers = [
                tasks.create_task(
                    (_watch if role in external else _keep_running)(worker, settings), name=role
                )
                for role, worker in workers.items()
            ]
            try:
                yield Supervisor(workers)
            finally:
                for watcher in watchers:
                    watcher.cancel()
        for worker in workers.values():
            await worker.close()


async def _watch(worker: Worker, settings: Settings) -> None:
    """Follows the health of a worker that somebody else runs."""
    deadline = time.monotonic() + settings.start_timeout_s
    while True:
        if await worker.serving(settings.hang_timeout_s):
            await worker.set_state(WorkerState.READY)
        elif worker.state is WorkerState.READY or time.monotonic() > deadline:
            await worker.set_state(WorkerState.DOWN, f"{worker.target} does not answer")
        await asyncio.sleep(_POLL_S if worker.state is WorkerState.READY else 4 * _POLL_STARTING_S)


async def _keep_running(worker: Worker, settings: Settings) -> None:
    """Starts the worker's process, again and again unless its model is at fault."""
    failures = 0
    await worker.wanted.wait()
    while True:
        began = time.monotonic()
        code, last_line = await _run_once(worker, settings)
        if code == EXIT_MODEL:
            await worker.set_state(WorkerState.DOWN, _reason(last_line))
            return
        failures = 0 if time.monotonic() - began > _STABLE_S else failures + 1
        if not worker.was_ready and failures >= _FIRST_TRIES:
            reason = f"it does not start (status {code}): {_reason(last_line)}"
            await worker.set_state(WorkerState.DOWN, reason)
            return
        _log.warning("worker stopped", role=worker.role, status=code, last_line=last_line)
        worker.restarts += 1
        await worker.set_state(WorkerState.STARTING, f"restarting after status {code}")
        await asyncio.sleep(_BACKOFF_S[min(failures, len(_BACKOFF_S)) - 1] if failures else _BACKOFF_S[0])


async def _run_once(worker: Worker, settings: Settings) -> tuple[int, str]:
    """Runs the worker's process until it ends; returns its exit status and last line of stderr."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "taoxr_models.worker", worker.role, "--listen", worker.target,
        # The worker ends when this pipe does, so that it cannot outlive a bridge that was killed.
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        # Ctrl-C is for the bridge, which then stops its workers in order.
        process_group=0,
        env=huge_pages.environment(),
    )  # fmt: skip
    lines: deque[str] = deque(maxlen=_STDERR_LINES)
    try:
        async with nursery() as tasks:
            reader = tasks.create_task(_read_stderr(process, worker.role, lines))
            checker = tasks.create_task(_check_health(process, worker, settings))
            code = await process.wait()
            checker.cancel()
            await reader
    finally:
        await _stop(process)
    return code, lines[-1] if lines else ""


async def _read_stderr(process: asyncio.subprocess.Process, role: str, lines: deque[str]) -> None:
    assert process.stderr is not None
    while line := await process.stderr.readline():
        text = line.decode(errors="replace").rstrip()
        lines.append(text)
        _log.debug("worker says", role=role, line=text)


async def _check_health(process: asyncio.subprocess.Process, worker: Worker, settings: Settings) -> None:
    """Marks the worker ready once it serves; kills it when it does not answer for too long.

    A worker in a long model call still answers between its steps, so that a busy one is never killed.
    """
    deadline = time.monotonic() + settings.start_timeout_s
    while True:
        if await worker.serving(min(settings.hang_timeout_s, 10.0)):
            await worker.set_state(WorkerState.READY)
            deadline = time.monotonic() + settings.hang_timeout_s
        elif time.monotonic() > deadline:
            _log.error("worker does not answer and is killed", role=worker.role)
            process.kill()
            return
        await asyncio.sleep(_POLL_S if worker.state is WorkerState.READY else _POLL_STARTING_S)


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Stops a process that still runs: SIGTERM, and SIGKILL when that does not help."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):  # it may end by itself meanwhile
        process.terminate()
        try:
            async with asyncio.timeout(_STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        except asyncio.CancelledError:
            process.kill()
            raise


def _reason(last_line: str) -> str:
    """The reason in a worker's last line of stderr, which is JSON when the worker chose to stop."""
    try:
        return str(json.loads(last_line)["error"])
    except (ValueError, KeyError, TypeError):
        return last_line or "it gave no reason"
