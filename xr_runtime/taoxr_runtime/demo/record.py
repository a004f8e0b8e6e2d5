"""What happened in a live conversation, with the time of everything on one wall clock."""

import time
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from taoxr.client import Event, MediaChunk, SessionStarted, State, Transcript, TurnMetrics, TurnState
from taoxr_runtime.demo.playback import Playback


class Source(StrEnum):
    """Where the user's part of a turn comes from."""

    RECORDING = "recording"
    SYNTHESISED = "synthesised"
    TEXT = "text"
    MICROPHONE = "microphone"


@dataclass(frozen=True, eq=False)
class Prompt:
    """What the user says.

    Attributes:
        source: Where it comes from.
        text: The words, as far as known before anyone listens; else empty.
        pcm: int16 [n], mono, the voice; empty when typed.
        rate_hz: Rate of ``pcm``.
    """

    source: Source
    text: str = ""
    pcm: NDArray[np.int16] = field(default_factory=lambda: np.zeros(0, np.int16))
    rate_hz: int = 16_000


class Clock:
    """Microseconds since it was made, steady."""

    def __init__(self) -> None:
        self._zero = time.perf_counter_ns()

    def now_us(self) -> int:
        """The time."""
        return (time.perf_counter_ns() - self._zero) // 1000


@dataclass(eq=False)
class Asked:
    """One prompt as it was said: its first sample, and the last audible one (or when the text was sent)."""

    prompt: Prompt
    start_us: int
    end_us: int | None = None
    turn_ids: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, eq=False)
class Arrival:
    """An event and when it came."""

    at_us: int
    event: Event


@dataclass(eq=False)
class Turn:
    """One turn as the client saw it; filled while it happens.

    Attributes:
        turn_id: The server's name for it.
        asked: Index into `Record.asked`.
        playback: What was heard when.
        chunks: Media with arrival times.
        states: States with arrival times.
        transcripts: Transcripts with arrival times.
        answer: Text of the answer, as far as it came.
        metrics: The server's own figures, once they came.
    """

    turn_id: str
    asked: int
    playback: Playback
    chunks: list[tuple[int, MediaChunk]] = field(default_factory=list[tuple[int, MediaChunk]])
    states: list[tuple[int, TurnState]] = field(default_factory=list[tuple[int, TurnState]])
    transcripts: list[tuple[int, Transcript]] = field(default_factory=list[tuple[int, Transcript]])
    answer: str = ""
    metrics: TurnMetrics | None = None

    @property
    def state(self) -> State | None:
        """The last state."""
        return self.states[-1][1].state if self.states else None

    @property
    def ended(self) -> bool:
        """Whether nothing of the turn will follow."""
        return self.state is not None and self.state.ended


@dataclass(eq=False)
class Record:
    """A whole conversation.

    Attributes:
        clock: The wall clock; 0 is the start of the film.
        started: What was negotiated.
        fps: Pictures per second of the display.
        asked: What the user said, in order.
        turns: Turns in order.
        arrivals: Every event, in order.
        ticks: When each picture's state was taken: picture n was due at ``n / fps``.
        microphone: Blocks of a real microphone at 16 kHz; empty without one.
        microphone_us: When the first of them began.
        end_us: End of the conversation; None while it runs.
    """

    clock: Clock
    started: SessionStarted
    fps: float
    asked: list[Asked] = field(default_factory=list[Asked])
    turns: list[Turn] = field(default_factory=list[Turn])
    arrivals: list[Arrival] = field(default_factory=list[Arrival])
    ticks: list[int] = field(default_factory=list[int])
    microphone: list[NDArray[np.int16]] = field(default_factory=list[NDArray[np.int16]])
    microphone_us: int = 0
    end_us: int | None = None

    def turn(self, turn_id: str) -> Turn | None:
        """The turn of that name."""
        return next((turn for turn in reversed(self.turns) if turn.turn_id == turn_id), None)
