"""From mouth controls to the 52 ARKit weights, and what the weights mean for the lips."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.arkit import INDEX, NAMES
from taoxr_models.a2bs.articulation import CONTROL_INDEX, CONTROLS

_SIDED: Final = ("mouthSmile", "mouthStretch", "mouthLowerDown", "mouthUpperUp", "mouthPress")
_JAW: Final = CONTROL_INDEX["jawOpen"]
_CLOSE: Final = CONTROL_INDEX["lipClose"]
_TONGUE: Final = CONTROL_INDEX["tongueOut"]
_OUTER_BROW: Final = 0.6

# How far each weight parts the lips at their middle, in units of jawOpen at 1 (34 mm), measured on the
# default avatar; those under 0.03 are left out.
GAP_PER_WEIGHT: Final[dict[str, float]] = {
    "jawOpen": 1.0,
    "jawForward": 0.04,
    "mouthClose": -1.0,
    "mouthFunnel": 0.39,
    "mouthPucker": -0.04,
    "mouthSmileLeft": -0.04,
    "mouthSmileRight": -0.04,
    "mouthRollLower": -0.09,
    "mouthRollUpper": -0.08,
    "mouthShrugLower": -0.15,
    "mouthShrugUpper": 0.12,
    "mouthPressLeft": -0.04,
    "mouthPressRight": -0.04,
    "mouthLowerDownLeft": 0.06,
    "mouthLowerDownRight": 0.06,
    "mouthUpperUpLeft": 0.07,
    "mouthUpperUpRight": 0.07,
}
_GAP: Final = np.array([GAP_PER_WEIGHT.get(name, 0.0) for name in NAMES])


def _mixing() -> NDArray[np.float64]:
    mix = np.zeros((len(CONTROLS), len(NAMES)))
    for control, i in CONTROL_INDEX.items():
        if control == "lipClose":
            continue
        names = (f"{control}Left", f"{control}Right") if control in _SIDED else (control,)
        for name in names:
            mix[i, INDEX[name]] = 1.0
    return mix


_MIX: Final = _mixing()


def arkit_weights(controls: NDArray[np.float64]) -> NDArray[np.float64]:
    """Maps controls to ARKit weights.

    ``mouthClose`` only ever cancels ``jawOpen`` (more of it pushes the lips through each other), and the
    tongue comes out no further than the lips are parted.

    Args:
        controls: [n, controls] in [0, 1].

    Returns:
        [n, 52] in [0, 1].
    """
    weights = controls @ _MIX
    close = controls[:, _JAW] * controls[:, _CLOSE]
    weights[:, INDEX["mouthClose"]] = close
    parted = controls[:, _JAW] - close
    weights[:, INDEX["tongueOut"]] = np.minimum(controls[:, _TONGUE], 2.0 * parted)
    return np.clip(weights, 0.0, 1.0)


def raise_brows(weights: NDArray[np.float64] | NDArray[np.float32], lift: NDArray[np.float64]) -> None:
    """Sets the weights [n, 52] of brows that are raised by `lift`, [n] in [0, 1].

    All of the brows, as in emphasis; inner brows alone look sad.
    """
    weights[:, INDEX["browInnerUp"]] = lift
    for side in ("Left", "Right"):
        weights[:, INDEX[f"browOuterUp{side}"]] = _OUTER_BROW * lift


def lip_gap(weights: NDArray[np.floating]) -> NDArray[np.float64]:
    """How far the lips are apart, 0 when they touch, in units of the gap that ``jawOpen`` 1 makes.

    A linear model, cut at 0: the jaw opens the lips, ``mouthClose`` takes as much back, raising the
    upper or lowering the lower lip opens them more, pressing and rolling closes them.

    Args:
        weights: [..., 52] ARKit weights.

    Returns:
        [...] gap, at least 0.
    """
    return np.maximum(np.asarray(weights, dtype=np.float64) @ _GAP, 0.0)
