"""Runs every check in a process of its own, all at once."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from taoxr.doctor.entry import GROUP, Entry, Status, fail
from taoxr.errors import InvalidInputError

LIMIT_S: Final = 20.0
"""Most seconds of one check; an idle machine needs about two for the slowest."""

# Checks are listed by part, in the order of a conversation's needs; then those of plug-ins.
_PARTS: Final = ("taoxr", "taoxr_models", "taoxr_bridge", "taoxr_runtime")
_REPORT: Final = "report this with the output of `taoxr doctor --json`; the rest of the report holds"


def registered() -> list[str]:
    """Names of all checks, in the order of the report."""

    def rank(point: EntryPoint) -> tuple[int, str]:
        package = point.value.partition(".")[0].partition(":")[0]
        return (_PARTS.index(package) if package in _PARTS else len(_PARTS), point.value)

    return list(dict.fromkeys(point.name for point in sorted(entry_points(group=GROUP), key=rank)))


def diagnose(names: Collection[str] = (), limit_s: float = LIMIT_S) -> list[Entry]:
    """Runs checks, each isolated from this process and from each other.

    Args:
        names: Which; none means all.
        limit_s: Seconds after which a check is killed and reported as failed.

    Returns:
        What they found, in the order of `registered`. A check that raises, crashes or hangs gives a failed
        entry with its name, after those that it gave before.

    Raises:
        InvalidInputError: No such check.
    """
    known = registered()
    for name in names:
        if name not in known:
            raise InvalidInputError("CHECK", name, f"some of {', '.join(known)}")
    chosen = [name for name in known if name in names or not names]
    with ThreadPoolExecutor(max(len(chosen), 1)) as pool:
        started: list[subprocess.Popen[str]] = []
        running = [pool.submit(_run, name, limit_s, started) for name in chosen]
        try:
            return [entry for found in running for entry in found.result()]
        except BaseException:  # Ctrl-C must not wait for checks that hang
            for process in started:
                _kill(process)
            raise


def _run(name: str, limit_s: float, started: list[subprocess.Popen[str]]) -> list[Entry]:
    command = [sys.executable, "-m", "taoxr.doctor.probe", name, str(limit_s)]
    # One thread each: engines' thread pools spin, and all checks share the cores.
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        started.append(process)
        try:
            output, errors = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            _kill(process)
            output, _ = process.communicate()
            hint = f"see whether `taoxr doctor {name} --limit {3 * limit_s:g}` ends; else {_REPORT}"
            return [*_entries(output), fail(name, f"did not answer within {limit_s:g} s", hint)]
    entries = _entries(output)
    if process.returncode:
        entries.append(fail(name, _death(process.returncode, errors), _REPORT))
    elif not entries:
        entries.append(fail(name, "found nothing to say", _REPORT))
    return entries


def _kill(process: subprocess.Popen[str]) -> None:
    """Ends the check with whatever it started; those would keep our pipes open."""
    if process.returncode is not None:
        return
    if sys.platform == "win32":
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # it ended by itself just now
        process.kill()


def _entries(output: str) -> list[Entry]:
    # A line without its end was cut off by a crash.
    whole = output[: output.rfind("\n") + 1].splitlines()
    return [Entry(**{**row, "status": Status(row["status"])}) for row in map(json.loads, whole)]


def _death(status: int, errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    if status == 1 and lines:  # an exception; a traceback ends with its name and text
        return f"the check failed: {lines[-1]}"
    if status > 0:
        return f"the check ended with exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    # faulthandler writes the innermost frame first.
    where = next((f" in {line}" for line in lines if line.startswith("File ")), "")
    return f"the check crashed with {name}{where}"
