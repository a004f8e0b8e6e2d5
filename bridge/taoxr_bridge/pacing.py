"""How far playback has come, and when the next chunk may go out.

gRPC's own flow control does not pace: a server can push over a minute of speech to a client that has
stopped reading, and then an interruption comes too late to matter.
"""

import asyncio
import time
from collections.abc import Callable

_MICROSECONDS = 1_000_000


class Pacer:
    """Playback position of one turn.

    With playback reports it is the newest report. Without any it is the time since the first chunk went
    out. A client whose reports stop for `silence_us` is taken to play on, so that a turn always ends.

    Args:
        lead_us: How far ahead of playback chunks may go out, in microseconds.
        silence_us: How long reports may stay away before the clock runs on.
        clock: Seconds on a monotonic clock.

    Attributes:
        sent_us: End of the newest chunk that has gone out.
    """

    def __init__(
        self,
        lead_us: int,
        *,
        silence_us: int = 10 * _MICROSECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lead_us = lead_us
        self._silence_us = silence_us
        self._clock = clock
        self.sent_us = 0
        self._started: float | None = None
        self._report: tuple[float, int] | None = None
        self._changed = asyncio.Event()

    def sent(self, end_us: int) -> None:
        """A chunk that ends at `end_us` has gone out."""
        self._started = self._clock() if self._started is None else self._started
        self.sent_us = max(self.sent_us, end_us)

    def report(self, played_us: int) -> None:
        """The client has played up to `played_us`; going back is ignored."""
        if self._report is None or played_us >= self._report[1]:
            self._report = (self._clock(), played_us)
            self._changed.set()

    def position_us(self) -> int:
        """How much was heard by now, never more than was sent."""
        if self._started is None:
            return 0
        now = self._clock()
        if self._report is None:
            played = round((now - self._started) * _MICROSECONDS)
        else:
            when, played = self._report
            played += max(0, round((now - when) * _MICROSECONDS) - self._silence_us)
        return min(played, self.sent_us)

    def delay_s(self, start_us: int) -> float:
        """Seconds until a chunk that begins at `start_us` may go out if no report comes; 0 for now."""
        return self._until(start_us - self._lead_us)

    async def wait_to_send(self, start_us: int) -> None:
        """Returns when a chunk that begins at `start_us` may go out."""
        await self._wait(start_us - self._lead_us)

    async def wait_until_heard(self) -> None:
        """Returns when all that was sent was heard."""
        await self._wait(self.sent_us)

    def _until(self, target_us: int) -> float:
        missing = target_us - self.position_us()
        if missing <= 0:
            return 0.0
        if self._report is None:
            return missing / _MICROSECONDS
        silent = round((self._clock() - self._report[0]) * _MICROSECONDS)
        return (missing + max(0, self._silence_us - silent)) / _MICROSECONDS

    async def _wait(self, target_us: int) -> None:
        while (delay := self._until(target_us)) > 0:
            self._changed.clear()
            try:
                async with asyncio.timeout(delay):
                    await self._changed.wait()
            except TimeoutError:
                continue
