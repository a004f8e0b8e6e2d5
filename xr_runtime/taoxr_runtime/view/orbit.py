"""A camera that turns around the avatar, or around a still scene."""

import math
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.schema import Landmarks
from taoxr_runtime.render import View, look_at, perspective_from_angles, stereo
from taoxr_runtime.splat_files.placing import Box

_HALF_FOV: Final = math.tan(math.radians(13.0))
_NEAREST: Final = 0.35
_FARTHEST: Final = 8.0
_PITCH: Final = (-25.0, 70.0)
# A drag over the height of the window turns by so many degrees.
_DEGREES: Final = 160.0
_ZOOM: Final = 0.9


class Orbit:
    """Where the viewer is. Metres, the avatar's model frame.

    Args:
        landmarks: Of the avatar.
        aspect: Width by height of the picture at the start; a narrow one is seen from further away.
    """

    def __init__(self, landmarks: Landmarks, aspect: float) -> None:
        # Head and shoulders, from the front, at eye level.
        tall = landmarks.height
        eye_level = (landmarks.eye_left[1] + landmarks.eye_right[1]) / 2
        shown = 0.36 * tall * max(1.0, 0.75 / aspect)
        middle = np.array([0.0, eye_level - 0.06 * tall, landmarks.head_center[2]])
        self._start(middle, shown / 2 / _HALF_FOV, (0.0, tall), _FARTHEST)

    @classmethod
    def around(cls, box: Box, aspect: float) -> Self:
        """A camera that sees all of a thing, from the front.

        Args:
            box: Where it is.
            aspect: Width by height of the picture.
        """
        orbit = cls.__new__(cls)
        distance = box.radius / _HALF_FOV * max(1.0, 1.0 / aspect)
        bounds = float(box.low[1]), float(box.center[1]) + box.radius
        orbit._start(box.center, distance, bounds, max(4 * distance, _FARTHEST))
        return orbit

    def _start(
        self, middle: NDArray[np.float64], distance: float, bounds: tuple[float, float], farthest: float
    ) -> None:
        self._middle, self._home = middle, distance
        (self._floor, self._top), self._farthest = bounds, farthest
        self.reset()

    def reset(self) -> None:
        """Where it started."""
        self._yaw, self._pitch = 0.0, 2.0
        self._height, self._distance = float(self._middle[1]), self._home

    def turn(self, right: float, up: float) -> None:
        """The hand drags the avatar, by parts of the window's height."""
        self._yaw = (self._yaw - right * _DEGREES + 180.0) % 360.0 - 180.0
        self._pitch = min(max(self._pitch - up * _DEGREES, _PITCH[0]), _PITCH[1])

    def lift(self, up: float) -> None:
        """The hand drags the avatar up or down, by parts of the window's height."""
        moved = self._height - up * 2 * self._distance * _HALF_FOV
        self._height = min(max(moved, self._floor), self._top)

    def zoom(self, notches: float) -> None:
        """Comes closer."""
        self._distance = min(max(self._distance * _ZOOM**notches, _NEAREST), self._farthest)

    @property
    def target(self) -> NDArray[np.float64]:
        """The point that stays in the middle, float64 [3]."""
        return np.array([self._middle[0], self._height, self._middle[2]])

    @property
    def position(self) -> NDArray[np.float64]:
        """The point between the viewer's eyes, float64 [3]."""
        yaw, pitch = math.radians(self._yaw), math.radians(self._pitch)
        away = np.array([math.sin(yaw) * math.cos(pitch), math.sin(pitch), math.cos(yaw) * math.cos(pitch)])
        eye = self.target + self._distance * away
        # Nobody looks from under the floor.
        eye[1] = max(eye[1], self._floor + 0.05)
        return eye

    def view(self, width: int, height: int) -> View:
        """The picture of one eye, pixels."""
        across, up = math.atan(_HALF_FOV * width / height), math.atan(_HALF_FOV)
        pose = look_at(self.position, self.target)
        return View(pose, perspective_from_angles(-across, across, up, -up), width, height)

    def pair(self, width: int, height: int) -> tuple[View, View]:
        """The pictures of the left and right eye, pixels each; what is at the target has no disparity."""
        distance = float(np.linalg.norm(self.position - self.target))
        return stereo.pair(self.view(width, height), distance)
