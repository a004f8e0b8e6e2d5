"""Poses of VRM's humanoid on the avatar's skeleton.

A body track says how each bone of the humanoid is turned from VRM's T-pose. The avatar's own rest pose is
another one (it stands at ease), so for every bone of ours it is worked out once how it is turned at rest from
the T-pose: arms and fingers from where they point, hinges and knuckles included; trunk, head, shoulders and
legs are taken to stand in T-pose. Bones are those of Anny and MakeHuman; those that the humanoid lacks move
along.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from taoxr_runtime.animation import rotation
from taoxr_runtime.animation.body import Skeleton
from taoxr_runtime.animation.body_player import HumanoidPose

Array = npt.NDArray[np.float64]

HIPS_HEIGHT_M: Final = 0.95
"""Height of the hips for which a body track's translations are meant (see docs/body.md)."""

# VRM's parents; a parent comes before its children.
_TRUNK: Final = {
    "hips": "", "spine": "hips", "chest": "spine", "upperChest": "chest", "neck": "upperChest",
    "head": "neck",
}  # fmt: skip
_LIMBS: Final = {
    "Shoulder": "upperChest", "UpperArm": "Shoulder", "LowerArm": "UpperArm", "Hand": "LowerArm",
    "UpperLeg": "hips", "LowerLeg": "UpperLeg", "Foot": "LowerLeg",
}  # fmt: skip
_FINGERS: Final = {"Index": 2, "Middle": 3, "Ring": 4, "Little": 5}
_THUMB: Final = ("ThumbMetacarpal", "ThumbProximal", "ThumbDistal")
_JOINTS: Final = ("Proximal", "Intermediate", "Distal")

# Our bone: the humanoid's bone, and how much of that one's turn it has made.
_TRUNK_BONES: Final = {
    "root": ("hips", 1.0),
    "spine04": ("spine", 1.0),
    "spine03": ("chest", 0.5),
    "spine02": ("chest", 1.0),
    "spine01": ("upperChest", 1.0),
    "neck01": ("neck", 0.4),
    "neck02": ("neck", 0.7),
    "neck03": ("neck", 1.0),
    "head": ("head", 1.0),
}
_LIMB_BONES: Final = {
    "clavicle": "Shoulder", "upperarm01": "UpperArm", "lowerarm01": "LowerArm", "wrist": "Hand",
    "upperleg01": "UpperLeg", "lowerleg01": "LowerLeg", "foot": "Foot",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BodyPose:
    """A pose of the avatar's skeleton.

    Attributes:
        pose: float64 [B, 4], one rotation per bone in model axes about the bone's head, xyzw.
        root: float64 [3], translation of the whole body in metres.
    """

    pose: Array
    root: Array


@dataclass(frozen=True, slots=True)
class _Drive:
    """One bone of ours: its index, the humanoid's bone, its share of that turn, its way back to T-pose."""

    bone: int
    source: str
    share: float
    from_rest: Array


class Retarget:
    """Turns poses of VRM's humanoid into poses of a skeleton.

    Args:
        skeleton: The avatar's.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton
        self._parents = dict(_humanoid())
        self._drives = list(_drives(skeleton))
        root = skeleton.index.get("root")
        self._scale = 1.0 if root is None else float(skeleton.heads[root, 1]) / HIPS_HEIGHT_M

    def pose(self, humanoid: HumanoidPose | None) -> BodyPose | None:
        """The pose of the skeleton; None for None, and for a skeleton none of whose bones is known."""
        if humanoid is None or not self._drives:
            return None
        local = dict(zip(humanoid.names, humanoid.rotations, strict=True))
        still = np.array(rotation.IDENTITY)
        turned = {"": still}
        for name, parent in self._parents.items():
            turned[name] = rotation.multiply(turned[parent], local[name]) if name in local else turned[parent]
        world: dict[int, Array] = {}
        for drive in self._drives:
            part = rotation.share(local.get(drive.source, still), drive.share)
            above = turned[self._parents[drive.source]]
            world[drive.bone] = rotation.multiply(rotation.multiply(above, part), drive.from_rest)
        pose = self._skeleton.rest_pose()
        for bone, target in world.items():
            above = self._above(bone, world)
            pose[bone] = target if above is None else rotation.multiply(rotation.inverse(above), target)
        return BodyPose(pose, humanoid.hips * self._scale)

    def _above(self, bone: int, world: dict[int, Array]) -> Array | None:
        """How the nearest bone above that is driven is turned."""
        while (bone := int(self._skeleton.parents[bone])) >= 0:
            if bone in world:
                return world[bone]
        return None


def _humanoid() -> Iterator[tuple[str, str]]:
    """The humanoid's bones with their parents."""
    yield from _TRUNK.items()
    for side in ("left", "right"):
        for name, parent in _LIMBS.items():
            yield side + name, side + parent if parent in _LIMBS else parent
        for chain in (_THUMB, *([finger + joint for joint in _JOINTS] for finger in _FINGERS)):
            above = "Hand"
            for name in chain:
                yield side + name, side + above
                above = name


def _drives(skeleton: Skeleton) -> Iterator[_Drive]:
    """All bones of ours that the humanoid moves, as far as the skeleton has them."""
    index = skeleton.index
    still = np.array(rotation.IDENTITY)
    for bone, (source, share) in _TRUNK_BONES.items():
        if bone in index:
            yield _Drive(index[bone], source, share, still)
    for side, letter in (("left", "L"), ("right", "R")):
        rests = _arm_rests(skeleton, letter)
        for bone, name in _LIMB_BONES.items():
            if f"{bone}.{letter}" in index:
                yield _Drive(index[f"{bone}.{letter}"], side + name, 1.0, rests.get(bone, still))
        for finger, number in (("Thumb", 1), *_FINGERS.items()):
            names = _THUMB if finger == "Thumb" else tuple(finger + joint for joint in _JOINTS)
            for i, name in enumerate(names, 1):
                bone = f"finger{number}-{i}"
                if f"{bone}.{letter}" in index and bone in rests:
                    yield _Drive(index[f"{bone}.{letter}"], side + name, 1.0, rests[bone])


def _arm_rests(skeleton: Skeleton, letter: str) -> dict[str, Array]:
    """For each bone of an arm, the rotation back from its rest to the T-pose; empty without an arm."""

    def head(bone: str) -> Array:
        return skeleton.heads[skeleton.index[f"{bone}.{letter}"]]

    needed = (
        "upperarm01",
        "lowerarm01",
        "wrist",
        *(f"finger{n}-{i}" for n in (2, 3, 4, 5) for i in (1, 2, 3)),
    )
    if any(f"{bone}.{letter}" not in skeleton.index for bone in needed):
        return {}
    out = np.array([1.0 if letter == "L" else -1.0, 0.0, 0.0])
    up, front = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    upper, lower = head("lowerarm01") - head("upperarm01"), head("wrist") - head("lowerarm01")
    # About this axis the elbow bends: at rest it is bent a little, in T-pose it bends to the front.
    hinge, hinge_in_t = np.cross(upper, lower), -up * out[0]
    rests = {
        "upperarm01": _between(upper, hinge, out, hinge_in_t),
        "lowerarm01": _between(lower, hinge, out, hinge_in_t),
    }
    knuckles = head("finger2-1") - head("finger5-1")
    palm = (head("finger3-1") + head("finger4-1")) / 2 - head("wrist")
    rests["wrist"] = _between(palm, knuckles, out, front)
    for number in _FINGERS.values():
        first, middle, last = (head(f"finger{number}-{i}") for i in (1, 2, 3))
        near, far = middle - first, last - middle
        # Where the last segment ends is not known: it bends like the one before.
        bent = _between(near, knuckles, far, knuckles)
        tip = rotation.to_matrix(rotation.inverse(bent)) @ far
        for i, along in enumerate((near, far, tip), 1):
            rests[f"finger{number}-{i}"] = _between(along, knuckles, out, front)
    # How a thumb lies in T-pose differs from avatar to avatar; it moves with the hand from where it is.
    rests |= {f"finger1-{i}": rests["wrist"] for i in (1, 2, 3)}
    return rests


def _between(along: Array, across: Array, along_to: Array, across_to: Array) -> Array:
    """Rotation that takes one direction to another exactly, and a second one as nearly as it then can."""
    return rotation.from_matrix(_frame(along_to, across_to) @ _frame(along, across).T)


def _frame(along: Array, across: Array) -> Array:
    x = along / np.linalg.norm(along)
    z = np.cross(x, across)
    z /= np.linalg.norm(z)
    return np.stack([x, np.cross(z, x), z], axis=1)
