"""Which eyes may share one order of the splats, and which need their own.

Sorted from midway between the eyes, two splats are out of an eye's own order where their distances differ by
less than the angle between them, as seen, times the eye's distance from the middle. That takes large splats
close by: what counts is a splat's size times that distance, over its own distance squared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.camera import View, centre
from taoxr_runtime.render.footprints import MAX_EYES
from taoxr_runtime.render.reference import MIN_ALPHA
from taoxr_runtime.render.sorting import LastSort
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats

MOST: Final = 0.003
"""Square radians up to which eyes share an order: the angle at which a splat is seen, as the root of its
covariance's trace, times that of the way from the middle to the eye. Of 48 clouds and avatars at several
distances the worst under it has 41 dB against each eye's own order; at 0.004 one has 34.8, at 0.012 30."""
_GROUP: Final = 128
_CALM: Final = 1 / 4
"""Below this part of `MOST` nothing comes of splats until they are twice as near, or four times as large."""
_CALM_FRAMES: Final = 32
_CALM_M: Final = 0.1


class Parallax:
    """Cuts the views of a frame into passes over the splats; needs a current context.

    Splats that lie on the GPU are looked at there. When they are found to be far from `MOST`, they are looked
    at again after 32 frames, or when the viewer has moved by 0.1 m: asking in every frame took 0.1 ms of the
    processor's time on an H200, and as much of the GPU's, which waited for it.
    """

    def __init__(self) -> None:
        self._program: objects.Program | None = None
        self._largest, self._answer = objects.Buffer(), objects.Mailbox(1)
        self._last, self._asked = LastSort(), False
        self._known: tuple[int, float] | None = None
        self._looked_from, self._frames_since = np.zeros(3), 0
        self._found = 0.0

    @property
    def looks(self) -> int:
        """How often splats on the GPU have been looked at."""
        return self._last.count

    def passes(
        self, splats: Splats | SplatBuffers, views: Sequence[View], wait: bool = True
    ) -> list[tuple[slice, NDArray[np.float64]]]:
        """What is drawn at once, and from where it is sorted.

        Args:
            splats: What to draw.
            views: The eyes, at least one.
            wait: For the GPU to have looked at splats that lie there. Else it is as of a frame before, or of
                a third of a second.

        Returns:
            Which views, at most `MAX_EYES`, and float64 [3], the point that they are sorted from.
        """
        middle = centre(views)
        if len(views) > 1 and self._needs(splats, middle, views, wait):
            return [(slice(eye, eye + 1), view.position) for eye, view in enumerate(views)]
        return shared(views)

    def release(self) -> None:
        """Delete everything from the GPU."""
        for thing in (self._program, self._largest, self._answer):
            if thing is not None:
                thing.release()

    def _needs(
        self, splats: Splats | SplatBuffers, middle: NDArray[np.float64], views: Sequence[View], wait: bool
    ) -> bool:
        reach = max(float(np.linalg.norm(view.position - middle)) for view in views)
        if isinstance(splats, Splats):
            return largest(splats, middle, reach) > MOST
        self._hear(wait)
        known = splats.count, round(reach, 3)
        self._frames_since += 1
        if not self._asked and (wait or not self._still_calm(known, middle)):
            place = splats.place_number, known
            if self._last.outdated(place, middle):
                self._ask(splats, middle, reach)
                self._known = known
        self._hear(wait)
        return self._found > 1

    def _still_calm(self, known: tuple[int, float], middle: NDArray[np.float64]) -> bool:
        return (
            self._found < _CALM**2
            and self._known == known
            and self._frames_since < _CALM_FRAMES
            and bool(np.abs(middle - self._looked_from).max() < _CALM_M)
        )

    def _hear(self, wait: bool) -> None:
        heard = self._answer.receive(wait)
        if heard is not None:
            self._asked, self._found = False, float(np.uint32(heard[0]).view(np.float32))

    def _ask(self, splats: SplatBuffers, middle: NDArray[np.float64], reach: float) -> None:
        program = self._program = self._program or objects.Program("parallax.comp")
        self._largest.reserve(16)
        self._largest.clear()
        objects.bind_storage(0, splats.means, splats.covariances, splats.opacities, self._largest)
        program.set_uint("count", splats.count)
        program.set("middle", *middle)
        program.set("scale", (reach / MOST) ** 2)
        program.use()
        gl.dispatch(-(-splats.count // _GROUP))
        self._answer.send(self._largest, 0)
        self._asked = True
        self._looked_from, self._frames_since = middle.copy(), 0


def shared(views: Sequence[View]) -> list[tuple[slice, NDArray[np.float64]]]:
    """Passes of views that share an order; see `Parallax.passes`."""
    middle = centre(views)
    return [(slice(first, first + MAX_EYES), middle) for first in range(0, len(views), MAX_EYES)]


def largest(splats: Splats, middle: NDArray[np.float64], reach: float) -> float:
    """Of the splats that can be seen, what `MOST` limits, in square radians.

    Args:
        splats: N splats.
        middle: float64 [3], what distances are measured from, metres.
        reach: From there to the farthest eye, metres.
    """
    offset = splats.means - middle.astype(np.float32)
    squared = np.einsum("ni,ni->n", offset, offset)
    trace = splats.covariances[:, 0] + splats.covariances[:, 3] + splats.covariances[:, 5]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # far away, or at the middle
        found = np.where(splats.opacities > MIN_ALPHA, np.sqrt(np.maximum(trace, 0)) / squared, 0)
    return float(np.nanmax(found, initial=0)) * reach
