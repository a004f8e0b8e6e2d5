"""What a conversation tells its client, as frozen dataclasses with NumPy arrays.

One class per payload of ``taoxr.v1.ConverseResponse``; `from_proto` makes the right one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import grpc
import numpy as np
from numpy.typing import NDArray

from taoxr.client import body as bodies
from taoxr.errors import TaoxrError
from taoxr.rpc import from_status
from taoxr.v1 import body_pb2, common_pb2
from taoxr.v1 import conversation_pb2 as pb


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
class Transcript(Event):
    """What the user said in [start_us, end_us) of the user's audio stream."""

    text: str
    is_final: bool
    start_us: int
    end_us: int


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
    """

    code: grpc.StatusCode
    error: TaoxrError


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


_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
_STATES: Final = {
    pb.TurnState.STATE_LISTENING: State.LISTENING,
    pb.TurnState.STATE_THINKING: State.THINKING,
    pb.TurnState.STATE_SPEAKING: State.SPEAKING,
    pb.TurnState.STATE_DONE: State.DONE,
    pb.TurnState.STATE_INTERRUPTED: State.INTERRUPTED,
    pb.TurnState.STATE_FAILED: State.FAILED,
}
_CAPABILITIES: Final = {
    pb.CAPABILITY_RESUME: Capability.RESUME,
    pb.CAPABILITY_BARGE_IN: Capability.BARGE_IN,
    pb.CAPABILITY_TOOLS: Capability.TOOLS,
}
_LEAVING: Final = {
    pb.GoingAway.REASON_SHUTDOWN: Leaving.SHUTDOWN,
    pb.GoingAway.REASON_IDLE: Leaving.IDLE,
}


def rig_from_proto(rig: common_pb2.RigDescription) -> Rig:
    """The dataclass of a ``RigDescription``."""
    return Rig(rig.space, tuple(rig.blendshape_names), rig.frame_rate, rig.provisional)


def frames_from_proto(
    frames: Sequence[common_pb2.Frame], columns: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Times int64 [k] in microseconds and weights float32 [k, columns] of a batch of frames."""
    times = np.array([frame.time_us for frame in frames], np.int64)
    weights = np.array([frame.weights for frame in frames], np.float32).reshape(len(frames), columns)
    return times, weights


def phoneme_from_proto(phoneme: common_pb2.PhonemeTiming) -> Phoneme:
    """The dataclass of a ``PhonemeTiming``."""
    return Phoneme(phoneme.symbol, phoneme.start_us, phoneme.end_us)


def speech_activity_from_proto(
    activity: pb.SpeechActivity, *, seq: int = 0, turn_id: str = "", epoch: int = 0
) -> SpeechActivity:
    """The dataclass of a ``SpeechActivity``."""
    return SpeechActivity(seq, turn_id, epoch, activity.kind == activity.KIND_STARTED, activity.offset_us)


def transcript_from_proto(
    said: pb.Transcript, *, seq: int = 0, turn_id: str = "", epoch: int = 0
) -> Transcript:
    """The dataclass of a ``Transcript``."""
    return Transcript(seq, turn_id, epoch, said.text, said.is_final, said.start_us, said.end_us)


def media_from_proto(
    media: pb.MediaChunk, started: SessionStarted, *, seq: int = 0, turn_id: str = "", epoch: int = 0
) -> MediaChunk:
    """The dataclass of a ``MediaChunk`` of the stream that `started` began."""
    times, weights = frames_from_proto(media.frames, len(started.rig.names))
    return MediaChunk(
        seq, turn_id, epoch, media.start_us, started.audio_out_hz,
        np.frombuffer(media.pcm, "<i2").astype(np.int16, copy=False), times, weights,
        media.clause, media.clause_text,
        tuple(map(phoneme_from_proto, media.phonemes)), media.last,
        bodies.track_from_proto(media.body), bodies.cues_from_proto(media.cues),
    )  # fmt: skip


def motion_from_proto(motion: body_pb2.Motion, *, seq: int = 0, turn_id: str = "", epoch: int = 0) -> Motion:
    """The dataclass of a ``Motion``."""
    activity = bodies.activity_from_proto(motion)
    return Motion(seq, turn_id, epoch, activity, bodies.track_from_proto(motion.body))


def session_from_proto(started: pb.SessionStarted, *, seq: int = 0, epoch: int = 0) -> SessionStarted:
    """The dataclass of a ``SessionStarted``."""
    lost = started.lost_turn if started.HasField("lost_turn") else None
    return SessionStarted(
        seq, "", epoch, started.session_id, started.audio_in.sample_rate_hz,
        started.audio_out.sample_rate_hz, rig_from_proto(started.rig), started.lead_us,
        started.resume_token, started.resume_window_us, started.resumed,
        lost and LostTurn(lost.turn_id, lost.user_text, lost.heard_text), started.idle_timeout_us,
        frozenset(_CAPABILITIES[c] for c in started.capabilities if c in _CAPABILITIES),
        bodies.tracks_from_proto(started.tracks) | {bodies.Track.FACE}, bodies.bones_from_proto(started),
    )  # fmt: skip


def from_proto(response: pb.ConverseResponse, started: SessionStarted | None) -> Event | None:
    """The event of a response.

    Args:
        response: What the server sent.
        started: The stream's `SessionStarted`; None before it came.

    Returns:
        None for a payload that this version does not know (a newer server's).
    """
    seq, turn_id, epoch = head = (response.seq, response.turn_id, response.epoch)
    match response.WhichOneof("payload"):
        case "session_started":
            return session_from_proto(response.session_started, seq=response.seq, epoch=response.epoch)
        case "speech_activity":
            activity = response.speech_activity
            return speech_activity_from_proto(activity, seq=seq, turn_id=turn_id, epoch=epoch)
        case "transcript":
            return transcript_from_proto(response.transcript, seq=seq, turn_id=turn_id, epoch=epoch)
        case "turn":
            state = _STATES.get(response.turn.state)
            return None if state is None else TurnState(*head, state, response.turn.heard_text)
        case "text_delta":
            return TextDelta(*head, response.text_delta.text)
        case "media" if started is not None:
            return media_from_proto(response.media, started, seq=seq, turn_id=turn_id, epoch=epoch)
        case "metrics":
            m = response.metrics
            return TurnMetrics(*head, dict(m.stages_ms), m.prompt_tokens, m.reused_tokens, m.answer_tokens)
        case "notice":
            status = response.notice
            error = from_status(status) or TaoxrError(status.message)
            return Notice(*head, _CODES.get(status.code, grpc.StatusCode.UNKNOWN), error)
        case "going_away":
            going = response.going_away
            return GoingAway(*head, _LEAVING.get(going.reason, Leaving.UNKNOWN), going.time_left_us)
        case "motion":
            return motion_from_proto(response.motion, seq=seq, turn_id=turn_id, epoch=epoch)
        case "tool_call":
            call = response.tool_call
            return ToolCall(*head, call.call_id, call.name, call.arguments_json, call.timeout_us)
        case "pong":
            return Pong(*head, response.pong.client_time_us, response.pong.server_time_us)
        case _:
            return None
