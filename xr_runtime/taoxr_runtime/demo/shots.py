"""Where the camera of the film is."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from taoxr_runtime.animation.curves import minimum_jerk
from taoxr_runtime.nnr.schema import Landmarks
from taoxr_runtime.render.camera import View, look_at, perspective

_FOV_Y: Final = math.radians(26.0)
_MOVE_S: Final = 3.0


@dataclass(frozen=True)
class Shot:
    """A framing of the avatar.

    Attributes:
        center: Height of the picture's middle, metres.
        extent: Height of what the picture shows at the avatar's distance, metres.
        yaw_deg: Where the camera stands: 0 in front, positive on the avatar's left.
    """

    center: float
    extent: float
    yaw_deg: float = 0.0

    def mixed(self, other: "Shot", share: float) -> "Shot":
        """A shot between this one (share 0) and another (share 1)."""
        # Extents multiply: a dolly at even speed as the eye sees it.
        return Shot(
            self.center + (other.center - self.center) * share,
            self.extent * (other.extent / self.extent) ** share,
            self.yaw_deg + (other.yaw_deg - self.yaw_deg) * share,
        )

    def turned(self, yaw_deg: float) -> "Shot":
        """The same framing from another side."""
        return Shot(self.center, self.extent, yaw_deg)


class Framing:
    """The named shots of one avatar, and pictures of a given size of them."""

    def __init__(self, landmarks: Landmarks, width: int, height: int) -> None:
        """Args: places of the avatar, size of the picture in pixels."""
        self._size = (width, height)
        eyes = (np.array(landmarks.eye_left) + np.array(landmarks.eye_right)) / 2
        self._depth = float(landmarks.head_center[2])
        tall, eye = landmarks.height, float(eyes[1])
        self._eye_level = eye
        # Portrait pictures must hold the shoulders, so they show more from top to bottom.
        narrow = max(1.0, 0.75 / (width / height))
        self.full = Shot(tall * 0.5, tall * 1.1 * max(1.0, 0.5 / (width / height)))
        self.waist = Shot(eye - 0.22 * tall, 0.64 * tall * narrow)
        self.bust = Shot(eye - 0.075 * tall, 0.36 * tall * narrow)
        self.face = Shot(eye - 0.02 * tall, 0.19 * tall * narrow)

    def view(self, shot: Shot) -> View:
        """The camera of a shot."""
        width, height = self._size
        distance = shot.extent / 2 / math.tan(_FOV_Y / 2)
        yaw = math.radians(shot.yaw_deg)
        target = np.array([0.0, shot.center, self._depth])
        eye = target + distance * np.array([math.sin(yaw), 0.0, math.cos(yaw)])
        # Seen by somebody as tall: most of the way up to the avatar's own eyes.
        eye[1] += 0.85 * (self._eye_level - shot.center)
        return View(look_at(eye, target), perspective(_FOV_Y, width / height), width, height)


class Path:
    """Slow moves from shot to shot, with a little life while a shot is held."""

    def __init__(self, first: Shot) -> None:
        """Args: the shot at the start."""
        self._keys: list[tuple[float, Shot]] = [(-math.inf, first)]

    def move(self, start_s: float, shot: Shot) -> None:
        """Starts to move to a shot at a time after all moves so far."""
        self._keys.append((start_s, shot))

    def at(self, time_s: float) -> Shot:
        """The shot at a time."""
        shot = self._keys[0][1]
        for start, wanted in self._keys[1:]:
            if time_s <= start:
                break
            shot = shot.mixed(wanted, minimum_jerk((time_s - start) / _MOVE_S))
        sway = 2.2 * math.sin(time_s * 2 * math.pi / 17.0)
        return Shot(shot.center, shot.extent, shot.yaw_deg + sway)
