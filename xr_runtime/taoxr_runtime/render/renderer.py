"""Draws splats in whatever OpenGL context is current: offscreen, in a window, or for an XR runtime."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import autotune, backgrounds, gl, lod
from taoxr_runtime.render.backgrounds import Background
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.canvas import Canvas, Canvases, CanvasFormat
from taoxr_runtime.render.compute_tiles import ComputeTiles
from taoxr_runtime.render.parallax import Parallax, shared
from taoxr_runtime.render.pipeline import OrderedPipeline, Pipeline
from taoxr_runtime.render.quads import Quads
from taoxr_runtime.render.sorting import back_to_front
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.render.targets import Presenter, Target
from taoxr_runtime.render.tiles import Tiles
from taoxr_runtime.splats import Splats

Rasterizer = Literal["auto", "quads", "tiles"]
Lists = Literal["auto", "cpu", "gpu"]


class SplatRenderer:
    """Draws splats with the context that is current; a context manager.

    The context (OpenGL 4.5 or later) stays its owner's, and must be current at every call. Its state is given
    back as it was, except for texture and image units 0 and 1 and the indexed storage buffers 0 to 7; pixel
    transfer must be as at the start of a context when a background is a picture.

    Args:
        rasterizer: "auto" takes tiles on software drivers, and on GPUs what was faster when the driver was
            first met (see ``render.autotune``); both draw the same.
        lists: Where tiles get their lists of splats: on the CPU, where software drivers run anyway, or on the
            GPU, which then also sorts.
        profile: Measure each pass; waits for the GPU after each, which costs a little.
        format: How the canvas stores what is being blended. "rgba16f" rounds less where quads blend many
            faint layers (49 against 41 dB) and costs a tenth more; tiles blend in float anyway (59 dB
            with either).
        layered: Let quads draw both eyes in one call, on the layers of one texture, where the driver can and
            they have one size. None takes what was faster when the driver was first met.

    Attributes:
        description: Driver and version.
        rasterizer: "quads" or "tiles".
        layered: Whether both eyes are drawn in one call.
        passes_ms: With ``profile``, milliseconds of the last ``draw`` by pass, summed over the views.

    Raises:
        UnavailableError: No context is current, it is too old, or OpenGL is not installed.
        GlError: The driver refuses a shader.
    """

    def __init__(
        self,
        rasterizer: Rasterizer = "auto",
        profile: bool = False,
        format: CanvasFormat = "rgba8",
        lists: Lists = "auto",
        layered: bool | None = None,
    ) -> None:
        self.passes_ms: dict[str, float] = {}
        self._profile, self._marked = profile, 0.0
        self.description = gl.describe()
        self._software = gl.is_software()
        tuned = autotune.chosen()
        self.rasterizer: Rasterizer = tuned.rasterizer if rasterizer == "auto" else rasterizer
        self._buffers = SplatBuffers()
        self._pipeline: Pipeline
        self.layered = False
        if self.rasterizer == "tiles" and (lists == "gpu" or (lists == "auto" and not self._software)):
            self._pipeline = ComputeTiles(plan=tuned.plan)
        else:
            quads = (
                None if self.rasterizer == "tiles" else Quads(tuned.layered if layered is None else layered)
            )
            self.layered = quads is not None and quads.layered
            self._pipeline = OrderedPipeline(quads or Tiles(), tuned.plan)
        self._pipeline.mark = self._mark
        self._parallax, self._presenter = Parallax(), Presenter()
        self._canvases, self._pictures = Canvases(format, self.layered), Canvases("rgba8")

    def __enter__(self) -> SplatRenderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def sorts(self) -> int:
        """How often the GPU has sorted; not while splats stay and the viewer moves less than 2 mm."""
        return self._pipeline.sorts

    def draw(
        self,
        splats: Splats | SplatBuffers,
        views: Sequence[View],
        targets: Sequence[Target | Canvas],
        background_srgb: Background = None,
        order: NDArray[np.integer] | None = None,
        view_colors_srgb: Sequence[NDArray[np.float32]] | None = None,
        max_splats: int | None = None,
        splats_changed: bool = True,
    ) -> None:
        """Draw the splats once for each view.

        One pass over the splats serves two views, and one sort serves all; but each eye gets an order and a
        pass of its own where splats are large and near (`render.parallax`).

        Args:
            splats: N splats in world coordinates; those that are on the GPU already cost no upload, and are
                sorted there.
            views: The eyes.
            targets: For each view where its picture goes, of the view's size; all of it is overwritten.
            background_srgb: See ``Background``; without one the pictures are transparent.
            order: int [K], which splats to draw and in which order; by default all, farthest first as
                seen from midway between the eyes, or from each eye.
            view_colors_srgb: For each view float32 [N, 3], in place of the splats' own colours; not with
                splats that lie on the GPU, whose colours are their owner's.
            max_splats: Draw at most this many, larger ones in place of all (see ``render.lod``): softer, and
                faster where drawing takes the time. Splats that lie on the GPU are always all drawn.
            splats_changed: False when these are the splats of the last ``draw``, value for value: where the
                GPU sorts, they are not uploaded again.

        Raises:
            InvalidInputError: A value is not finite, out of range or of a wrong shape.
            GlError: The driver failed.
        """
        count = splats.count if isinstance(splats, SplatBuffers) else len(splats)
        if isinstance(splats, Splats):
            splats.check_values()
        _check_targets(views, targets)
        fills = backgrounds.fills(background_srgb, views)
        if view_colors_srgb is not None and isinstance(splats, SplatBuffers):
            raise InvalidInputError("view_colors_srgb", "given", "None with splats that lie on the GPU")
        colors = _colors(view_colors_srgb, count, len(views))
        if not views:
            return
        self.passes_ms, self._marked = {}, time.perf_counter()
        order = None if order is None else _order(order, count)
        if isinstance(splats, Splats) and max_splats is not None and count > max_splats:
            kept = lod.subset(count, max_splats)
            order = None if order is None else lod.renumbered(order, kept, count)
            colors = None if colors is None else [own[kept] for own in colors]
            splats = lod.thinned(splats, kept)
        # Where the picture is fetched there is no hurry.
        wait = any(isinstance(target, Canvas) for target in targets)
        given = None if order is None else order.astype(np.uint32, copy=False)
        on_cpu = splats if self._software and isinstance(splats, Splats) else None
        sorted_from: NDArray[np.float64] | None = None
        with gl.borrowed():
            buffers = self._on_gpu(splats, splats_changed)
            self._mark("upload")
            looked_at = buffers if on_cpu is None else on_cpu
            passes = shared(views) if order is not None else self._parallax.passes(looked_at, views, wait)
            for eyes, viewpoint in passes:
                if order is None and on_cpu is not None and viewpoint is not sorted_from:
                    given, sorted_from = back_to_front(on_cpu.means, viewpoint), viewpoint
                    self._mark("sort")
                if colors is not None:
                    buffers.upload_colors(colors[eyes])
                self._pipeline.prepare(buffers, views[eyes], viewpoint, given, wait)
                self._raster(eyes.start, targets[eyes], fills[eyes])
        gl.check("draw")

    def paint(self, picture: NDArray[np.uint8], target: Target, over: bool = False) -> None:
        """Put a picture on a target, such as a caption.

        Args:
            picture: uint8 [H, W, 3 or 4] of the target's size, premultiplied, sRGB-encoded, row 0 at the top.
            target: All of it is drawn on.
            over: Blend with what is there instead of overwriting it.

        Raises:
            InvalidInputError: The picture has another type or shape.
            GlError: The driver failed.
        """
        fill = backgrounds.picture("picture", picture, target.width, target.height)
        with gl.borrowed():
            # A canvas of its own, so that pictures and views do not take each other's size in turns.
            canvas = self._pictures.get(0, [(target.width, target.height)])[0]
            canvas.fill(fill)
            self._presenter.present(canvas, target, over)
        gl.check("paint")

    def close(self) -> None:
        """Delete everything from the GPU, in the context of the start; harmless when done before."""
        self._canvases.release()
        self._pictures.release()
        self._parallax.release()
        self._presenter.release()
        self._pipeline.release()
        self._buffers.release()

    def _on_gpu(self, splats: Splats | SplatBuffers, changed: bool) -> SplatBuffers:
        if isinstance(splats, SplatBuffers):
            return splats
        # Colours of single eyes took the place of the splats' own.
        if changed or self._buffers.eye_stride or self._buffers.count != len(splats):
            self._buffers.upload(splats)
        return self._buffers

    def _raster(
        self, first: int, targets: Sequence[Target | Canvas], fills: Sequence[backgrounds.Fill]
    ) -> None:
        """Draw the eyes from number ``first`` on that are prepared."""
        sizes = [(target.width, target.height) for target in targets if not isinstance(target, Canvas)]
        own = iter(self._canvases.get(first, sizes))
        canvases = [target if isinstance(target, Canvas) else next(own) for target in targets]
        for canvas, fill in zip(canvases, fills, strict=True):
            if not isinstance(fill, tuple):
                canvas.fill(fill)
        self._mark("background")
        self._pipeline.raster(canvases, [fill if isinstance(fill, tuple) else None for fill in fills])
        for canvas, target, fill in zip(canvases, targets, fills, strict=True):
            if not isinstance(target, Canvas):
                opaque = isinstance(fill, tuple) and fill[3] == 1.0
                self._presenter.present(canvas, target, opaque=opaque)
        self._mark("present")

    def _mark(self, name: str) -> None:
        """With ``profile``, wait for the pass that ends here, and note how long it took."""
        if self._profile:
            gl.finish()
            now = time.perf_counter()
            self.passes_ms[name] = self.passes_ms.get(name, 0.0) + (now - self._marked) * 1e3
            self._marked = now


def _check_targets(views: Sequence[View], targets: Sequence[Target | Canvas]) -> None:
    found = [(target.width, target.height) for target in targets]
    expected = [(view.width, view.height) for view in views]
    if found != expected:
        raise InvalidInputError("targets", found, f"one for each view, of its size: {expected}")


def _colors(
    given: Sequence[NDArray[np.float32]] | None, count: int, views: int
) -> Sequence[NDArray[np.float32]] | None:
    if given is not None:
        found = [f"{colors.dtype} {list(colors.shape)}" for colors in given]
        if found != [f"float32 {[count, 3]}"] * views:
            raise InvalidInputError("view_colors_srgb", found, f"{views} times float32 [{count}, 3]")
    return given


def _order(order: NDArray[np.integer], count: int) -> NDArray[np.integer]:
    if order.ndim != 1 or order.dtype.kind not in "iu":
        raise InvalidInputError("order", f"{order.dtype} {list(order.shape)}", "integers [K]")
    if order.size and (order.min() < 0 or order.max() >= count):
        raise InvalidInputError(
            "order", (int(order.min()), int(order.max())), f"indices from 0 to {count - 1}"
        )
    return order
