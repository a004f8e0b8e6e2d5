"""Sort: the order in which splats are blended."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.nodes.base import BLOCK, F32, F64, Node, Reader
from taoxr_runtime.nnr.schema import Strict
from taoxr_runtime.splats import VIEW_MOVED_M

KEYS: Final = 65_535
"""The largest key: distances are told apart in so many steps."""
SPLATS_MOVED_M: Final = 0.0005
"""How far any splat must have moved since the last sort, in metres, for another one to be worth it."""


class Attributes(Strict):
    """Sorting has none."""


class Sort(Node):
    """``means`` [N, 3], ``camera`` [3] → ``order`` int32 [N]: indices of splats, farthest first.

    By the distance from the camera, so that the order holds for both eyes and for any turn of the head. A
    scene runs it only when it is `worthwhile`.
    The fast path sorts 16-bit keys, spread over the scene's own range of distances (a person at arm's
    length: steps of about 30 µm); NumPy's stable sort of them is a radix sort.
    """

    kind: ClassVar[str] = "sort"

    def __init__(self, reader: Reader) -> None:
        reader.signature(2, 1, set())
        reader.attributes(Attributes)
        count = reader.input_shape(0, (None, 3))[0]
        reader.input_shape(1, (3,))
        self._sorted: tuple[F32, F32] | None = None
        self.output_shapes = ((count,),)

    @property
    def output_dtypes(self) -> tuple[type[np.generic], ...]:
        """See `Node.output_dtypes`."""
        return (np.int32,)

    def worthwhile(self, inputs: Sequence[F32]) -> bool:
        """Whether splats or viewer moved beyond `SPLATS_MOVED_M` or `VIEW_MOVED_M` since it last said so.

        Whoever is told so sorts, with this node or with its twin.
        """
        means, camera = inputs
        if self._sorted is None:
            self._sorted = means.copy(), camera.copy()
            return True
        before, view = self._sorted
        if np.abs(camera - view).max() <= VIEW_MOVED_M and not _moved(means, before):
            return False
        np.copyto(before, means)
        np.copyto(view, camera)
        return True

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        np.copyto(outputs[0], order_of(*inputs))

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`; the exact order, as float64."""
        means, camera = inputs
        return (np.argsort(-np.linalg.norm(camera - means, axis=1), kind="stable").astype(np.float64),)


def _moved(means: F32, before: F32) -> bool:
    return any(
        np.abs(means[start : start + BLOCK] - before[start : start + BLOCK]).max() > SPLATS_MOVED_M
        for start in range(0, len(means), BLOCK)
    )


def order_of(means: F32, camera: F32) -> NDArray[np.int32]:
    """Indices of splats [N], farthest first, by 16-bit keys."""
    depth = np.empty(len(means), np.float32)
    for start in range(0, len(means), BLOCK):
        offset = camera - means[start : start + BLOCK]
        np.einsum("ij,ij->i", offset, offset, out=depth[start : start + BLOCK])
    np.sqrt(depth, out=depth)
    near, far = depth.min(), depth.max()
    # Farthest first: the farthest splat has key 0.
    np.subtract(far, depth, out=depth)
    depth *= np.float32(KEYS) / max(far - near, np.float32(1e-9))
    np.minimum(depth, np.float32(KEYS), out=depth)
    return np.argsort(depth.astype(np.uint16), kind="stable").astype(np.int32)
