"""What a stage must know of an avatar's body."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.animation import Skeleton
from taoxr_runtime.nnr import Scene

_FEET: Final = ("foot.L", "foot.R", "toe1-1.L", "toe1-1.R")


def feet(scene: Scene) -> NDArray[np.float64]:
    """Where its feet touch the floor, float64 [K, 3], metres, in the avatar's frame."""
    skeleton = Skeleton.of(scene)
    return np.array([skeleton.heads[skeleton.index[name]] for name in _FEET if name in skeleton.index])


def eye_height(scene: Scene) -> float:
    """Metres above its feet."""
    marks = scene.landmarks
    return (marks.eye_left[1] + marks.eye_right[1]) / 2
