"""Poses and fields of view as OpenXR gives them, and where the avatar stands. Metres; +Y up, −Z forward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.animation import rotation
from taoxr_runtime.render.camera import View, perspective_from_angles

Matrix = NDArray[np.float64]

DISTANCE_M: Final = 1.5
"""How far in front of the user the avatar stands."""
GUESSED_EYE_HEIGHT_M: Final = 1.6
"""Height of the user's eyes when the runtime does not know the floor."""

_TOO_NEAR_M: Final = 0.2


@dataclass(frozen=True, slots=True)
class Pose:
    """A rigid pose in a space.

    Attributes:
        orientation: Unit quaternion, xyzw.
        position: Metres.
    """

    orientation: tuple[float, float, float, float]
    position: tuple[float, float, float]

    @property
    def matrix(self) -> Matrix:
        """float64 [4, 4], from the pose's own frame to the space's."""
        # The runtime's quaternions may be off unit length by a percent (OpenXR 1.1, 2.16).
        quaternion = np.array(self.orientation)
        matrix = np.eye(4)
        matrix[:3, :3] = rotation.to_matrix(quaternion / np.linalg.norm(quaternion))
        matrix[:3, 3] = self.position
        return matrix

    def offset(self, x: float, y: float, z: float) -> Pose:
        """The pose moved along its own axes."""
        x, y, z = (float(value) for value in (self.matrix @ (x, y, z, 1.0))[:3])
        return Pose(self.orientation, (x, y, z))


@dataclass(frozen=True, slots=True)
class Eye:
    """One of the user's eyes at the time at which the frame will be seen.

    Attributes:
        pose: In the space of the session.
        angles: Edges of the field of view (left, right, up, down) in radians; left and down usually negative.
    """

    pose: Pose
    angles: tuple[float, float, float, float]

    def view(self, model: Pose, width: int, height: int) -> View:
        """The renderer's view of a model.

        Args:
            model: Where the model stands, in the space of the eye.
            width: Pixels.
            height: Pixels.

        Returns:
            The view in the model's frame, so that its splats need not be moved.
        """
        left, right, up, down = self.angles
        projection = perspective_from_angles(left, right, up, down)
        return View(_inverse(self.pose.matrix) @ model.matrix, projection, width, height)


def head(eyes: Sequence[Eye]) -> Matrix:
    """Pose of the head: midway between the eyes, turned as the first one."""
    matrix = eyes[0].pose.matrix
    matrix[:3, 3] = np.mean([eye.pose.position for eye in eyes], axis=0)
    return matrix


def in_front(head: Matrix, floor_y: float, distance: float = DISTANCE_M) -> Pose:
    """Where a model stands so that the user looks at it: on the floor, turned to the user.

    Args:
        head: float64 [4, 4], pose of the user's head.
        floor_y: Height of the floor in metres, in the same space.
        distance: Metres, measured on the floor.

    Returns:
        Pose of the model, whose front is its +Z.
    """
    ahead = -head[:3, 2]
    if math.hypot(ahead[0], ahead[2]) < 0.2:
        # Looking straight down the top of the head points ahead, looking up it points back.
        ahead = head[:3, 1] * (1.0 if ahead[1] < 0 else -1.0)
    angle = math.atan2(-ahead[0], -ahead[2])
    position = (
        float(head[0, 3]) - distance * math.sin(angle),
        floor_y,
        float(head[2, 3]) - distance * math.cos(angle),
    )
    return Pose(about_y(angle), position)


def facing(model: Pose, head: Matrix) -> Pose:
    """The model turned about +Y so that its front, +Z, points to the user; as it is when that is above it.

    Args:
        model: Where it stands, upright.
        head: float64 [4, 4], pose of the user's head.
    """
    x, z = float(head[0, 3]) - model.position[0], float(head[2, 3]) - model.position[2]
    if math.hypot(x, z) < _TOO_NEAR_M:
        return model
    return Pose(about_y(math.atan2(x, z)), model.position)


def about_y(angle: float) -> tuple[float, float, float, float]:
    """Quaternion xyzw of a turn about +Y, radians."""
    return (0.0, math.sin(angle / 2), 0.0, math.cos(angle / 2))


def _inverse(rigid: Matrix) -> Matrix:
    inverse = np.eye(4)
    inverse[:3, :3] = rigid[:3, :3].T
    inverse[:3, 3] = -rigid[:3, :3].T @ rigid[:3, 3]
    return inverse
