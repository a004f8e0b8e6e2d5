"""One conversation's ear with a streaming recogniser: audio in, speech marks and transcripts out.

The counterpart of `taoxr_models.ear.stream.EarStream`, which recognises pieces with Whisper: same requests,
same answers. Here the recogniser hears the speech as it comes, so partials are its text so far, and the final
text needs the last few windows only. The voice activity detector opens and closes utterances; the endpoint
rules of the recogniser close those too that go on without words (rule 2) or without end (rule 3).
"""

import time
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Module
from taoxr.worker.v1.ear_pb2 import (
    ListenConfig,
    ListenResponse,
    SpeechStarted,
    SpeechStopped,
    SpeechSustained,
    Utterance,
)
from taoxr_models.dsp.resample import RATE
from taoxr_models.ear import segmenter
from taoxr_models.ear.listener import BEFORE, CONFIRM_FRAMES, Listener, us
from taoxr_models.ear.online.engines import Recognizer, Stream
from taoxr_models.ear.online.result import OnlineRecognizerResult
from taoxr_models.ear.online.words import words_of
from taoxr_models.ear.vad import FRAME

_PAUSE_FRAMES: Final = 3
# Silence behind an utterance, so that the last window is full: the longest window is 0.45 s, a shift 0.32 s.
_TAIL: Final = np.zeros(round(0.8 * RATE), np.float32)
# Rule 3 of the endpoint rules ends long utterances; the segmenter need not cut them.
_NO_CUT: Final = 1_000_000


@dataclass
class _Open:
    """The utterance in progress; times in samples."""

    opened: int
    start: int | None = None
    end: int = 0
    stream: Stream | None = None
    heard: int = 0  # first sample that the stream was given
    fed: int = 0
    compute_us: int = 0
    told: tuple[str, bool] = field(default=("", False))  # newest partial, and whether it was stable
    paused: bool = False
    guess: OnlineRecognizerResult | None = None  # what it is if the pause lasts


class OnlineListener(Listener):
    """State of one stream.

    Args:
        config: What the caller wants.
        vad: The voice activity network.
        recognizer: The recogniser; its streams are made here, one per utterance.

    Raises:
        InvalidInputError: The config is out of range; the field is named ``config.NAME``.
    """

    def __init__(self, config: ListenConfig, vad: Module, recognizer: Recognizer) -> None:
        super().__init__(config, vad, pause=_PAUSE_FRAMES, piece_silence_s=None, max_piece=_NO_CUT)
        self._recognizer = recognizer
        self._push_to_talk = config.push_to_talk
        self._partials = config.partials
        self._stable_partials = config.stable_partials
        self._word_times = config.word_times
        self._floor = 0  # an utterance takes no samples before this: they belong to the one before
        self._utterance = _Open(0)
        self._closed: deque[_Open] = deque()

    @property
    def must_work(self) -> bool:
        """True while a final text is due: call `work` before giving more audio."""
        return bool(self._closed)

    @property
    def can_work(self) -> bool:
        """True while `work` has something to do."""
        if self._closed:
            return True
        open_ = self._utterance
        # With a guess nothing more is decoded in the pause: it might contradict.
        if open_.stream is None or open_.guess is not None:
            return False
        return open_.paused or self._recognizer.is_ready(open_.stream)

    def work(self) -> list[ListenResponse]:
        """Decodes one window, or tells a text that is complete."""
        utterance = self._closed[0] if self._closed else self._utterance
        stream = utterance.stream
        if stream is not None and utterance.guess is None:
            began = time.perf_counter_ns()
            if self._recognizer.is_ready(stream):
                self._recognizer.decode_stream(stream)
                utterance.compute_us += (time.perf_counter_ns() - began) // 1000
                return self._after_window(utterance, stream) if utterance is self._utterance else []
            if utterance is self._utterance and utterance.paused:
                utterance.paused = False  # once is enough, also where the engine cannot tell
                utterance.guess = self._recognizer.foresee(stream)
                utterance.compute_us += (time.perf_counter_ns() - began) // 1000
                return self._after_guess(utterance)
        if not self._closed:
            return []
        self._closed.popleft()
        return [self._final(utterance)]

    def _final(self, utterance: _Open) -> ListenResponse:
        result = utterance.guess
        if result is None and utterance.stream is not None:
            result = self._recognizer.get_result_all(utterance.stream)
        text = "" if result is None else result.text.strip()
        if self._is_echo(utterance, text, utterance.end):
            text = ""
        final = self._transcript(utterance, text, utterance.end, final=True)
        if text and result is not None and self._word_times:
            final.utterance.words.extend(words_of(result.tokens, result.timestamps, us(utterance.heard)))
        return final

    def _after_window(self, utterance: _Open, stream: Stream) -> list[ListenResponse]:
        text = self._recognizer.get_result(stream)
        out = self._news(utterance, text, stable=False) if self._partials else []
        if not self._push_to_talk and self._recognizer.is_endpoint(stream):
            out += self._finish()
        return out

    def _after_guess(self, utterance: _Open) -> list[ListenResponse]:
        if utterance.guess is None:
            return []
        text = utterance.guess.text.strip()
        self._adapt_endpoint(text)
        wanted = self._partials or self._stable_partials
        return self._news(utterance, text, stable=True) if wanted else []

    def _news(self, utterance: _Open, text: str, *, stable: bool) -> list[ListenResponse]:
        known = (text, stable) == utterance.told
        if not text or known or self._is_echo(utterance, text, self._analysed):
            return []
        return [self._partial(utterance, text, stable=stable)]

    def _partial(self, utterance: _Open, text: str, *, stable: bool) -> ListenResponse:
        utterance.told = (text, stable)
        partial = self._transcript(utterance, text, self._analysed, final=False)
        partial.utterance.is_stable = stable
        return partial

    def _on_event(self, event: segmenter.Event) -> Generator[ListenResponse]:
        match event:
            case segmenter.SpeechBegan(frame):
                at = frame * FRAME
                self._utterance.paused, self._utterance.guess = False, None
                self._reset_endpoint()
                if self._utterance.stream is None:
                    self._utterance.start = at
                    self._utterance.stream = self._recognizer.create_stream()
                    self._utterance.heard = self._utterance.fed = max(self._floor, at - BEFORE)
                yield ListenResponse(speech_started=SpeechStarted(offset_us=us(at)))
            case segmenter.SpeechSustained(frame):
                yield ListenResponse(speech_sustained=SpeechSustained(offset_us=us(frame * FRAME)))
            case segmenter.SpeechPaused():
                self._utterance.paused = True
            case segmenter.SpeechResumed():
                self._utterance.paused, self._utterance.guess = False, None
                self._reset_endpoint()
                text, stable = self._utterance.told
                if stable:  # nobody shall rely on it any more
                    yield self._partial(self._utterance, text, stable=False)
            case segmenter.PieceEnded(_, end):
                self._utterance.end = end * FRAME
                yield ListenResponse(speech_stopped=SpeechStopped(offset_us=us(end * FRAME)))
            case segmenter.UtteranceEnded():
                self._close_utterance()

    def _on_frame(self, frame: NDArray[np.float32]) -> None:
        """Nothing: the recogniser is fed once for all frames."""

    def _on_audio(self) -> None:
        self._feed(self._analysed)

    def _needed_from(self) -> int:
        # What is fed is not needed again.
        return max(0, self._analysed - CONFIRM_FRAMES * FRAME - BEFORE)

    def _feed(self, end: int) -> None:
        utterance = self._utterance
        if utterance.stream is not None and utterance.fed < end:
            utterance.stream.accept_waveform(RATE, self._recording.cut(utterance.fed, end))
            utterance.fed = end

    def _close_utterance(self) -> None:
        self._feed(self._analysed)
        utterance = self._utterance
        if utterance.stream is None:
            utterance.end = self._analysed
        elif utterance.guess is None:
            utterance.stream.accept_waveform(RATE, _TAIL)
            utterance.stream.input_finished()
        self._closed.append(utterance)
        self._floor = self._analysed
        self._utterance = _Open(self._analysed)

    def _is_echo(self, utterance: _Open, text: str, end: int) -> bool:
        start = utterance.opened if utterance.start is None else utterance.start
        return self._is_avatars(text, start, end)

    def _transcript(self, utterance: _Open, text: str, end: int, *, final: bool) -> ListenResponse:
        start = utterance.opened if utterance.start is None else utterance.start
        # Greedy search takes nothing back; a guess may be.
        decoded = "" if utterance.stream is None else self._recognizer.get_result(utterance.stream)
        return ListenResponse(
            utterance=Utterance(
                text=text,
                is_final=final,
                start_us=us(start),
                end_us=us(end),
                compute_us=utterance.compute_us,
                certain_text=text if final else decoded,
            )
        )
