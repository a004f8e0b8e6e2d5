"""Quads of both eyes in one draw against quads in a draw for each eye."""

import numpy as np
import pytest
from tests.runtime.pictures import cloud

from taoxr_runtime.render import OffscreenRenderer, View, gl, look_at, perspective
from taoxr_runtime.render.canvas import Canvases, CanvasFormat, one_texture
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.quads import Quads, layer_extension

pytestmark = pytest.mark.gl

STEPS = 0
"""8-bit steps by which the pictures may differ: both run the same arithmetic in the same order."""
SMALL = cloud(1500, (0.002, 0.02), seed=3)
LARGE = cloud(300, (0.05, 0.1), seed=4)


@pytest.fixture(scope="module", autouse=True)
def _layers() -> None:
    context = Context()
    found, software = layer_extension(), gl.is_software()
    context.release()
    assert found or not software, "Mesa's llvmpipe has had layers for years"
    if found is None:
        pytest.skip("this driver has no layers")


def eye(x: float, size: tuple[int, int] = (96, 80)) -> View:
    return View(look_at((x, 0.1, 1.4), (0, 0, 0)), perspective(0.8, size[0] / size[1]), *size)


@pytest.mark.parametrize("format", ["rgba8", "rgba16f"])
def test_draws_what_a_draw_for_each_eye_does(format: CanvasFormat, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    both = Quads.raster_both
    monkeypatch.setattr(Quads, "raster_both", lambda self, *given: (drawn.append(1), both(self, *given)))
    behind = np.random.default_rng(0).integers(0, 256, (80, 96, 3), np.uint8)
    pair, odd = [eye(-0.03), eye(0.03)], [eye(-0.03), eye(0.03, (33, 70))]
    with (
        OffscreenRenderer(format, "quads", layered=True) as layered,
        OffscreenRenderer(format, "quads", layered=False) as apart,
    ):
        for splats, views, background, draws in (
            (SMALL, pair, None, 1),
            (SMALL, pair, (0.2, 0.4, 0.6), 1),
            (SMALL, pair, behind, 1),
            (SMALL, pair[:1], None, 0),
            (SMALL, odd, None, 0),
            (LARGE, pair, None, 0),  # in each eye's own order
            (SMALL, [*pair, eye(0.1)], None, 1),
            (SMALL, [*pair, *pair[::-1]], None, 2),
        ):
            drawn.clear()
            pictures = layered.render(splats, views, background)
            assert len(drawn) == draws
            for picture, expected in zip(pictures, apart.render(splats, views, background), strict=True):
                assert expected.any()
                assert np.abs(picture.astype(int) - expected).max() <= STEPS


def test_canvases_are_kept_and_become_layers_when_asked_for_together() -> None:
    context = Context()
    canvases = Canvases("rgba8", paired=True)
    size = (16, 8)
    pair = canvases.get(0, [size, size])
    assert one_texture(pair) is not None
    assert one_texture(pair[::-1]) is None
    assert canvases.get(0, [size, size]) == pair
    assert canvases.get(1, [size]) == pair[1:]
    (other,) = canvases.get(0, [(8, 8)])
    assert one_texture([other, pair[1]]) is None
    again = canvases.get(0, [size, size])
    assert one_texture(again) is not None
    # What is left of a pair is drawn on as before, but not with the other one.
    again[0].release()
    assert one_texture(again) is None
    again[1].clear((1.0, 0.0, 0.0, 1.0))
    assert (again[1].read() == (255, 0, 0, 255)).all()
    canvases.release()
    context.release()
