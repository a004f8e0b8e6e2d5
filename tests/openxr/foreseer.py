"""Shows a figure that notes for when it is told to prepare, and when its frames are seen.

python foreseer.py FRAMES
"""

import json
import sys

import numpy as np
from numpy.typing import NDArray
from scenes import person

from taoxr_runtime.audio.protocols import clock_us
from taoxr_runtime.splats import Splats
from taoxr_runtime.xr.app import Options, Silence, run
from taoxr_runtime.xr.link import Pictures


class Noting:
    """Still, but attentive.

    Attributes:
        off_us: For each frame that was foreseen, how much later it was seen than that.
        frames: How many there were.
    """

    order = mesh = None

    def __init__(self) -> None:
        self._splats = person()
        self._foreseen_us: int | None = None
        self.off_us: list[int] = []
        self.frames = 0

    def update(self, camera_in_model: NDArray[np.float64], ahead_us: int = 0) -> Splats:
        self.frames += 1
        if self._foreseen_us is not None:
            self.off_us.append(clock_us() + ahead_us - self._foreseen_us)
            self._foreseen_us = None
        return self._splats

    def foresee(self, ahead_us: int) -> None:
        self._foreseen_us = clock_us() + ahead_us

    def context_lost(self) -> None:
        raise AssertionError("no context is lost here")


figure = Noting()
run(Options(pictures=Pictures(size=(64, 64)), frames=int(sys.argv[1])), figure, Silence(), print)
sys.stdout.write(json.dumps({"frames": figure.frames, "off_us": figure.off_us}))
