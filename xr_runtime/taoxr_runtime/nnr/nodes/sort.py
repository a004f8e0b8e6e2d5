"""Sort: the order in which splats are blended."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from taoxr_runtime.nnr.nodes.base import BLOCK, F32, F64, Node, Reader
from taoxr_runtime.nnr.schema import Strict

_KEYS = 65_535


class Attributes(Strict):
    """Sorting has none."""


class Sort(Node):
    """``means`` [N, 3], ``camera`` [3] → ``order`` int32 [N]: indices of splats, farthest first.

    By the distance from the camera, so that the order holds for both eyes and for any turn of the head.
    The fast path sorts 16-bit keys, spread over the scene's own range of distances (a person at arm's
    length: steps of about 30 µm); NumPy's stable sort of them is a radix sort.
    """

    kind: ClassVar[str] = "sort"

    def __init__(self, reader: Reader) -> None:
        reader.signature(2, 1, set())
        reader.attributes(Attributes)
        count = reader.input_shape(0, (None, 3))[0]
        reader.input_shape(1, (3,))
        self._depth: F32 = np.empty(count, np.float32)
        self._offset: F32 = np.empty((BLOCK, 3), np.float32)
        self._keys = np.empty(count, np.uint16)
        self.output_shapes = ((count,),)

    @property
    def output_dtypes(self) -> tuple[type[np.generic], ...]:
        """See `Node.output_dtypes`."""
        return (np.int32,)

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        means, camera = inputs
        depth = self._depth
        for start in range(0, len(means), BLOCK):
            part = means[start : start + BLOCK]
            offset = self._offset[: len(part)]
            np.subtract(camera, part, out=offset)
            np.einsum("ij,ij->i", offset, offset, out=depth[start : start + BLOCK])
        np.sqrt(depth, out=depth)
        near, far = depth.min(), depth.max()
        # Farthest first: the farthest splat has key 0.
        np.subtract(far, depth, out=depth)
        depth *= np.float32(_KEYS) / max(far - near, np.float32(1e-9))
        np.minimum(depth, np.float32(_KEYS), out=depth)
        np.copyto(self._keys, depth, casting="unsafe")
        np.copyto(outputs[0], np.argsort(self._keys, kind="stable"), casting="unsafe")

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`; the exact order, as float64."""
        means, camera = inputs
        return (np.argsort(-np.linalg.norm(camera - means, axis=1), kind="stable").astype(np.float64),)
