"""Where the eyes look: at the viewer, with the small and large movements that living eyes make.

Saccades follow the main sequence: they last about 21 ms plus 2.2 ms per degree (Carpenter 1988). In a
conversation people look at the other for three quarters of the time in which they listen, but for less
than half of that in which they speak (Argyle and Ingham 1972), and away while thinking what to say (Kendon
1967). An avatar that looks away that often while it speaks seems to speak to somebody else, so ours is in
between. Within a fixation the eyes drift a little and come back by micro-saccades, one or two a second and
mostly under half a degree (Martinez-Conde, Macknik and Hubel 2004).
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
    Activity.LISTENING: 0.1,
    Activity.THINKING: 0.65,
    Activity.SPEAKING: 0.4,
}
_MICRO_GAP_S: Final = (0.25, 0.45)  # at least, and on average so much more
_MICRO_DEG: Final = 0.13
_MICRO_MOST_DEG: Final = 0.6
_DRIFT_DEG_PER_S: Final = 0.2


def saccade_s(degrees: float) -> float:
    """How long the eyes take for a movement of a size, seconds."""
    return 0.021 + 0.0022 * degrees


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
        self._micro = MicroSaccades(rng.spawn(1)[0])

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
        mix = minimum_jerk((time_s - self._now.start_s) / saccade_s(size))
        return self._from + (self._now.offset_deg - self._from) * mix + self._micro.at(time_s)

    def _next(self, activity: Activity) -> Fixation:
        rng, start = self._rng, self._now.end_s
        if not self._now.away and rng.random() < _AWAY_CHANCE[activity]:
            side = rng.choice((-1.0, 1.0))
            # Up while thinking, down or level otherwise.
            thinks = activity is Activity.THINKING
            yaw = side * (rng.uniform(9.0, 18.0) if thinks else rng.uniform(7.0, 16.0))
            pitch = rng.uniform(8.0, 14.0) if thinks else rng.uniform(-7.0, 1.0)
            return Fixation(start, start + rng.uniform(0.5, 1.3), np.array([yaw, pitch]), away=True)
        # Between the viewer's eyes and mouth, about a degree apart at talking distance.
        offset = rng.normal(0.0, (0.5, 0.4)).clip(-1.0, 1.0)
        return Fixation(start, start + rng.uniform(0.35, 1.5), offset, away=False)


class MicroSaccades:
    """What the eyes do while they rest on something: drift slowly, and jump back about as far.

    Args:
        rng: Source of the movements.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._start = 0.0
        self._end = float(rng.uniform(0.2, 0.8))
        self._from, self._to = np.zeros(2), np.zeros(2)
        self._drift = self._wander()

    def at(self, time_s: float) -> Array:
        """Yaw and pitch [2] beside the fixation, degrees; times must not decrease."""
        while time_s >= self._end:
            self._from = self._to + self._drift * (self._end - self._start)
            # Mostly back, as they were made for that, and not exactly.
            aim = self._rng.normal(0.0, _MICRO_DEG, 2)
            jump = aim - self._from
            size = float(np.hypot(*jump))
            self._to = self._from + jump * min(1.0, _MICRO_MOST_DEG / max(size, 1e-9))
            self._start, self._drift = self._end, self._wander()
            least, more = _MICRO_GAP_S
            self._end += least + float(self._rng.exponential(more))
        jump = self._to - self._from
        done = minimum_jerk((time_s - self._start) / saccade_s(float(np.hypot(*jump))))
        return self._from + jump * done + self._drift * (time_s - self._start)

    def _wander(self) -> Array:
        angle = self._rng.uniform(0.0, 2 * np.pi)
        return _DRIFT_DEG_PER_S * self._rng.uniform(0.3, 1.0) * np.array([np.cos(angle), np.sin(angle)])


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
