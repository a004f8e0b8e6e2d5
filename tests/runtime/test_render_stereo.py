"""Two eyes on one screen."""

import ctypes

import numpy as np
import pytest

from taoxr_runtime.render import View, WindowTarget, gl, look_at, perspective_from_angles
from taoxr_runtime.render.stereo import EYE_DISTANCE_M, Anaglyph, anaglyph, pair, side_by_side
from taoxr_runtime.view.window import Window

pytestmark = pytest.mark.gl

WIDTH, HEIGHT = 96, 64
STEPS = 1.0
"""By how much the GPU may round otherwise."""


def view() -> View:
    return View(
        look_at((0.3, 1.5, 2.0), (0, 1.2, 0)), perspective_from_angles(-0.4, 0.5, 0.3, -0.35), 640, 480
    )


def seen_at(eye: View, point: np.ndarray) -> np.ndarray:
    clip = eye.projection @ eye.world_to_view @ np.append(point, 1.0)
    return clip[:2] / clip[3]


@pytest.mark.parametrize("distance", [0.5, 2.0, 30.0])
def test_what_is_at_the_distance_has_no_disparity_and_what_is_nearer_stands_out(distance: float) -> None:
    middle = view()
    left, right = pair(middle, distance)
    assert np.linalg.norm(left.position - right.position) == pytest.approx(EYE_DISTANCE_M)
    np.testing.assert_allclose((left.position + right.position) / 2, middle.position, atol=1e-12)
    world = np.linalg.inv(middle.world_to_view)
    for x, y in ((0.0, 0.0), (0.2, -0.1)):
        for factor, sign in ((1.0, 0), (0.5, 1), (2.0, -1)):
            point = (world @ np.array([x * distance, y * distance, -factor * distance, 1.0]))[:3]
            disparity = seen_at(left, point) - seen_at(right, point)
            assert abs(disparity[1]) < 1e-9
            assert np.sign(np.round(disparity[0], 9)) == sign  # nearer: the left eye sees it further right


def test_colours_for_coloured_glasses() -> None:
    grey = np.linspace(0, 255, 256).astype(np.uint8)[None, :, None].repeat(3, axis=2)
    assert np.abs(anaglyph(grey, grey).astype(int) - grey).max() <= 2
    black, white = np.zeros((1, 1, 3), np.uint8), np.full((1, 1, 3), 255, np.uint8)
    assert anaglyph(white, black)[0, 0].tolist() == [255, 0, 0]
    assert anaglyph(black, white)[0, 0].tolist() == [0, 255, 255]


def test_side_by_side() -> None:
    left, right = np.zeros((2, 3, 3), np.uint8), np.ones((2, 3, 3), np.uint8)
    assert side_by_side(left, right)[..., 0].tolist() == [[0, 0, 0, 1, 1, 1]] * 2


def test_the_gpu_mixes_what_numpy_mixes(display: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    rng = np.random.default_rng(0)
    eyes = [rng.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8) for _ in range(2)]
    with Window(WIDTH, HEIGHT, "stereo"):
        g, mixer = gl.gl(), Anaglyph()
        names = (ctypes.c_uint32 * 2)()
        g.glCreateTextures(g.GL_TEXTURE_2D, 2, names)
        for name, eye in zip(names, eyes, strict=True):
            g.glTextureStorage2D(name, 1, g.GL_RGBA8, WIDTH, HEIGHT)
            rows = np.ascontiguousarray(np.dstack([eye, np.full((HEIGHT, WIDTH), 255, np.uint8)])[::-1])
            g.glTextureSubImage2D(name, 0, 0, 0, WIDTH, HEIGHT, g.GL_RGBA, g.GL_UNSIGNED_BYTE, rows)
        mixer.present((names[0], names[1]), WindowTarget(WIDTH, HEIGHT))
        found = np.empty((HEIGHT, WIDTH, 4), np.uint8)
        g.glReadPixels(0, 0, WIDTH, HEIGHT, g.GL_RGBA, g.GL_UNSIGNED_BYTE, ctypes.c_void_p(found.ctypes.data))
        gl.check("test")
        mixer.release()
        g.glDeleteTextures(list(names))
    difference = np.abs(found[::-1, :, :3].astype(int) - anaglyph(*eyes))
    assert difference.max() <= STEPS
