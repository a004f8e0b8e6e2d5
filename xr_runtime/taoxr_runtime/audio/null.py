"""Sound that nobody hears, and nobody who speaks: for machines without devices, and for tests."""

import threading
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.audio.binaural import spread
from taoxr_runtime.audio.ears import Listener
from taoxr_runtime.audio.playout import Playout
from taoxr_runtime.audio.protocols import Deliver, clock_us

_BLOCK_US: Final = 10_000
_RATE_HZ: Final = 48_000


class NullSink:
    """Plays on the clock alone: what a device without latency would do.

    Args:
        problem: Why there is no sound, where that was not asked for.
        clock: The time in microseconds.
        rate_hz: Samples per second.
        listener: Whose two ears hear the voice from where the mouth is; None: one channel.
    """

    description = "no sound"

    def __init__(
        self,
        problem: str = "",
        clock: Callable[[], int] = clock_us,
        rate_hz: int = _RATE_HZ,
        listener: Listener | None = None,
    ) -> None:
        self.problem = problem
        self._clock = clock
        self._playout = Playout(rate_hz)
        self._spread = spread(rate_hz, listener)
        self._block = rate_hz * _BLOCK_US // 1_000_000
        self._lock = threading.Lock()
        self._next_us = clock()

    @property
    def underruns(self) -> int:
        """See `Sink`."""
        self._advance()
        return self._playout.underruns

    def write(self, pcm: NDArray[np.int16], rate_hz: int, *, last: bool = False) -> int:
        """See `Sink`."""
        self._advance()
        return self._playout.write(pcm, rate_hz, last=last)

    def heard_us(self, ahead_us: int = 0) -> int:
        """See `Sink`."""
        return self._playout.heard(self._advance(), ahead_us)[0]

    def heard_at(self, at_us: int) -> tuple[int, bool]:
        """See `Sink`."""
        self._advance()
        return self._playout.heard(at_us)

    def sounding(self, ahead_us: int = 0) -> bool:
        """See `Sink`."""
        return self._playout.heard(self._advance(), ahead_us)[1]

    def flush(self) -> None:
        """See `Sink`."""
        self._advance()
        self._playout.flush()

    def close(self) -> None:
        """See `Sink`."""

    def played(self, block: NDArray[np.int16]) -> None:
        """Called with every block that was played, silence included; int16 [n, channels]."""

    def _advance(self) -> int:
        """Plays all blocks that are due by now, and returns the time."""
        with self._lock:
            now = self._clock()
            while self._next_us <= now:
                self.played(self._spread.render(self._playout.take(self._block, self._next_us)))
                self._next_us += _BLOCK_US
            return now


class NullSource:
    """Hears nothing.

    Args:
        problem: Why, where that was not asked for.
    """

    description = "no microphone"
    rate_hz = 0
    spent = False

    def __init__(self, problem: str = "") -> None:
        self.problem = problem

    def start(self, deliver: Deliver) -> None:
        """See `Source`."""

    def stop(self) -> None:
        """See `Source`."""

    def close(self) -> None:
        """See `Source`."""
