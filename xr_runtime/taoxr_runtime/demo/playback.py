"""A sound device that exists only on the clock: what is heard when, without a loudspeaker."""

from collections import deque
from dataclasses import dataclass
from typing import Final

CUSHION_US: Final = 60_000
"""From the first audio of a turn (or after running dry) to its sound: device latency and jitter buffer."""


@dataclass(frozen=True, slots=True)
class Span:
    """Audio heard without a break.

    Attributes:
        wall_us: When its first sample was heard.
        media_us: Position of that sample on the turn's media clock.
        samples: How many samples were heard.
    """

    wall_us: int
    media_us: int
    samples: int


class Playback:
    """Plays one turn in real time against a wall clock, as a sound device would.

    It never waits: it is told the time with every call, and works out what was heard up to then.
    Times are in microseconds on one clock and never decrease.
    """

    def __init__(self, rate_hz: int, cushion_us: int = CUSHION_US) -> None:
        """Args: samples per second, and the delay before sound starts."""
        self._rate = rate_hz
        self._cushion = cushion_us
        self._queue: deque[tuple[int, int]] = deque()
        self._head_us = 0.0
        self._ended = False
        self.spans: list[Span] = []
        self.underruns = 0

    def push(self, now_us: int, media_us: int, samples: int, *, last: bool) -> None:
        """Queues a chunk that arrived now."""
        self._advance(now_us)
        if not self._queue:
            self.underruns += bool(self.spans) and not self._ended
            self._head_us = float(now_us + self._cushion)
        if samples:
            self._queue.append((media_us, samples))
        self._ended = last

    def stop(self, now_us: int) -> None:
        """Silence at once: what is queued is thrown away."""
        self._advance(now_us)
        if self._queue and now_us > self._head_us:
            media_us, samples = self._queue[0]
            heard = min(int((now_us - self._head_us) * self._rate / 1e6), samples)
            self.spans.append(Span(round(self._head_us), media_us, heard))
        self._queue.clear()
        self._ended = True

    def heard_us(self, now_us: int) -> int:
        """Media position up to which the turn was heard; 0 before anything was."""
        self._advance(now_us)
        if self._queue and now_us > self._head_us:
            return self._queue[0][0] + int(now_us - self._head_us)
        if not self.spans:
            return 0
        end = self.spans[-1]
        return end.media_us + end.samples * 1_000_000 // self._rate

    def finished(self, now_us: int) -> bool:
        """True once everything was heard (or `stop` was called)."""
        self._advance(now_us)
        return self._ended and not self._queue

    def heard_at(self, wall_us: int) -> int | None:
        """Media position of what was heard at a past time; None when nothing was."""
        for span in reversed(self.spans):
            if span.wall_us <= wall_us:
                offset = wall_us - span.wall_us
                return span.media_us + offset if offset * self._rate < span.samples * 1_000_000 else None
        return None

    @property
    def first_heard_us(self) -> int | None:
        """Wall time of the first sample; None before it was heard."""
        return self.spans[0].wall_us if self.spans else None

    @property
    def last_heard_us(self) -> int | None:
        """Wall time of the end of the last sample heard so far."""
        return self._end_of(self.spans[-1]) if self.spans else None

    def _end_of(self, span: Span) -> int:
        return span.wall_us + span.samples * 1_000_000 // self._rate

    def _advance(self, now_us: int) -> None:
        while self._queue:
            media_us, samples = self._queue[0]
            end_us = self._head_us + samples * 1e6 / self._rate
            if end_us > now_us:
                return
            self._queue.popleft()
            self.spans.append(Span(round(self._head_us), media_us, samples))
            self._head_us = end_us
