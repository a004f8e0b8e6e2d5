"""Checks of options that several commands have."""

import re

from taoxr.errors import InvalidInputError


def picture_size(text: str, least: int, most: int, example: str, *, even: bool = False) -> tuple[int, int]:
    """Width and height in pixels of what ``--size`` was given.

    Args:
        text: ``WIDTHxHEIGHT``.
        least: Pixels of either.
        most: The same.
        example: A right one, for the message.
        even: Whether both must be even.

    Raises:
        InvalidInputError: Not two such numbers.
    """
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text.strip().lower())
    width, height = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (least <= width <= most and least <= height <= most) or (even and (width % 2 or height % 2)):
        kind = "an even number from " if even else ""
        raise InvalidInputError("--size", text, f"WIDTHxHEIGHT, each {kind}{least} to {most}, like {example}")
    return width, height
