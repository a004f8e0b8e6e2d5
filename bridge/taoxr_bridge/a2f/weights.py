"""The client's multipliers, offsets and clamp."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr import arkit
from taoxr.errors import InvalidInputError
from taoxr.interop.a2f.v1 import a2f_pb2 as pb

NAMES: Final = tuple(name[0].upper() + name[1:] for name in arkit.NAMES)
"""The 52 ARKit names as NVIDIA writes them, in the order of `taoxr.arkit.NAMES`."""
_INDEX: Final = {name: i for i, name in enumerate(NAMES)}
_FIELD: Final = "audio_stream_header.blendshape_params"


class Shaping:
    """weight · multiplier + offset, clamped when asked for.

    Args:
        params: What the client asks for.

    Raises:
        InvalidInputError: A number is not finite.

    Attributes:
        ignored: Names in `params` that are none of `NAMES`, sorted.
    """

    def __init__(self, params: pb.BlendShapeParameters) -> None:
        self._multipliers = _column(f"{_FIELD}.bs_weight_multipliers", params.bs_weight_multipliers, 1.0)
        self._offsets = _column(f"{_FIELD}.bs_weight_offsets", params.bs_weight_offsets, 0.0)
        self._clamps = params.enable_clamping_bs_weight
        self.ignored = sorted({*params.bs_weight_multipliers, *params.bs_weight_offsets} - set(NAMES))

    def apply(self, weights: Sequence[float]) -> NDArray[np.float32]:
        """Weights [52] as the client wants them."""
        shaped = np.asarray(weights, np.float32) * self._multipliers + self._offsets
        return np.clip(shaped, 0.0, 1.0) if self._clamps else shaped


def _column(field: str, given: Mapping[str, float], default: float) -> NDArray[np.float32]:
    column = np.full(len(NAMES), default, np.float32)
    for name, value in given.items():
        if not np.isfinite(value):
            raise InvalidInputError(f"{field}[{name!r}]", value, "a finite number")
        if name in _INDEX:
            column[_INDEX[name]] = value
    return column
