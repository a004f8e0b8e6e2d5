"""A headset's frame loop without a headset: does every frame finish before the display wants it?"""

from __future__ import annotations

import gc
import math
import time
from dataclasses import dataclass
from typing import Final

import numpy as np

from taoxr.figures import spread
from taoxr_runtime.bench.body import moving_body
from taoxr_runtime.bench.render import Size
from taoxr_runtime.bench.stage import Figures, Stage
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.render import autotune, gl
from taoxr_runtime.render.compute_tiles import ComputeTiles
from taoxr_runtime.view.pace import QuietCollector

_SPIN_S: Final = 0.0005


@dataclass(frozen=True, slots=True)
class Pacing:
    """What to keep up.

    Attributes:
        size: What to draw.
        fps: Frames per second.
        seconds: For how long.
    """

    size: Size
    fps: float
    seconds: float


def bench_pace(pacing: Pacing) -> Figures:
    """Draws the moving body at a headset's rate, as `taoxr xr` does: no garbage is collected meanwhile.

    A frame begins when the display refreshes and is over when the GPU has finished it; it misses its deadline
    when the display refreshes before that, and the next frame begins at the refresh after.

    Raises:
        UnavailableError: No context is current.
    """
    size, period = pacing.size, 1 / pacing.fps
    scene = GlScene(moving_body(size.splats))
    stage = Stage(ComputeTiles(plan=autotune.chosen().plan), size.width, size.height)
    frame = stage.play(scene, moves=True)
    count = max(round(pacing.seconds * pacing.fps), 1)
    took = np.zeros(count)
    with gl.borrowed():
        for k in range(10):
            frame(k, stage.views(k))
        gl.finish()
        with QuietCollector():
            objects = len(gc.get_objects())
            first = time.perf_counter()
            slot = 0
            for k in range(count):
                due = first + slot * period
                _wait(due)
                frame(k, stage.views(k))
                gl.finish()
                now = time.perf_counter()
                took[k] = now - due
                slot = max(slot + 1, math.ceil((now - first) / period))
            grown = len(gc.get_objects()) - objects
    gl.check("pace")
    stage.release()
    scene.release()
    return {
        "pace.fps": pacing.fps,
        "pace.frames": count,
        "pace.missed": int((took > period).sum()),
        "pace.p999_ms": round(float(np.percentile(took, 99.9)) * 1e3, 3),
        "pace.took_ms": spread((took * 1e3).tolist()),
        "pace.grown_objects": grown,
    }


def _wait(until: float) -> None:
    """Sleeps, then spins for the rest: a sleep ends late."""
    left = until - time.perf_counter()
    if left > _SPIN_S:
        time.sleep(left - _SPIN_S)
    while time.perf_counter() < until:
        pass
