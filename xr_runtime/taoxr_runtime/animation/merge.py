"""Putting the speech's face and the idle face together."""

from typing import Final

import numpy as np
import numpy.typing as npt

from taoxr import arkit

Weights = npt.NDArray[np.float32]

_BLINKS: Final = [arkit.INDEX["eyeBlinkLeft"], arkit.INDEX["eyeBlinkRight"]]
IDLE_SHAPES: Final = tuple(i for i, name in enumerate(arkit.NAMES) if name.startswith(("eye", "brow")))
"""Shapes that idle motion may move: never those of the lips, jaw, cheeks and tongue."""


def merge_expressions(face: Weights, idle: Weights) -> Weights:
    """The expression to draw: lips from speech, eyes and brows from both, the more closed lid wins.

    Args:
        face: float32 [52] of the turn.
        idle: float32 [52]; read only at `IDLE_SHAPES`.

    Returns:
        float32 [52], each in [0, 1].
    """
    out = face.astype(np.float32, copy=True)
    shapes = list(IDLE_SHAPES)
    out[shapes] += idle[shapes]
    out[_BLINKS] = np.maximum(face[_BLINKS], idle[_BLINKS])
    return np.clip(out, 0.0, 1.0, out=out)
