"""What draws the frames that are measured: a scene or splats, a pipeline, and a canvas for each eye."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from taoxr.figures import Spread, spread
from taoxr_runtime.bench.body import motion
from taoxr_runtime.bench.clouds import eyes
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.camera import View, centre
from taoxr_runtime.render.canvas import Canvases
from taoxr_runtime.render.footprints import MAX_EYES
from taoxr_runtime.render.parallax import Parallax
from taoxr_runtime.render.pipeline import Pipeline
from taoxr_runtime.render.splat_buffers import SplatBuffers

Figures = dict[str, Spread | float | int | str]
Frame = Callable[[int, Sequence[View]], None]
DEFORMATION: Final = ("field", "coefficients", "blendshapes", "skinning", "binding", "deformer")
"""Kinds of the nodes that move splats; the others light them."""
_NOTHING: Final = (0.0, 0.0, 0.0, 0.0)
_WARM_FRAMES: Final = 5
_WARM_S: Final = 1.0


class Stage:
    """Draws into canvases of its own; needs a current context.

    Args:
        pipeline: What draws.
        width: Pixels of each eye.
        height: The same.
        eye_count: Number of eyes.
        layered: Let both eyes' canvases be layers of one texture.
    """

    def __init__(
        self, pipeline: Pipeline, width: int, height: int, eye_count: int = 2, layered: bool = False
    ) -> None:
        sizes = [(width, height)] * eye_count
        self._kept = Canvases("rgba8", layered)
        self.canvases = [
            canvas
            for first in range(0, eye_count, MAX_EYES)
            for canvas in self._kept.get(first, sizes[first : first + MAX_EYES])
        ]
        self.clock = objects.GpuClock()
        self._pipeline, self._parallax = pipeline, Parallax()
        self._timed = False

    def views(self, frame: int) -> list[View]:
        """The eyes of a frame; the head goes around the avatar."""
        canvas = self.canvases[0]
        return eyes(canvas.width, canvas.height, len(self.canvases), turn=0.002 * frame)

    def draw(self, splats: SplatBuffers, views: Sequence[View]) -> None:
        """Draws all eyes."""
        self._pipeline.mark = self._mark
        passes = self._parallax.passes(splats, views, wait=False)
        self._mark("parallax")
        for own, viewpoint in passes:
            self._pipeline.prepare(splats, views[own], viewpoint, wait=False)
            self._pipeline.raster(self.canvases[own], [_NOTHING] * len(views[own]))

    def still(self, splats: SplatBuffers) -> Frame:
        """Frames of splats that do not change: only the head moves."""
        return lambda frame, views: self.draw(splats, views)

    def play(self, scene: GlScene, moves: bool) -> Frame:
        """Frames of a scene: the head moves, and if so asked, face and body do in every frame, too.

        Each eye gets colours of its own where the scene can make them.
        """
        at = motion(dict(scene.inputs))

        def draw(frame: int, views: Sequence[View]) -> None:
            if moves:
                for name, value in at(frame).items():
                    scene.set(name, value)
            scene.set("camera", centre(views))
            scene.look_from(np.array([view.position for view in views]))
            self.draw(scene.update(self.clock if self._timed else None), views)

        return draw

    def times(self, name: str, frame: Frame, count: int) -> Figures:
        """Passes by the GPU's clock, frames by the wall clock, and what the CPU takes to submit one.

        Args:
            name: Of the figures.
            frame: Draws one.
            count: How many to time.
        """
        self._warm(frame, count)
        frames: list[dict[str, float]] = []
        self._timed = True
        for k in range(count):
            views = self.views(k)
            self.clock.mark("")
            frame(k, views)
            frames.append(self.clock.read())
        self._timed = False
        all_views = [self.views(k) for k in range(count)]
        submits: list[float] = []
        gl.finish()
        began = time.perf_counter()
        for k, views in enumerate(all_views):
            start = time.perf_counter()
            frame(k, views)
            submits.append((time.perf_counter() - start) * 1e3)
        gl.finish()
        whole = (time.perf_counter() - began) * 1e3 / count
        passes = dict.fromkeys(key for passes in frames for key in passes)
        figures: Figures = {f"{name}.{key}_ms": spread([f.get(key, 0.0) for f in frames]) for key in passes}
        if not passes.keys().isdisjoint(DEFORMATION):
            figures[f"{name}.deformation_ms"] = spread([_sum(f, DEFORMATION) for f in frames])
        figures[f"{name}.gpu_ms"] = spread([sum(f.values()) for f in frames])
        figures[f"{name}.submit_ms"] = spread(submits)
        figures[f"{name}.frame_ms"] = round(whole, 4)
        return figures

    def _warm(self, frame: Frame, count: int) -> None:
        """Draws until nothing is new to the driver, and a GPU that was idle runs at its full clock."""
        began = time.perf_counter()
        for k in range(min(_WARM_FRAMES, count)):
            frame(k, self.views(k))
        while not gl.is_software() and time.perf_counter() - began < _WARM_S:
            frame(-1, self.views(-1))
            gl.finish()
        gl.finish()

    def release(self) -> None:
        """Deletes everything from the GPU."""
        self._kept.release()
        self.clock.release()
        self._parallax.release()
        self._pipeline.release()

    def _mark(self, name: str) -> None:
        if self._timed:
            self.clock.mark(name)


def _sum(passes: dict[str, float], names: Sequence[str]) -> float:
    return sum(passes.get(name, 0.0) for name in names)
