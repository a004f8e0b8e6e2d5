"""Times frames on the GPU, pass by pass, and on the CPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal

from taoxr.figures import Bars, spread
from taoxr_runtime.bench.body import AVATAR, moving_body
from taoxr_runtime.bench.clouds import eyes, person
from taoxr_runtime.bench.stage import Figures, Stage
from taoxr_runtime.nnr import container
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.render import autotune, gl
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.compute_tiles import ComputeTiles
from taoxr_runtime.render.pipeline import OrderedPipeline
from taoxr_runtime.render.quads import Quads
from taoxr_runtime.render.radix import Plan
from taoxr_runtime.render.renderer import SplatRenderer
from taoxr_runtime.render.splat_buffers import SplatBuffers, most_splats

H200: Final[Bars] = {
    "body moved.gpu_ms": ("p50", 1.3),
    "head moved.gpu_ms": ("p50", 0.93),
    "body moved.deformation_ms": ("p50", 0.3),
    "body moved.sort_ms": ("p50", 0.15),
    "body moved.submit_ms": ("p50", 1.0),
}
"""What has to be reached with 250,000 splats in two eyes of 2064x2208 on an NVIDIA H200."""
More = Literal["floats", "sorts", "scaling", "offscreen"]
COUNTS: Final = (50_000, 250_000, 1_000_000, 5_000_000)
VIEWS: Final = (1, 2, 4)
OFFSCREEN_COUNTS: Final = (30_000, 60_000, 250_000)
OFFSCREEN_SIZE: Final = 512
_OFFSCREEN_FRAMES: Final = 10


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
    """The ways of drawing that are measured, at one size; needs a current context.

    Args:
        size: What to draw.
        plan: Of the sort.
    """

    def __init__(self, size: Size, plan: Plan) -> None:
        self.size = size
        self._plan = plan

    def body(self) -> Figures:
        """The measured scene: everything moves in every frame; then only the head does."""
        return self._scene(moving_body(self.size.splats), {"body moved": True, "head moved": False})

    def floats(self) -> Figures:
        """The measured scene with its learned numbers in 32 bits on the GPU in place of 16."""
        return self._scene(moving_body(self.size.splats), {"body moved, 32 bits": True}, halves=False)

    def avatar(self) -> Figures:
        """The default avatar: face and body move in every frame."""
        return self._scene(container.read(AVATAR), {"avatar moved": True})

    def quads(self) -> Figures:
        """Splats that do not change, as quads that the hardware blends, the head moves; one draw, and two."""
        figures: Figures = {}
        for name, quads in (("quads", Quads()), ("quads layered", Quads(layered=True))):
            pipeline = OrderedPipeline(quads, self._plan)
            stage = Stage(pipeline, self.size.width, self.size.height, layered=quads.layered)
            figures |= self._still(stage, name, self.size.splats)
        return figures

    def sorts(self) -> Figures:
        """Seeded random keys of 32 bits, as many as splats, by each plan that sorts here."""
        return {
            f"sort of {plan.digit_bits} bits, {plan.group} invocations of {plan.items} keys.gpu_ms": took
            for plan, took in autotune.sort_times(self.size.splats).items()
        }

    def scaling(self, counts: tuple[int, ...] = COUNTS) -> Figures:
        """Splats that do not change, as tiles: numbers of splats and of views.

        Args:
            counts: Of splats; those that the driver has no room for are left out.
        """
        figures: Figures = {}
        for count in counts:
            if count > most_splats():
                continue
            for views in VIEWS:
                stage = Stage(ComputeTiles(plan=self._plan), self.size.width, self.size.height, views)
                found = self._still(stage, f"scaling {count} splats {views} views", count)
                figures |= {
                    key: value for key, value in found.items() if key.endswith((".gpu_ms", ".frame_ms"))
                }
        return figures

    def offscreen(self, counts: tuple[int, ...] = OFFSCREEN_COUNTS) -> Figures:
        """Pictures of still splats as arrays: sorting, uploading and reading back counted, as in films.

        Args:
            counts: Of splats.
        """
        figures: Figures = {}
        with SplatRenderer() as renderer:
            for count, views in product(counts, (1, 2)):
                canvases = [Canvas(OFFSCREEN_SIZE, OFFSCREEN_SIZE, "rgba8") for _ in range(views)]
                splats, seen = person(count), eyes(OFFSCREEN_SIZE, OFFSCREEN_SIZE, views)
                times: list[float] = []
                for _ in range(1 + min(self.size.frames, _OFFSCREEN_FRAMES)):
                    began = time.perf_counter()
                    renderer.draw(splats, seen, canvases)
                    for canvas in canvases:
                        canvas.read()
                    times.append((time.perf_counter() - began) * 1e3)
                figures[f"offscreen {count} splats {views} views.frame_ms"] = spread(times[1:])
                for canvas in canvases:
                    canvas.release()
        return figures

    def _scene(self, scene_file: Container, ways: dict[str, bool], halves: bool = True) -> Figures:
        """Ways to play a scene: by name, whether it moves."""
        scene = GlScene(scene_file, halves=halves)
        stage = Stage(ComputeTiles(plan=self._plan), self.size.width, self.size.height)
        figures: Figures = {}
        for name, moves in ways.items():
            figures[f"{name}.splats"] = scene.splats.count
            figures |= stage.times(name, stage.play(scene, moves), self.size.frames)
            figures[f"{name}.uploaded_bytes"] = scene.uploaded
        stage.release()
        scene.release()
        return figures

    def _still(self, stage: Stage, name: str, count: int) -> Figures:
        splats = SplatBuffers()
        splats.upload(person(count))
        figures = stage.times(name, stage.still(splats), self.size.frames)
        splats.release()
        stage.release()
        return figures


def bench_render(size: Size, progress: Callable[[str], None], more: Collection[More] = ()) -> Figures:
    """Everything that is measured.

    Args:
        size: What to draw.
        progress: Told what is measured.
        more: What to measure besides bodies and quads.

    Raises:
        UnavailableError: No context is current.
    """
    plan = autotune.chosen().plan
    bench = Bench(size, plan)
    figures: Figures = {
        "driver": gl.describe(),
        "splats": size.splats,
        "eyes": f"2x{size.width}x{size.height}",
        "sort": f"{plan.digit_bits} bits, {plan.group} invocations of {plan.items} keys",
    }
    parts = {"body": bench.body, "quads": bench.quads, "avatar": bench.avatar}
    others = {
        "floats": bench.floats,
        "sorts": bench.sorts,
        "scaling": bench.scaling,
        "offscreen": bench.offscreen,
    }
    parts |= {name: measure for name, measure in others.items() if name in more}
    for name, measure in parts.items():
        progress(name)
        with gl.borrowed():
            figures |= measure()
        gl.check(name)
    return figures


def bars(size: Size) -> Bars | None:
    """What has to be reached; None where the figures mean something else."""
    compared = size.splats == 250_000 and (size.width, size.height) == (2064, 2208)
    return H200 if compared and "H200" in gl.describe() else None
