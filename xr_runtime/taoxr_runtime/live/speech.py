"""The avatar's voice, face and body on one clock: that of the sound which is heard."""

import threading
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.client import Bones, MediaChunk, Motion
from taoxr_runtime.animation import Face
from taoxr_runtime.animation.body_player import BodyPlayer, HumanoidPose
from taoxr_runtime.animation.brows import BrowBeats
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
        self._face, self._brows = Face(), BrowBeats()
        self._body: BodyPlayer | None = None
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
            self._brows.add(chunk.turn_id, chunk.cues)
            if self._body is not None:
                self._body.add_media(chunk.turn_id, chunk.body)
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

    def restart(self, bones: Bones | None = None) -> None:
        """Like `stop`, for a new conversation, whose epochs and turns are counted from the start again.

        Args:
            bones: What its body track moves; None: it has none.
        """
        with self._lock:
            self.stop()
            self._epochs = self._face.epoch + 1
            self._body = None if bones is None else BodyPlayer(bones.names)

    def move(self, now_us: int, motion: Motion) -> None:
        """Takes in how the body moves between the turns; it came at `now_us` of the clock of `body`."""
        with self._lock:
            if self._body is not None:
                self._body.add_motion(now_us, motion.body)

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
            media_us = self._position_us(ahead_us)
            return self._brows.onto(self._face.sample(now_us, media_us), now_us, media_us)

    def body(self, now_us: int, ahead_us: int = 0) -> HumanoidPose | None:
        """The body to draw; None when the conversation has none. Arguments as in `face`."""
        with self._lock:
            return None if self._body is None else self._body.sample(now_us, self._position_us(ahead_us))

    def _position_us(self, ahead_us: int) -> int | None:
        """Position of the turn that is heard so long from now; None when nothing is.

        A turn that has run dry has no position, so that the face eases to rest.
        """
        if self._base_us is None or not self._sink.sounding(ahead_us):
            return None
        media_us = self._sink.heard_us(ahead_us) - self._base_us
        return media_us if media_us >= 0 else None

    def _forget(self) -> None:
        self._turn_id = ""
        self._brows.forget()
        self._base_us: int | None = None
        self._end_us = 0
        self._complete = False
        self._underruns_before = self._sink.underruns
