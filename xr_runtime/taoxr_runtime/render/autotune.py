"""Which rasterizer a GPU is faster with: measured once for each driver, then remembered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

import numpy as np
import structlog
from pydantic import TypeAdapter, ValidationError

from taoxr import paths
from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.camera import View, centre, look_at, perspective
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.compute_tiles import ComputeTiles
from taoxr_runtime.render.footprints import Footprints
from taoxr_runtime.render.quads import Quads
from taoxr_runtime.render.sorting import DistanceSort
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats

Choice = Literal["quads", "tiles"]

_SPLATS: Final = 100_000
_SIZE: Final = 1024
_FRAMES: Final = 5
_CHOICES: Final[tuple[Choice, ...]] = ("quads", "tiles")
_MEMORY: Final = TypeAdapter(dict[str, Choice])


def choose(description: str, measure: Callable[[], dict[Choice, float]] | None = None) -> Choice:
    """The faster rasterizer of the current context.

    Args:
        description: Driver and version, under which the choice is remembered in the cache folder.
        measure: Milliseconds of each; by default `measured`.
    """
    file = paths.cache_dir() / "rasterizers.json"
    known = _read(file)
    choice = known.get(description)
    if choice is None:
        times = (measure or measured)()
        choice = min(_CHOICES, key=times.__getitem__)
        structlog.get_logger().info("rasterizer chosen", choice=choice, driver=description, ms=times)
        _write(file, {**known, description: choice})
    return choice


def measured() -> dict[Choice, float]:
    """Milliseconds of a frame with each rasterizer: 100,000 splats at 1024x1024, the median of five."""
    splats, canvas, clock = SplatBuffers(), Canvas(_SIZE, _SIZE, "rgba8"), objects.GpuClock()
    splats.upload(_cloud())
    views = [View(look_at((0, 0, 1.5), (0, 0, 0)), perspective(0.9, 1.0), _SIZE, _SIZE)]
    tiles, quads, footprints, sort = ComputeTiles(), Quads(), Footprints(), DistanceSort()

    def with_tiles() -> None:
        tiles.prepare(splats, views, centre(views))
        tiles.raster(0, canvas, (0.0, 0.0, 0.0, 0.0))

    def with_quads() -> None:
        order = sort.back_to_front(splats, centre(views))
        footprints.project(splats, order, splats.count, views)
        canvas.clear((0.0, 0.0, 0.0, 0.0))
        quads.raster(footprints, 0, canvas)

    times: dict[Choice, float] = {}
    with gl.borrowed():
        for name, draw in zip(_CHOICES, (with_quads, with_tiles), strict=True):
            draw()
            frames: list[float] = []
            for _ in range(_FRAMES):
                clock.mark("")
                draw()
                clock.mark("frame")
                frames.append(clock.read()["frame"])
            times[name] = round(float(np.median(frames)), 3)
    for thing in (tiles, quads, footprints, sort, splats, canvas, clock):
        thing.release()
    gl.check("autotune")
    return times


def _cloud() -> Splats:
    """A ball of seeded splats, as dense as a face that fills the picture."""
    rng = np.random.default_rng(0)
    outward = rng.normal(size=(_SPLATS, 3))
    means = 0.5 * outward / np.linalg.norm(outward, axis=1, keepdims=True)
    return Splats.isotropic(
        means.astype(np.float32), 0.004, 0.8, rng.uniform(0, 1, (_SPLATS, 3)).astype(np.float32)
    )


def _read(file: Path) -> dict[str, Choice]:
    try:
        return _MEMORY.validate_json(file.read_bytes())
    except (FileNotFoundError, ValidationError):
        return {}


def _write(file: Path, choices: dict[str, Choice]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".part")
    partial.write_bytes(_MEMORY.dump_json(choices, indent=2))
    partial.replace(file)
