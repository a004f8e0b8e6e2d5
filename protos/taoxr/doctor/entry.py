"""What a check finds."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from taoxr.errors import TaoxrError

GROUP: Final = "taoxr.checks"
"""The entry point group of checks."""


class Status(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"  # something optional is missing, or will be slow
    FAIL = "fail"  # a conversation, or what the check is named after, will not work


@dataclass(frozen=True)
class Entry:
    """One line of the report.

    Attributes:
        name: What was looked at.
        status: How bad it is.
        detail: What was found.
        hint: What to do; empty when there is nothing.
    """

    name: str
    status: Status
    detail: str
    hint: str = ""


def ok(name: str, detail: str, hint: str = "") -> Entry:
    """All is well; a hint is news then."""
    return Entry(name, Status.OK, detail, hint)


def warn(name: str, detail: str, hint: str) -> Entry:
    """Something optional is missing, or will be slow."""
    return Entry(name, Status.WARN, detail, hint)


def fail(name: str, detail: str, hint: str) -> Entry:
    """It will not work."""
    return Entry(name, Status.FAIL, detail, hint)


def parts(error: TaoxrError) -> tuple[str, str]:
    """Detail and hint out of an error whose text says what is wrong and, after a colon, what to do."""
    what, _, advice = str(error).partition(": ")
    return what, advice or "see the message"
