"""Puts a cloud into our frame: metres, +Y up, standing on the origin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.splat_files.cloud import Cloud

F64 = NDArray[np.float64]

UP: Final[dict[str, F64]] = {
    "y": np.eye(3),
    "-y": np.diag([1.0, -1.0, -1.0]),
    "z": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]),
    "-z": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
    "x": np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]),
    "-x": np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]),
}
"""Rotations that turn an axis up. About x where that does it, so that right stays right."""
_OUTLIERS: Final = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Where most of a cloud is; a few stray splats far away do not count.

    Attributes:
        low: float64 [3], metres.
        high: float64 [3], metres.
    """

    low: F64
    high: F64

    @property
    def center(self) -> F64:
        """float64 [3]."""
        return (self.low + self.high) / 2

    @property
    def radius(self) -> float:
        """Half the diagonal, at least a millimetre."""
        return max(float(np.linalg.norm(self.high - self.low)) / 2, 1e-3)


def box(means: NDArray[np.float32]) -> Box:
    """The box that leaves out the outermost hundredth on each side of each axis."""
    low, high = np.quantile(means.astype(np.float64), [_OUTLIERS, 1 - _OUTLIERS], axis=0)
    return Box(low, high)


def turning(up: str, degrees: Sequence[float] = (0.0, 0.0, 0.0)) -> F64:
    """The rotation [3, 3] that turns an axis up, and then turns about x, about y and about z.

    Raises:
        InvalidInputError: The axis is unknown, or an angle is not finite.
    """
    if up not in UP:
        raise InvalidInputError("--up", up, f"one of {', '.join(UP)}")
    if len(degrees) != 3 or not np.isfinite(degrees).all():
        raise InvalidInputError("--rotate", list(degrees), "three angles in degrees")
    rotation = UP[up]
    for axis, angle in enumerate(degrees):
        c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
        i, j = (axis + 1) % 3, (axis + 2) % 3
        step = np.eye(3)
        step[i, i], step[i, j], step[j, i], step[j, j] = c, -s, s, c
        rotation = step @ rotation
    return rotation


def stood(cloud: Cloud) -> Cloud:
    """The cloud shifted so that most of it stands on y = 0, in the middle."""
    found = box(cloud.means)
    foot = np.array([found.center[0], found.low[1], found.center[2]])
    return cloud.moved(np.eye(3), shift=-foot)


def most_seen(cloud: Cloud, most: int) -> Cloud:
    """The splats that cover most, in their order.

    Args:
        cloud: N splats.
        most: How many may stay, at least 1.
    """
    if len(cloud) <= most:
        return cloud
    # The two longer axes make the area that a splat shows from most sides.
    area = np.sort(cloud.sigmas, axis=1)[:, 1:].prod(axis=1) * cloud.opacities
    return cloud.taken(np.sort(np.argpartition(-area, most)[:most]))
