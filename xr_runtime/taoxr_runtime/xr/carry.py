"""How hands carry the avatar: over the floor and about the vertical axis only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from taoxr_runtime.animation import rotation
from taoxr_runtime.xr.poses import Pose, about_y

_SWING: Final = math.cos(math.radians(160) / 2)
"""Beyond this much swing, a turn about the vertical axis is not well defined."""
_APART_M: Final = 0.1
"""Nearer hands have no direction between them."""


class _Hold(NamedTuple):
    """Where the avatar and the hands were when they took hold."""

    model: Pose
    hands: list[Pose]


class Carry:
    """Moves a model with the hands that hold it.

    One hand carries it as if on a stick: it goes where the hand goes and swings round with it. Two hands turn
    it where it stands, as the line between them turns, and it goes where their middle goes. The model follows
    what the hands have done since they took hold, so it cannot drift, and whenever the number of hands
    changes they take hold anew, so it cannot jump.
    """

    def __init__(self) -> None:
        self._hold: _Hold | None = None
        self._key: object = None

    def let_go(self) -> None:
        """The hands take hold anew."""
        self._hold = None

    def move(self, model: Pose, hands: Sequence[Pose | None]) -> Pose:
        """Where the model is now.

        Args:
            model: Where it was in the last frame, upright.
            hands: Of each hand its pose while it holds, else None.

        Returns:
            As high and as upright as it was.
        """
        holding = [hand for hand in hands if hand is not None]
        # Also where no angle can be told: they then go on from there.
        key = (tuple(hand is not None for hand in hands), _apart(holding))
        if not holding:
            self._hold = None
            return model
        if self._hold is None or key != self._key:
            self._hold, self._key = _Hold(model, holding), key
            return model
        start = self._hold
        if len(holding) > 1:
            angle = _heading(holding) - _heading(start.hands) if _apart(holding) else 0.0
            lever = 0.0
        else:
            turned = _twist(start.hands[0], holding[0])
            if turned is None:
                self._hold = _Hold(model, holding)
                return model
            angle, lever = turned, 1.0
        (x, z), (x0, z0) = _middle(holding), _middle(start.hands)
        stands = start.model.position
        dx, dz = (stands[0] - x0) * lever, (stands[2] - z0) * lever
        cos, sin = math.cos(angle), math.sin(angle)
        position = (
            stands[0] + (x - x0) + (cos * dx + sin * dz - dx),
            stands[1],
            stands[2] + (z - z0) + (cos * dz - sin * dx - dz),
        )
        return Pose(_turned(start.model, angle), position)


def _turned(model: Pose, angle: float) -> tuple[float, float, float, float]:
    x, y, z, w = rotation.multiply(np.array(about_y(angle)), np.array(model.orientation)).tolist()
    return (x, y, z, w)


def _middle(hands: Sequence[Pose]) -> tuple[float, float]:
    """X and Z."""
    return (
        sum(hand.position[0] for hand in hands) / len(hands),
        sum(hand.position[2] for hand in hands) / len(hands),
    )


def _apart(hands: Sequence[Pose]) -> bool:
    """Whether two hands have a direction between them on the floor."""
    if len(hands) < 2:
        return False
    (x0, _, z0), (x1, _, z1) = hands[0].position, hands[1].position
    return math.hypot(x1 - x0, z1 - z0) >= _APART_M


def _heading(hands: Sequence[Pose]) -> float:
    """Of the line from the first hand to the second, radians about +Y."""
    (x0, _, z0), (x1, _, z1) = hands[0].position, hands[1].position
    return math.atan2(-(z1 - z0), x1 - x0)


def _twist(before: Pose, after: Pose) -> float | None:
    """The part of a turn that is about +Y, radians; None when it swung too far to tell.

    The twist of a swing-twist decomposition (P. Dobrowolski, "Swing-twist decomposition in Clifford
    algebra", 2015).
    """
    first, second = np.array(before.orientation), np.array(after.orientation)
    between = rotation.multiply(second, rotation.inverse(first))
    between /= np.linalg.norm(between)
    y, w = float(between[1]), float(between[3])
    if math.hypot(y, w) < _SWING:
        return None
    return 2 * math.atan2(y, w)
