"""What a face makes of a mood: mild, mostly about the brows, and never at the cost of a sound.

Which muscles show which mood follows Ekman, Friesen and Hager, "Facial Action Coding System" (2002): joy
raises the corners of the lips and the cheeks, sadness the inner brows, surprise the whole brows and the upper
lids, worry draws the raised brows together.
"""

from dataclasses import astuple
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.arkit import INDEX, NAMES
from taoxr_models.mood.mood import NAMES as MOODS
from taoxr_models.mood.mood import Mood

Array = NDArray[np.float64]

EASE_S: Final = 0.6
"""Time in which a face comes to another mood."""
_SHAPES: Final[dict[str, dict[str, float]]] = {
    "joy": {"mouthSmile": 0.26, "cheekSquint": 0.18, "eyeSquint": 0.06, "browOuterUp": 0.06},
    "sadness": {"browInnerUp": 0.30, "mouthFrown": 0.16, "eyeSquint": 0.04},
    "surprise": {"browInnerUp": 0.24, "browOuterUp": 0.24, "eyeWide": 0.14},
    "worry": {"browInnerUp": 0.22, "browDown": 0.14, "mouthFrown": 0.08},
}
_UNSIDED: Final = ("browInnerUp",)
# Rounded lips have no room for a mood: so much rounding takes it wholly out of the mouth.
_ROUND: Final = ("mouthPucker", "mouthFunnel")
_ROUND_FULL: Final = 0.45
# Lips that are closed, or at the teeth, leave it a part.
_ROLLED: Final = ("mouthRollLower", "mouthPressLeft")
_ROLLED_FULL: Final = 0.25
_LEFT_BY_ROLLED: Final = 0.5


def _matrix() -> Array:
    matrix = np.zeros((len(MOODS), len(NAMES)))
    for i, mood in enumerate(MOODS):
        for shape, value in _SHAPES[mood].items():
            for name in (shape,) if shape in _UNSIDED else (f"{shape}Left", f"{shape}Right"):
                matrix[i, INDEX[name]] = value
    return matrix


_MATRIX: Final = _matrix()
_MOUTH: Final = np.array([name.startswith("mouth") for name in NAMES])


def moods_over(before: Mood, mood: Mood, times: Array) -> Array:
    """How the mood of a clause takes over from the one before, [n, moods] at times [n] from its start."""
    x = np.clip(times / EASE_S, 0.0, 1.0)[:, None]
    return np.array(astuple(before)) + x * x * (3.0 - 2.0 * x) * (np.array(astuple(mood)) - astuple(before))


def with_mood(weights: Array, moods: Array) -> Array:
    """A face that speaks, with the mood on it.

    Around the mouth the sounds have the first word: the mood goes from it as far as the lips are rounded, and
    partly where they are closed.

    Args:
        weights: [n, 52] ARKit weights of the speech.
        moods: [n, moods] each 0 to 1.

    Returns:
        [n, 52] in [0, 1].
    """
    rounded = sum(weights[:, INDEX[name]] for name in _ROUND) / _ROUND_FULL
    rolled = sum(weights[:, INDEX[name]] for name in _ROLLED) / _ROLLED_FULL
    free = 1.0 - np.clip(rounded, 0.0, 1.0)
    free *= 1.0 - (1.0 - _LEFT_BY_ROLLED) * np.clip(rolled, 0.0, 1.0)
    shown = moods @ _MATRIX
    shown[:, _MOUTH] *= free[:, None]
    return np.clip(weights + shown, 0.0, 1.0)
