"""Where the time of each frame went."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import numpy as np
from numpy.typing import NDArray

_COLLECT_EVERY: Final = 16
_TURN_S: Final = 0.0005


class Timing:
    """Durations of each frame's parts in milliseconds, kept for the last 10,000 frames.

    Attributes:
        frames: How many were counted.
        skipped: How many pictures the headset showed without a new one of ours.
    """

    PARTS: Final = ("wait", "avatar", "draw", "submit")
    """Until the runtime wants a frame; poses and splats; both eyes; handing over."""
    _KEPT: Final = 10_000

    def __init__(self) -> None:
        self._rows = np.zeros((self._KEPT, len(self.PARTS)))
        self._marks = [0.0]
        self._last_display = 0
        self._scales, self._gpu_ms = np.ones(self._KEPT), np.zeros(self._KEPT)
        self.frames = self.skipped = 0

    def begin(self) -> None:
        """The frame begins."""
        self._marks = [time.perf_counter()]

    def passed(self) -> None:
        """A part ended; in the order of ``PARTS``."""
        self._marks.append(time.perf_counter())

    @property
    def work_ms(self) -> float:
        """Of the frame under way, or else the last: since its first part, which is waiting."""
        return (self._marks[-1] - self._marks[1]) * 1e3 if len(self._marks) > 1 else 0.0

    def end(self, display_time: int, period: int, scale: float = 1.0, gpu_ms: float = 0.0) -> None:
        """The frame is handed over.

        Args:
            display_time: When it is seen, nanoseconds.
            period: Between two pictures of the headset, nanoseconds.
            scale: Part of the full width and height that was drawn.
            gpu_ms: How long the GPU took for the last frame of which that is known; 0 before.
        """
        self._gpu_ms[self.frames % self._KEPT] = gpu_ms
        self._scales[self.frames % self._KEPT] = scale
        self._rows[self.frames % self._KEPT] = np.diff(self._marks) * 1e3
        self.frames += 1
        if self._last_display and period:
            self.skipped += max(round((display_time - self._last_display) / period) - 1, 0)
        self._last_display = display_time

    def durations_ms(self) -> dict[str, NDArray[np.float64]]:
        """Of the frames kept, in no order: each part, "work" (all but the wait), "gpu".

        The GPU's is from the first to the last command by its own clock: where it waits for the CPU, too.
        """
        kept = min(self.frames, self._KEPT)
        rows = self._rows[:kept]
        found = dict(zip(self.PARTS, rows.T, strict=True))
        return {**found, "work": rows[:, 1:].sum(axis=1), "gpu": self._gpu_ms[:kept]}

    def interrupted(self) -> None:
        """Nobody looked for a while: the next frame is as the first."""
        self._last_display = 0

    def summary(self) -> list[str]:
        """Lines for the user."""
        if not self.frames:
            return ["no frame was shown"]
        lines = [f"{self.frames} frames, {self.skipped} skipped; milliseconds: median, 95 %, worst"]
        for name, column in self.durations_ms().items():
            low, high, most = np.quantile(column, (0.5, 0.95, 1.0))
            lines.append(f"  {name:7}{low:8.1f}{high:8.1f}{most:8.1f}")
        scales = self._scales[: self.frames]
        if scales.min() < 1:
            low, most = np.quantile(scales, (0.5, 0.0))
            lines.append(f"  drawn at {low:.0%} of full width and height (median), {most:.0%} at least")
        return lines


@contextmanager
def collector_off() -> Generator[None]:
    """No garbage collection within the block, for it takes several frames: see ``collect_young``."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


@contextmanager
def short_turns() -> Generator[None]:
    """Within the block other threads get the interpreter for half a millisecond at most, not for five.

    Every call to OpenGL and OpenXR lets go of it: while captions were painted beside, a frame waited 5 ms for
    it after each call that found the painter at work.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def collect_young(frame: int) -> None:
    """Now and then collect what the last frames left.

    The casts of ctypes, which pyopenxr uses, make cycles: 24 objects a frame. Measured: 0.6 ms for 64 frames.
    """
    if frame % _COLLECT_EVERY == 0:
        gc.collect(0)
