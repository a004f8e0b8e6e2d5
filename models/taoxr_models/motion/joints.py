"""The joints that move, in degrees that mean something, and the bones' rotations that follow from them.

The *joints* of a pose are `JOINTS`: trunk and head about three axes, and nine numbers per arm, the same for
both sides. Their limits lie well inside what healthy adults can do (American Academy of Orthopaedic Surgeons,
"Joint Motion", 1965).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.motion import legs
from taoxr_models.motion.bones import BONES, FINGERS, INDEX
from taoxr_models.motion.rotations import Array, about, about_vector, chain, inverse, mirrored, rotate

# Name: least and most, in degrees.
_TRUNK: Final = {
    "lean": (-12.0, 40.0),  # forward
    "turn": (-30.0, 30.0),  # to its left
    "side": (-15.0, 15.0),  # to its right
}
_HEAD: Final = {
    "nod": (-30.0, 35.0),  # down
    "shake": (-60.0, 60.0),  # to its left
    "tilt": (-25.0, 25.0),  # to its right
}
_ARM: Final = {
    "shrug": (-8.0, 20.0),  # the shoulder, up
    "raise": (-2.0, 120.0),  # the upper arm, away from the side
    "forward": (-30.0, 150.0),  # the upper arm, to the front
    "inward": (-60.0, 80.0),  # the upper arm about itself, so that a bent forearm swings in
    "elbow": (2.0, 145.0),  # bent
    "twist": (
        -85.0,
        85.0,
    ),  # the forearm about itself; 0: thumb on the side to which the elbow bends, up: palm down
    "bend": (-60.0, 60.0),  # the hand, to its palm
    "swing": (-18.0, 28.0),  # the hand, to its thumb
    "curl": (0.0, 90.0),  # the fingers
}
ARM: Final = tuple(_ARM)
JOINTS: Final = (
    *_TRUNK,
    *_HEAD,
    *(f"left {name}" for name in _ARM),
    *(f"right {name}" for name in _ARM),
)
INDEX_OF: Final = {name: i for i, name in enumerate(JOINTS)}
TRUNK_AT: Final = slice(0, 3)
HEAD_AT: Final = slice(3, 6)
ARM_AT: Final = {"left": slice(6, 6 + len(_ARM)), "right": slice(6 + len(_ARM), 6 + 2 * len(_ARM))}
LIMITS: Final = np.array([*_TRUNK.values(), *_HEAD.values(), *_ARM.values(), *_ARM.values()])
"""Least and most of each joint, [joints, 2] degrees."""
EYE_LIMITS: Final = np.array([[-30.0, 30.0], [-20.0, 20.0]])
"""Least and most of the eyes' yaw (to its left) and pitch (up), degrees."""

# This share of a joint's range, at each end, resists: a pose that asks for more gets there less and less.
_RESISTING: Final = 0.12
_TRUNK_SHARES: Final = {"spine": 0.30, "chest": 0.35, "upperChest": 0.35}
_HEAD_SHARES: Final = {"neck": 0.45, "head": 0.55}
TRUNK_AND_HEAD: Final = (*_TRUNK_SHARES, *_HEAD_SHARES)
"""Bones of trunk and head from below, without the hips."""
# Degrees at the top of a breath, apart from the shoulders'.
_CHEST_BREATH: Final = {"chest": -0.5, "upperChest": -0.8, "neck": 1.3}
# Shares of the curl: of each finger, more towards the little one, times those of its joints from the hand on.
_FINGER_BONES: Final = tuple(
    finger + joint for finger in FINGERS for joint in ("Proximal", "Intermediate", "Distal")
)
_FINGER_CURLS: Final = np.outer((0.80, 0.95, 1.10, 1.20), (0.8, 1.15, 0.7)).ravel()
_THUMB_BONES: Final = ("ThumbMetacarpal", "ThumbProximal", "ThumbDistal")
_THUMB_CURLS: Final = np.array([0.25, 0.2, 0.4])


@dataclass(frozen=True, slots=True)
class Pose:
    """Poses at n times.

    Attributes:
        joints: [n, joints] degrees; see `JOINTS`.
        hips: [n, 4]: shift to its left and to the front in metres, turn to its left and roll in degrees (a
            positive roll lowers the right side).
        breath: [n], 0 to 1.
        gaze: [n, 2] yaw (to its left) and pitch (up) of where the eyes look, in the avatar's axes, degrees.
    """

    joints: Array
    hips: Array
    breath: Array
    gaze: Array


def within(values: Array, limits: NDArray[np.float64]) -> Array:
    """Values [..., k] kept inside limits [k, 2], without a corner where they come close."""
    room = _RESISTING * (limits[:, 1] - limits[:, 0])
    free = np.clip(values, limits[:, 0] + room, limits[:, 1] - room)
    return free + room * np.tanh((values - free) / room)


def rotations(pose: Pose) -> tuple[Array, Array]:
    """Local rotations of all bones from the T-pose [n, bones, 4], and where the hips are [n, 3] in metres."""
    q = np.zeros((len(pose.joints), len(BONES), 4))
    q[..., 3] = 1.0
    joints = within(pose.joints, LIMITS)
    lean, turn, side = joints[:, TRUNK_AT].T
    # The trunk makes up for the roll of the hips, so that the shoulders stay level.
    side = side - pose.hips[:, 3]
    for bone, share in _TRUNK_SHARES.items():
        q[:, INDEX[bone]] = chain(
            about("y", turn * share), about("x", lean * share), about("z", side * share)
        )
    nod, shake, tilt = joints[:, HEAD_AT].T
    for bone, share in _HEAD_SHARES.items():
        q[:, INDEX[bone]] = chain(
            about("y", shake * share), about("x", nod * share), about("z", tilt * share)
        )
    for bone, degrees in _CHEST_BREATH.items():
        q[:, INDEX[bone]] = chain(q[:, INDEX[bone]], about("x", degrees * pose.breath))
    for side_name in ("left", "right"):
        for bone, turned in _arm(joints[:, ARM_AT[side_name]]).items():
            q[:, INDEX[side_name + bone]] = turned if side_name == "left" else mirrored(turned)
    hips = legs.stand(q, pose.hips)
    look(q, pose.gaze)
    return q, hips


def arm_bones(side: str) -> list[int]:
    """Numbers of the bones of an arm, "left" or "right", from the shoulder to the fingertips."""
    return [
        INDEX[side + bone]
        for bone in ("Shoulder", "UpperArm", "LowerArm", "Hand", *_FINGER_BONES, *_THUMB_BONES)
    ]


def head_turn(q: Array) -> Array:
    """How the head is turned in the avatar's axes, [n, 4]."""
    return chain(*(q[:, INDEX[bone]] for bone in ("hips", *TRUNK_AND_HEAD)))


def look(q: Array, gaze: Array) -> None:
    """Turns the eyes of poses [n, bones, 4] in place, as far as they can, to where the gaze [n, 2] is to go.

    Whatever the head does; degrees, see `Pose.gaze`.
    """
    yaw, pitch = np.deg2rad(gaze).T
    ahead = np.stack([np.sin(yaw) * np.cos(pitch), np.sin(pitch), np.cos(yaw) * np.cos(pitch)], axis=-1)
    x, y, z = rotate(inverse(head_turn(q)), ahead).T
    aside = np.hypot(x, y)
    per_side = np.arctan2(aside, z) / np.maximum(aside, 1e-9)
    yaw, pitch = within(np.rad2deg(np.stack([x, y], axis=-1) * per_side[:, None]), EYE_LIMITS).T
    # Straight from ahead to there, without torsion (Listing's law).
    turn = about_vector(np.stack([-pitch, yaw, np.zeros_like(yaw)], axis=-1))
    q[:, INDEX["leftEye"]] = q[:, INDEX["rightEye"]] = turn


def _arm(joints: Array) -> dict[str, Array]:
    """Rotations of a left arm's bones, by name without the side."""
    shrug, raised, forward, inward, elbow, twist, bend, swing, curl = joints.T
    shoulder = about("z", shrug)
    out = {
        "Shoulder": shoulder,
        # The arm hangs on while the shoulder rises.
        "UpperArm": chain(
            inverse(shoulder), about("x", -forward), about("z", raised - 90.0), about("x", inward)
        ),
        # Half of the twist each, since skin over one twisting joint would collapse.
        "LowerArm": chain(about("y", -elbow), about("x", twist / 2.0)),
        "Hand": chain(about("x", twist / 2.0), about("y", -swing), about("z", -bend)),
    }
    fingers = about("z", -curl[:, None] * _FINGER_CURLS)
    out |= {bone: fingers[:, i] for i, bone in enumerate(_FINGER_BONES)}
    thumb = about("y", curl[:, None] * _THUMB_CURLS)
    out |= {bone: thumb[:, i] for i, bone in enumerate(_THUMB_BONES)}
    return out
