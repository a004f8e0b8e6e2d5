"""Events and their parts from the wire's messages."""

from collections.abc import Sequence
from typing import Final

import grpc
import numpy as np
from numpy.typing import NDArray

from taoxr.client import body as bodies
from taoxr.client.events import (
    Capability,
    Event,
    GoingAway,
    Leaving,
    LostTurn,
    MediaChunk,
    Motion,
    Notice,
    Phoneme,
    Pong,
    Rig,
    SessionStarted,
    SpeechActivity,
    State,
    TextDelta,
    TimedWord,
    ToolCall,
    Transcript,
    TurnMetrics,
    TurnState,
)
from taoxr.errors import TaoxrError
from taoxr.rpc import from_status, reason_of
from taoxr.v1 import body_pb2, common_pb2
from taoxr.v1 import conversation_pb2 as pb

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
    words = tuple(TimedWord(word.text, word.start_us, word.end_us) for word in said.words)
    return Transcript(
        seq, turn_id, epoch, said.text, said.is_final, said.start_us, said.end_us,
        said.stable_text, words, said.language,
    )  # fmt: skip


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
        bodies.tracks_from_proto(started.tracks) | {bodies.Track.FACE}, bodies.bones_from_proto(started.body),
    )  # fmt: skip


def event_from_proto(response: pb.ConverseResponse, started: SessionStarted | None) -> Event | None:
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
            code = _CODES.get(status.code, grpc.StatusCode.UNKNOWN)
            return Notice(*head, code, error, reason_of(status))
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
