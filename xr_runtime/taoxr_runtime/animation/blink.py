"""Spontaneous blinks: when they come and how the lids move.

Intervals: people blink every few seconds, irregularly (Bentivoglio et al. 1997: 17 per minute at
rest, 26 in conversation), soon after they begin to speak, and often with a large movement of the gaze
(Evinger et al. 1994). Profile: the lid closes about twice as fast as it opens (VanderWerf et al. 2003).
"""

from typing import Final

import numpy as np

from taoxr_runtime.animation.activity import Activity
from taoxr_runtime.animation.curves import smoothstep

SHORTEST_S: Final = 1.2
LONGEST_S: Final = 10.0
ONSET_S: Final = 1.0
"""Within so long after the avatar has begun to speak it blinks, unless it has just done so."""
LEAST_APART_S: Final = 0.6
# Seconds from one blink to the next: at least, and the scale of the exponential, cut at the longest, on top.
# Those that come with the gaze add to them: together they make the rates above.
_PAUSES: Final = {
    Activity.IDLE: (2.4, 5.0),
    Activity.LISTENING: (2.1, 3.4),
    Activity.THINKING: (2.1, 3.4),
    Activity.SPEAKING: (SHORTEST_S, 3.6),
}
_DOUBLE_CHANCE: Final = 0.12
# Degrees of a gaze shift at which every one comes with a blink.
_ALWAYS_DEG: Final = 33.0
_LEAST_SHIFT_DEG: Final = 6.0
_CLOSING_S: Final = 0.07
_SHUT_S: Final = 0.03
_OPENING_S: Final = 0.12


class Blinks:
    """Lid closure over time. What has been is drawn once, and may be asked again in any order."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Args: source of the blink times."""
        self._rng = rng
        self._activity = Activity.IDLE
        self._starts: list[float] = []
        self._scales: list[float] = []
        self._next_s = rng.uniform(0.8, 2.0)

    def at(self, time_s: float, activity: Activity | None = None) -> float:
        """Closure, 0 open to 1 shut, at a time in seconds (0 or later).

        Args:
            time_s: The time.
            activity: What the avatar does from then on; None: the same as before.
        """
        if activity is not None and activity is not self._activity:
            self._activity = activity
            if activity is Activity.SPEAKING:
                self._not_after(time_s + self._rng.uniform(0.2, ONSET_S))
        while self._next_s <= time_s:
            self._draw()
        i = int(np.searchsorted(self._starts, time_s, side="right"))
        # Only the last two can still be going on: a double blink starts after the first is over.
        recent = range(max(i - 2, 0), i)
        return max((_profile((time_s - self._starts[k]) / self._scales[k]) for k in recent), default=0.0)

    def shifted(self, time_s: float, size_deg: float) -> None:
        """The gaze begins to move by so much at a time, never before that of the last call."""
        if size_deg >= _LEAST_SHIFT_DEG and self._rng.random() < size_deg / _ALWAYS_DEG:
            self._not_after(time_s)

    def _not_after(self, time_s: float) -> None:
        earliest = self._starts[-1] + LEAST_APART_S if self._starts else 0.0
        if time_s >= earliest:
            self._next_s = min(self._next_s, time_s)

    def _draw(self) -> None:
        scale = self._rng.uniform(0.85, 1.1)
        self._starts.append(self._next_s)
        self._scales.append(scale)
        if self._rng.random() < _DOUBLE_CHANCE:
            self._starts.append(self._next_s + self._rng.uniform(0.3, 0.4))
            self._scales.append(scale)
        least, scale_s = _PAUSES[self._activity]
        # Cut by its distribution, not by its value: else many would come after exactly the longest.
        reach = 1.0 - np.exp((least - LONGEST_S) / scale_s)
        self._next_s = self._starts[-1] + least - scale_s * float(np.log1p(-reach * self._rng.random()))


def _profile(age_s: float) -> float:
    if age_s <= _CLOSING_S:
        return smoothstep(age_s / _CLOSING_S)
    return 1.0 - smoothstep((age_s - _CLOSING_S - _SHUT_S) / _OPENING_S)
