"""The animation's rate: how often the expensive nodes run, whatever the display does."""

from __future__ import annotations

from typing import Final

ANIMATION_FPS: Final = 20
PERIOD_US: Final = 1_000_000 // ANIMATION_FPS


class Beat:
    """Tells the display frames in which the expensive nodes run: the first of every period."""

    def __init__(self) -> None:
        self._period: int | None = None

    def begins(self, time_us: int) -> bool:
        """Whether this is the first call in a period; times go forward."""
        period = time_us // PERIOD_US
        began = period != self._period
        self._period = period
        return began

    @staticmethod
    def amount(time_us: int) -> float:
        """How much of the period has passed, 0 to 1."""
        return time_us % PERIOD_US / PERIOD_US
