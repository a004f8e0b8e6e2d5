"""What a way of drawing splats offers, and the one that draws footprints in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render import objects
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.canvas import Canvas, one_texture
from taoxr_runtime.render.footprints import Footprints
from taoxr_runtime.render.quads import Quads
from taoxr_runtime.render.radix import Plan
from taoxr_runtime.render.sorting import DistanceSort
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.render.tiles import Tiles

Color = tuple[float, float, float, float]
"""RGBA, sRGB-encoded and premultiplied."""


class Pipeline(Protocol):
    """From splats to pictures: ``prepare`` for up to ``footprints.MAX_EYES`` views, then ``raster`` them.

    Attributes:
        mark: Called with the name of each pass when it has been asked for; for measuring.
    """

    mark: Callable[[str], None]

    @property
    def sorts(self) -> int:
        """How often it has sorted splats by distance; not while they and the viewer stay (`LastSort`)."""
        ...

    def prepare(
        self,
        splats: SplatBuffers,
        views: Sequence[View],
        viewpoint: NDArray[np.float64],
        order: NDArray[np.uint32] | None = None,
        wait: bool = True,
    ) -> None:
        """Project the splats and bring them into order.

        Args:
            splats: What to draw.
            views: The eyes.
            viewpoint: float64 [3], what distances are measured from.
            order: uint32 [K], farthest first, in place of the order by distance.
            wait: Whether there is time to wait for the GPU, where that makes the picture surer.
        """
        ...

    def raster(self, canvases: Sequence[Canvas], fills: Sequence[Color | None]) -> None:
        """Blend the splats of each view prepared, over a colour, or over what the canvas holds.

        Args:
            canvases: Of the views' sizes.
            fills: For each what is behind the splats; None for what is there.
        """
        ...

    def release(self) -> None:
        """Delete everything from the GPU."""
        ...


def unmarked(name: str) -> None:
    """Nobody measures."""


class OrderedPipeline:
    """Footprints in drawing order, given to a rasterizer; needs a current context.

    Args:
        rasterizer: What blends them.
        plan: Of the sort; by default what suits the driver.

    Raises:
        GlError: The driver refuses a shader.
    """

    def __init__(self, rasterizer: Quads | Tiles, plan: Plan | None = None) -> None:
        self.mark: Callable[[str], None] = unmarked
        self._rasterizer = rasterizer
        self._plan = plan
        self._sort: DistanceSort | None = None
        self._footprints, self._order = Footprints(), objects.Buffer()

    @property
    def sorts(self) -> int:
        """See `Pipeline.sorts`."""
        return 0 if self._sort is None else self._sort.sorts

    def prepare(
        self,
        splats: SplatBuffers,
        views: Sequence[View],
        viewpoint: NDArray[np.float64],
        order: NDArray[np.uint32] | None = None,
        wait: bool = True,
    ) -> None:
        """See `Pipeline.prepare`."""
        if order is None:
            self._sort = self._sort or DistanceSort(self._plan)
            ordered, ranks = self._sort.back_to_front(splats, viewpoint), splats.count
        else:
            self._order.write(order)
            ordered, ranks = self._order, len(order)
        self.mark("sort")
        self._footprints.project(splats, ordered, ranks, views)
        self.mark("project")

    def raster(self, canvases: Sequence[Canvas], fills: Sequence[Color | None]) -> None:
        """See `Pipeline.raster`."""
        for canvas, fill in zip(canvases, fills, strict=True):
            if fill is not None:
                canvas.clear(fill)
        layers = one_texture(canvases)
        if layers is not None and isinstance(self._rasterizer, Quads) and self._rasterizer.layered:
            self._rasterizer.raster_both(self._footprints, layers)
        else:
            for eye, canvas in enumerate(canvases):
                self._rasterizer.raster(self._footprints, eye, canvas)
        self.mark("blend")

    def release(self) -> None:
        """See `Pipeline.release`."""
        for part in (self._rasterizer, self._footprints, self._order, self._sort):
            if part is not None:
                part.release()
