"""How long work tells what it does."""

from typing import Protocol


class Reporter(Protocol):
    """Hears of the steps of a pull."""

    def step(self, text: str, total: int | None = None) -> None:
        """A step begins (and the one before ends); total in bytes if known."""
        ...

    def at(self, done: int) -> None:
        """The step has come to this many bytes."""
        ...

    def note(self, text: str) -> None:
        """Something worth telling that is not a step."""
        ...


class Silent:
    """Tells nobody."""

    def step(self, text: str, total: int | None = None) -> None:
        """Ignores it."""

    def at(self, done: int) -> None:
        """Ignores it."""

    def note(self, text: str) -> None:
        """Ignores it."""
