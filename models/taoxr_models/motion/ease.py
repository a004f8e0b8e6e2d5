"""What a body does while it does nothing: breathes, sways, shifts its weight, glances.

All of it is drawn from one seed and is a pure function of time.
"""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from taoxr_models.motion.curves import Drift, minimum_jerk
from taoxr_models.motion.joints import ARM_AT, HEAD_AT, JOINTS, TRUNK_AT
from taoxr_models.motion.rotations import Array

AT_EASE: Final = np.zeros(len(JOINTS))
"""Joints of somebody who stands at ease, arms hanging: [joints] degrees."""
for _arm in ARM_AT.values():
    #               shrug raise forward inward elbow twist bend swing curl
    AT_EASE[_arm] = (0.0, 6.0, -2.0, 10.0, 17.0, 8.0, 4.0, 0.0, 26.0)

_BREATH_S: Final = 4.3
_TRUNK_SWAY: Final = (0.45, 0.9, 0.55)
_HEAD_SWAY: Final = (1.1, 1.9, 1.1)
_ARM_SWAY: Final = (0.3, 0.8, 1.2, 1.6, 2.0, 2.4, 1.6, 1.0, 4.0)
_SHOULDER_BREATH: Final = 1.3
# People who stand at ease shift their weight every 10 s or so (Duarte and Zatsiorsky, "Patterns of center of
# pressure migration during prolonged unconstrained standing", Motor Control, 1999).
_SHIFT_GAP_S: Final = (7.0, 17.0)
_SHIFT_S: Final = (1.5, 2.4)
_SHIFT_M: Final = 0.028
_SHIFT_TURN: Final = 1.6
_SHIFT_ROLL: Final = 2.2
# Fixations of 0.4 to 2 s about where one looks, one in six well away from it.
_FIXATION_S: Final = (0.4, 2.0)
_GLANCE_CHANCE: Final = 0.16
# Saccades last about 21 ms and 2.2 ms per degree (Carpenter, "Movements of the Eyes", 1988); no frame rate
# shows that, so half as long again.
_SACCADE_S: Final = 0.03
_SACCADE_S_PER_DEG: Final = 0.0033


class _Steps:
    """A level that changes now and then, smoothly; changes are drawn as far as they are asked for."""

    def __init__(self, level: ArrayLike) -> None:
        self._starts: list[float] = []
        self._lengths: list[float] = []
        self._changes: list[Array] = []
        self._first = np.array(level, dtype=np.float64)
        self.level = self._first

    def add(self, start: float, length: float, level: ArrayLike) -> None:
        """From `start` on, within `length` seconds, the level becomes another."""
        self._starts.append(start)
        self._lengths.append(length)
        self._changes.append(np.asarray(level, dtype=np.float64) - self.level)
        self.level = np.asarray(level, dtype=np.float64)

    def forget(self, before: float) -> None:
        """Nobody will ask about times before `before`."""
        while self._starts and self._starts[0] + self._lengths[0] < before:
            self._first = self._first + self._changes.pop(0)
            del self._starts[0], self._lengths[0]

    def at(self, times: Array) -> Array:
        """Levels [n, ...]."""
        if not self._starts:
            return np.broadcast_to(self._first, (len(times), *self._first.shape))
        done = minimum_jerk((times[:, None] - np.array(self._starts)) / np.array(self._lengths))
        return self._first + np.tensordot(done, np.array(self._changes), axes=1)


class Ease:
    """Life at rest.

    Args:
        seed: The same seed, the same life.
    """

    def __init__(self, seed: int) -> None:
        rngs = np.random.default_rng([seed, 0]).spawn(7)
        self._trunk = Drift(rngs[0], 3, 11.0)
        self._head = Drift(rngs[1], 3, 7.0)
        self._arms = {
            side: Drift(rng, len(_ARM_SWAY), 8.0) for side, rng in zip(ARM_AT, rngs[2:4], strict=True)
        }
        self._breath = Drift(rngs[4], 1, 23.0)
        self._shifts_rng, self._glances_rng = rngs[5:7]
        self._shifts, self._next_shift = _Steps(0.0), float(self._shifts_rng.uniform(2.0, 6.0))
        self._glances, self._next_glance = _Steps((0.0, 0.0)), 0.8

    def forget(self, before: float) -> None:
        """Nobody will ask about times before `before` seconds."""
        self._shifts.forget(before)
        self._glances.forget(before)

    def joints(self, times: Array) -> Array:
        """Joints at ease [n, joints] at times [n], with the sway; `breath` comes on top."""
        out = np.tile(AT_EASE, (len(times), 1))
        out[:, TRUNK_AT] += self._trunk.at(times) * _TRUNK_SWAY
        out[:, HEAD_AT] += self._head.at(times) * _HEAD_SWAY
        breath = self.breath(times)
        for side, at in ARM_AT.items():
            out[:, at] += self._arms[side].at(times) * _ARM_SWAY
            out[:, at.start] += _SHOULDER_BREATH * breath
        return out

    def breath(self, times: Array) -> Array:
        """Depth of the breath [n], 0 to 1: in for 40 % of a cycle, out for 50 %, then a pause."""
        phase = (times / _BREATH_S + 0.6 * self._breath.at(times)[:, 0]) % 1.0
        return minimum_jerk(phase / 0.4) - minimum_jerk((phase - 0.4) / 0.5)

    def hips(self, times: Array) -> Array:
        """Where the weight is, [n, 4]; see `taoxr_models.motion.joints.Pose.hips`."""
        rng = self._shifts_rng
        while self._next_shift <= times[-1]:
            # Mostly to the other leg, sometimes to both.
            side = -float(np.sign(self._shifts.level) or rng.choice((-1.0, 1.0)))
            amount = 0.0 if rng.random() < 0.2 else float(rng.uniform(0.5, 1.0))
            length = float(rng.uniform(*_SHIFT_S))
            self._shifts.add(self._next_shift, length, side * amount)
            self._next_shift += length + float(rng.uniform(*_SHIFT_GAP_S))
        weight = self._shifts.at(times)
        sway = self._trunk.at(times + 100.0)
        return np.stack(
            [
                _SHIFT_M * weight + 0.003 * sway[:, 0],
                0.004 * sway[:, 1],
                _SHIFT_TURN * weight + 0.5 * sway[:, 2],
                _SHIFT_ROLL * weight,
            ],
            axis=-1,
        )

    def glances(self, times: Array) -> Array:
        """Where the eyes are beside what they look at, yaw and pitch [n, 2] in degrees."""
        rng = self._glances_rng
        while self._next_glance <= times[-1]:
            where = rng.normal(0.0, (0.55, 0.4)).clip(-1.2, 1.2)
            if rng.random() < _GLANCE_CHANCE:
                where = np.array([rng.choice((-1.0, 1.0)) * rng.uniform(6.0, 13.0), rng.uniform(-6.0, 2.0)])
            size = float(np.linalg.norm(where - self._glances.level))
            self._glances.add(self._next_glance, _SACCADE_S + _SACCADE_S_PER_DEG * size, where)
            self._next_glance += float(rng.uniform(*_FIXATION_S))
        return self._glances.at(times)
