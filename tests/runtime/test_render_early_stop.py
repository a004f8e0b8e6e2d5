"""Tiles stop where nothing behind shows: what they look at is counted, in shaders compiled for that."""

from collections.abc import Iterator

import numpy as np
import pytest

from taoxr_runtime.render import View, gl, look_at, perspective
from taoxr_runtime.render.camera import centre
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.compute_tiles import ComputeTiles
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.pipeline import OrderedPipeline
from taoxr_runtime.render.radix import subgroup_size
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.render.tiles import Tiles
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.gl

SIZE = 64
VIEW = View(look_at((0, 0, 1), (0, 0, 0)), perspective(0.9, 1.0), SIZE, SIZE)
SHEETS = 6
"""Each lets at most a tenth through, so that 4 of them hide what is behind to less than 1/1024."""
BEHIND = 2000


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    opened = Context()
    yield
    opened.release()


def wall(opacity: float) -> Splats:
    """Sheets of one huge splat each, at 0.1 mm from one another: the picture is their middle."""
    means = np.zeros((SHEETS, 3), np.float32)
    means[:, 2] = -1e-4 * np.arange(SHEETS)
    return Splats.isotropic(
        means, 10.0, opacity, np.linspace(0.2, 0.9, 3 * SHEETS).reshape(-1, 3).astype(np.float32)
    )


def crowd() -> Splats:
    """Bright small ones, all of them behind the wall."""
    rng = np.random.default_rng(1)
    means = rng.uniform((-0.9, -0.9, -1.5), (0.9, 0.9, -0.5), (BEHIND, 3)).astype(np.float32)
    return Splats.isotropic(means, 0.05, 0.9, rng.uniform(0.5, 1, (BEHIND, 3)).astype(np.float32))


def together(first: Splats, second: Splats) -> Splats:
    fields = ("means", "covariances", "opacities", "colors_srgb")
    return Splats(*(np.concatenate([getattr(first, name), getattr(second, name)]) for name in fields))


def drawn(lists: str, splats: Splats) -> tuple[np.ndarray, np.ndarray]:
    """The picture, and what was looked at: [2, tiles]."""
    buffers, canvas, tiles = SplatBuffers(), Canvas(SIZE, SIZE, "rgba8"), Tiles(count_visits=True)
    compute = ComputeTiles(count_visits=True)
    pipeline = compute if lists == "gpu" else OrderedPipeline(tiles)
    buffers.upload(splats)
    with gl.borrowed():
        pipeline.prepare(buffers, [VIEW], centre([VIEW]))
        pipeline.raster([canvas], [(0.0, 0.0, 0.0, 0.0)])
        found = canvas.read(), compute.visits() if lists == "gpu" else tiles.visits
    for thing in (buffers, canvas, pipeline, tiles, compute):
        thing.release()
    return found


@pytest.mark.parametrize("lists", ["cpu", "gpu"])
def test_what_is_behind_a_wall_is_not_even_looked_at(lists: str) -> None:
    alone, _ = drawn(lists, wall(0.97))
    picture, (visited, listed) = drawn(lists, together(wall(0.97), crowd()))
    assert listed.min() > SHEETS + 40  # all tiles have much more to blend
    # Where invocations look at splats together, a tile stops after those that they look at.
    together_at_once = subgroup_size() if lists == "gpu" and subgroup_size() == 32 else 1
    assert 0 < visited.min() <= visited.max() <= -(-SHEETS // together_at_once) * together_at_once
    np.testing.assert_array_equal(picture, alone)


@pytest.mark.parametrize("lists", ["cpu", "gpu"])
def test_through_a_veil_everything_is_looked_at(lists: str) -> None:
    alone, _ = drawn(lists, wall(0.02))
    picture, (visited, listed) = drawn(
        lists,
        together(
            wall(0.02),
            Splats.isotropic(np.array([[0, 0, -1.0]] * 30, np.float32), 10.0, 0.02, np.ones(3, np.float32)),
        ),
    )
    np.testing.assert_array_equal(visited, listed)
    assert listed.min() == SHEETS + 30
    assert (picture != alone).all(axis=2).mean() > 0.9
