"""Poses of VRM's humanoid on the avatar's skeleton.

A body track says how each bone of the humanoid is turned from VRM's T-pose. The avatar's own rest pose is
another one (it stands at ease), so for every bone of ours it is worked out once how it is turned at rest from
the T-pose: arms and fingers from where they point, hinges and knuckles included; trunk, head, shoulders and
legs are taken to stand in T-pose. Bones are those of Anny and MakeHuman; those that the humanoid lacks move
along.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

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
    """How one bone of ours is moved.

    Attributes:
        bone: Its index.
        above: The nearest bone above it that is moved too; -1 without one.
        source: The humanoid's bone that moves it.
        share: How much of that one's turn it makes.
        from_rest: Rotation from its rest back to T-pose.
    """

    bone: int
    above: int
    source: str
    share: float
    from_rest: tuple[float, ...]


class Retarget:
    """Turns poses of VRM's humanoid into poses of a skeleton.

    Args:
        skeleton: The avatar's.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self._skeleton = skeleton
        self._parents = dict(_humanoid())
        self._drives = _drives(skeleton)
        self._feet = [skeleton.index[foot] for foot in ("foot.L", "foot.R") if foot in skeleton.index]
        root = skeleton.index.get("root")
        self._scale = 1.0 if root is None else float(skeleton.heads[root, 1]) / HIPS_HEIGHT_M

    def pose(self, humanoid: HumanoidPose | None) -> BodyPose | None:
        """The pose of the skeleton; None for None, and for a skeleton none of whose bones is known."""
        if humanoid is None or not self._drives:
            return None
        local: dict[str, _Quaternion] = {
            name: tuple(q) for name, q in zip(humanoid.names, humanoid.rotations.tolist(), strict=True)
        }
        turned: dict[str, _Quaternion] = {"": rotation.IDENTITY}
        for name, parent in self._parents.items():
            turned[name] = _multiply(turned[parent], local[name]) if name in local else turned[parent]
        world: dict[int, _Quaternion] = {}
        for drive in self._drives:
            part = local.get(drive.source, rotation.IDENTITY)
            if drive.share < 1.0:
                part = tuple(rotation.share(np.array(part), drive.share).tolist())
            world[drive.bone] = _multiply(
                _multiply(turned[self._parents[drive.source]], part), drive.from_rest
            )
        pose = self._skeleton.rest_pose()
        for drive in self._drives:
            turn = world[drive.bone]
            if drive.above >= 0:
                x, y, z, w = world[drive.above]
                turn = _multiply((-x, -y, -z, w), turn)
            pose[drive.bone] = turn
        return BodyPose(pose, self._root(pose, humanoid.hips * self._scale))

    def _root(self, pose: Array, hips: Array) -> Array:
        """Where the body is: with its feet on average where they rest.

        Legs of other proportions than those of the track do not quite end where its legs do.
        """
        moved = [self._skeleton.transform(pose, foot) for foot in self._feet]
        slipped = [
            turn @ self._skeleton.heads[foot] + shift - self._skeleton.heads[foot] + hips
            for foot, (turn, shift) in zip(self._feet, moved, strict=True)
        ]
        return hips - np.mean(slipped, axis=0) if slipped else hips


# Plain floats: NumPy's overhead for two hundred products would cost a display frame more than they do.
_Quaternion: TypeAlias = tuple[float, ...]


def _multiply(a: _Quaternion, b: _Quaternion) -> _Quaternion:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


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


def _drives(skeleton: Skeleton) -> list[_Drive]:
    """All bones of ours that the humanoid moves, as far as the skeleton has them, in its order."""
    moved: dict[int, tuple[str, float, tuple[float, ...]]] = {}
    for bone, source, share, rest in _moved(skeleton):
        if bone in skeleton.index:
            moved[skeleton.index[bone]] = (source, share, rest)
    drives: list[_Drive] = []
    for bone in sorted(moved):
        above = int(skeleton.parents[bone])
        while above >= 0 and above not in moved:
            above = int(skeleton.parents[above])
        drives.append(_Drive(bone, above, *moved[bone]))
    return drives


def _moved(skeleton: Skeleton) -> Iterator[tuple[str, str, float, tuple[float, ...]]]:
    """Our bone, the humanoid's, the share of its turn, and the way from rest back to T-pose."""
    for bone, (source, share) in _TRUNK_BONES.items():
        yield bone, source, share, rotation.IDENTITY
    for side, letter in (("left", "L"), ("right", "R")):
        rests = {bone: tuple(q.tolist()) for bone, q in _arm_rests(skeleton, letter).items()}
        for bone, name in _LIMB_BONES.items():
            yield f"{bone}.{letter}", side + name, 1.0, rests.get(bone, rotation.IDENTITY)
        for finger, number in (("Thumb", 1), *_FINGERS.items()):
            names = _THUMB if finger == "Thumb" else tuple(finger + joint for joint in _JOINTS)
            for i, name in enumerate(names, 1):
                if (bone := f"finger{number}-{i}") in rests:
                    yield f"{bone}.{letter}", side + name, 1.0, rests[bone]


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
