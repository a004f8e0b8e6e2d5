"""Windows under a real X server, with contexts of both kinds: GLX's and EGL's."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from taoxr_runtime.render import OffscreenRenderer, View
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.gl

DRAW = """
import ctypes, sys
import glfw, numpy as np
from taoxr_runtime.render import SplatRenderer, View, WindowTarget, gl
from taoxr_runtime.splats import Splats
api, rasterizer, file = sys.argv[1:]
assert glfw.init()
glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, 4)
glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, 5)
glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
glfw.window_hint(glfw.CONTEXT_CREATION_API, getattr(glfw, api))
window = glfw.create_window(160, 48, "test", None, None)
glfw.make_context_current(window)
color = np.array([0.8, 0.5, 0.2], np.float32)
splats = Splats.isotropic(np.array([[0, 0.2, 0]], np.float32), 0.05, 1.0, color)
views = [View.from_pose((x, 0, 1), (0, 0, 0, 1), (-0.4, 0.4, 0.4, -0.4), (64, 48)) for x in (-0.05, 0.05)]
with SplatRenderer(rasterizer) as renderer:
    renderer.draw(splats, views, [WindowTarget(64, 48, x=16), WindowTarget(64, 48, x=96)], (0.1, 0.2, 0.3))
    renderer.paint(np.full((6, 30, 4), (90, 0, 0, 255), np.uint8), WindowTarget(30, 6, x=20, y=4), over=True)
    image = np.empty((48, 160, 3), np.uint8)
    g = gl.gl()
    g.glReadPixels(0, 0, 160, 48, g.GL_RGB, g.GL_UNSIGNED_BYTE, ctypes.c_void_p(image.ctypes.data))
np.save(file, image[::-1])
"""


@pytest.mark.parametrize("rasterizer", ["quads", "tiles"])
@pytest.mark.parametrize("api", ["NATIVE_CONTEXT_API", "EGL_CONTEXT_API"])
def test_two_eyes_side_by_side_and_a_caption_in_a_window(
    api: str, rasterizer: str, display: str, tmp_path: Path
) -> None:
    file = tmp_path / "window.npy"
    done = subprocess.run(
        [sys.executable, "-c", DRAW, api, rasterizer, str(file)],
        env={**os.environ, "DISPLAY": display, "XDG_SESSION_TYPE": "x11", "TAOXR_GL_DEBUG": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    image = np.load(file)
    splats = Splats.isotropic(
        np.array([[0, 0.2, 0]], np.float32), 0.05, 1.0, np.array([0.8, 0.5, 0.2], np.float32)
    )
    views = [View.from_pose((x, 0, 1), (0, 0, 0, 1), (-0.4, 0.4, 0.4, -0.4), (64, 48)) for x in (-0.05, 0.05)]
    with OffscreenRenderer(rasterizer="quads" if rasterizer == "quads" else "tiles") as renderer:
        left, right = (eye[..., :3] for eye in renderer.render(splats, views, (0.1, 0.2, 0.3)))
    left[38:44, 4:34] = (90, 0, 0)
    assert not np.array_equal(left, right)
    np.testing.assert_array_equal(image[:, 16:80], left)
    np.testing.assert_array_equal(image[:, 96:], right)
