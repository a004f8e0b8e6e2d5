"""What every ear does with a stream of audio, whatever recogniser is behind it."""

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Module
from taoxr.errors import InvalidInputError
from taoxr.worker.v1.ear_pb2 import ListenConfig, ListenResponse, Playback
from taoxr_models.dsp.resample import RATE, To16k, check_rate
from taoxr_models.ear import end_of_turn, segmenter
from taoxr_models.ear.avatar_voice import AvatarVoice
from taoxr_models.ear.recording import Recording
from taoxr_models.ear.segmenter import Segmenter
from taoxr_models.ear.vad import FRAME, VoiceActivity

MIN_ENDPOINT_MS: Final = 200
MAX_ENDPOINT_MS: Final = 5000

BEFORE: Final = round(0.3 * RATE)
"""Samples kept before what the detector calls speech: it is late on soft beginnings."""
CONFIRM_FRAMES: Final = 3
"""Frames until speech is certain."""
# With the detector's delay a quarter of a second after the onset; most clicks and coughs are shorter.
_SUSTAIN_FRAMES: Final = 7


def frames(seconds: float) -> int:
    """The detector's frames in so many seconds, at least one."""
    return max(1, round(seconds * RATE / FRAME))


def us(samples: int) -> int:
    """Microseconds of so many samples."""
    return samples * 1_000_000 // RATE


class Listener(ABC):
    """State of one stream: synchronous and without a clock, so that the same audio gives the same results.

    Audio goes in by `listen`; the recogniser's work comes in steps, `work`.

    Args:
        config: What the caller wants.
        vad: The voice activity network.
        pause: Frames of silence after which a piece may be over.
        piece_silence_s: Silence that ends a piece, in seconds; None: the one that ends the utterance.
        max_piece: Frames of the longest piece.

    Attributes:
        sample_rate_hz: Rate of the audio that comes in.

    Raises:
        InvalidInputError: The config is out of range; the field is named ``config.NAME``.
    """

    def __init__(
        self,
        config: ListenConfig,
        vad: Module,
        *,
        pause: int,
        piece_silence_s: float | None,
        max_piece: int,
    ) -> None:
        check_rate(config.sample_rate_hz, "config.sample_rate_hz")
        endpoint_ms = config.endpoint_silence_ms
        if endpoint_ms and not MIN_ENDPOINT_MS <= endpoint_ms <= MAX_ENDPOINT_MS:
            expected = f"{MIN_ENDPOINT_MS} to {MAX_ENDPOINT_MS}, or 0"
            raise InvalidInputError("config.endpoint_silence_ms", endpoint_ms, expected)
        self.sample_rate_hz = config.sample_rate_hz
        self._resampler = To16k(config.sample_rate_hz)
        self._activity = VoiceActivity(vad)
        self._avatar = None if config.echo_cancelled else AvatarVoice()
        # The caller's own silence holds whatever was said.
        self._adaptive = not endpoint_ms and not config.push_to_talk
        endpoint_s = endpoint_ms / 1000 or end_of_turn.UNKNOWN_S
        self._segmenter = Segmenter(
            None if config.push_to_talk else frames(endpoint_s),
            piece_silence=frames(piece_silence_s or endpoint_s),
            pause=pause,
            confirm=CONFIRM_FRAMES,
            max_piece=max_piece,
            sustain=_SUSTAIN_FRAMES,
        )
        self._recording = Recording()
        self._analysed = 0  # samples that the detector has seen

    @property
    @abstractmethod
    def must_work(self) -> bool:
        """True while a final text is due: call `work` before giving more audio."""

    @property
    @abstractmethod
    def can_work(self) -> bool:
        """True while `work` has something to do."""

    @abstractmethod
    def work(self) -> list[ListenResponse]:
        """Runs one step of the recogniser."""

    def listen(self, samples: NDArray[np.int16], *, last: bool = False) -> list[ListenResponse]:
        """Takes the next samples at the stream's rate, [n]; a second of audio takes about 2 ms."""
        self._recording.append(self._resampler.push(samples, last=last))
        out: list[ListenResponse] = []
        while self._analysed + FRAME <= self._recording.end:
            frame = self._recording.cut(self._analysed, self._analysed + FRAME)
            self._analysed += FRAME
            probability = self._activity.probability(frame)
            if self._avatar is not None:
                probability *= self._avatar.unexplained(frame)
            for event in self._segmenter.push(probability):
                out.extend(self._on_event(event))
            self._on_frame(frame)
        self._on_audio()
        self._recording.forget_before(self._needed_from())
        return out

    def play(self, playback: Playback) -> None:
        """The user's loudspeaker will play this.

        Raises:
            InvalidInputError: A value is out of range.
        """
        if self._avatar is not None:
            self._avatar.play(playback)

    def stop_playback(self, offset_us: int) -> None:
        """The loudspeaker is silent from this position on."""
        if self._avatar is not None:
            self._avatar.stop(offset_us * RATE // 1_000_000)

    def end_utterance(self) -> list[ListenResponse]:
        """Ends the utterance here; exactly one final transcript follows."""
        out = self._finish()
        if not self.must_work:  # no speech
            self._close_utterance()
        return out

    def end(self) -> list[ListenResponse]:
        """The stream is over; an utterance with speech in it is finished."""
        return self.listen(np.zeros(0, np.int16), last=True) + self._finish()

    @abstractmethod
    def _on_event(self, event: segmenter.Event) -> Generator[ListenResponse]:
        """Speech has begun, paused, ended..."""

    @abstractmethod
    def _on_frame(self, frame: NDArray[np.float32]) -> None:
        """The detector has seen a frame, and `_on_event` what it means."""

    @abstractmethod
    def _on_audio(self) -> None:
        """The detector has seen all whole frames of the audio."""

    @abstractmethod
    def _close_utterance(self) -> None:
        """The utterance is over, and its final text due."""

    def _needed_from(self) -> int:
        """First sample that may still be needed."""
        start = self._segmenter.piece_start
        onset = self._analysed - CONFIRM_FRAMES * FRAME if start is None else start * FRAME
        return max(0, min(onset, self._analysed) - BEFORE)

    def _finish(self) -> list[ListenResponse]:
        return [r for event in self._segmenter.finish() for r in self._on_event(event)]

    def _reset_endpoint(self) -> None:
        if self._adaptive:
            self._segmenter.endpoint = frames(end_of_turn.UNKNOWN_S)

    def _adapt_endpoint(self, text: str) -> None:
        """Waits as long as `text` asks for, if it is for the ear to decide."""
        if self._adaptive:
            self._segmenter.endpoint = frames(end_of_turn.silence_s(text))

    def _is_avatars(self, text: str, start: int, end: int) -> bool:
        """Whether this is what the avatar said from sample start to end."""
        return self._avatar is not None and self._avatar.said(text, start, end)
