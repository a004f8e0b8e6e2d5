"""What the avatar is doing, as far as its body shows it."""

from enum import StrEnum


class Activity(StrEnum):
    """One thing at a time."""

    IDLE = "idle"
    LISTENING = "listening"
    THINKING = "thinking"
    SPEAKING = "speaking"
