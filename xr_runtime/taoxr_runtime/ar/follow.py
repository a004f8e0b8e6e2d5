"""Keeps the avatar in view without haste: it stays until the user has left it, then comes after."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from taoxr_runtime.xr.poses import Matrix, Pose, about_y

_LONGEST_STEP_S: Final = 0.1
"""After a break, such as when nobody looked, motion goes on as if it had been this short."""
_SETTLED_M, _SETTLED_RAD = 0.002, 0.002


@dataclass(frozen=True, slots=True)
class Manner:
    """How to follow.

    Attributes:
        nearest: Metres on the floor between user and avatar; nearer, it steps back.
        farthest: Farther, it comes.
        beside: Radians to the side of where the user looks; beyond, it comes back into view.
        patience_s: For how long one of these must hold; a look aside moves nothing.
        inner: Into which part of these limits it goes, so that it need not move again at once.
        swiftness: Rate of the approach, 1/s.
        speed: Fastest, m/s on the floor and, about the user, as far as that is at 1 m.
        turn: Radians by which it may look past the user before it turns its body; its eyes follow anyway.
    """

    nearest: float = 1.2
    farthest: float = 2.0
    beside: float = math.radians(40)
    patience_s: float = 0.8
    inner: float = 0.5
    swiftness: float = 2.5
    speed: float = 1.4
    turn: float = math.radians(20)


class Follower:
    """Moves the avatar after the user; see ``xr.environment.Follow``.

    It moves around the user, by distance and direction, never through him. Each of the two is critically
    damped, so that it comes to rest without overshoot, and solved exactly, so that the path hardly depends
    on the frame rate. Whoever else moves the avatar, such as a hand, is let do so.
    """

    def __init__(self, manner: Manner = Manner()) -> None:
        self._manner = manner
        self._distance, self._bearing, self._facing = _Damped(), _Damped(), _Damped()
        self._last: Pose | None = None
        self._time = 0
        self._coming = self._turning = False
        self._left_s = 0.0

    def __call__(self, model: Pose, head: Matrix, display_time: int) -> Pose:
        """Where the avatar stands in this frame."""
        step_s = min(max((display_time - self._time) / 1e9, 0.0), _LONGEST_STEP_S)
        self._time = display_time
        if model != self._last:
            self._rest()
            self._last = model
            return model
        x, z = model.position[0] - float(head[0, 3]), model.position[2] - float(head[2, 3])
        distance, direction = math.hypot(x, z), math.atan2(x, z)
        looks = _heading(head)
        aside = _wrap(direction - looks)
        if self._wanted(distance, aside, step_s):
            manner = self._manner
            middle, half = (manner.nearest + manner.farthest) / 2, (manner.farthest - manner.nearest) / 2
            near = _within(distance, middle - half * manner.inner, middle + half * manner.inner)
            front = _within(aside, -manner.beside * manner.inner, manner.beside * manner.inner)
            distance += self._distance.step(near - distance, step_s, manner.swiftness, manner.speed)
            turned = self._bearing.step(front - aside, step_s, manner.swiftness, manner.speed)
            direction += turned
            arrived = abs(near - distance) < _SETTLED_M and abs(front - aside - turned) < _SETTLED_RAD
            if arrived and self._distance.slow and self._bearing.slow:
                self._coming = False
        position = (
            float(head[0, 3]) + distance * math.sin(direction),
            model.position[1],
            float(head[2, 3]) + distance * math.cos(direction),
        )
        if not self._coming:
            position = model.position
        self._last = Pose(self._turn(model, head, position, step_s), position)
        return self._last

    def _wanted(self, distance: float, aside: float, step_s: float) -> bool:
        manner = self._manner
        out = not manner.nearest <= distance <= manner.farthest or abs(aside) > manner.beside
        self._left_s = self._left_s + step_s if out else 0.0
        if not self._coming and self._left_s >= manner.patience_s:
            self._coming = True
            self._distance, self._bearing = _Damped(), _Damped()
        return self._coming

    def _turn(
        self, model: Pose, head: Matrix, position: tuple[float, float, float], step_s: float
    ) -> tuple[float, float, float, float]:
        """Its orientation, about the vertical axis only."""
        faces = 2 * math.atan2(model.orientation[1], model.orientation[3])
        user = math.atan2(float(head[0, 3]) - position[0], float(head[2, 3]) - position[2])
        off = _wrap(user - faces)
        if not self._turning and (self._coming or abs(off) > self._manner.turn):
            self._turning, self._facing = True, _Damped()
        if not self._turning:
            return model.orientation
        faces += self._facing.step(off, step_s, self._manner.swiftness * 1.6, math.inf)
        if not self._coming and abs(_wrap(user - faces)) < _SETTLED_RAD and self._facing.slow:
            self._turning = False
        return about_y(faces)

    def _rest(self) -> None:
        self._coming = self._turning = False
        self._left_s = 0.0


class _Damped:
    """Moves a number towards where it should be, like a critically damped spring."""

    def __init__(self) -> None:
        self._velocity = 0.0

    @property
    def slow(self) -> bool:
        return abs(self._velocity) < 0.01

    def step(self, gap: float, step_s: float, rate: float, speed: float) -> float:
        """How far it moves within a time.

        Args:
            gap: From where it is to where it should be.
            step_s: Seconds.
            rate: Of the approach, 1/s.
            speed: Never faster, per second.
        """
        # Pulled by a long spring it would go at half the rate times the gap; so a shorter one pulls.
        reach = 2 * speed / rate
        offset = -_within(gap, -reach, reach)
        # x(t) = (x + (v + rate x) t) exp(-rate t)
        slope = self._velocity + rate * offset
        decay = math.exp(-rate * step_s)
        end = (offset + slope * step_s) * decay
        self._velocity = (self._velocity - rate * slope * step_s) * decay
        return end - offset


def _heading(head: Matrix) -> float:
    """The direction in which the user looks over the floor, as the angle of a point (sin, cos) in x and z."""
    x, z = -float(head[0, 2]), -float(head[2, 2])
    if math.hypot(x, z) < 0.2:
        # Looking straight down the top of the head points ahead, looking up it points back.
        sign = 1.0 if head[1, 2] > 0 else -1.0
        x, z = sign * float(head[0, 1]), sign * float(head[2, 1])
    return math.atan2(x, z)


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _wrap(angle: float) -> float:
    """The same angle, from -pi to pi."""
    return math.remainder(angle, math.tau)
