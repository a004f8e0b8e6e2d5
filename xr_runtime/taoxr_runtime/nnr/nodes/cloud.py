"""Cloud: splats that stay where they are, such as a captured room."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.nodes import growth
from taoxr_runtime.nnr.nodes.base import F32, F64, MAX_LENGTH, Node, Reader, Tensors
from taoxr_runtime.nnr.nodes.skinning import rotations
from taoxr_runtime.nnr.schema import MAX_SPLATS, Strict
from taoxr_runtime.splats import upper

UNIT: Final = 32_767
"""What stands for 1 in a stored quaternion."""
_SHORTEST: Final = UNIT // 2


class Attributes(Strict):
    """The cloud has none."""


class Cloud(Node):
    """Nothing → ``means`` [N, 3], ``covariances`` [N, 6], ``opacities`` [N], ``frames``, ``compensation``.

    The last two are what the node ``sh_color`` asks of splats that move: one frame [1, 3, 3], the model's
    axes, and no change of colour [N, 3].
    """

    kind: ClassVar[str] = "cloud"
    per_splat: ClassVar[frozenset[str]] = frozenset({"mean", "rotation", "sigma", "opacity"})

    def __init__(self, reader: Reader) -> None:
        reader.signature(0, 5, {"mean", "rotation", "sigma", "opacity"})
        reader.attributes(Attributes)
        self.mean: F32 = reader.tensor("mean", "float32", (None, 3))
        count = len(self.mean)
        reader.limit("tensors.mean", "N", count, 1, MAX_SPLATS)
        reader.lengths("mean", self.mean)
        stored = reader.tensor("rotation", "int16", (count, 4)).astype(np.float32)
        length = np.sqrt((stored * stored).sum(1))
        if (length < _SHORTEST).any():
            row = int(np.argmin(length))
            raise reader.fail("tensors.rotation", f"row {row} is no unit quaternion times {UNIT}")
        self.rotation: F32 = stored / length[:, None]
        self.sigma: F32 = reader.tensor("sigma", "float16", (count, 3)).astype(np.float32)
        reader.lengths("sigma", self.sigma)
        if (self.sigma < 0).any():
            raise reader.fail("tensors.sigma", "holds a negative number")
        self.opacity = reader.tensor("opacity", "uint8", (count,))
        self.output_shapes = ((count, 3), (count, 6), (count,), (1, 3, 3), (count, 3))

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        for output, exact in zip(outputs, self.reference(()), strict=True):
            np.copyto(output, exact, casting="same_kind")

    def thinned(
        self, attributes: Mapping[str, Any], tensors: Tensors, kept: NDArray[np.intp]
    ) -> tuple[dict[str, Any], Tensors]:
        """See `Node.thinned`; all grow by as much, as nothing says which are neighbours."""
        attributes, thin = super().thinned(attributes, tensors, kept)
        grown = self.sigma[kept] * np.sqrt(growth.areas(self._area_share(kept)))
        thin["sigma"] = np.minimum(grown, MAX_LENGTH).astype(np.float16)
        return attributes, thin

    def _area_share(self, kept: NDArray[np.intp]) -> F64:
        """What share of the area that all splats cover the kept ones do."""
        area = np.sort(self.sigma, axis=1)[:, 1:].prod(axis=1, dtype=np.float64) * self.opacity
        return np.asarray(area[kept].sum() / max(area.sum(), 1e-30)).clip(1e-3, 1)

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`."""
        axes = rotations(self.rotation.astype(np.float64)) * self.sigma[:, None].astype(np.float64)
        covariances = upper(axes @ axes.transpose(0, 2, 1))
        still = np.zeros_like(self.mean, np.float64)
        return self.mean.astype(np.float64), covariances, self.opacity / 255.0, np.eye(3)[None], still
