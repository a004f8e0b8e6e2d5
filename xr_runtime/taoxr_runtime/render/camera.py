"""Views: where an eye is, which way it looks, and how it projects.

View space is OpenGL's: x right, y up, the eye looks along −z. Clip space is OpenGL's as well (depth −1 to 1).
Pixels count from the top left; the centre of the first one is at (0.5, 0.5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taoxr.errors import InvalidInputError

MAX_SIZE = 16384
"""Largest width or height in pixels (also what current GPUs take)."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One eye: pose, projection and size of the picture.

    Attributes:
        world_to_view: float64 [4, 4], rigid (rotation and translation in metres).
        projection: float64 [4, 4], OpenGL perspective matrix, view to clip space; may be asymmetric.
        width: Pixels.
        height: Pixels.
        position: Where the eye is, float64 [3], metres, world frame.

    Raises:
        InvalidInputError: A matrix has a wrong shape or kind, or a size is out of range.
    """

    world_to_view: NDArray[np.float64]
    projection: NDArray[np.float64]
    width: int
    height: int
    position: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("world_to_view", "projection"):
            matrix = np.array(getattr(self, name), np.float64)
            if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
                raise InvalidInputError(f"view.{name}", matrix.tolist(), "a finite 4 by 4 matrix")
            matrix.setflags(write=False)
            object.__setattr__(self, name, matrix)
        for name in ("width", "height"):
            size = getattr(self, name)
            if not isinstance(size, int) or not 1 <= size <= MAX_SIZE:
                raise InvalidInputError(
                    f"view.{name}", size, f"a whole number of pixels from 1 to {MAX_SIZE}"
                )
        _check_rigid(self.world_to_view)
        _check_perspective(self.projection)
        position = -self.world_to_view[:3, :3].T @ self.world_to_view[:3, 3]
        position.setflags(write=False)
        object.__setattr__(self, "position", position)

    @staticmethod
    def from_pose(
        position: ArrayLike,
        orientation: ArrayLike,
        angles: tuple[float, float, float, float],
        size: tuple[int, int],
        near: float = 0.05,
        far: float = 100.0,
    ) -> View:
        """An eye as OpenXR's ``XrView`` describes it.

        Args:
            position: [3], of the eye, metres, world frame (``XrPosef.position``).
            orientation: [4], quaternion (x, y, z, w) that turns view axes to world axes, of any length.
            angles: (left, right, up, down) of ``XrFovf`` in radians; left and down are usually negative.
            size: (width, height) in pixels.
            near: Near plane in metres.
            far: Far plane in metres, ``math.inf`` allowed.

        Returns:
            The view.

        Raises:
            InvalidInputError: A number is not finite or out of range, or the quaternion is 0.
        """
        return View(pose_to_view(position, orientation), perspective_from_angles(*angles, near, far), *size)

    @property
    def near(self) -> float:
        """Distance of the near plane in metres, as the projection has it."""
        return float(self.projection[2, 3] / (self.projection[2, 2] - 1))

    @property
    def far(self) -> float:
        """Distance of the far plane in metres, as the projection has it; may be infinite."""
        beyond = float(self.projection[2, 2] + 1)
        return float(self.projection[2, 3]) / beyond if beyond else math.inf

    @property
    def focal(self) -> tuple[float, float]:
        """Focal lengths (x, y) in pixels."""
        return float(self.projection[0, 0]) * self.width / 2, float(self.projection[1, 1]) * self.height / 2

    @property
    def principal(self) -> tuple[float, float]:
        """Pixel (x, y) straight ahead of the eye."""
        return (
            (1 - float(self.projection[0, 2])) * self.width / 2,
            (1 + float(self.projection[1, 2])) * self.height / 2,
        )

    @property
    def tangents(self) -> tuple[float, float, float, float]:
        """Tangents (left, right, down, up) of the field of view; left and down are usually negative."""
        p = self.projection
        return (
            float((p[0, 2] - 1) / p[0, 0]),
            float((p[0, 2] + 1) / p[0, 0]),
            float((p[1, 2] - 1) / p[1, 1]),
            float((p[1, 2] + 1) / p[1, 1]),
        )


def perspective(fov_y: float, aspect: float, near: float = 0.05, far: float = 100.0) -> NDArray[np.float64]:
    """Symmetric perspective matrix.

    Args:
        fov_y: Vertical field of view in radians.
        aspect: Width divided by height.
        near: Near plane in metres.
        far: Far plane in metres, ``math.inf`` allowed.

    Returns:
        float64 [4, 4], view to OpenGL clip space.

    Raises:
        InvalidInputError: An angle, aspect or plane makes no picture.
    """
    if not 0 < fov_y < math.pi:
        raise InvalidInputError("fov_y", fov_y, "radians between 0 and pi")
    if not 0 < aspect < math.inf:
        raise InvalidInputError("aspect", aspect, "a positive ratio of width to height")
    up = math.tan(fov_y / 2)
    return _frustum(-up * aspect, up * aspect, -up, up, near, far)


def perspective_from_angles(
    left: float, right: float, up: float, down: float, near: float = 0.05, far: float = 100.0
) -> NDArray[np.float64]:
    """Perspective matrix of an asymmetric field of view, as ``XrFovf`` in OpenXR gives it.

    Args:
        left: Angle of the left edge in radians, negative to the left of straight ahead.
        right: Angle of the right edge.
        up: Angle of the upper edge, positive above straight ahead.
        down: Angle of the lower edge.
        near: Near plane in metres.
        far: Far plane in metres, ``math.inf`` allowed.

    Returns:
        float64 [4, 4], view to OpenGL clip space.

    Raises:
        InvalidInputError: The angles are out of range or in the wrong order.
    """
    for name, angle in (("left", left), ("right", right), ("up", up), ("down", down)):
        if not -math.pi / 2 < angle < math.pi / 2:
            raise InvalidInputError(name, angle, "radians between -pi/2 and pi/2")
    if not (left < right and down < up):
        raise InvalidInputError("angles", (left, right, up, down), "left < right and down < up")
    return _frustum(math.tan(left), math.tan(right), math.tan(down), math.tan(up), near, far)


def look_at(
    eye: ArrayLike, target: ArrayLike, up: ArrayLike = (0.0, 1.0, 0.0), roll: float = 0.0
) -> NDArray[np.float64]:
    """Pose of an eye that looks at a point.

    Args:
        eye: [3], metres, world frame.
        target: [3], the point that will be in the middle.
        up: [3], what shall point upwards in the picture.
        roll: Turn of the head about the line of sight in radians; positive tips it to its left shoulder.

    Returns:
        float64 [4, 4], world to view.

    Raises:
        InvalidInputError: The eye is at the target, or ``up`` is along the line of sight.
    """
    points = {"eye": eye, "target": target, "up": up}
    vectors = {name: np.asarray(value, np.float64) for name, value in points.items()}
    for name, vector in vectors.items():
        if vector.shape != (3,) or not np.isfinite(vector).all():
            raise InvalidInputError(name, vector.tolist(), "three finite numbers")
    back = vectors["eye"] - vectors["target"]
    distance = float(np.linalg.norm(back))
    if distance < 1e-9:
        raise InvalidInputError("target", vectors["target"].tolist(), "another point than the eye's")
    back = back / distance
    right = np.cross(vectors["up"], back)
    length = float(np.linalg.norm(right))
    if length < 1e-9:
        raise InvalidInputError("up", vectors["up"].tolist(), "a direction not along the line of sight")
    right = right / length
    upward = np.cross(back, right)
    c, s = math.cos(roll), math.sin(roll)
    rotation = np.stack([c * right + s * upward, c * upward - s * right, back])
    pose = np.eye(4)
    pose[:3, :3] = rotation
    pose[:3, 3] = -rotation @ vectors["eye"]
    return pose


def pose_to_view(position: ArrayLike, orientation: ArrayLike) -> NDArray[np.float64]:
    """World to view matrix of an eye given by position and quaternion; see ``View.from_pose``.

    Returns:
        float64 [4, 4].

    Raises:
        InvalidInputError: A number is not finite, or the quaternion is 0.
    """
    point, quaternion = np.asarray(position, np.float64), np.asarray(orientation, np.float64)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise InvalidInputError("position", point.tolist(), "three finite numbers")
    norm = float(np.linalg.norm(quaternion))
    if quaternion.shape != (4,) or not 0 < norm < math.inf:
        raise InvalidInputError("orientation", quaternion.tolist(), "a quaternion (x, y, z, w) other than 0")
    x, y, z, w = quaternion / norm
    to_world = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrix = np.eye(4)
    matrix[:3, :3] = to_world.T
    matrix[:3, 3] = -to_world.T @ point
    return matrix


def centre(views: Sequence[View]) -> NDArray[np.float64]:
    """Point midway between the eyes, float64 [3], metres, world frame: from here splats are sorted."""
    return np.add.reduce([view.position for view in views]) / len(views)


def _frustum(
    left: float, right: float, down: float, up: float, near: float, far: float
) -> NDArray[np.float64]:
    """Matrix of ``glFrustum`` for tangents at unit distance, with ``far`` allowed to be infinite."""
    if not 0 < near < far:
        raise InvalidInputError("near, far", (near, far), "0 < near < far, in metres")
    ratio = near / far
    matrix = np.zeros((4, 4))
    matrix[0, 0] = 2 / (right - left)
    matrix[1, 1] = 2 / (up - down)
    matrix[0, 2] = (right + left) / (right - left)
    matrix[1, 2] = (up + down) / (up - down)
    matrix[2, 2] = -(1 + ratio) / (1 - ratio)
    matrix[2, 3] = -2 * near / (1 - ratio)
    matrix[3, 2] = -1
    return matrix


def _check_rigid(matrix: NDArray[np.float64]) -> None:
    rotation = matrix[:3, :3]
    orthonormal = np.abs(rotation @ rotation.T - np.eye(3)).max() < 1e-4 and np.linalg.det(rotation) > 0
    if not orthonormal or np.abs(matrix[3] - (0, 0, 0, 1)).max() > 1e-9:
        raise InvalidInputError(
            "view.world_to_view",
            matrix.tolist(),
            "a rigid transform (orthonormal, right-handed, row 3 = 0 0 0 1)",
        )


def _check_perspective(matrix: NDArray[np.float64]) -> None:
    zero = matrix[[0, 0, 1, 1, 2, 2], [1, 3, 0, 3, 0, 1]]
    regular = (
        np.abs(zero).max() < 1e-9
        and np.abs(matrix[3] - (0, 0, -1, 0)).max() < 1e-9
        and matrix[0, 0] > 0
        and matrix[1, 1] > 0
        and matrix[2, 2] < 1
        and matrix[2, 3] < 0
    )
    if not regular:
        raise InvalidInputError(
            "view.projection",
            matrix.tolist(),
            "an OpenGL perspective matrix such as perspective() or perspective_from_angles() makes",
        )
