"""What a GPU is fastest with, rasterizer and plan of the sort: measured once per driver, then remembered.

What gives wrong results is left out. Drivers may run subgroups smaller than the size that they report, which
neither our sort nor our tiles would survive; only few drivers were there to try.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal

import numpy as np
import structlog
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from taoxr import paths
from taoxr.errors import InvalidInputError
from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.camera import View, centre, look_at, perspective
from taoxr_runtime.render.canvas import Canvas, pair
from taoxr_runtime.render.compute_tiles import ComputeTiles
from taoxr_runtime.render.pipeline import OrderedPipeline, Pipeline
from taoxr_runtime.render.quads import Quads
from taoxr_runtime.render.radix import Count, Plan, RadixSort, default_plan, subgroup_size
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats

Choice = Literal["quads", "tiles"]

_SPLATS: Final = 100_000
_SIZE: Final = 1024
_KEYS: Final = 250_000
_FRAMES: Final = 5
_LEAST_DB: Final = 30.0
"""How alike the pictures of both rasterizers must be; working ones are at over 40 dB."""


@dataclass(frozen=True)
class Tuned:
    """What to draw with.

    Attributes:
        rasterizer: The faster one.
        plan: Of the fastest sort.
        layered: Whether quads of two eyes are faster in one draw than in two.
    """

    rasterizer: Choice
    plan: Plan
    layered: bool


_MEMORY: Final = TypeAdapter(dict[str, Tuned])


def chosen() -> Tuned:
    """What to draw with in the current context; software drivers are not kept busy with measurements."""
    return Tuned("tiles", default_plan(), False) if gl.is_software() else tuned(gl.describe())


def tuned(description: str, measure: Callable[[], Tuned] | None = None) -> Tuned:
    """What the current context is fastest with.

    Args:
        description: Driver and version, under which it is remembered in the cache folder.
        measure: What to do where nothing is remembered; by default `measured`.
    """
    file = paths.cache_dir() / "gpu.json"
    known = _read(file)
    found = known.get(description)
    if found is None:
        found = (measure or measured)()
        _write(file, {**known, description: found})
    return found


def measured() -> Tuned:
    """The fastest sort, and the faster rasterizer with it.

    Raises:
        GlError: No sort works.
    """
    sorts = sort_times()
    if not sorts:
        raise gl.GlError(f"{gl.describe()} sorts wrongly, whatever the plan: update the graphics driver")
    plan = min(sorts, key=sorts.__getitem__)
    frames = frame_times(plan)
    choice = min(frames, key=frames.__getitem__)
    eyes = eye_times(plan)
    layered = min(eyes, key=eyes.__getitem__) == "layered"
    structlog.get_logger().info(
        "tuned",
        driver=gl.describe(),
        rasterizer=choice,
        frame_ms=frames,
        plan=plan,
        sort_ms=sorts[plan],
        eyes_ms=eyes,
    )
    return Tuned(choice, plan, layered)


def plans() -> list[Plan]:
    """Ways to cut up the sort that the current context can run."""
    size = subgroup_size()
    if not size:
        return [Plan(bits, group, items) for bits, group, items in ((4, 256, 8), (5, 64, 8), (4, 128, 16))]
    shared = gl.shared_memory()
    shapes = [(bits, group, items) for bits in (8, 6) for group in (256, 512) for items in (4, 8, 12)]
    # Each subgroup counts every digit in a word of its own.
    fitting = [
        Plan(bits, group, items, size)
        for bits, group, items in shapes
        if 4 * (group // size + 1) * (1 << bits) <= shared
    ]
    return [*fitting, Plan()]


def sort_times(count: int | None = None) -> dict[Plan, float]:
    """Milliseconds of a sort of seeded random keys with each plan that sorts, the median of five.

    Args:
        count: How many keys; by default 250,000.
    """
    keys = np.random.default_rng(0).integers(0, 1 << 32, _KEYS if count is None else count, np.uint32)
    numbers, order = np.arange(len(keys), dtype=np.uint32), np.argsort(keys, kind="stable")
    given, values, counter, clock = objects.Buffer(), objects.Buffer(), Count(), objects.GpuClock()
    times: dict[Plan, float] = {}
    with gl.borrowed_for_compute():
        for plan in plans():
            sorter = RadixSort(plan)
            counter.set(len(keys), plan.block)

            def sort(sorter: RadixSort = sorter) -> objects.Buffer:
                return sorter.sort(given, values, counter, len(keys))[1]

            given.write(keys)
            values.write(numbers)
            found = np.empty_like(numbers)
            sort().read(found)
            if np.array_equal(found, order):
                times[plan] = _median(sort, clock, lambda: given.write(keys))
            else:
                structlog.get_logger().warning("sorts wrongly", driver=gl.describe(), plan=plan)
            sorter.release()
    for thing in (given, values, counter, clock):
        thing.release()
    gl.check("autotune")
    return times


def frame_times(plan: Plan) -> dict[Choice, float]:
    """Milliseconds of a frame with each rasterizer: 100,000 splats at 1024x1024, the median of five.

    Quads ask nothing special of a driver; tiles are left out if what they draw does not look alike.
    """
    splats, canvas, clock = SplatBuffers(), Canvas(_SIZE, _SIZE, "rgba8"), objects.GpuClock()
    splats.upload(_cloud())
    views = [View(look_at((0, 0, 1.5), (0, 0, 0)), perspective(0.9, 1.0), _SIZE, _SIZE)]
    pipelines: dict[Choice, Pipeline] = {
        "quads": OrderedPipeline(Quads(), plan),
        "tiles": ComputeTiles(plan=plan),
    }
    times: dict[Choice, float] = {}
    pictures: dict[Choice, NDArray[np.float64]] = {}
    with gl.borrowed():
        for name, pipeline in pipelines.items():

            def draw(pipeline: Pipeline = pipeline) -> None:
                pipeline.prepare(splats, views, centre(views))
                pipeline.raster([canvas], [(0.0, 0.0, 0.0, 0.0)])

            times[name] = _median(draw, clock)
            pictures[name] = canvas.read() / 255
    error = float(np.square(pictures["tiles"] - pictures["quads"]).mean())
    if error > 10 ** (-_LEAST_DB / 10):
        structlog.get_logger().warning("tiles draw wrongly", driver=gl.describe(), squared_error=error)
        del times["tiles"]
    for thing in (*pipelines.values(), splats, canvas, clock):
        thing.release()
    gl.check("autotune")
    return times


def eye_times(plan: Plan) -> dict[str, float]:
    """Milliseconds of both eyes as quads, in "two draws" and, where that draws the same, "layered".

    Args:
        plan: Of the sort.
    """
    splats, clock = SplatBuffers(), objects.GpuClock()
    splats.upload(_cloud())
    views = [
        View(look_at((x, 0, 1.5), (x, 0, 0)), perspective(0.9, 1.0), _SIZE, _SIZE) for x in (-0.03, 0.03)
    ]
    canvases = pair(_SIZE, _SIZE, "rgba8")
    times: dict[str, float] = {}
    pictures: list[NDArray[np.uint8]] = []
    with gl.borrowed():
        for name, quads in (("two draws", Quads()), ("layered", Quads(layered=True))):
            pipeline = OrderedPipeline(quads, plan)

            def draw(pipeline: OrderedPipeline = pipeline) -> None:
                pipeline.prepare(splats, views, centre(views))
                pipeline.raster(canvases, [(0.0, 0.0, 0.0, 0.0)] * 2)

            if name == "two draws" or quads.layered:
                times[name] = _median(draw, clock)
                pictures.append(np.stack([canvas.read() for canvas in canvases]))
            pipeline.release()
    if len(pictures) == 2 and not np.array_equal(pictures[0], pictures[1]):
        structlog.get_logger().warning("draws layers wrongly", driver=gl.describe())
        del times["layered"]
    for thing in (*canvases, splats, clock):
        thing.release()
    gl.check("autotune")
    return times


def _median(
    work: Callable[[], object], clock: objects.GpuClock, before: Callable[[], None] | None = None
) -> float:
    """Milliseconds of the GPU, once it is warm."""
    times: list[float] = []
    for _ in range(1 + _FRAMES):
        if before is not None:
            before()
        clock.mark("")
        work()
        clock.mark("work")
        times.append(clock.read()["work"])
    return round(float(np.median(times[1:])), 4)


def _cloud() -> Splats:
    """A ball of seeded splats, as dense as a face that fills the picture."""
    rng = np.random.default_rng(0)
    outward = rng.normal(size=(_SPLATS, 3))
    means = 0.5 * outward / np.linalg.norm(outward, axis=1, keepdims=True)
    return Splats.isotropic(
        means.astype(np.float32), 0.004, 0.8, rng.uniform(0, 1, (_SPLATS, 3)).astype(np.float32)
    )


def _read(file: Path) -> dict[str, Tuned]:
    try:
        return _MEMORY.validate_json(file.read_bytes())
    except (FileNotFoundError, ValidationError, InvalidInputError):
        return {}


def _write(file: Path, choices: Mapping[str, Tuned]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".part")
    partial.write_bytes(_MEMORY.dump_json(dict(choices), indent=2))
    partial.replace(file)
