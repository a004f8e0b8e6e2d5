"""Where the avatar looks: the eyes first, then the head, then a little of the chest."""

from typing import Final

import numpy as np

from taoxr_models.motion.curves import Track
from taoxr_models.motion.rotations import Array

EYES_AT_M: Final = (0.0, 1.6, 0.1)
"""Where the eyes are taken to be; only nearby targets notice the difference."""
YAW_LIMIT: Final = 85.0
PITCH_LIMITS: Final = (-45.0, 38.0)
# Of the way to a target: the trunk's and the head's share of the yaw, the head's of the pitch. The eyes do
# the rest, and all of it at first.
_SHARES: Final = np.array([0.15, 0.58, 0.5])
# The eyes jump, the head follows (Freedman and Sparks, "Coordination of the eyes and head", Experimental
# Brain Research, 2000).
_EYES_S: Final = 0.12
_EYES_S_PER_DEG: Final = 0.003
_HEAD_S: Final = 0.55
_HEAD_S_PER_DEG: Final = 0.006


def direction_to(point: tuple[float, float, float]) -> Array:
    """Yaw (to its left) and pitch (up) [2] of a point in the avatar's space, as far as it can follow."""
    x, y, z = np.subtract(point, EYES_AT_M)
    yaw, pitch = np.rad2deg([np.arctan2(x, z), np.arctan2(y, np.hypot(x, z))])
    return np.array([np.clip(yaw, -YAW_LIMIT, YAW_LIMIT), np.clip(pitch, *PITCH_LIMITS)])


class Gaze:
    """The direction of the gaze, and what trunk and head do for it."""

    def __init__(self) -> None:
        self._goal = np.zeros(2)
        self._eyes = Track((0.0, 0.0))
        self._carried = Track((0.0, 0.0, 0.0))

    def turn(self, at: float, direction: Array) -> None:
        """From `at` seconds on the gaze goes to a direction [2], yaw and pitch in degrees."""
        size = float(np.linalg.norm(direction - self._goal))
        self._goal = direction
        self._eyes.plan(at, [(at + _EYES_S + _EYES_S_PER_DEG * size, direction)])
        carried = _SHARES * direction[[0, 0, 1]]
        self._carried.plan(at, [(at + _HEAD_S + _HEAD_S_PER_DEG * size, carried)])

    def cut(self, at: float) -> None:
        """What was planned after `at` did not happen; the gaze goes on to where it was to go."""
        self.turn(at, self._goal)

    def direction(self, times: Array) -> Array:
        """Yaw and pitch of the gaze [n, 2], degrees."""
        return self._eyes.at(times)

    def carried(self, times: Array) -> Array:
        """Turn of the trunk, shake and (downward) nod of the head [n, 3], degrees."""
        return self._carried.at(times) * (1.0, 1.0, -1.0)

    def forget(self, before: float) -> None:
        """Nobody will ask about times before `before` seconds."""
        self._eyes.forget(before)
        self._carried.forget(before)
