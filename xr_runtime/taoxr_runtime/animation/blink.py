"""Spontaneous blinks: when they come and how the lids move.

Intervals: people blink every few seconds, irregularly (Bentivoglio et al. 1997: 17 per minute at
rest, 26 in conversation). Profile: the lid closes about twice as fast as it opens (VanderWerf et
al. 2003).
"""

from typing import Final

import numpy as np

from taoxr_runtime.animation.curves import smoothstep

SHORTEST_S: Final = 2.0
LONGEST_S: Final = 6.0
_MEAN_EXTRA_S: Final = 1.6
_DOUBLE_CHANCE: Final = 0.15
_CLOSING_S: Final = 0.07
_SHUT_S: Final = 0.03
_OPENING_S: Final = 0.12


class Blinks:
    """Lid closure over time; drawn once from the seed, so any time may be asked in any order."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Args: source of the blink times."""
        self._rng = rng
        self._starts: list[float] = []
        self._scales: list[float] = []
        self._next_s = rng.uniform(0.8, 2.0)

    def at(self, time_s: float) -> float:
        """Closure, 0 open to 1 shut, at a time in seconds (0 or later)."""
        while self._next_s <= time_s:
            self._draw()
        i = int(np.searchsorted(self._starts, time_s, side="right"))
        # Only the last two can still be going on: a double blink starts after the first is over.
        recent = range(max(i - 2, 0), i)
        return max((_profile((time_s - self._starts[k]) / self._scales[k]) for k in recent), default=0.0)

    def _draw(self) -> None:
        scale = self._rng.uniform(0.85, 1.1)
        self._starts.append(self._next_s)
        self._scales.append(scale)
        if self._rng.random() < _DOUBLE_CHANCE:
            self._starts.append(self._next_s + self._rng.uniform(0.3, 0.4))
            self._scales.append(scale)
        pause = SHORTEST_S + self._rng.exponential(_MEAN_EXTRA_S)
        self._next_s = self._starts[-1] + min(pause, LONGEST_S)


def _profile(age_s: float) -> float:
    if age_s <= _CLOSING_S:
        return smoothstep(age_s / _CLOSING_S)
    return 1.0 - smoothstep((age_s - _CLOSING_S - _SHUT_S) / _OPENING_S)
