"""What a conversation shows of itself."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from taoxr_runtime.animation import Activity


class CompanionState(StrEnum):
    """One thing at a time."""

    STARTING = "starting"
    IDLE = "idle"
    LISTENING = "listening"
    THINKING = "thinking"
    SPEAKING = "speaking"
    DISCONNECTED = "disconnected"


ACTIVITIES: Final = {
    CompanionState.STARTING: Activity.IDLE,
    CompanionState.IDLE: Activity.IDLE,
    CompanionState.LISTENING: Activity.LISTENING,
    CompanionState.THINKING: Activity.THINKING,
    CompanionState.SPEAKING: Activity.SPEAKING,
    CompanionState.DISCONNECTED: Activity.IDLE,
}
"""How the body shows a state."""


class Captions(NamedTuple):
    """What was said last.

    Attributes:
        user: What the user said, as far as understood.
        avatar: The answer, as far as it was heard.
    """

    user: str
    avatar: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that the user should know.

    Attributes:
        at_us: When, on the machine's steady clock.
        text: What happened, and what to do.
    """

    at_us: int
    text: str
