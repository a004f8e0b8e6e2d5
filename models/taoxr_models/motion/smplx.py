"""Recordings of MNN-TaoAvatar: bodies in SMPL-X's joints, 20 frames a second.

``body_params.bin`` is what MNN's app reads (apps/Android/MnnTaoAvatar): little-endian, a count of frames as
uint64, then for each its number as int32 and ten vectors, each behind its length as uint64. Rotations are
axis and angle in radians, local, from SMPL-X's T-pose (Pavlakos et al., "Expressive Body Capture", 2019).

That T-pose is VRM's but for a few degrees, and so are the axes of all bones; so a joint's rotation is that of
the humanoid's bone. Left out are face and eyes, which are moved by others, the toes, which the humanoid
lacks, and the place in the room: feet stay where they are (`legs.over_the_feet`).
"""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import ModelError
from taoxr_models.motion.bones import BONES, INDEX
from taoxr_models.motion.rotations import Array, about_vector, inverse, multiply, rotate

RATE_HZ: Final = 20.0
MOST_FRAMES: Final = 72_000
"""An hour; more would take hundreds of megabytes."""

_VECTORS: Final = {
    "expression": 50, "Rh": 3, "Th": 3, "body_pose": 63, "jaw_pose": 3, "leye_pose": 3, "reye_pose": 3,
    "left_hand_pose": 45, "right_hand_pose": 45, "pose": 100,
}  # fmt: skip
_FRAME: Final = np.dtype(
    [("frame_id", "<i4")]
    + [part for name, n in _VECTORS.items() for part in ((f"length of {name}", "<u8"), (name, "<f4", (n,)))]
)
# In SMPL-X's order, without the root; "" is left out.
_BODY: Final = (
    "leftUpperLeg", "rightUpperLeg", "spine", "leftLowerLeg", "rightLowerLeg", "chest", "leftFoot",
    "rightFoot", "upperChest", "", "", "neck", "leftShoulder", "rightShoulder", "head", "leftUpperArm",
    "rightUpperArm", "leftLowerArm", "rightLowerArm", "leftHand", "rightHand",
)  # fmt: skip
_HAND: Final = tuple(
    finger + joint
    for finger in ("Index", "Middle", "Little", "Ring", "Thumb")
    for joint in (
        ("Metacarpal", "Proximal", "Distal") if finger == "Thumb" else ("Proximal", "Intermediate", "Distal")
    )
)
# Less of it, and it is not clear which of the axes is up.
_UPRIGHT: Final = 0.8


def read(path: Path) -> NDArray[np.void]:
    """The frames of a recording, a structured array [n] with the names of the ten vectors.

    Raises:
        ModelError: The file is damaged, or of another layout; says where.
        OSError: It cannot be read.
    """
    data = path.read_bytes()
    if len(data) < 8:
        raise ModelError(f"{path.name} has {len(data)} bytes: no count of frames")
    count = int.from_bytes(data[:8], "little")
    if not 2 <= count <= MOST_FRAMES:
        raise ModelError(f"{path.name} says that it has {count} frames; expected 2 to {MOST_FRAMES}")
    if len(data) != 8 + count * _FRAME.itemsize:
        raise ModelError(
            f"{path.name} has {len(data)} bytes; {count} frames of a recording of SMPL-X have "
            f"{8 + count * _FRAME.itemsize}"
        )
    frames = np.frombuffer(data, _FRAME, count, 8)
    for name, length in _VECTORS.items():
        if (other := np.flatnonzero(frames[f"length of {name}"] != length)).size:
            found = int(frames[f"length of {name}"][other[0]])
            raise ModelError(f"{path.name}, frame {other[0]}: {name} has {found} numbers, expected {length}")
        if (broken := np.flatnonzero(~np.isfinite(frames[name]).all(axis=1))).size:
            raise ModelError(f"{path.name}, frame {broken[0]}: {name} is not finite")
    return frames


def humanoid(frames: NDArray[np.void]) -> Array:
    """Local rotations of the humanoid's bones [n, bones, 4]; upright, on the whole facing +Z.

    Raises:
        ModelError: The body does not stand upright along any axis.
    """
    q = np.zeros((len(frames), len(BONES), 4))
    q[..., 3] = 1.0
    joints = {bone: frames["body_pose"][:, 3 * i : 3 * i + 3] for i, bone in enumerate(_BODY) if bone}
    for side in ("left", "right"):
        hand = frames[f"{side}_hand_pose"]
        joints |= {side + bone: hand[:, 3 * i : 3 * i + 3] for i, bone in enumerate(_HAND)}
    for bone, vectors in joints.items():
        q[:, INDEX[bone]] = _rotation(vectors)
    q[:, INDEX["hips"]] = _upright(_rotation(frames["Rh"]))
    return _continuous(q)


def _rotation(vectors: NDArray[np.float32]) -> Array:
    return about_vector(np.rad2deg(vectors.astype(np.float64)))


def _upright(turns: Array) -> Array:
    """Turns of the whole body [n, 4], from the axes of whatever camera filmed it to ours."""
    up = rotate(turns, np.broadcast_to((0.0, 1.0, 0.0), (len(turns), 3))).mean(axis=0)
    axis = int(np.abs(up).argmax())
    if abs(up[axis]) < _UPRIGHT:
        x, y, z = up
        raise ModelError(f"the body does not stand upright: its axis points to {x:.2f}, {y:.2f}, {z:.2f}")
    target = np.zeros(3)
    target[axis] = np.sign(up[axis])
    turns = multiply(_between(target), turns)
    ahead = rotate(turns, np.broadcast_to((0.0, 0.0, 1.0), (len(turns), 3))).mean(axis=0)
    yaw = np.rad2deg(np.arctan2(ahead[0], ahead[2]))
    return multiply(about_vector(np.array([0.0, -yaw, 0.0])), turns)


def _between(axis: Array) -> Array:
    """The rotation [4] that takes an axis of space to +Y."""
    up = np.array([0.0, 1.0, 0.0])
    if axis[1] < 0:
        return about_vector(np.array([180.0, 0.0, 0.0]))  # as cameras have it: y down, z ahead
    return about_vector(90.0 * np.cross(axis, up))


def _continuous(q: Array) -> Array:
    """The same rotations, each quaternion on the side of the one before, so that they can be interpolated."""
    against = np.cumsum((q[1:] * q[:-1]).sum(-1) < 0.0, axis=0) % 2 == 1
    q[1:][against] *= -1.0
    return q


def vectors_of(q: Array) -> NDArray[np.float32]:
    """Axis and angle in radians [..., 3] of rotations [..., 4]: the way back, to write recordings."""
    q = np.where(q[..., 3:] < 0.0, -q, q)
    size = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(size, q[..., 3:])
    return (q[..., :3] * np.where(size > 1e-12, angle / np.maximum(size, 1e-12), 2.0)).astype(np.float32)


def write(path: Path, rotations: Array) -> None:
    """Writes a recording as MNN-TaoAvatar has it, such as from motion of other origin.

    Args:
        path: The file.
        rotations: Of the humanoid's bones [n, bones, 4], `RATE_HZ` of them a second.
    """
    frames = np.zeros(len(rotations), _FRAME)
    for name, length in _VECTORS.items():
        frames[f"length of {name}"] = length
    frames["frame_id"] = np.arange(len(rotations))
    # Cameras have y down and z ahead.
    turned = multiply(inverse(_between(np.array([0.0, -1.0, 0.0]))), rotations[:, INDEX["hips"]])
    frames["Rh"] = vectors_of(turned)
    for i, bone in enumerate(_BODY):
        if bone:
            frames["body_pose"][:, 3 * i : 3 * i + 3] = vectors_of(rotations[:, INDEX[bone]])
    for side in ("left", "right"):
        for i, bone in enumerate(_HAND):
            name = f"{side}_hand_pose"
            frames[name][:, 3 * i : 3 * i + 3] = vectors_of(rotations[:, INDEX[side + bone]])
    path.write_bytes(len(frames).to_bytes(8, "little") + frames.tobytes())
