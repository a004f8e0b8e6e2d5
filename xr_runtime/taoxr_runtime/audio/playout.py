"""The queue between who writes sound and the device that takes it, and what of it is heard when."""

import threading
from collections import deque
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import soxr  # pyright: ignore[reportMissingTypeStubs]  # ships no types
from numpy.typing import NDArray

from taoxr_runtime.audio.seams import Seams

CUSHION_US: Final = 60_000
"""Sound that must be queued before an utterance starts, or goes on after it ran dry."""
GRACE_US: Final = 30_000
"""Sound that ended so recently still counts as heard: devices call a little early or late."""
FADE_US: Final = 3_000
"""Where sound is cut off, or goes on in its middle, the step fades for so long: a bare one clicks."""
_MEMORY_US: Final = 5_000_000
_US: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class _Span:
    """Samples [position, position + count) sound from ``at_us`` on."""

    at_us: int
    position: int
    count: int


class Playout:
    """Takes utterances at any rate, gives samples at the device's. Safe to use from any threads.

    Args:
        rate_hz: The device's samples per second.
        cushion_us: See `CUSHION_US`.
        fade_us: See `FADE_US`.

    Attributes:
        rate_hz: The same.
        underruns: See `Sink`.
    """

    def __init__(self, rate_hz: int, cushion_us: int = CUSHION_US, fade_us: int = FADE_US) -> None:
        self.rate_hz = rate_hz
        self.underruns = 0
        self._cushion = cushion_us * rate_hz // _US
        self._lock = threading.Lock()
        self._queue: deque[NDArray[np.int16]] = deque()
        self._queued = 0
        self._taken = 0
        self._spans: deque[_Span] = deque([_Span(-_US * 10**6, 0, 0)])
        self._playing = False
        self._open = False
        self._seams = Seams(fade_us * rate_hz // _US)
        self._ran_dry = False
        self._base_us = 0
        self._in_samples = 0
        self._resampler: Any = None

    def write(self, pcm: NDArray[np.int16], rate_hz: int, *, last: bool) -> int:
        """See `Sink.write`."""
        with self._lock:
            if not self._open:
                self._open = True
                self._in_samples = 0
                self._base_us = (self._taken + self._queued) * _US // self.rate_hz
                # Streamed, or the seams between chunks would click.
                same = rate_hz == self.rate_hz
                self._resampler = None if same else soxr.ResampleStream(rate_hz, self.rate_hz, 1, "int16")
            start_us = self._base_us + self._in_samples * _US // rate_hz
            self._in_samples += len(pcm)
            if self._resampler is not None:
                pcm = np.asarray(self._resampler.resample_chunk(pcm, last=last), np.int16)
            if len(pcm):
                self._queue.append(pcm)
                self._queued += len(pcm)
            if last:
                self._open = False
            return start_us

    def take(self, count: int, at_us: int) -> NDArray[np.int16]:
        """The next samples for the device, silence where there is nothing.

        Args:
            count: Samples wanted.
            at_us: When the first of them will be heard.

        Returns:
            int16 [count].
        """
        out = np.zeros(count, np.int16)
        with self._lock:
            if not self._playing and self._queued > 0 and (not self._open or self._queued >= self._cushion):
                self._playing = True
                if self._ran_dry:
                    self._seams.at(0)
                self._ran_dry = False
            if not self._playing:
                return self._seams.mend(out)
            filled = 0
            while filled < count and self._queue:
                piece = self._queue.popleft()
                used = min(len(piece), count - filled)
                out[filled : filled + used] = piece[:used]
                filled += used
                if used < len(piece):
                    self._queue.appendleft(piece[used:])
            if filled:
                self._spans.append(_Span(at_us, self._taken, filled))
            while len(self._spans) > 1 and self._spans[1].at_us < at_us - _MEMORY_US:
                self._spans.popleft()
            self._taken += filled
            self._queued -= filled
            if filled < count:
                self._playing = False
                if self._open:
                    self.underruns += 1
                    self._ran_dry = True
                    self._seams.at(filled)
            return self._seams.mend(out)

    def flush(self) -> None:
        """Throws away what is queued, and ends the utterance."""
        with self._lock:
            self._queue.clear()
            self._queued = 0
            if self._playing:
                self._seams.at(0)
            self._playing = self._open = self._ran_dry = False

    def heard(self, now_us: int, ahead_us: int = 0) -> tuple[int, bool]:
        """Position heard at ``now_us + ahead_us`` in microseconds, and whether sound is heard then.

        What comes after now is foretold from what is queued.
        """
        with self._lock:
            span = next((s for s in reversed(self._spans) if s.at_us <= now_us), self._spans[0])
            elapsed = now_us - span.at_us
            heard = span.position + min(elapsed * self.rate_hz // _US, span.count)
            sounding = span.count > 0 and elapsed < span.count * _US // self.rate_hz + GRACE_US
            if ahead_us > 0 and sounding:
                left = self._taken - heard + (self._queued if self._playing else 0)
                wanted = ahead_us * self.rate_hz // _US
                sounding = wanted < left + GRACE_US * self.rate_hz // _US
                heard += min(wanted, left)
            return heard * _US // self.rate_hz, sounding
