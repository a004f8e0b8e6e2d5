"""Pictures of splats without a window: for the demo's video, tests, and machines without a display."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import camera, gl
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.footprints import Footprints
from taoxr_runtime.render.quads import Quads
from taoxr_runtime.render.sorting import back_to_front
from taoxr_runtime.render.tiles import Tiles
from taoxr_runtime.splats import Splats

Background = tuple[float, float, float] | NDArray[np.uint8] | list[NDArray[np.uint8]] | None
"""Nothing, one sRGB-encoded colour, one picture uint8 [H, W, 3 or 4], or a picture for each view."""

Rasterizer = Literal["auto", "quads", "tiles"]

_KEPT_TARGETS = 4
_SOFTWARE = ("llvmpipe", "softpipe", "swiftshader")


class OffscreenRenderer:
    """Draws splats into arrays; a context manager, for use in the thread that made it.

    Several may exist in one thread or in many.

    Args:
        format: How the target stores what is being blended. "rgba16f" rounds less where quads blend many
            faint layers (49 against 41 dB) and costs a tenth more; tiles blend in float anyway (59 dB
            with either).
        rasterizer: "auto" takes tiles on software drivers and quads on GPUs; both draw the same.
        profile: Measure each pass; waits for the GPU after each, which costs a little.

    Attributes:
        description: Driver and version.
        rasterizer: "quads" or "tiles".
        passes_ms: With ``profile``, milliseconds of the last ``render`` by pass, summed over the views.

    Raises:
        UnavailableError: No OpenGL 4.5 here; says what to install.
        GlError: The driver refuses a shader.
    """

    def __init__(
        self, format: gl.TargetFormat = "rgba8", rasterizer: Rasterizer = "auto", profile: bool = False
    ) -> None:
        self.passes_ms: dict[str, float] = {}
        self._format: gl.TargetFormat = format
        self._profile = profile
        self._targets: dict[tuple[int, int], gl.Target] = {}
        self._context = Context()
        try:
            self.description = gl.describe()
            if rasterizer == "auto":
                software = any(name in self.description.lower() for name in _SOFTWARE)
                rasterizer = "tiles" if software else "quads"
            self.rasterizer: Rasterizer = rasterizer
            self._footprints = Footprints()
            self._rasterizer = Tiles() if rasterizer == "tiles" else Quads()
        except gl.GlError:
            self._context.release()
            raise

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
            splats: N splats in world coordinates.
            views: The eyes.
            background_srgb: See ``Background``; without one the pictures are transparent.
            order: int [K], which splats to draw and in which order; by default all, farthest first as
                seen from midway between the eyes.
            view_colors_srgb: For each view float32 [N, 3], in place of the splats' own colours.

        Returns:
            For each view uint8 [H, W, 4], RGBA, premultiplied, sRGB-encoded, row 0 at the top.

        Raises:
            InvalidInputError: A value is not finite, out of range or of a wrong shape.
            GlError: The driver failed.
            RuntimeError: Closed, or called from another thread.
        """
        splats.check_values()
        backgrounds = _backgrounds(background_srgb, views)
        colors = _colors(view_colors_srgb, len(splats), len(views))
        if not views:
            return []
        self._context.make_current()
        self.passes_ms = {}
        began = time.perf_counter()
        if order is None:
            order = back_to_front(splats.means, camera.centre(views))
        else:
            order = _order(order, len(splats))
        began = self._passed("sort", began)
        self._footprints.upload(splats, order.astype(np.uint32, copy=False))
        began = self._passed("upload", began)
        pictures: list[NDArray[np.uint8]] = []
        for number, (view, background) in enumerate(zip(views, backgrounds, strict=True)):
            if colors is not None:
                self._footprints.upload_colors(colors[number])
            target = self._target(view.width, view.height)
            if isinstance(background, tuple):
                target.clear(background)
            else:
                target.fill(background)
            began = self._passed("background", began)
            self._footprints.project(view)
            began = self._passed("project", began)
            self._rasterizer.raster(self._footprints, target)
            began = self._passed("raster", began)
            pictures.append(target.read())
            began = self._passed("read", began)
        gl.check("render")
        return pictures

    def close(self) -> None:
        """Give everything back; harmless when done before."""
        if self._context.open:
            self._context.make_current()
            self._rasterizer.release()
            self._footprints.release()
            self._release_targets()
            self._context.release()

    def _target(self, width: int, height: int) -> gl.Target:
        if (width, height) not in self._targets:
            if len(self._targets) >= _KEPT_TARGETS:
                self._release_targets()
            self._targets[width, height] = gl.Target(width, height, self._format)
        return self._targets[width, height]

    def _release_targets(self) -> None:
        for target in self._targets.values():
            target.release()
        self._targets.clear()

    def _passed(self, name: str, began: float) -> float:
        if self._profile:
            gl.finish()
            now = time.perf_counter()
            self.passes_ms[name] = self.passes_ms.get(name, 0.0) + (now - began) * 1e3
            return now
        return began


_Fill = tuple[float, float, float, float] | NDArray[np.uint8]


def _backgrounds(given: Background, views: Sequence[View]) -> Sequence[_Fill]:
    """What to fill each view's target with: RGBA, or a picture uint8 [H, W, 4]."""
    if given is None:
        return [(0.0, 0.0, 0.0, 0.0)] * len(views)
    if isinstance(given, tuple):
        if len(given) != 3 or not all(0 <= part <= 1 for part in given):
            raise InvalidInputError("background_srgb", given, "(red, green, blue), each from 0 to 1")
        return [(float(given[0]), float(given[1]), float(given[2]), 1.0)] * len(views)
    pictures = given if isinstance(given, list) else [given] * len(views)
    if len(pictures) != len(views):
        raise InvalidInputError(
            "background_srgb", f"{len(pictures)} pictures", f"one for each of {len(views)} views"
        )
    return [_picture(picture, view) for picture, view in zip(pictures, views, strict=True)]


def _picture(given: object, view: View) -> NDArray[np.uint8]:
    picture = np.asarray(given)
    shapes = [(view.height, view.width, channels) for channels in (3, 4)]
    if picture.dtype != np.uint8 or picture.shape not in shapes:
        raise InvalidInputError(
            "background_srgb",
            f"{picture.dtype} {list(picture.shape)}",
            f"None, (red, green, blue) or uint8 [{view.height}, {view.width}, 3 or 4]",
        )
    if picture.shape[2] == 4:
        return picture
    opaque = np.full((view.height, view.width, 1), 255, np.uint8)
    return np.concatenate([picture, opaque], axis=2)


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
