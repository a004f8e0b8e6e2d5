"""How long the GPU takes for a frame, without waiting for it."""

from __future__ import annotations

from typing import Final

from taoxr_runtime.render.objects import GpuClock

_FRAMES: Final = 3
"""After this many a frame is done: runtimes let an app be two ahead at most."""


class GpuTime:
    """Times frames by the GPU's own clock; in the context that was current at the start.

    Attributes:
        ms: Milliseconds from the first to the last command of the frame before the last two; 0 at first.
    """

    def __init__(self) -> None:
        self._clocks = [GpuClock() for _ in range(_FRAMES)]
        self._next = 0
        self.ms = 0.0

    def begin(self) -> None:
        """A frame's first command comes next."""
        clock = self._clocks[self._next]
        self.ms = clock.read().get("frame", self.ms)
        clock.mark("begin")

    def end(self) -> None:
        """A frame's last command was given."""
        self._clocks[self._next].mark("frame")
        self._next = (self._next + 1) % _FRAMES

    def release(self) -> None:
        """Delete its queries."""
        for clock in self._clocks:
            clock.release()
