"""Constants of the splats: their opacities."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from taoxr_runtime.nnr.nodes.base import F32, F64, Node, Reader
from taoxr_runtime.nnr.schema import MAX_SPLATS, Strict


class Attributes(Strict):
    """The constants have none."""


class Constants(Node):
    """Nothing → ``opacities`` [N], 0 to 1."""

    kind: ClassVar[str] = "splats"
    per_splat: ClassVar[frozenset[str]] = frozenset({"opacity"})

    def __init__(self, reader: Reader) -> None:
        reader.signature(0, 1, {"opacity"})
        reader.attributes(Attributes)
        self.opacity = reader.tensor("opacity", "uint8", (None,))
        reader.limit("tensors.opacity", "N", len(self.opacity), 1, MAX_SPLATS)
        self.output_shapes = (self.opacity.shape,)

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        np.multiply(self.opacity, np.float32(1 / 255), out=outputs[0])

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`."""
        return (self.opacity / 255.0,)
