"""Checks of what the commands are given."""

import tempfile
from pathlib import Path
from typing import Final

from taoxr.errors import InvalidInputError
from taoxr_runtime.options import picture_size

SMALLEST: Final = 64
LARGEST: Final = 4096
LONGEST_TEXT: Final = 4000


def parse_size(text: str) -> tuple[int, int]:
    """Width and height of ``WIDTHxHEIGHT``.

    Raises:
        InvalidInputError: Not two even numbers in range (H.264 needs even ones).
    """
    return picture_size(text, SMALLEST, LARGEST, "480x640", even=True)


def open_folder(path: Path) -> Path:
    """The folder, made if missing, known to be writable.

    Raises:
        InvalidInputError: It cannot be made or written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise InvalidInputError("--out", str(path), f"a folder that can be written: {error}") from error
    return path


def check_fps(fps: float) -> float:
    """Pictures per second.

    Raises:
        InvalidInputError: Not from 5 to 60.
    """
    if not 5.0 <= fps <= 60.0:
        raise InvalidInputError("--fps", fps, "5 to 60 pictures per second")
    return fps


def check_text(text: str) -> str:
    """Words to say, without blanks around them.

    Raises:
        InvalidInputError: Nothing to say, or too much.
    """
    words = text.strip()
    if not words or len(words) > LONGEST_TEXT:
        raise InvalidInputError("--text", text[:80], f"1 to {LONGEST_TEXT} characters")
    return words
