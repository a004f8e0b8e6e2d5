"""Curves in time that have no corners: planned ones through key poses, and aimless ones."""

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Key: TypeAlias = tuple[float, ArrayLike]
"""A time in seconds and the pose at rest there."""

# Rates of the waves that a drift is made of, and their sizes: about 1/f, and no common period.
_WAVE_RATES: Final = np.array([1.0, 1.618, 2.732, 4.449])
# Keys closer than this cannot be told apart at any frame rate.
_SHORTEST_S: Final = 1e-3


class Track:
    """A curve [dimensions] through key poses, at rest at each, with continuous acceleration.

    Between two keys it is the polynomial of degree 5 that fits position, velocity and acceleration at both
    ends; from rest to rest that is the movement of minimum jerk, which people's hands make (Flash and Hogan,
    "The coordination of arm movements", Journal of Neuroscience, 1985). A new plan begins with the state that
    the old one had, so that plans can change at any time.

    Args:
        pose: Where it stays until something is planned.
    """

    def __init__(self, pose: ArrayLike) -> None:
        start = np.array(pose, dtype=np.float64)
        self._times = [-1e9]
        self._states = [np.stack([start, np.zeros_like(start), np.zeros_like(start)])]

    @property
    def end(self) -> float:
        """Time of the last key; from then on the curve rests."""
        return self._times[-1]

    def plan(self, at: float, keys: Sequence[Key]) -> None:
        """Throws away what was planned after `at` seconds, and goes through `keys` instead.

        Keys are in order of time, after `at`.
        """
        state = self._state(at)
        keep = int(np.searchsorted(self._times, at, side="right"))
        del self._times[keep:], self._states[keep:]
        if at - self._times[-1] > _SHORTEST_S:
            self._times.append(at)
            self._states.append(state)
        for time, pose in keys:
            still = np.zeros_like(state)
            still[0] = pose
            self._times.append(max(time, self._times[-1] + _SHORTEST_S))
            self._states.append(still)

    def at(self, times: Array) -> Array:
        """Poses [n, dimensions] at times [n] in seconds, in order."""
        pieces = np.searchsorted(self._times, times, side="right") - 1
        out = np.empty((len(times), self._states[0].shape[1]))
        for i in np.unique(pieces).tolist():
            here = pieces == i
            out[here] = self._piece(i, times[here])[0]
        return out

    def forget(self, before: float) -> None:
        """Nobody will ask about times before `before`, or plan from there."""
        keep = max(int(np.searchsorted(self._times, before, side="right")) - 1, 0)
        del self._times[:keep], self._states[:keep]

    def _state(self, t: float) -> Array:
        """Position, velocity and acceleration [3, dimensions]."""
        i = int(np.searchsorted(self._times, t, side="right")) - 1
        return self._piece(i, np.array([t]))[:, 0]

    def _piece(self, i: int, times: Array) -> Array:
        """States [3, n, dimensions] at times after key `i` and before the next."""
        if i < 0 or i + 1 == len(self._times):
            out = np.zeros((3, len(times), self._states[0].shape[1]))
            out[0] = self._states[max(i, 0)][0]
            return out
        length = self._times[i + 1] - self._times[i]
        return _quintic(self._states[i], self._states[i + 1], length, times - self._times[i])


def _quintic(start: Array, end: Array, length: float, times: Array) -> Array:
    """States [3, n, dimensions] of the polynomial of degree 5 between two that are `length` seconds apart."""
    p, v, a = start
    T, s = length, times[:, None]
    dp = end[0] - (p + v * T + 0.5 * a * T * T)
    dv = end[1] - (v + a * T)
    da = end[2] - a
    c3 = (10.0 * dp - 4.0 * T * dv + 0.5 * T * T * da) / T**3
    c4 = (-15.0 * dp + 7.0 * T * dv - T * T * da) / T**4
    c5 = (6.0 * dp - 3.0 * T * dv + 0.5 * T * T * da) / T**5
    return np.stack(
        [
            p + s * (v + s * (0.5 * a + s * (c3 + s * (c4 + s * c5)))),
            v + s * (a + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5))),
            a + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5)),
        ]
    )


class Drift:
    """Aimless wandering within [-1, 1] on several channels: a pure function of time.

    A sum of waves whose rates have no common multiple and whose size falls with their rate, as in the sway
    of people who stand still (Duarte and Zatsiorsky, "Long-range correlations in human standing", Physics
    Letters A, 2001).

    Args:
        rng: Where rates and phases come from.
        channels: How many.
        period_s: Length of the slowest wave, more or less.
    """

    def __init__(self, rng: np.random.Generator, channels: int, period_s: float) -> None:
        shape = (channels, len(_WAVE_RATES))
        self._rates = 2.0 * np.pi / period_s * _WAVE_RATES * rng.uniform(0.85, 1.15, shape)
        self._phases = rng.uniform(0.0, 2.0 * np.pi, shape)
        self._sizes = (1.0 / _WAVE_RATES) / (1.0 / _WAVE_RATES).sum()

    def at(self, times: Array) -> Array:
        """Values [n, channels] at times [n] in seconds."""
        return np.sin(times[:, None, None] * self._rates + self._phases) @ self._sizes


def minimum_jerk(x: Array) -> Array:
    """0 before 0, 1 after 1, and the movement of minimum jerk between."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))
