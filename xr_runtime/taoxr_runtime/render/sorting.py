"""The drawing order: one for all views of a frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.radix import Count, Plan, RadixSort
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import VIEW_MOVED_M

_GROUP = 128


class LastSort:
    """Remembers which splats were sorted from where, to tell whether another sort is worth it."""

    def __init__(self) -> None:
        self._place: object = None
        self._viewpoint = np.zeros(3)
        self.count = 0
        """How many sorts were worth it."""

    def outdated(self, place: object, viewpoint: NDArray[np.floating]) -> bool:
        """Whether splats have moved, or the viewer has by `VIEW_MOVED_M`, since it last said so.

        Args:
            place: Equal while splats stay, such as `SplatBuffers.place_number`.
            viewpoint: [3], what distances are measured from.
        """
        if place == self._place and np.abs(viewpoint - self._viewpoint).max() <= VIEW_MOVED_M:
            return False
        self._place, self._viewpoint = place, np.array(viewpoint, np.float64)
        self.count += 1
        return True


def back_to_front(means: NDArray[np.float32], viewpoint: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Order splats by distance from a point, farthest first; equal ones keep their order.

    Distance, not depth along one direction, so that turning the head changes nothing and canted eyes agree.
    A radix sort in two passes: NumPy has one for 16-bit keys, and the bits of a positive float sort like it.

    Args:
        means: float32 [N, 3], metres.
        viewpoint: float64 [3], the eye, or midway between the eyes.

    Returns:
        uint32 [N]; 7 ms for 180,000 on one core.
    """
    x, y, z = means.T - viewpoint.astype(np.float32)[:, None]
    with np.errstate(over="ignore"):  # infinitely far sorts as the farthest
        keys = ~(x * x + y * y + z * z).view(np.uint32)
    by_low = np.argsort(keys.astype(np.uint16), kind="stable")
    high = (keys >> np.uint32(16)).astype(np.uint16)
    return by_low[np.argsort(high[by_low], kind="stable")].astype(np.uint32)


class DistanceSort:
    """The same order, made on the GPU of splats that are there; needs a current context.

    Args:
        plan: Of the sort; by default what suits the driver.

    Raises:
        GlError: The driver refuses a shader.
    """

    def __init__(self, plan: Plan | None = None) -> None:
        self._sort = RadixSort(plan)
        self._program = objects.Program("distance_keys.comp")
        self._keys, self._values = objects.Buffer(), objects.Buffer()
        self._count, self._counted = Count(), -1
        self._last = LastSort()
        self._sorted: objects.Buffer | None = None

    @property
    def sorts(self) -> int:
        """How often it has sorted."""
        return self._last.count

    def back_to_front(self, splats: SplatBuffers, viewpoint: NDArray[np.float64]) -> objects.Buffer:
        """Order splats by distance from a point, farthest first; equal ones keep their order.

        Nothing is done while splats stay, and the point within `VIEW_MOVED_M`.

        Args:
            splats: N splats.
            viewpoint: float64 [3], the eye, or midway between the eyes.

        Returns:
            uint32 [N], until the next call.
        """
        if not self._last.outdated(splats.place_number, viewpoint) and self._sorted is not None:
            return self._sorted
        if splats.count != self._counted:
            self._count.set(splats.count, self._sort.plan.block)
            self._counted = splats.count
        for buffer in (self._keys, self._values):
            buffer.reserve(max(4 * splats.count, 16))
        objects.bind_storage(0, splats.means, self._keys, self._values)
        self._program.set_uint("count", splats.count)
        self._program.set("viewpoint", *viewpoint)
        self._program.use()
        gl.dispatch(-(-splats.count // _GROUP))
        self._sorted = self._sort.sort(self._keys, self._values, self._count, splats.count)[1]
        return self._sorted

    def release(self) -> None:
        """Delete everything from the GPU."""
        for thing in (self._sort, self._program, self._keys, self._values, self._count):
            thing.release()
