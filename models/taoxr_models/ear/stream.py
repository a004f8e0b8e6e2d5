"""One audio stream's ear: audio in, speech marks and transcripts out.

`taoxr_models.ear.service` puts it on a gRPC stream. The work of the recogniser comes in steps
(`EarStream.work`), of two kinds:

* *required* steps lead to final texts; the audio waits for them, so results come in order;
* *spare* steps make partials, and a *guess*: when it has been silent for a moment, the piece is recognised
  before its end is certain, so that the final text is there the moment it is. They run when no audio waits.

A pause makes the newest partial *stable* at once, since often it has all the words already: whoever prepares
an answer need not wait for the guess, which confirms or replaces it. For those the guess also begins when it
falls quiet, before the detector is sure of a pause; when none follows, it was one of the partials.

Recognitions of one piece help each other. What two partials in a row agree on, but for the newest words, is
certain: it is shown as such and never taken back, because every later recognition begins with it (local
agreement, Liu et al., "Low-latency sequence-to-sequence speech recognition and translation by partial
hypothesis selection", 2020). The rest is only likely, and saves the next one time.
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
    Word,
)
from taoxr_models.dsp.resample import RATE
from taoxr_models.ear import segmenter
from taoxr_models.ear.hush import Hush
from taoxr_models.ear.listener import BEFORE, Listener, frames, us
from taoxr_models.ear.vad import FRAME
from taoxr_models.ear.whisper import Hints, Recognition, Whisper

_PIECE_SILENCE_S: Final = 0.5
# Of 200 gaps in the speech of 16 minutes of recordings, 14 were no longer than one frame.
_PAUSE_FRAMES: Final = 1
_MAX_PIECE_S: Final = 14.0
# Samples kept behind what the detector calls speech: it is late on soft endings.
_AFTER: Final = _PAUSE_FRAMES * FRAME
# The newest words of a partial may have been cut off in the middle, so the next one may hear others.
_NEWEST_WORDS: Final = 2
_PARTIAL_EVERY: Final = round(0.5 * RATE)
# On a busy machine partials become rarer, so that they do not take all of it from the final text.
_PARTIAL_REST: Final = round(0.25 * RATE)
# A hush begins no recognition sooner than so long after the last one.
_HUSH_EVERY: Final = round(0.25 * RATE)
# Speech this short that the detector still heard after a hush was only its slowness to let go.
_LINGERS: Final = 3 * FRAME


@dataclass
class _Job:
    """A recognition of the samples from start to end."""

    start: int
    end: int
    recognition: Recognition
    stable: bool = False  # recognised at a pause: the final text, if the pause lasts
    compute_us: int = 0

    def step(self) -> None:
        began = time.perf_counter_ns()
        self.recognition.step()
        self.compute_us += (time.perf_counter_ns() - began) // 1000


@dataclass
class _Utterance:
    """What is known of the utterance in progress; times in samples."""

    opened: int
    start: int | None = None
    end: int = 0
    texts: list[str] = field(default_factory=list[str])
    words: list[Word] = field(default_factory=list[Word])
    language: str = ""
    compute_us: int = 0

    def add(self, job: _Job) -> None:
        recognition = job.recognition
        self.compute_us += job.compute_us
        self.language = recognition.language
        if recognition.text:
            self.texts.append(recognition.text)
        for word in recognition.words:
            start, end = (us(job.start) + round(s * 1e6) for s in (word.start_s, word.end_s))
            self.words.append(Word(text=word.text, start_us=start, end_us=end))


@dataclass(frozen=True)
class _Piece:
    """A piece whose text is needed."""

    utterance: _Utterance
    job: _Job


@dataclass(frozen=True)
class _Final:
    """All pieces of the utterance are recognised: tell it."""

    utterance: _Utterance
    end: int


class EarStream(Listener):
    """State of one stream.

    Args:
        config: What the caller wants.
        vad: The voice activity network.
        whisper: The recogniser.

    Raises:
        InvalidInputError: The config is out of range; the field is named ``config.NAME``.
    """

    def __init__(self, config: ListenConfig, vad: Module, whisper: Whisper) -> None:
        super().__init__(
            config,
            vad,
            pause=_PAUSE_FRAMES,
            piece_silence_s=_PIECE_SILENCE_S,
            max_piece=frames(_MAX_PIECE_S),
        )
        whisper.check_language(config.language or None, "config.language")
        self._whisper = whisper
        self._partials = config.partials
        self._stable_partials = config.stable_partials
        self._hush = Hush() if config.stable_partials else None
        self._language = config.language or None
        self._word_times = config.word_times
        self._floor = 0  # a piece takes no samples before this: they belong to the piece before
        self._utterance = _Utterance(0)
        self._required: deque[_Piece | _Final] = deque()
        self._spare: _Job | None = None
        self._guess: _Job | None = None  # finished or running recognition up to a pause or a hush
        self._hushed: _Job | None = None  # the newest guess that was begun at a hush
        self._began = 0  # where the newest recognition was begun
        self._next_partial = 0
        self._told = ("", False)  # newest partial, and whether it was stable
        # Tokens of the open piece: those of the newest partial, and those that stay.
        self._newest: tuple[int, ...] = ()
        self._certain: tuple[int, ...] = ()

    @property
    def must_work(self) -> bool:
        """True while a final text is due: call `work` before giving more audio."""
        return bool(self._required)

    @property
    def can_work(self) -> bool:
        """True while `work` has something to do."""
        if self._required or self._spare is None:
            return bool(self._required)
        # A partial must not be in the way of the guess, which may be due in a moment.
        return self._spare.stable or not self._segmenter.quiet

    def work(self) -> list[ListenResponse]:
        """Runs one step of the recogniser."""
        if not self._required:
            return self._work_spare()
        match self._required[0]:
            case _Piece(utterance, job):
                if not job.recognition.done:
                    job.step()
                if job.recognition.done:
                    utterance.add(job)
                    self._required.popleft()
                return []
            case _Final(utterance, end):
                self._required.popleft()
                text = " ".join(utterance.texts)
                if self._is_echo(utterance, text, end):
                    return [self._transcript(utterance, "", end, utterance.compute_us)]
                final = self._transcript(utterance, text, end, utterance.compute_us)
                final.utterance.certain_text, final.utterance.language = text, utterance.language
                final.utterance.words.extend(utterance.words)
                return [final]

    def _work_spare(self) -> list[ListenResponse]:
        job = self._spare
        if job is None:
            return []
        job.step()
        if not job.recognition.done:
            return []
        self._spare = None
        self._next_partial = max(self._next_partial, self._analysed + _PARTIAL_REST)
        # Two partials that follow each other at a hush agree on too much: they heard nearly the same audio.
        if job is not self._hushed or job.stable:
            self._agree(tuple(job.recognition.tokens))
        return self._tell(job)

    def _tell(self, job: _Job) -> list[ListenResponse]:
        """Tells what a recognition of the open piece has found, if it is wanted and new."""
        text = _joined(self._utterance.texts, job.recognition.text)
        if job.stable:
            self._adapt_endpoint(text)
        told = (text, job.stable)
        wanted = self._partials or (self._stable_partials and job.stable)
        if not wanted or not text or told in (self._told, (self._told[0], False)):
            return []
        if self._is_echo(self._utterance, text, self._analysed):
            return []
        return [self._partial(text, job.compute_us, stable=job.stable)]

    def _agree(self, tokens: tuple[int, ...]) -> None:
        """Keeps what this partial and the one before have in common, without their newest words."""
        if self._partials:
            common = next(
                (i for i, (a, b) in enumerate(zip(tokens, self._newest, strict=False)) if a != b),
                min(len(tokens), len(self._newest)),
            )
            starts = self._whisper.word_starts(tokens)
            kept = max((s for s in starts[: len(starts) - _NEWEST_WORDS] if s <= common), default=0)
            if kept > len(self._certain):
                self._certain = tokens[:kept]
        self._newest = tokens

    def _partial(self, text: str, compute_us: int, *, stable: bool) -> ListenResponse:
        self._told = (text, stable)
        partial = self._transcript(self._utterance, text, self._analysed, compute_us, final=False)
        partial.utterance.is_stable = stable
        certain = self._whisper.decode(list(self._certain))
        partial.utterance.certain_text = _joined(self._utterance.texts, certain)
        return partial

    def _is_echo(self, utterance: _Utterance, text: str, end: int) -> bool:
        start = utterance.opened if utterance.start is None else utterance.start
        return self._is_avatars(text, start, end)

    def _on_event(self, event: segmenter.Event) -> Generator[ListenResponse]:
        match event:
            case segmenter.SpeechBegan(frame):
                at = frame * FRAME
                if self._utterance.start is None:
                    self._utterance.start = at
                self._reset_endpoint()
                self._next_partial = self._analysed + _PARTIAL_EVERY
                yield ListenResponse(speech_started=SpeechStarted(offset_us=us(at)))
            case segmenter.SpeechSustained(frame):
                yield ListenResponse(speech_sustained=SpeechSustained(offset_us=us(frame * FRAME)))
            case segmenter.SpeechResumed():
                self._reset_endpoint()
                if self._guess is not None:
                    self._guess.stable = False
                    self._guess = None
                if self._told[1]:  # nobody shall rely on it any more
                    yield self._partial(self._told[0], 0, stable=False)
            case segmenter.SpeechPaused(start, end):
                guess = self._guess
                if guess is None or end * FRAME - guess.end > _LINGERS:
                    guess = self._guess = self._begin(*self._span(start, end))
                guess.stable = True
                if guess.recognition.done:
                    yield from self._tell(guess)
                elif self._told[0]:
                    yield self._partial(self._told[0], 0, stable=True)
            case segmenter.PieceEnded(start, end, cut):
                self._end_piece(start, end, cut)
                if not cut:
                    yield ListenResponse(speech_stopped=SpeechStopped(offset_us=us(end * FRAME)))
            case segmenter.UtteranceEnded():
                self._close_utterance()

    def _on_frame(self, frame: NDArray[np.float32]) -> None:
        """Begins the guess when it falls quiet within speech, and forgets it when that was no end."""
        if self._hush is None:
            return
        falls = self._hush.falls(frame)
        start = self._segmenter.piece_start
        if start is None or self._segmenter.quiet:
            return
        if falls is False:
            self._guess = None
        elif falls and self._spare is None and self._analysed - self._began >= _HUSH_EVERY:
            first, _ = self._span(start, start)
            self._guess = self._hushed = self._begin(first, self._analysed)

    def _span(self, start: int, end: int) -> tuple[int, int]:
        """Samples to recognise for a piece: its frames and a little more, but nothing twice."""
        return max(self._floor, start * FRAME - BEFORE), end * FRAME + _AFTER

    def _end_piece(self, start: int, end: int, cut: bool) -> None:
        first, last = self._span(start, end)
        if cut:
            last = end * FRAME
        guess = self._guess
        self._guess = self._spare = None
        self._utterance.end = end * FRAME
        if end > start:
            # What was guessed at the pause holds: nothing was said since.
            holds = guess is not None and guess.stable and not cut
            job = guess if guess is not None and holds else self._job(first, last)
            self._required.append(_Piece(self._utterance, job))
        self._newest = self._certain = ()
        self._told = ("", False)
        self._floor = last if cut else end * FRAME
        self._next_partial = self._analysed + _PARTIAL_EVERY

    def _close_utterance(self) -> None:
        end = self._utterance.end if self._utterance.start is not None else self._analysed
        self._required.append(_Final(self._utterance, end))
        self._utterance = _Utterance(self._analysed)

    def _on_audio(self) -> None:
        start = self._segmenter.piece_start
        if not self._partials or start is None or self._spare is not None:
            return
        if self._analysed >= self._next_partial:
            first, _ = self._span(start, start)
            self._begin(first, self._analysed)

    def _begin(self, start: int, end: int) -> _Job:
        """Begins a recognition that runs when no audio waits, in place of any other."""
        self._spare = self._job(start, end)
        self._began = self._analysed
        self._next_partial = self._analysed + _PARTIAL_EVERY
        return self._spare

    def _job(self, start: int, end: int) -> _Job:
        hints = Hints(
            certain=self._certain,
            likely=self._newest[len(self._certain) :],
            language=self._language,
            word_times=self._word_times,
        )
        return _Job(start, end, self._whisper.recognise(self._recording.cut(start, end), hints))

    def _transcript(
        self, utterance: _Utterance, text: str, end: int, compute_us: int, *, final: bool = True
    ) -> ListenResponse:
        start = utterance.opened if utterance.start is None else utterance.start
        return ListenResponse(
            utterance=Utterance(
                text=text, is_final=final, start_us=us(start), end_us=us(end), compute_us=compute_us
            )
        )


def _joined(texts: list[str], text: str) -> str:
    return " ".join([*texts, text] if text else texts)
