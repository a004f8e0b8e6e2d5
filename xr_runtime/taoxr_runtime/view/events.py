"""What the user does in the window."""

from dataclasses import dataclass
from enum import StrEnum


class Key(StrEnum):
    """Keys that mean something other than a letter."""

    ENTER = "enter"
    BACKSPACE = "backspace"
    ESCAPE = "escape"
    SPACE = "space"
    TAB = "tab"
    HOME = "home"
    F1 = "f1"
    F2 = "f2"
    F3 = "f3"
    F11 = "f11"
    PASTE = "paste"


@dataclass(frozen=True, slots=True)
class Pressed:
    """A key went down; ``again`` when it is held and repeats."""

    key: Key
    again: bool = False


@dataclass(frozen=True, slots=True)
class Released:
    """A key went up."""

    key: Key


@dataclass(frozen=True, slots=True)
class Typed:
    """A letter was typed."""

    letter: str


@dataclass(frozen=True, slots=True)
class Dragged:
    """The pointer moved with a button down, in window heights; right and up are positive."""

    right: float
    up: float
    secondary: bool


@dataclass(frozen=True, slots=True)
class Wheeled:
    """The wheel turned, in notches; away from the user is positive."""

    notches: float


Event = Pressed | Released | Typed | Dragged | Wheeled
