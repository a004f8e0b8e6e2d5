"""Smooth curves that the motions are made of."""

from typing import Final

import numpy as np
import numpy.typing as npt

_OCTAVES: Final = 3


def smoothstep(x: float) -> float:
    """0 below 0, 1 above 1, with slope 0 at both ends; steepest slope 1.5."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


def minimum_jerk(x: float) -> float:
    """Position along a reaching movement (Flash and Hogan 1985); steepest slope 1.875."""
    x = min(max(x, 0.0), 1.0)
    return x * x * x * (10.0 + x * (6.0 * x - 15.0))


class Drift:
    """Slow wandering about 0 within [-1, 1]: sums of sines with seeded, incommensurate periods.

    A pure function of time, so that it does not depend on how often it is asked.
    """

    def __init__(self, rng: np.random.Generator, channels: int, period_s: float) -> None:
        """Args: ``channels`` independent curves around ``period_s`` seconds long."""
        spread = rng.uniform(0.75, 1.35, (channels, _OCTAVES))
        self._rates = 2.0 * np.pi / (period_s * spread * np.array([1.0, 0.53, 0.31]))
        self._phases = rng.uniform(0.0, 2.0 * np.pi, (channels, _OCTAVES))
        gains = np.array([0.6, 0.28, 0.12])
        self._gains = gains / gains.sum()

    def at(self, time_s: float) -> npt.NDArray[np.float64]:
        """Values [channels] at a time."""
        return np.sin(self._rates * time_s + self._phases) @ self._gains


class Follower:
    """A value that follows its target smoothly: critically damped, never overshooting a fixed target."""

    def __init__(self, value: npt.ArrayLike, settle_s: float) -> None:
        """Args: start ``value`` and the time in which 95 % of a step is done, in seconds."""
        self._x = np.array(value, dtype=np.float64)
        self._v = np.zeros_like(self._x)
        self._omega = 4.744 / settle_s

    @property
    def value(self) -> npt.NDArray[np.float64]:
        """Where it is now."""
        return self._x

    def step(self, target: npt.ArrayLike, dt_s: float) -> npt.NDArray[np.float64]:
        """Moves on by ``dt_s`` seconds towards the target (exact for a target constant over the step)."""
        goal = np.asarray(target, dtype=np.float64)
        w, decay = self._omega, np.exp(-self._omega * dt_s)
        offset = self._x - goal
        c = self._v + w * offset
        self._x = goal + (offset + c * dt_s) * decay
        self._v = (self._v - w * c * dt_s) * decay
        return self._x
