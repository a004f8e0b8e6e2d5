"""What a loudspeaker and a microphone are to the rest of the stage."""

import time
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

SOURCE_HZ: Final = 16_000
"""Rate of every source's blocks."""
BLOCK: Final = 512
"""Samples in a block of a source: 32 ms."""

Block: TypeAlias = NDArray[np.int16]
Deliver: TypeAlias = Callable[[Block], None]


def clock_us() -> int:
    """The steady clock of the machine, in microseconds."""
    return time.monotonic_ns() // 1000


class Sink(Protocol):
    """Where sound goes. All methods may be called from any thread, and none of them waits.

    Positions count the sound that was written and not flushed, in microseconds; silence for want of
    sound counts nothing. So the position of a sample never changes, whatever the device does.

    """

    @property
    def description(self) -> str:
        """What it is, for people."""
        ...

    @property
    def problem(self) -> str:
        """What is wrong with it and what to do; empty when all is well."""
        ...

    @property
    def underruns(self) -> int:
        """How often it fell silent in the middle of an utterance for want of sound."""
        ...

    def write(self, pcm: NDArray[np.int16], rate_hz: int, *, last: bool = False) -> int:
        """Queues sound.

        Args:
            pcm: int16 [n], mono.
            rate_hz: Samples per second of ``pcm``; the same within an utterance.
            last: Whether this ends the utterance, so that silence after it is no underrun.

        Returns:
            Position of its first sample, in microseconds.
        """
        ...

    def heard_us(self, ahead_us: int = 0) -> int:
        """Position that is heard now, the device's latency taken off; or will be, ``ahead_us`` from now."""
        ...

    def heard_at(self, at_us: int) -> tuple[int, bool]:
        """Position heard at a time of `clock_us` (in the last five seconds), and whether that was sound."""
        ...

    def sounding(self, ahead_us: int = 0) -> bool:
        """Whether written sound is heard at that time; False in silence and when it ran dry."""
        ...

    def flush(self) -> None:
        """Silence within a block: what is queued is thrown away."""
        ...

    def close(self) -> None:
        """Gives the device back; harmless when done before."""
        ...


class Source(Protocol):
    """Where the user's voice comes from."""

    @property
    def description(self) -> str:
        """What it is, for people."""
        ...

    @property
    def problem(self) -> str:
        """What is wrong with it and what to do; empty when all is well."""
        ...

    @property
    def rate_hz(self) -> int:
        """`SOURCE_HZ`, or 0 when it never hears anything."""
        ...

    @property
    def spent(self) -> bool:
        """Whether all that there ever is was delivered (the end of a recording)."""
        ...

    def start(self, deliver: Deliver) -> None:
        """Calls ``deliver`` with int16 [BLOCK] every 32 ms from now on, from a thread of its own."""
        ...

    def stop(self) -> None:
        """Delivers no more until the next `start`."""
        ...

    def close(self) -> None:
        """Gives the device back; harmless when done before."""
        ...
