"""Checks of what all parts stand on: Python, packages, memory."""

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Final

import psutil
from packaging.requirements import Requirement
from packaging.version import Version

from taoxr.doctor.entry import Entry, fail, ok, warn

_PYTHON: Final = ((3, 11), (3, 14))
_SHOWN: Final = ("taoxr", "grpcio", "numpy", "protobuf")
# What the extras are for. The others are for developers.
_EXTRAS: Final = {
    "xr": "taoxr view, taoxr xr, taoxr render",
    "audio": "microphone and loudspeaker",
    "video": "taoxr demo and films",
}
_GB: Final = 1e9
WORKERS_BYTES: Final = 1_200_000_000
"""Resident memory of the four workers with the default models, measured in a conversation."""
_COMFORT_BYTES: Final = 2_000_000_000
_CGROUP: Final = Path("/sys/fs/cgroup")


def checks() -> Iterator[Entry]:
    """Python, packages, memory."""
    yield _python()
    yield from _packages()
    yield memory(available_bytes())


def _python() -> Entry:
    found = (
        f"{platform.python_implementation()} {platform.python_version()} on {platform.platform(terse=True)}"
    )
    found += f", {platform.machine()}, {os.cpu_count()} cores"
    lowest, beyond = _PYTHON
    if lowest <= sys.version_info[:2] < beyond and sys.maxsize > 2**32:
        return ok("Python", found)
    span = f"{lowest[0]}.{lowest[1]} to {beyond[0]}.{beyond[1] - 1}"
    return fail("Python", found, f"install a 64-bit Python {span} and make the virtual environment with it")


def _packages() -> Iterator[Entry]:
    needs = [Requirement(text) for text in requires("taoxr") or ()]
    wrong = unmet(needs, "")
    if wrong:
        yield fail("packages", "; ".join(wrong), "pip install --upgrade taoxr")
    else:
        yield ok("packages", ", ".join(f"{name} {version(name)}" for name in _SHOWN))
    for extra, purpose in _EXTRAS.items():
        wrong = unmet(needs, extra)
        if wrong:
            hint = f"for {purpose}: pip install 'taoxr[{extra}]'"
            yield warn(f"extra {extra}", "; ".join(wrong), hint)
        else:
            yield ok(f"extra {extra}", f"installed ({purpose})")


def unmet(needs: list[Requirement], extra: str) -> list[str]:
    """What is missing or has a wrong version.

    Args:
        needs: Requirements of a distribution.
        extra: Look only at what this extra adds; "" looks at what is always needed.
    """
    wrong: list[str] = []
    for need in needs:
        if need.marker is None:
            wanted = not extra
        else:
            wanted = need.marker.evaluate({"extra": extra}) and (
                not extra or not need.marker.evaluate({"extra": ""})
            )
        if not wanted:
            continue
        try:
            found = version(need.name)
        except PackageNotFoundError:
            wrong.append(f"{need.name} is not installed")
            continue
        if not need.specifier.contains(Version(found), prereleases=True):
            wrong.append(f"{need.name} is {found}, expected {need.specifier}")
    return wrong


def memory(available: int) -> Entry:
    """Whether this many free bytes are enough."""
    found = f"{available / _GB:.1f} GB free; the model workers take {WORKERS_BYTES / _GB:.1f} GB"
    if available < WORKERS_BYTES:
        return fail("memory", found, "close programs, or run the workers elsewhere (taoxr serve --worker)")
    if available < _COMFORT_BYTES:
        return warn("memory", found, f"close programs: {_COMFORT_BYTES / _GB:.0f} GB leave room for a viewer")
    return ok("memory", found)


def available_bytes(group: Path = _CGROUP) -> int:
    """Bytes that new processes may take: of the machine, or of the container if that is less.

    Args:
        group: Control group of this container (cgroup v2; Linux kernel, "Memory Interface Files").
    """
    machine = psutil.virtual_memory().available
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
        rows = (line.split() for line in (group / "memory.stat").read_text().splitlines())
        # The kernel drops file cache before it refuses memory.
        cache = next((int(number) for name, number in rows if name == "inactive_file"), 0)
    except OSError:
        return machine  # no container
    return machine if limit == "max" else max(min(machine, int(limit) - used + cache), 0)
