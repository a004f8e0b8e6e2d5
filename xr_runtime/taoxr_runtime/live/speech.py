"""The avatar's voice and face on one clock: that of the sound which is heard."""

import threading
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.client import MediaChunk
from taoxr_runtime.animation import Face
from taoxr_runtime.audio import Sink

# Rates that do not divide evenly leave the last sample a little before the turn's end.
_END_US: Final = 2_000


class Speech:
    """Plays turns, one at a time; safe to use from any threads.

    Args:
        sink: Where the voice goes.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._face = Face()
        self._lock = threading.RLock()
        self._epochs = 0
        self._forget()

    @property
    def turn_id(self) -> str:
        """The turn that speaks or spoke last; empty when there is none, or it was stopped."""
        return self._turn_id

    @property
    def underruns(self) -> int:
        """How often the sound ran dry in this turn."""
        return self._sink.underruns - self._underruns_before

    def add(self, chunk: MediaChunk) -> None:
        """Takes in more of a turn; a new turn follows what is still playing."""
        with self._lock:
            if chunk.turn_id != self._turn_id:
                self._forget()
                self._turn_id = chunk.turn_id
            self._face.add(
                chunk.turn_id, self._epochs + chunk.epoch, chunk.frame_times_us, chunk.frame_weights
            )
            start_us = self._sink.write(chunk.pcm, chunk.sample_rate_hz, last=chunk.last)
            if self._base_us is None:
                self._base_us = start_us - chunk.start_us
            self._end_us, self._complete = chunk.end_us, chunk.last

    def stop(self, epoch: int | None = None) -> None:
        """Silence at once; the face eases to rest. Frames older than ``epoch`` are refused from now on."""
        with self._lock:
            self._sink.flush()
            self._face.interrupt(None if epoch is None else self._epochs + epoch)
            self._forget()

    def restart(self) -> None:
        """Like `stop`, for a new conversation, whose epochs and turns are counted from the start again."""
        with self._lock:
            self.stop()
            self._epochs = self._face.epoch + 1

    @property
    def heard_us(self) -> int:
        """How far into the turn the user has heard, in microseconds; the whole of it once it is over."""
        with self._lock:
            if self._base_us is None:
                return 0
            heard = min(max(self._sink.heard_us() - self._base_us, 0), self._end_us)
            return self._end_us if heard >= self._end_us - _END_US else heard

    @property
    def speaking(self) -> bool:
        """Whether the turn has begun to sound and is not over (also while it has run dry)."""
        with self._lock:
            heard = self.heard_us
            return heard > 0 and not (self._complete and heard >= self._end_us)

    @property
    def finished(self) -> bool:
        """Whether all of the turn was heard."""
        with self._lock:
            return self._complete and self.heard_us >= self._end_us

    def face(self, now_us: int, ahead_us: int = 0) -> NDArray[np.float32]:
        """The face to draw, float32 [52].

        Args:
            now_us: Display time on any steady clock, never decreasing.
            ahead_us: How long from now the face will be seen; the sound heard then decides.
        """
        with self._lock:
            media_us = None
            # A turn that has run dry has no position, so the face eases to rest.
            if self._base_us is not None and self._sink.sounding(ahead_us):
                media_us = self._sink.heard_us(ahead_us) - self._base_us
            return self._face.sample(now_us, media_us if media_us is not None and media_us >= 0 else None)

    def _forget(self) -> None:
        self._turn_id = ""
        self._base_us: int | None = None
        self._end_us = 0
        self._complete = False
        self._underruns_before = self._sink.underruns
