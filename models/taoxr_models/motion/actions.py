"""Gestures that a client can ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from taoxr.v1.body_pb2 import PlayAction
from taoxr_models.motion.curves import Key
from taoxr_models.motion.ease import AT_EASE
from taoxr_models.motion.joints import ARM_AT, HEAD_AT, INDEX_OF
from taoxr_models.motion.rotations import Array

_Keys: TypeAlias = Sequence[tuple[float, Array]]

TRUNK_AT_REST: Final = np.zeros(HEAD_AT.stop)
"""What an action adds to trunk and head: nothing."""
ARM_AT_REST: Final = np.append(AT_EASE[ARM_AT["right"]], 0.0)
"""Joints of an arm, and how much of the arm the action has for itself: none."""
_RELEASE_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Script:
    """What an action does, times in seconds from its start.

    Attributes:
        trunk: Keys of trunk and head, which come on top of what they do otherwise.
        arms: Keys of each arm that it uses, which takes the place of what the arm does otherwise; the last
            number of each is how far.
    """

    trunk: _Keys = ()
    arms: Mapping[str, _Keys] = field(default_factory=dict[str, _Keys])


def trunk_keys(action: PlayAction.Action.ValueType, start: float) -> list[Key]:
    """What trunk and head go through in an action that starts at `start` seconds."""
    return [(start + after, pose) for after, pose in _SCRIPTS[action].trunk]


def arm_keys(action: PlayAction.Action.ValueType, side: str, start: float) -> list[Key]:
    """The same of an arm; one that the action does not use comes to rest from whatever was before."""
    keys = _SCRIPTS[action].arms.get(side) or [(_RELEASE_S, ARM_AT_REST)]
    return [(start + after, pose) for after, pose in keys]


def _trunk(**joints: float) -> Array:
    pose = TRUNK_AT_REST.copy()
    for name, degrees in joints.items():
        pose[INDEX_OF[name]] = degrees
    return pose


def _arm(*joints: float) -> Array:
    """All of an arm, with these joints: shrug raise forward inward elbow twist bend swing curl."""
    return np.array([*joints, 1.0])


def _waving(sway: float) -> Array:
    return _arm(2.0, 34.0, 30.0, -34.0 + 15.0 * sway, 122.0, 70.0, -4.0, 9.0 * sway, 8.0)


_SHRUGGING: Final = _arm(15.0, 14.0, 8.0, -16.0, 78.0, -62.0, -12.0, 0.0, 14.0)
_SHRUG: Final = [(0.6, _SHRUGGING), (1.1, _SHRUGGING), (2.1, ARM_AT_REST)]
_SHRUG_TRUNK: Final = _trunk(tilt=6.0, nod=2.0)
_BOWED: Final = _trunk(lean=24.0, nod=12.0)

_SCRIPTS: Final[dict[int, Script]] = {
    PlayAction.ACTION_WAVE: Script(
        [(0.75, _trunk(tilt=2.5, nod=-1.5)), (2.3, _trunk(tilt=2.5, nod=-1.5)), (3.3, TRUNK_AT_REST)],
        {
            "right": [
                (0.75, _waving(0.0)),
                *((0.75 + 0.25 * i, _waving(sway)) for i, sway in enumerate((1, -1, 1, -1, 1), 1)),
                (2.3, _waving(0.0)),
                (3.3, ARM_AT_REST),
            ]
        },
    ),
    PlayAction.ACTION_NOD: Script(
        [(0.26, _trunk(nod=11.0)), (0.56, _trunk(nod=-2.0)), (0.84, _trunk(nod=8.0)), (1.3, TRUNK_AT_REST)]
    ),
    PlayAction.ACTION_SHAKE_HEAD: Script(
        [
            (0.26, _trunk(shake=13.0)),
            (0.6, _trunk(shake=-14.0)),
            (0.94, _trunk(shake=11.0)),
            (1.24, _trunk(shake=-6.0)),
            (1.6, TRUNK_AT_REST),
        ]
    ),
    PlayAction.ACTION_BOW: Script([(0.9, _BOWED), (1.35, _BOWED), (2.4, TRUNK_AT_REST)]),
    PlayAction.ACTION_SHRUG: Script(
        [(0.6, _SHRUG_TRUNK), (1.1, _SHRUG_TRUNK), (2.1, TRUNK_AT_REST)], {"left": _SHRUG, "right": _SHRUG}
    ),
}
