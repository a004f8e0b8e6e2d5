"""The GPU's own time of frames, told three frames later."""

from statistics import median

import pytest

from taoxr_runtime.render import egl, gl
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.xr.gpu_time import GpuTime

pytestmark = pytest.mark.gl

FILLS = [1] * 5 + [48] * 5 + [1] * 3


def test_it_tells_heavy_frames_from_light_ones() -> None:
    context = egl.Context()
    timed, canvas = GpuTime(), Canvas(1024, 1024, "rgba8")
    told: list[float] = []
    for fills in FILLS:
        timed.begin()
        told.append(timed.ms)
        for fill in range(fills):
            canvas.clear((fill / 48, 0.5, 0.5, 1.0))
        timed.end()
        gl.finish()
    timed.release()
    canvas.release()
    context.release()
    assert told[:3] == [0.0] * 3, "nothing is known yet"
    light, heavy = told[3:8], told[8:13]
    assert min(light) > 0
    assert median(heavy) > 4 * median(light)


def test_a_frame_that_was_given_up_does_not_count() -> None:
    context = egl.Context()
    timed = GpuTime()
    for _ in range(4):
        timed.begin()
        timed.end()
    timed.begin()
    known = timed.ms
    for _ in range(2):  # without an end, as when the runtime went away
        timed.begin()
        assert timed.ms == known
    timed.end()
    timed.release()
    context.release()
