"""From speech probabilities to pieces and utterances: a state machine without audio or clock.

An *utterance* is what the user says in one go. It is recognised in *pieces* of at most `max_piece` frames,
which end at short silences, or at the quietest place when nobody pauses.
"""

from dataclasses import dataclass
from typing import Final

START_THRESHOLD: Final = 0.5
END_THRESHOLD: Final = 0.35
# A cut in running speech is looked for in this last part of the piece.
_CUT_SEARCH: Final = 0.4


@dataclass(frozen=True, slots=True)
class SpeechBegan:
    """Speech is certain since `frame`."""

    frame: int


@dataclass(frozen=True, slots=True)
class SpeechSustained:
    """The speech that began at `frame` goes on: it is no click."""

    frame: int


@dataclass(frozen=True, slots=True)
class SpeechPaused:
    """It has been silent for a moment: the piece from `start` to `end` may be over."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SpeechResumed:
    """The piece was not over."""


@dataclass(frozen=True, slots=True)
class PieceEnded:
    """The piece from frame `start` to `end` (exclusive) is over; after a cut, speech goes on."""

    start: int
    end: int
    cut: bool = False


@dataclass(frozen=True, slots=True)
class UtteranceEnded:
    """All pieces so far make one utterance."""


Event = SpeechBegan | SpeechSustained | SpeechPaused | SpeechResumed | PieceEnded | UtteranceEnded


class Segmenter:
    """Takes one probability per frame, returns what it means.

    Speech begins with `confirm` frames in a row: the first at least 0.5, the rest at least 0.35; it lasts
    while frames are at least 0.35 (hysteresis). All lengths are in frames.

    Args:
        endpoint: Silence that ends an utterance, or None: only `finish` does.
        piece_silence: Silence that ends a piece.
        pause: Silence after which the end of the piece is likely; less than `piece_silence`.
        confirm: Frames until speech is certain.
        max_piece: Longest piece.
        sustain: Frames after which speech is no click; None does not tell.

    Attributes:
        endpoint: As above; may be changed at any time.
    """

    def __init__(
        self,
        endpoint: int | None,
        *,
        piece_silence: int,
        pause: int,
        confirm: int,
        max_piece: int,
        sustain: int | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._piece_silence = piece_silence
        self._pause = pause
        self._confirm = confirm
        self._sustain = sustain
        self._max_piece = max_piece
        self._frame = 0
        self._onset: int | None = None  # first frame of speech that is not certain yet
        self._start: int | None = None  # first frame of the open piece
        self._voiced_end = 0
        self._pieces = 0  # ended pieces of the open utterance
        self._sustained = False
        self._paused = False
        self._probabilities: list[float] = []  # of the open piece

    @property
    def frame(self) -> int:
        """Frames taken so far."""
        return self._frame

    @property
    def piece_start(self) -> int | None:
        """First frame of the open piece, or None between pieces."""
        return self._start

    @property
    def quiet(self) -> bool:
        """True while the newest frames are silent, whether or not a piece is open."""
        return self._frame > self._voiced_end

    def push(self, probability: float) -> list[Event]:
        """Takes the next frame."""
        at = self._frame
        self._frame += 1
        if self._start is None:
            return self._between(at, probability)
        return self._inside(self._start, at, probability)

    def finish(self) -> list[Event]:
        """Ends the utterance now; no event when it holds no speech."""
        events: list[Event] = []
        if self._start is not None:
            events.append(self._end_piece(self._start, self._voiced_end))
        self._onset = None
        if self._pieces:
            events.append(self._end_utterance())
        return events

    def _between(self, at: int, probability: float) -> list[Event]:
        if self._onset is None and probability >= START_THRESHOLD:
            self._onset = at
        if self._onset is not None:
            if probability < END_THRESHOLD:
                self._onset = None
            elif at - self._onset + 1 >= self._confirm:
                self._start, self._onset = self._onset, None
                self._sustained = self._paused = False
                self._voiced_end = at + 1
                self._probabilities = [1.0] * (at + 1 - self._start)  # never cut inside the onset
                return [SpeechBegan(self._start)]
        silence = self._frame - self._voiced_end
        waiting = self._pieces > 0 and self._onset is None
        if waiting and self.endpoint is not None and silence >= self.endpoint:
            return [self._end_utterance()]
        return []

    def _inside(self, start: int, at: int, probability: float) -> list[Event]:
        self._probabilities.append(probability)
        events: list[Event] = []
        if probability >= END_THRESHOLD:
            self._voiced_end = at + 1
            if self._paused:
                self._paused = False
                events.append(SpeechResumed())
            if self._sustain is not None and not self._sustained and self._frame - start >= self._sustain:
                self._sustained = True
                events.append(SpeechSustained(start))
        silence = self._frame - self._voiced_end
        over = self.endpoint is not None and silence >= self.endpoint
        if over or silence >= self._piece_silence:
            events.append(self._end_piece(start, self._voiced_end))
            if over:
                events.append(self._end_utterance())
        elif self._frame - start >= self._max_piece:
            events.append(self._cut_piece(start))
        elif silence == self._pause:
            self._paused = True
            events.append(SpeechPaused(start, self._voiced_end))
        return events

    def _end_piece(self, start: int, end: int) -> PieceEnded:
        self._start = None
        self._pieces += 1
        return PieceEnded(start, end)

    def _cut_piece(self, start: int) -> PieceEnded:
        """Cuts at the least likely frame of the last part; the newest of equals."""
        candidates = range(round(len(self._probabilities) * (1.0 - _CUT_SEARCH)), len(self._probabilities))
        cut = min(candidates, key=lambda i: (self._probabilities[i], -i))
        del self._probabilities[:cut]
        self._start = start + cut
        self._voiced_end = max(self._voiced_end, self._start)
        self._pieces += 1
        return PieceEnded(start, start + cut, cut=True)

    def _end_utterance(self) -> UtteranceEnded:
        self._pieces = 0
        return UtteranceEnded()
