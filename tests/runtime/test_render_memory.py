"""A frame loop in which no garbage is collected makes none: Python's memory stays as it is."""

import ctypes
import gc
import sys
from collections.abc import Callable

import numpy as np
import pytest

from taoxr_runtime.bench.stage import Stage
from taoxr_runtime.nnr import container, sample_learned
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.render import TextureTarget, View, gl, perspective
from taoxr_runtime.render.compute_tiles import ComputeTiles
from taoxr_runtime.render.depth import DepthPass, Mesh
from taoxr_runtime.render.egl import Context

pytestmark = pytest.mark.gl

WARM = 200
MOST_BLOCKS, MOST_OBJECTS = 500, 200  # fewer than one for each frame


def made_by(frames: int, frame: Callable[[int], None]) -> tuple[int, int]:
    """Blocks and objects that a frame loop leaves, without the collector; the first frames do not count."""
    for number in range(WARM):
        frame(number)
    gc.collect()
    gc.disable()
    try:
        blocks, objects = sys.getallocatedblocks(), len(gc.get_objects())
        for number in range(WARM, frames):
            frame(number)
        more_objects = len(gc.get_objects()) - objects  # garbage that only the collector would find
    finally:
        gc.enable()
    gc.collect()  # empties the interpreter's lists of blocks to use again
    return sys.getallocatedblocks() - blocks, more_objects


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("frames", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_frames_leave_no_memory(frames: int) -> None:
    context = Context()
    scene = GlScene(container.from_bytes(container.to_bytes(*sample_learned.make(rings=4, per_triangle=2))))
    stage = Stage(ComputeTiles(), 32, 32)
    frame = stage.play(scene, moves=True)
    with gl.borrowed():
        more_blocks, more_objects = made_by(frames, lambda number: frame(number, stage.views(number)))
    gl.check("frames")
    stage.release()
    scene.release()
    context.release()
    assert more_objects < MOST_OBJECTS
    assert more_blocks < MOST_BLOCKS


def test_depth_leaves_no_memory() -> None:
    context, drawing = Context(), DepthPass()
    name, g = ctypes.c_uint32(), gl.gl()
    g.glCreateTextures(g.GL_TEXTURE_2D, 1, ctypes.byref(name))
    g.glTextureStorage2D(name.value, 1, g.GL_DEPTH_COMPONENT32F, 32, 32)
    target = TextureTarget(int(name.value), 32, 32)
    mesh = Mesh(np.zeros((3, 3), np.float32), np.array([[0, 1, 2]]))
    view = View(np.eye(4), perspective(1.0, 1.0), 32, 32)
    more_blocks, more_objects = made_by(1000, lambda number: drawing.draw(mesh, [view], [target]))
    drawing.release()
    context.release()
    assert more_objects < MOST_OBJECTS
    assert more_blocks < MOST_BLOCKS
