"""How large to draw, so that frames are done in time."""

from __future__ import annotations

from collections import deque
from statistics import median
from typing import Final

_STEP: Final = 0.9
_DOWN_AT: Final = 0.92
_AIM: Final = 0.8
_UP_BELOW: Final = 0.75
_RECENT: Final = 12
_FIRST_PATIENCE: Final = 90
_MOST_PATIENCE: Final = 1440
_USEFUL: Final = 0.95


class Resolution:
    """Chooses the part of the full width and height to draw, frame by frame.

    Down at once when most of the recent frames took too long, as far as should do (drawing goes with the
    area); up a step only after a while in which the next step would have fitted, too. A step up that had to
    be taken back, or one down that saved nothing (the time goes elsewhere), makes it wait twice as long for
    the next, so that it comes to rest.

    Args:
        smallest: Part that it may go down to; 1 always draws all.

    Attributes:
        scale: What to draw next, from ``smallest`` to 1.
    """

    def __init__(self, smallest: float) -> None:
        self._levels = _levels(smallest)
        self._level = 0
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._fitting = 0
        self._since_up = 2 * _FIRST_PATIENCE
        self._patience = _FIRST_PATIENCE
        self._before: tuple[int, float] | None = None  # level and milliseconds from which it went down
        self._holding = 0

    @property
    def scale(self) -> float:
        """See above."""
        return self._levels[self._level]

    def frame(self, work_ms: float, period_ms: float) -> None:
        """Take in how long a frame took.

        Args:
            work_ms: From its begin until it was handed over, waiting taken off.
            period_ms: Between two pictures of the headset.
        """
        self._recent.append(work_ms)
        self._since_up += 1
        if self._since_up == 2 * _FIRST_PATIENCE:
            self._patience = _FIRST_PATIENCE  # the step up has proved right
        self._holding = max(self._holding - 1, 0)
        if len(self._recent) < _RECENT or len(self._levels) == 1:
            return
        typical = median(self._recent)
        if self._before is not None:
            level, cost = self._before
            self._before = None
            if typical > _USEFUL * cost and typical > _DOWN_AT * period_ms:
                # Smaller pictures take as long: then rather good ones.
                self._holding = self._patience
                self._wait_longer()
                self._go(level)
                return
        if typical > _DOWN_AT * period_ms:
            self._fitting = 0
            if not self._holding:
                self._down(typical, period_ms)
            return
        above = max(self._level - 1, 0)
        growth = (self._levels[above] / self.scale) ** 2
        self._fitting = self._fitting + 1 if typical * growth < _UP_BELOW * period_ms else 0
        if self._level > 0 and self._fitting >= self._patience:
            self._since_up = 0
            self._go(above)

    def _down(self, typical: float, period_ms: float) -> None:
        if self._level == len(self._levels) - 1:
            return
        if self._since_up < 2 * _FIRST_PATIENCE:
            self._wait_longer()
        wanted = self.scale * (_AIM * period_ms / typical) ** 0.5
        fitting = [level for level, scale in enumerate(self._levels) if scale <= wanted]
        level = max(fitting[0] if fitting else len(self._levels) - 1, self._level + 1)
        self._before = (self._level, typical)
        self._go(level)

    def _go(self, level: int) -> None:
        self._level, self._fitting = level, 0
        self._recent.clear()

    def _wait_longer(self) -> None:
        self._patience = min(2 * self._patience, _MOST_PATIENCE)


def _levels(smallest: float) -> list[float]:
    """1 and down in steps to the smallest."""
    levels = [1.0]
    while levels[-1] * _STEP > smallest * 1.02:
        levels.append(levels[-1] * _STEP)
    if smallest < 1.0:
        levels.append(smallest)
    return levels
