"""What a conversation tells its client, as frozen dataclasses with NumPy arrays.

One class per payload of ``taoxr.v1.ConverseResponse``; `taoxr.client.from_proto` makes them.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import grpc
import numpy as np
from numpy.typing import NDArray

from taoxr.client import body as bodies
from taoxr.errors import TaoxrError


@dataclass(frozen=True, slots=True)
class Rig:
    """What the columns of a frame track mean.

    Attributes:
        space: Coefficient space, "arkit52" or "flame53".
        names: Name of each column, in order.
        frame_rate: Frames per second.
        provisional: True when the lips come from a provisional method.
    """

    space: str
    names: tuple[str, ...]
    frame_rate: float
    provisional: bool


@dataclass(frozen=True, slots=True)
class Phoneme:
    """An IPA symbol ("" or "_" is silence) heard in [start_us, end_us)."""

    symbol: str
    start_us: int
    end_us: int


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events.

    Attributes:
        seq: Grows by one per message of the stream.
        turn_id: Turn this belongs to; empty outside a turn.
        epoch: Grows with every interruption.
    """

    seq: int
    turn_id: str
    epoch: int


class Capability(StrEnum):
    """What a server may or may not do."""

    RESUME = "resume"
    BARGE_IN = "barge_in"
    TOOLS = "tools"


@dataclass(frozen=True, slots=True)
class LostTurn:
    """A turn that the loss of the connection broke off; `heard_text` is what stays in the history."""

    turn_id: str
    user_text: str
    heard_text: str


@dataclass(frozen=True, slots=True)
class SessionStarted(Event):
    """First event: what was negotiated.

    Attributes:
        session_id: Name of the session.
        audio_in_hz: Rate of the audio that the client sends, or 0 when it sends text only.
        audio_out_hz: Rate of `MediaChunk.pcm`.
        rig: Names and rate of the frame track.
        lead_us: How far ahead of playback the server sends, in microseconds.
        resume_token: Secret that resumes the conversation; empty when that is not possible.
        resume_window_us: How long after a loss it can be resumed, in microseconds.
        resumed: True when it was.
        lost_turn: The turn that the loss broke off.
        idle_timeout_us: A conversation without requests ends after so many microseconds.
        capabilities: What the server does in this conversation beyond the basics.
        tracks: What is sent beside the voice.
        bones: What the body track moves; None without one.
    """

    session_id: str
    audio_in_hz: int
    audio_out_hz: int
    rig: Rig
    lead_us: int
    resume_token: str = field(default="", repr=False)  # never in logs
    resume_window_us: int = 0
    resumed: bool = False
    lost_turn: LostTurn | None = None
    idle_timeout_us: int = 0
    capabilities: frozenset[Capability] = frozenset()
    tracks: frozenset[bodies.Track] = frozenset((bodies.Track.FACE,))
    bones: bodies.Bones | None = None


@dataclass(frozen=True, slots=True)
class SpeechActivity(Event):
    """The user began (`started`) or stopped speaking, at `offset_us` of the user's audio stream."""

    started: bool
    offset_us: int


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word as it is written, heard in [start_us, end_us) of the user's audio stream."""

    text: str
    start_us: int
    end_us: int


@dataclass(frozen=True, slots=True)
class Transcript(Event):
    """What the user said in [start_us, end_us) of the user's audio stream.

    Attributes:
        text: The words; a later transcript of the same speech replaces it.
        is_final: False while the user still speaks.
        start_us: Start of the span.
        end_us: Its end, exclusive.
        stable_text: What all later transcripts of the same speech begin with.
        words: Of a final one: the words with their times, where they were asked for.
        language: Of a final one: BCP 47 tag such as "en"; empty where it is not known.
    """

    text: str
    is_final: bool
    start_us: int
    end_us: int
    stable_text: str = ""
    words: tuple[TimedWord, ...] = ()
    language: str = ""


class State(StrEnum):
    """States of a turn; the last three end it."""

    LISTENING = "listening"
    THINKING = "thinking"
    SPEAKING = "speaking"
    DONE = "done"
    INTERRUPTED = "interrupted"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        """True for a state after which nothing of the turn follows."""
        return self in (State.DONE, State.INTERRUPTED, State.FAILED)


@dataclass(frozen=True, slots=True)
class TurnState(Event):
    """The turn came to `state`; `heard_text` is the answer as far as heard, once it has ended."""

    state: State
    heard_text: str


@dataclass(frozen=True, slots=True)
class TextDelta(Event):
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class MediaChunk(Event):
    """A span of speech with exactly the frames of the same span.

    Attributes:
        start_us: Start on the turn's media clock.
        sample_rate_hz: Rate of `pcm`.
        pcm: int16 [n], mono.
        frame_times_us: int64 [k], on the turn's media clock, in [start_us, end_us).
        frame_weights: float32 [k, names of the rig].
        clause: Index of the clause in the turn.
        clause_text: Text of the clause; only on its first chunk.
        phonemes: Phonemes of the clause on the turn's media clock; only on its first chunk.
        last: True on the last chunk of the turn.
        body: Poses on the turn's media clock, in [start_us, end_us); without frames unless asked for.
        cues: What begins in the span; empty unless asked for.
    """

    start_us: int
    sample_rate_hz: int
    pcm: NDArray[np.int16]
    frame_times_us: NDArray[np.int64]
    frame_weights: NDArray[np.float32]
    clause: int
    clause_text: str
    phonemes: tuple[Phoneme, ...]
    last: bool
    body: bodies.BodyTrack = bodies.NO_BODY
    cues: tuple[bodies.Cue, ...] = ()

    @property
    def end_us(self) -> int:
        """End of the audio on the turn's media clock, exclusive."""
        return self.start_us + len(self.pcm) * 1_000_000 // self.sample_rate_hz


@dataclass(frozen=True, slots=True, eq=False)
class TurnMetrics(Event):
    """How long the stages of a turn took: see ``TurnMetrics`` in conversation.proto."""

    stages_ms: dict[str, float]
    prompt_tokens: int
    reused_tokens: int
    answer_tokens: int


@dataclass(frozen=True, slots=True)
class Notice(Event):
    """Something recoverable went wrong; the conversation goes on.

    Attributes:
        code: gRPC status code.
        error: What happened and what to do; `BusyError` says when a retry makes sense.
        reason: The same for programs, such as ``HISTORY_DROPPED``; docs/api.md lists them.
    """

    code: grpc.StatusCode
    error: TaoxrError
    reason: str = ""


class Leaving(StrEnum):
    """Why a server ends a conversation."""

    SHUTDOWN = "shutdown"
    IDLE = "idle"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class GoingAway(Event):
    """The server will end the conversation in `time_left_us` microseconds."""

    reason: Leaving
    time_left_us: int


@dataclass(frozen=True, slots=True)
class Pong(Event):
    """Answer to a ping: the client's clock when it asked, the server's (since 1970) when it answered."""

    client_time_us: int
    server_time_us: int


@dataclass(frozen=True, slots=True, eq=False)
class Motion(Event):
    """How the body moves while nothing is said.

    Attributes:
        activity: What it does.
        body: Poses, in microseconds since the session started; media of a turn with a body take their place.
    """

    activity: bodies.BodyActivity
    body: bodies.BodyTrack


@dataclass(frozen=True, slots=True)
class ToolCall(Event):
    """The avatar calls a tool and waits for what comes of it.

    Attributes:
        call_id: Name of the call.
        name: Name of the tool.
        arguments_json: A JSON object, as the language model wrote it.
        timeout_us: Without an answer after so long the avatar goes on without one, in microseconds.
    """

    call_id: str
    name: str
    arguments_json: str
    timeout_us: int
