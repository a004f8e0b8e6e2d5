"""Eyes that look at a cloud from around it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import stereo
from taoxr_runtime.render.camera import View, look_at, perspective_from_angles


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Viewpoint:
    """A camera on a sphere around a point.

    Attributes:
        target: float64 [3], metres, in the middle of the picture.
        distance: From there to the viewer, metres.
        yaw: Degrees; 0 looks from +z, positive comes from +x.
        pitch: Degrees above the horizon.
        roll: Degrees; positive tips the head to its left shoulder.
        fov: Vertical field of view in degrees.
        near: What is nearer than this, in metres, is not drawn.

    Raises:
        InvalidInputError: An angle or a length is out of range.
    """

    target: NDArray[np.float64]
    distance: float
    yaw: float = 0.0
    pitch: float = 0.0
    roll: float = 0.0
    fov: float = 40.0
    near: float = 0.05

    def __post_init__(self) -> None:
        limits = {
            "distance": (1e-3, 1e4),
            "yaw": (-360.0, 360.0),
            "pitch": (-89.0, 89.0),
            "roll": (-180.0, 180.0),
            "fov": (1.0, 150.0),
            "near": (1e-4, 1e3),
        }
        for field, (low, high) in limits.items():
            value: float = getattr(self, field)
            if not low <= value <= high:
                raise InvalidInputError(f"--{field}", value, f"{low:g} to {high:g}")

    @property
    def position(self) -> NDArray[np.float64]:
        """Of the viewer, float64 [3]: midway between the eyes."""
        yaw, pitch = math.radians(self.yaw), math.radians(self.pitch)
        away = (math.sin(yaw) * math.cos(pitch), math.sin(pitch), math.cos(yaw) * math.cos(pitch))
        return self.target + self.distance * np.array(away)

    def view(self, width: int, height: int) -> View:
        """The picture of one eye."""
        pose = look_at(self.position, self.target, roll=math.radians(self.roll))
        up = math.radians(self.fov) / 2
        across = math.atan(math.tan(up) * width / height)
        return View(
            pose, perspective_from_angles(-across, across, up, -up, self.near, math.inf), width, height
        )

    def pair(self, width: int, height: int) -> tuple[View, View]:
        """The pictures of the left and the right eye; what is at the target has no disparity."""
        return stereo.pair(self.view(width, height), self.distance)
