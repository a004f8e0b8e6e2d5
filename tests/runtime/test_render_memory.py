"""A frame loop in which no garbage is collected makes none: Python's memory stays as it is."""

import gc
import sys

import pytest

from taoxr_runtime.bench.stage import Stage
from taoxr_runtime.nnr import container, sample_learned
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.render import gl
from taoxr_runtime.render.compute_tiles import ComputeTiles
from taoxr_runtime.render.egl import Context

pytestmark = pytest.mark.gl

WARM = 200
MOST_BLOCKS, MOST_OBJECTS = 500, 200  # fewer than one for each frame


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("frames", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_frames_leave_no_memory(frames: int) -> None:
    context = Context()
    scene = GlScene(container.from_bytes(container.to_bytes(*sample_learned.make(rings=4, per_triangle=2))))
    stage = Stage(ComputeTiles(), 32, 32)
    frame = stage.play(scene, moves=True)
    with gl.borrowed():
        for number in range(WARM):
            frame(number, stage.views(number))
        gc.collect()
        gc.disable()
        try:
            blocks, objects = sys.getallocatedblocks(), len(gc.get_objects())
            for number in range(WARM, frames):
                frame(number, stage.views(number))
            more_objects = len(gc.get_objects()) - objects  # garbage that only the collector would find
        finally:
            gc.enable()
        gc.collect()  # empties the interpreter's lists of blocks to use again
        more_blocks = sys.getallocatedblocks() - blocks
    gl.check("frames")
    stage.release()
    scene.release()
    context.release()
    assert more_objects < MOST_OBJECTS
    assert more_blocks < MOST_BLOCKS
