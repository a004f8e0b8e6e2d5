"""Checking files against the catalogue."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from taoxr.errors import ModelError
from taoxr_models.catalog.entries import File


def sha256(path: Path) -> str:
    """Digest of a file in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(path: Path, expected: File, advice: str) -> None:
    """Checks that a file is there and whole.

    Args:
        path: The file.
        expected: Its size and digest.
        advice: What to do otherwise; the end of the error's text.

    Raises:
        ModelError: It is missing, or its size or digest is another.
    """
    if not path.is_file():
        raise ModelError(f"{path} is missing; {advice}")
    size = path.stat().st_size
    if size != expected.size:  # quicker than the digest, and tells a cut-off file
        raise ModelError(f"{path} has {size} bytes, expected {expected.size}; {advice}")
    got = sha256(path)
    if got != expected.sha256:
        raise ModelError(f"{path} has sha256 {got}, expected {expected.sha256}; {advice}")


def check_folder(folder: Path, files: Mapping[str, File], advice: str) -> None:
    """Checks every file of a folder; see `check`."""
    for name, expected in files.items():
        check(folder / name, expected, advice)
