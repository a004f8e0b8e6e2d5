"""When frames are due, how long they take, and how much detail there is time for."""

import gc
import time
from collections import deque
from types import TracebackType
from typing import Final, NamedTuple, Self


class Detail(NamedTuple):
    """How finely to draw.

    Attributes:
        scale: Width and height to draw at, as a share of the window's.
        splats: Share of the splats to draw.
    """

    scale: float
    splats: float


DETAILS: Final = tuple(
    Detail(scale, splats)
    for scale, splats in (
        (1.0, 1.0),
        (0.9, 0.75),
        (0.8, 0.55),
        (0.7, 0.4),
        (0.6, 0.3),
        (0.5, 0.25),
        (0.5, 0.18),
    )
)
"""Finest first. Splats go faster than pixels: at 512x512 they take nearly all of the time."""
# What still feels like moving pictures; slower than this, detail is given up for it. A processor that draws
# in software has little to spare.
_SLOWEST_S: Final = 1 / 20
_SLOWEST_IN_SOFTWARE_S: Final = 1 / 12
_WINDOW: Final = 30
# Frames, or seconds if that many frames take longer, that decide; never fewer than three frames.
_PATIENCE: Final = 8
_PATIENCE_S: Final = 0.8
_AT_LEAST: Final = 3
# Frames so much longer than they may be give up two levels of detail at once.
_FAR_TOO_LONG: Final = 2.0
_COLLECT_IDLE_S: Final = 5.0
_COLLECT_ANYWAY_S: Final = 60.0


class Pace:
    """Keeps a frame rate, and finds the detail at which it can be kept.

    Args:
        fps: Frames per second wanted.
        software: Whether the driver draws in software. Then it begins with the least detail, as such a
            machine would be long in finding it.

    Attributes:
        frames: Frames so far.
    """

    def __init__(self, fps: float, *, software: bool = False) -> None:
        self._period = 1 / fps
        self._budget = max(self._period, _SLOWEST_IN_SOFTWARE_S if software else _SLOWEST_S)
        self._due = time.perf_counter()
        self._began = self._due
        self._took: deque[float] = deque(maxlen=_WINDOW)
        self._ends: deque[float] = deque(maxlen=_WINDOW)
        self._steady = 0
        self.frames = 0
        self._level = len(DETAILS) - 1 if software else 0

    @property
    def detail(self) -> Detail:
        """What there is time for."""
        return DETAILS[self._level]

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
        lately = sorted(list(self._took)[-min(self._steady, _PATIENCE) :])
        if self._steady < _PATIENCE and (self._steady < _AT_LEAST or sum(lately) < _PATIENCE_S):
            return
        recent = lately[len(lately) // 2]
        level = self._level
        if recent > 1.1 * self._budget:
            step = 2 if recent > _FAR_TOO_LONG * self._budget else 1
            level = min(level + step, len(DETAILS) - 1)
        elif recent < 0.75 * self._budget:
            level = max(level - 1, 0)
        if level != self._level:
            self._level, self._steady = level, 0


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
