"""Times frames on the GPU, pass by pass, and on the CPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.figures import Spread, spread
from taoxr_runtime.bench.clouds import eyes, person
from taoxr_runtime.nnr import container
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.camera import View, centre
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.compute_tiles import ComputeTiles
from taoxr_runtime.render.footprints import Footprints
from taoxr_runtime.render.quads import Quads
from taoxr_runtime.render.sorting import DistanceSort
from taoxr_runtime.render.splat_buffers import SplatBuffers

_NOTHING: Final = (0.0, 0.0, 0.0, 0.0)
_WARM: Final = 5
AVATAR: Final = Path(str(files("taoxr_runtime"))) / "assets" / "default.nnr"
Figures = dict[str, Spread | float | int | str]


@dataclass(frozen=True, slots=True)
class Size:
    """What to draw.

    Attributes:
        splats: How many.
        width: Pixels of each eye.
        height: The same.
        frames: How many to time.
    """

    splats: int
    width: int
    height: int
    frames: int


class Bench:
    """Canvases and rasterizers for one size; needs a current context."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self._canvases = [Canvas(size.width, size.height, "rgba8") for _ in range(2)]
        self._clock = objects.GpuClock()

    def tiles(self) -> Figures:
        """Compute tiles: the head moves; then the splats are uploaded in every frame, too."""
        tiles, splats, cloud = ComputeTiles(), SplatBuffers(), person(self.size.splats)
        splats.upload(cloud)

        def draw(views: list[View], mark: objects.GpuClock | None) -> None:
            tiles.clock = mark
            tiles.prepare(splats, views, centre(views), wait=False)
            for eye, canvas in enumerate(self._canvases):
                tiles.raster(eye, canvas, _NOTHING)
                if mark is not None:
                    mark.mark("blend")

        figures = self._frames("head moved", draw)
        tiles.release()
        splats.release()
        return figures

    def quads(self) -> Figures:
        """Quads blended by the hardware: the head moves."""
        sort, footprints, quads, splats = DistanceSort(), Footprints(), Quads(), SplatBuffers()
        splats.upload(person(self.size.splats))

        def draw(views: list[View], mark: objects.GpuClock | None) -> None:
            order = sort.back_to_front(splats, centre(views))
            _mark(mark, "sort")
            footprints.project(splats, order, splats.count, views)
            _mark(mark, "project")
            for eye, canvas in enumerate(self._canvases):
                canvas.clear(_NOTHING)
                quads.raster(footprints, eye, canvas)
                _mark(mark, "blend")

        figures = self._frames("quads", draw)
        for thing in (sort, footprints, quads, splats):
            thing.release()
        return figures

    def avatar(self) -> Figures:
        """The default avatar: face and body move in every frame, then are deformed, lit and drawn."""
        scene, tiles = GlScene(container.read(AVATAR)), ComputeTiles()
        motion = _motion(scene)

        def draw(views: list[View], mark: objects.GpuClock | None) -> None:
            motion()
            splats = scene.update(mark)
            tiles.clock = mark
            tiles.prepare(splats, views, centre(views), wait=False)
            for eye, canvas in enumerate(self._canvases):
                tiles.raster(eye, canvas, _NOTHING)
                _mark(mark, "blend")

        figures = self._frames("avatar moved", draw)
        figures["avatar.uploaded_bytes"] = scene.uploaded
        figures["avatar.splats"] = scene.splats.count
        scene.release()
        tiles.release()
        return figures

    def release(self) -> None:
        """Deletes everything from the GPU."""
        for canvas in self._canvases:
            canvas.release()
        self._clock.release()

    def _frames(self, name: str, draw: Callable[[list[View], objects.GpuClock | None], None]) -> Figures:
        """Passes by the GPU's clock, frames by the wall clock, and what the CPU takes to submit one."""
        size = self.size
        views = [eyes(size.width, size.height, turn=0.002 * k) for k in range(size.frames)]
        for k in range(_WARM):
            draw(views[k % len(views)], None)
        gl.finish()
        passes: dict[str, list[float]] = {}
        for at in views:
            self._clock.mark("")
            draw(at, self._clock)
            for key, ms in self._clock.read().items():
                passes.setdefault(key, []).append(ms)
        submits: list[float] = []
        gl.finish()
        began = time.perf_counter()
        for at in views:
            start = time.perf_counter()
            draw(at, None)
            submits.append((time.perf_counter() - start) * 1e3)
        gl.finish()
        frame = (time.perf_counter() - began) * 1e3 / len(views)
        figures: Figures = {f"{name}.{key}_ms": spread(values) for key, values in passes.items()}
        sums = np.sum(list(passes.values()), axis=0)
        figures[f"{name}.gpu_ms"] = spread(sums.tolist())
        figures[f"{name}.submit_ms"] = spread(submits)
        figures[f"{name}.frame_ms"] = round(frame, 4)
        return figures


def bench_render(size: Size, progress: Callable[[str], None]) -> Figures:
    """Everything that is measured.

    Args:
        size: What to draw.
        progress: Told what is measured.

    Raises:
        UnavailableError: No context is current.
    """
    figures: Figures = {
        "driver": gl.describe(),
        "splats": size.splats,
        "eyes": f"2x{size.width}x{size.height}",
    }
    bench = Bench(size)
    for name, measure in (("tiles", bench.tiles), ("quads", bench.quads), ("avatar", bench.avatar)):
        progress(name)
        with gl.borrowed():
            figures |= measure()
        gl.check(name)
    bench.release()
    return figures


def _motion(scene: GlScene) -> Callable[[], None]:
    """Sets another face and pose at each call."""
    rng = np.random.default_rng(1)
    faces: NDArray[np.float64] = rng.uniform(0, 0.5, (64, *scene.inputs["expression"]))
    number = 0

    def move() -> None:
        nonlocal number
        number += 1
        scene.set("expression", faces[number % len(faces)])
        pose = np.zeros(scene.inputs["pose"])
        pose[:, 3] = 1
        pose[:, 0] = 0.02 * np.sin(0.1 * number + np.arange(len(pose)))
        scene.set("pose", pose)

    return move


def _mark(clock: objects.GpuClock | None, name: str) -> None:
    if clock is not None:
        clock.mark(name)
