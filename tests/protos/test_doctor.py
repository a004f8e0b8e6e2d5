"""`taoxr doctor` in processes of its own: healthy, with real faults, and with checks that misbehave."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import psutil
import pytest
from packaging.requirements import Requirement

from taoxr import paths
from taoxr.doctor import Status, checks, registered

pytestmark = pytest.mark.process

RUN = [sys.executable, "-c", "from taoxr.cli import main; main()", "doctor"]
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
GB = 10**9

# Checks of a plug-in that is nobody's friend, by name.
MISCHIEF = {
    "raises": "    yield ok('before', 'kept')\n    raise ValueError('broken on purpose')",
    "crashes": "    yield ok('before the crash', 'kept')\n    ctypes.string_at(0)",
    "exits": "    os._exit(3)\n    yield",
    "silent": "    return ()",
    "chatty": "    os.write(1, b'{not json\\n')\n    print('noise')\n    yield ok('chatty', 'heard')",
    "wrong": "    yield 'all is well'",
    "hangs": """    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    yield ok('pids', f'{os.getpid()} {child.pid}')
    if fifo := os.environ.get('HANGS_NOW'):
        pathlib.Path(fifo).write_text(str(os.getpid()))
    time.sleep(600)""",
}


def doctor(*arguments: str, **environment: str | None) -> tuple[int, str, str]:
    """Exit status, stdout, stderr; None removes a variable."""
    chosen = {k: v for k, v in {**os.environ, **environment}.items() if v is not None}
    done = subprocess.run(
        [*RUN, *arguments], env=chosen, capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def report(*arguments: str, **environment: str | None) -> tuple[int, list[dict[str, str]]]:
    """Exit status and entries, each checked against the schema."""
    status, output, errors = doctor("--json", *arguments, **environment)
    entries = json.loads(output)
    for entry in entries:
        assert list(entry) == ["name", "status", "detail", "hint"], errors
        assert entry["status"] in list(Status)
        assert all(isinstance(value, str) for value in entry.values())
        assert entry["name"]
        assert entry["detail"]
        assert entry["hint"] or entry["status"] == "ok", entry
    assert status == any(entry["status"] == "fail" for entry in entries)
    return status, entries


def named(entries: list[dict[str, str]], name: str) -> dict[str, str]:
    (entry,) = (entry for entry in entries if entry["name"] == name)
    return entry


@pytest.fixture(scope="module")
def mischief(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with an installed plug-in, for PYTHONPATH."""
    folder = tmp_path_factory.mktemp("plugin")
    module = "import ctypes, os, pathlib, signal, subprocess, sys, time\nfrom taoxr.doctor import ok\n\n\n"
    module += "\n\n\n".join(f"def {name}():\n{body}" for name, body in MISCHIEF.items())
    (folder / "mischief.py").write_text(module)
    info = folder / "mischief-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mischief\nVersion: 1\n")
    points = "\n".join(f"{name} = mischief:{name}" for name in MISCHIEF)
    (info / "entry_points.txt").write_text(f"[taoxr.checks]\n{points}\nlost = nowhere:checks\n")
    return str(folder)


def test_the_whole_report_speaks_of_every_part() -> None:
    _, entries = report()
    names = [entry["name"] for entry in entries]
    assert len(names) == len(set(names))
    wanted = {"Python", "packages", "memory", "MNN", "disk", "settings", "port 50061", "OpenGL", "display"}
    assert wanted <= set(names)
    assert names[0] == "Python"
    assert named(entries, "Python")["status"] == "ok"
    mnn = named(entries, "MNN")
    assert mnn["status"] == "ok"
    assert "CPU" in mnn["detail"]
    assert not {entry["name"] for entry in entries} & set(registered()) - {"display", "sound", "headset"}, (
        "a check failed as a whole"
    )


def test_every_check_can_be_imported_where_it_is_registered() -> None:
    assert {"system", "engine", "models", "bridge", "graphics", "display", "sound", "headset"} <= set(
        registered()
    )
    for point in entry_points(group="taoxr.checks"):
        assert callable(point.load()), point


def test_missing_models_fail_with_what_to_pull(tmp_path: Path) -> None:
    status, entries = report("models", TAOXR_HOME=str(tmp_path / "none"))
    assert status == 1
    models = [entry for entry in entries if entry["name"].startswith("model ")]
    assert len(models) == 4
    for entry in models:
        assert entry["status"] == "fail"
        assert "is not installed" in entry["detail"]
        assert "taoxr models pull default" in entry["hint"]
    assert "models to pull" in named(entries, "disk")["detail"]


def test_a_damaged_model_fails(tmp_path: Path) -> None:
    source = paths.models_dir() / "silero-vad"
    if not source.is_dir():
        pytest.fail("needs silero-vad: taoxr models pull default")
    copy = tmp_path / "models" / "silero-vad"
    shutil.copytree(source, copy)
    data = bytearray((copy / "vad.mnn").read_bytes())
    data[len(data) // 2] ^= 1
    (copy / "vad.mnn").write_bytes(data)
    status, entries = report("models", TAOXR_HOME=str(tmp_path))
    assert status == 1
    assert "sha256" in named(entries, "model silero-vad")["detail"]


def test_without_a_graphics_driver_only_graphics_fail() -> None:
    status, entries = report("graphics", "system", __EGL_VENDOR_LIBRARY_FILENAMES="/nonexistent")
    assert status == 1
    assert [entry["name"] for entry in entries if entry["status"] == "fail"] == ["OpenGL"]
    assert "apt-get install" in named(entries, "OpenGL")["hint"]


@pytest.mark.skipif(sys.platform != "linux", reason="displays are named by variables on Linux only")
def test_no_display_is_a_warning_and_a_dead_one_a_failure() -> None:
    status, entries = report("display", **dict.fromkeys(DISPLAYS))
    assert (status, entries[0]["status"]) == (0, "warn")
    assert "neither" in entries[0]["detail"]
    status, entries = report("display", DISPLAY=":9999", WAYLAND_DISPLAY=None)
    assert (status, entries[0]["status"]) == (1, "fail")
    assert "DISPLAY=:9999" in entries[0]["detail"]


def test_a_taken_port_is_a_warning() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        _, entries = report("bridge", TAOXR_BRIDGE_PORT=port)
    entry = named(entries, f"port {port}")
    assert entry["status"] == "warn"
    assert "--port 0" in entry["hint"]
    assert f"port={port}" in named(entries, "settings")["detail"]


def test_a_wrong_setting_is_named() -> None:
    status, entries = report("bridge", TAOXR_BRIDGE_TEMPERATURE="hot")
    assert status == 1
    assert "TAOXR_BRIDGE_TEMPERATURE='hot'" in entries[0]["detail"]


def test_checks_that_misbehave_cost_their_own_line_only(mischief: str) -> None:
    names = [name for name in MISCHIEF if name != "hangs"]
    status, entries = report("engine", "lost", *names, PYTHONPATH=mischief)
    assert status == 1
    for name in ("MNN", "before", "before the crash", "chatty"):
        assert named(entries, name)["status"] == "ok"
    for name, detail in {
        "raises": "ValueError: broken on purpose",
        "crashes": "SIGSEGV",
        "exits": "exit status 3",
        "silent": "nothing to say",
        "wrong": "'all is well'",
        "lost": "No module named 'nowhere'",
    }.items():
        entry = named(entries, name)
        assert entry["status"] == "fail"
        assert detail in entry["detail"]
    order = [entry["name"] for entry in entries]
    assert order.index("before the crash") + 1 == order.index("crashes")
    assert "string_at" in named(entries, "crashes")["detail"]


def test_a_check_that_hangs_is_killed_with_its_children(mischief: str) -> None:
    status, entries = report("hangs", "--limit", "4", PYTHONPATH=mischief)
    assert status == 1
    assert "within 4 s" in named(entries, "hangs")["detail"]
    assert "taoxr doctor hangs --limit 12" in named(entries, "hangs")["hint"]
    for pid in map(int, named(entries, "pids")["detail"].split()):
        if psutil.pid_exists(pid):  # the grandchild's entry waits for init
            psutil.Process(pid).wait(60)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a fifo and SIGINT")
def test_ctrl_c_does_not_wait_for_a_check_that_hangs(mischief: str, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    environment = {**os.environ, "PYTHONPATH": mischief, "HANGS_NOW": str(fifo)}
    command = [*RUN, "--json", "hangs", "--limit", "100"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        probe = psutil.Process(int(fifo.read_text()))  # waits until the check hangs
        running.send_signal(signal.SIGINT)
        assert running.communicate(timeout=120)[0] == ""
    assert running.returncode != 0
    probe.wait(60)


def test_people_get_a_table_and_unknown_checks_the_known_ones() -> None:
    status, output, _ = doctor("bridge", "models", TAOXR_HOME="/none", COLUMNS="100")
    assert status == 1
    assert output.startswith("fail  model silero-vad")
    assert "→ taoxr models pull silero-vad" in output
    assert "4 fail" in output.splitlines()[-1]
    status, _, errors = doctor("nonsense")
    assert status == 1
    assert "'nonsense'" in errors
    assert "graphics" in errors


def test_memory_counts_a_containers_limit(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text(f"{2 * GB}\n")
    (tmp_path / "memory.current").write_text(f"{GB}\n")
    (tmp_path / "memory.stat").write_text(f"anon 5\ninactive_file {GB // 10}\n")
    machine = psutil.virtual_memory().available
    assert checks.available_bytes(tmp_path) == min(2 * GB - GB + GB // 10, machine)
    (tmp_path / "memory.max").write_text("max\n")
    assert checks.available_bytes(tmp_path) == pytest.approx(machine, rel=0.5)
    assert checks.available_bytes(tmp_path / "none") == pytest.approx(machine, rel=0.5)
    assert [checks.memory(n).status for n in (GB, 3 * GB // 2, 3 * GB)] == ["fail", "warn", "ok"]


def test_requirements_are_told_apart_by_extra() -> None:
    needs = [
        Requirement("psutil>=9999"),
        Requirement("pytest"),
        Requirement("no-such-thing>=1; extra == 'xr'"),
        Requirement("no-such-thing; python_version < '3'"),
    ]
    assert checks.unmet(needs, "") == [f"psutil is {psutil.__version__}, expected >=9999"]
    assert checks.unmet(needs, "xr") == ["no-such-thing is not installed"]
    assert checks.unmet(needs, "audio") == []
