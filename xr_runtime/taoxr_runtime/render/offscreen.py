"""Pictures of splats without a window: for the demo's video, tests, and machines without a display."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import TaoxrError
from taoxr_runtime.render import gl
from taoxr_runtime.render.backgrounds import Background
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.canvas import Canvases, CanvasFormat
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.footprints import MAX_EYES
from taoxr_runtime.render.renderer import Lists, Rasterizer, SplatRenderer
from taoxr_runtime.splats import Splats


class OffscreenRenderer:
    """A ``SplatRenderer`` with a context of its own, that draws into arrays; a context manager.

    For use in the thread that made it; several may exist in one thread or in many.

    Args:
        format: See ``SplatRenderer``.
        rasterizer: The same.
        profile: The same.
        lists: The same.
        layered: The same.

    Attributes:
        description: Driver and version.
        rasterizer: "quads" or "tiles".
        passes_ms: With ``profile``, milliseconds of the last ``render`` by pass, summed over the views.

    Raises:
        UnavailableError: No OpenGL 4.5 here; says what to install.
        GlError: The driver refuses a shader.
    """

    def __init__(
        self,
        format: CanvasFormat = "rgba8",
        rasterizer: Rasterizer = "auto",
        profile: bool = False,
        lists: Lists = "auto",
        layered: bool | None = None,
    ) -> None:
        self._profile = profile
        self._context = Context()
        try:
            self._renderer = SplatRenderer(rasterizer, profile, format, lists, layered)
        except TaoxrError:
            self._context.release()
            raise
        self.description, self.rasterizer = self._renderer.description, self._renderer.rasterizer
        self.passes_ms: dict[str, float] = {}
        self._canvases = Canvases(format, self._renderer.layered)

    def __enter__(self) -> OffscreenRenderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def render(
        self,
        splats: Splats,
        views: Sequence[View],
        background_srgb: Background = None,
        order: NDArray[np.integer] | None = None,
        view_colors_srgb: Sequence[NDArray[np.float32]] | None = None,
    ) -> list[NDArray[np.uint8]]:
        """Draw the splats once for each view, sorted once for all of them.

        Args:
            splats: See ``SplatRenderer.draw``; so for all of these.
            views: The eyes.
            background_srgb: What is behind.
            order: Which splats to draw and in which order.
            view_colors_srgb: Colours for each view.

        Returns:
            For each view uint8 [H, W, 4], RGBA, premultiplied, sRGB-encoded, row 0 at the top.

        Raises:
            InvalidInputError: A value is not finite, out of range or of a wrong shape.
            GlError: The driver failed.
            RuntimeError: Closed, or called from another thread.
        """
        self._context.make_current()
        sizes = [(view.width, view.height) for view in views]
        canvases = [
            canvas
            for first in range(0, len(sizes), MAX_EYES)
            for canvas in self._canvases.get(first, sizes[first : first + MAX_EYES])
        ]
        self._renderer.draw(splats, views, canvases, background_srgb, order, view_colors_srgb)
        began = time.perf_counter()
        pictures = [canvas.read() for canvas in canvases]
        gl.check("read")
        self.passes_ms = dict(self._renderer.passes_ms)
        if self._profile:
            self.passes_ms["read"] = (time.perf_counter() - began) * 1e3
        return pictures

    def close(self) -> None:
        """Give everything back; harmless when done before."""
        if self._context.open:
            self._context.make_current()
            self._canvases.release()
            self._renderer.close()
            self._context.release()
