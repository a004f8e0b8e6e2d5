"""Two legs that keep the feet where they are while the hips move."""

from typing import Final

import numpy as np

from taoxr_models.motion.bones import INDEX
from taoxr_models.motion.rotations import Array, about, chain, inverse, multiply, rotate

HIPS_HEIGHT_M: Final = 0.95
"""Height of the hips for which translations are meant; on another avatar they scale with it."""
_HALF_WIDTH_M: Final = 0.10
_BONE_M: Final = 0.43
# Knees are never quite straight, or their speed would jump when they come to be.
_SLACK_M: Final = 0.0025
_ROUND: Final = 0.004


def stand(q: Array, hips: Array) -> Array:
    """Fills in the rotations of hips and legs.

    Two-bone inverse kinematics for a person of `HIPS_HEIGHT_M`; the knees bend to the front, and the feet
    stay flat on the floor.

    Args:
        q: [n, bones, 4], changed in place.
        hips: [n, 4], see `taoxr_models.motion.joints.Pose`.

    Returns:
        Translation of the hips [n, 3] in metres.
    """
    across, ahead, turn, roll = hips.T
    turned = chain(about("y", turn), about("z", roll))
    q[:, INDEX["hips"]] = turned
    # The hips roll about the leg that carries, so their middle sinks.
    sink = _HALF_WIDTH_M * np.sqrt(np.sin(np.deg2rad(roll)) ** 2 + _ROUND**2)
    moved = np.stack([across, -_SLACK_M - sink, ahead], axis=-1)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        joint = np.array([sign * _HALF_WIDTH_M, 0.0, 0.0])
        ankle = joint - np.array([0.0, 2.0 * _BONE_M, 0.0])
        to_ankle = rotate(inverse(turned), ankle - (moved + rotate(turned, joint)))
        length = np.linalg.norm(to_ankle, axis=-1)
        half_bend = np.rad2deg(np.arccos(np.clip(length / (2.0 * _BONE_M), 0.0, 1.0)))
        x, y, z = to_ankle.T
        out = np.rad2deg(np.arctan2(x, -y))
        back = np.rad2deg(np.arctan2(-z, np.hypot(x, y)))
        thigh = chain(about("z", out), about("x", back - half_bend))
        shin = about("x", 2.0 * half_bend)
        q[:, INDEX[f"{side}UpperLeg"]] = thigh
        q[:, INDEX[f"{side}LowerLeg"]] = shin
        q[:, INDEX[f"{side}Foot"]] = inverse(multiply(turned, multiply(thigh, shin)))
    return moved


def over_the_feet(q: Array) -> Array:
    """Where the hips are when the feet stay where they rest: on average, and the lower one on the floor.

    Args:
        q: [n, bones, 4], of a person of `HIPS_HEIGHT_M`.

    Returns:
        Translation of the hips [n, 3] in metres.
    """
    ankles: list[Array] = []
    bone = np.array([0.0, -_BONE_M, 0.0])
    for side, sign in (("left", 1.0), ("right", -1.0)):
        thigh, shin = q[:, INDEX[f"{side}UpperLeg"]], q[:, INDEX[f"{side}LowerLeg"]]
        below = rotate(thigh, bone + rotate(shin, np.broadcast_to(bone, (len(q), 3))))
        joint = np.array([sign * _HALF_WIDTH_M, 0.0, 0.0])
        ankles.append(rotate(q[:, INDEX["hips"]], joint + below) - (joint + 2.0 * bone))
    left, right = ankles
    middle = (left + right) / 2.0
    # The lower of two, without a corner where they change places.
    apart = np.sqrt(((left - right)[:, 1] / 2.0) ** 2 + _ROUND**2) - _ROUND
    middle[:, 1] -= apart
    return -middle
