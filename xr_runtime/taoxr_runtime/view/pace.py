"""When frames are due, how long they take, and how finely they may be drawn."""

import gc
import time
from collections import deque
from types import TracebackType
from typing import Final, Self

SMALLEST_SCALE: Final = 0.5
"""Finest detail is given up down to this share of the window's pixels in each direction."""
_STEP: Final = 0.85
# What still feels like moving pictures; slower than this, pixels are given up for it.
_SLOWEST_S: Final = 1 / 20
_WINDOW: Final = 30
_PATIENCE: Final = 8
_COLLECT_IDLE_S: Final = 5.0
_COLLECT_ANYWAY_S: Final = 60.0


class Pace:
    """Keeps a frame rate, and finds the scale at which it can be kept.

    Args:
        fps: Frames per second wanted.

    Attributes:
        frames: Frames so far.
        scale: Width and height to draw at, as a share of the window's.
    """

    def __init__(self, fps: float) -> None:
        self._period = 1 / fps
        self._budget = max(self._period, _SLOWEST_S)
        self._due = time.perf_counter()
        self._began = self._due
        self._took: deque[float] = deque(maxlen=_WINDOW)
        self._ends: deque[float] = deque(maxlen=_WINDOW)
        self._steady = 0
        self.frames = 0
        self.scale = 1.0

    @property
    def fps(self) -> float:
        """Frames per second of late; 0 before there are two."""
        if len(self._ends) < 2:
            return 0.0
        return (len(self._ends) - 1) / max(self._ends[-1] - self._ends[0], 1e-6)

    @property
    def frame_ms(self) -> float:
        """How long frames take of late, waiting left out."""
        return 1e3 * sum(self._took) / max(len(self._took), 1)

    def begin(self) -> None:
        """Waits until the next frame is due; one that is late is not made up for."""
        now = time.perf_counter()
        if self._due > now:
            time.sleep(self._due - now)
        self._began = time.perf_counter()
        self._due = max(self._due + self._period, self._began)

    def end(self) -> None:
        """The frame is drawn."""
        now = time.perf_counter()
        self._took.append(now - self._began)
        self._ends.append(now)
        self.frames += 1
        self._adapt()

    def _adapt(self) -> None:
        self._steady += 1
        if self._steady < _PATIENCE:
            return
        recent = sorted(list(self._took)[-_PATIENCE:])[_PATIENCE // 2]
        scale = self.scale
        if recent > 1.1 * self._budget:
            scale = max(scale * _STEP, SMALLEST_SCALE)
        elif recent < 0.6 * self._budget:
            scale = min(scale / _STEP, 1.0)
        if scale != self.scale:
            self.scale, self._steady = scale, 0


class QuietCollector:
    """Garbage is collected in quiet moments only; a context manager around the frame loop."""

    def __enter__(self) -> Self:
        gc.collect()
        # What is there now stays: it need not be looked through again.
        gc.freeze()
        gc.disable()
        self._last = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        gc.enable()
        gc.unfreeze()

    def rest(self, quiet: bool) -> None:
        """Collects if nothing goes on, or if nothing was collected for long."""
        passed = time.perf_counter() - self._last
        if passed > (_COLLECT_IDLE_S if quiet else _COLLECT_ANYWAY_S):
            gc.collect()
            self._last = time.perf_counter()
