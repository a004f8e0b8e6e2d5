"""Turning to the viewer: the eyes at once, the head for half of the way, the trunk when that is not enough.

How the parts share a turn: M. F. Land, "The coordination of rotations of the eyes, head and trunk in saccadic
turns produced in natural situations", Experimental Brain Research 159, 2004.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from taoxr import arkit
from taoxr_runtime.animation import rotation
from taoxr_runtime.animation.body import Skeleton
from taoxr_runtime.animation.curves import Follower, smoothstep
from taoxr_runtime.animation.gaze import LidShapes, eye_motion
from taoxr_runtime.animation.posture import HEAD_SHARES, SPINE_SHARES, shares

Array = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]

HEAD_YAW_LIMIT_DEG: Final = 28.0
HEAD_PITCH_LIMIT_DEG: Final = 18.0
TRUNK_YAW_LIMIT_DEG: Final = 15.0
# Of a turn towards something the head makes this share, the eyes the rest.
_HEAD_SHARE_VIEWER: Final = 0.55
_HEAD_SHARE_GLANCE: Final = 0.3
# The trunk does nothing for a viewer who is nearly in front, and this share of what is more.
_TRUNK_FROM_DEG: Final = 12.0
_TRUNK_SHARE: Final = 0.35
_HEAD_S: Final = 0.55
_TRUNK_S: Final = 1.3
# Who stands farther round than this is not followed any more; those who stand behind, not at all.
_FOLLOWED_DEG: Final = 70.0
_BEHIND_DEG: Final = 115.0


class Aim:
    """The shares of trunk, head and eyes in looking at the viewer, over time.

    Args:
        skeleton: The bones.
        lids: What the eyeLook shapes turn.
    """

    def __init__(self, skeleton: Skeleton, lids: LidShapes) -> None:
        self._skeleton, self._lids = skeleton, lids
        self._head_bones = shares(skeleton, HEAD_SHARES | {skeleton.head_bone: HEAD_SHARES["head"]})
        self._spine_bones = shares(skeleton, SPINE_SHARES)
        self._trunk = Follower(0.0, _TRUNK_S)
        self._head = Follower(np.zeros(2), _HEAD_S)

    @property
    def head_bones(self) -> dict[str, float]:
        """The bones of neck and head, and their shares of a turn of the head."""
        return self._head_bones

    @property
    def spine_bones(self) -> dict[str, float]:
        """The same of the trunk."""
        return self._spine_bones

    def trunk(self, pose: Array, camera: Array, dt: float) -> float:
        """How far the trunk turns to its left, degrees.

        Args:
            pose: What the body does otherwise.
            camera: Point between the viewer's eyes [3], in the model frame without the body's translation.
            dt: Seconds since the last call.
        """
        if not self._spine_bones:
            return 0.0
        yaw, _, attention = self._towards(pose, camera, next(iter(self._spine_bones)))
        more = np.copysign(max(abs(yaw) - _TRUNK_FROM_DEG, 0.0), yaw) * _TRUNK_SHARE * attention
        limited = np.clip(more, -TRUNK_YAW_LIMIT_DEG, TRUNK_YAW_LIMIT_DEG)
        return float(self._trunk.step(limited, dt))

    def head(self, pose: Array, camera: Array, glance: Array, dt: float) -> Array:
        """The head's part, with the trunk turned already: degrees about X, Y and Z; see `trunk`.

        Args:
            pose: What the body does otherwise.
            camera: Point between the viewer's eyes.
            glance: Yaw and pitch [2] of where it looks beside the viewer, degrees.
            dt: Seconds since the last call.
        """
        neck = next(iter(self._head_bones), self._skeleton.head_bone)
        yaw, pitch, attention = self._towards(pose, camera, neck)
        aim = np.array([yaw, pitch]) * _HEAD_SHARE_VIEWER * attention + glance * _HEAD_SHARE_GLANCE
        limits = np.array([HEAD_YAW_LIMIT_DEG, HEAD_PITCH_LIMIT_DEG])
        yaw, pitch = self._head.step(np.clip(aim, -limits, limits), dt)
        return np.array([-pitch, yaw, 0.0])

    def eyes(self, pose: Array, camera: Array, glance: Array) -> Weights:
        """Turns the eyes' bones in ``pose`` the rest of the way and returns the eyeLook weights [52]."""
        skeleton = self._skeleton
        weights = np.zeros(len(arkit.NAMES), np.float32)
        turn, shift = skeleton.transform(pose, skeleton.index[skeleton.head_bone])
        viewer = turn.T @ (camera - shift)
        for side, bone, eye in zip(("Left", "Right"), skeleton.eye_bones, skeleton.eyes, strict=True):
            yaw, pitch = rotation.look_angles_deg(viewer - eye)
            attention = smoothstep((75.0 - abs(yaw)) / 30.0)
            yaw, pitch = np.array([yaw, pitch]) * attention + glance
            pose[skeleton.index[bone]], lids = eye_motion(side, float(yaw), float(pitch), self._lids)
            for index, weight in lids.items():
                weights[index] = weight
        return weights

    def _towards(self, pose: Array, camera: Array, bone: str) -> tuple[float, float, float]:
        """Yaw and pitch of the viewer seen from what carries a bone, and how much of it to follow."""
        skeleton = self._skeleton
        parent = int(skeleton.parents[skeleton.index[bone]])
        turn, shift = skeleton.transform(pose, parent) if parent >= 0 else (np.eye(3), np.zeros(3))
        yaw, pitch = rotation.look_angles_deg(turn.T @ (camera - shift) - skeleton.eyes.mean(axis=0))
        return yaw, pitch, smoothstep((_BEHIND_DEG - abs(yaw)) / (_BEHIND_DEG - _FOLLOWED_DEG))
