"""Nods of a listener."""

import numpy as np

from taoxr_runtime.animation.curves import smoothstep


class Nods:
    """Nods every few seconds, single or double; a pure function of time once seeded."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Args: source of the nods."""
        self._rng = rng
        self._starts = [float(rng.uniform(1.0, 2.5))]
        self._kinds = [(3.5, 1)]

    def at(self, time_s: float) -> float:
        """Forward tilt of the head in degrees at a time in seconds."""
        while self._starts[-1] <= time_s:
            self._starts.append(self._starts[-1] + float(self._rng.uniform(2.4, 5.0)))
            self._kinds.append((float(self._rng.uniform(2.5, 4.5)), int(self._rng.integers(1, 3))))
        i = int(np.searchsorted(self._starts, time_s, side="right")) - 1
        if i < 0:
            return 0.0
        degrees, times = self._kinds[i]
        age = (time_s - self._starts[i]) / 0.55
        if age >= times:
            return 0.0
        # The second of two nods is smaller.
        scale, age = (1.0, age) if age < 1.0 else (0.6, age - 1.0)
        return degrees * scale * (smoothstep(age / 0.4) - smoothstep((age - 0.4) / 0.6))
