"""The body of the avatar as a client gets it: see docs/body.md."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr.v1 import body_pb2
from taoxr.v1 import conversation_pb2 as pb


class Track(StrEnum):
    """What a server can send beside the avatar's voice; the face always comes."""

    FACE = "face"
    BODY = "body"
    CUES = "cues"


class BodyActivity(StrEnum):
    """What the body does between the turns."""

    IDLE = "idle"
    LISTENING = "listening"
    THINKING = "thinking"


class Action(StrEnum):
    """Gestures that a client can ask for."""

    WAVE = "wave"
    NOD = "nod"
    SHAKE_HEAD = "shake_head"
    BOW = "bow"
    SHRUG = "shrug"


class CueKind(StrEnum):
    """What a cue tells."""

    STRESS = "stress"
    BEAT = "beat"
    EMOTION = "emotion"


@dataclass(frozen=True, slots=True)
class Bones:
    """What a body track moves.

    Attributes:
        names: Humanoid bones as VRM 1.0 names them; the rest pose is VRM's T-pose.
        frame_rate: Frames per second.
    """

    names: tuple[str, ...]
    frame_rate: float


@dataclass(frozen=True, slots=True, eq=False)
class BodyTrack:
    """Poses in time.

    Attributes:
        times_us: int64 [k].
        rotations: float32 [k, bones, 4], local rotations from the T-pose, unit quaternions x, y, z, w.
        hips: float32 [k, 3], translation of the hips in metres.
    """

    times_us: NDArray[np.int64]
    rotations: NDArray[np.float32]
    hips: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Cue:
    """Something in the speech that a body or a scene can react to.

    Attributes:
        kind: What it is.
        time_us: When it begins, on the turn's media clock.
        duration_us: How long it lasts.
        strength: 0 to 1.
        name: Of an emotion: "neutral", "joy", "sadness", "surprise" or "worry"; else empty.
    """

    kind: CueKind
    time_us: int
    duration_us: int
    strength: float
    name: str


NO_BODY: Final = BodyTrack(
    np.zeros(0, np.int64), np.zeros((0, 0, 4), np.float32), np.zeros((0, 3), np.float32)
)
"""A track without frames."""

TRACK_TO_PROTO: Final = {Track.FACE: pb.TRACK_FACE, Track.BODY: pb.TRACK_BODY, Track.CUES: pb.TRACK_CUES}
_FARTHEST_M: Final = 100.0
_TRACKS: Final = {value: track for track, value in TRACK_TO_PROTO.items()}
_ACTIVITIES: Final = {
    body_pb2.Motion.ACTIVITY_IDLE: BodyActivity.IDLE,
    body_pb2.Motion.ACTIVITY_LISTENING: BodyActivity.LISTENING,
    body_pb2.Motion.ACTIVITY_THINKING: BodyActivity.THINKING,
}
_ACTIONS: Final = {
    Action.WAVE: body_pb2.PlayAction.ACTION_WAVE,
    Action.NOD: body_pb2.PlayAction.ACTION_NOD,
    Action.SHAKE_HEAD: body_pb2.PlayAction.ACTION_SHAKE_HEAD,
    Action.BOW: body_pb2.PlayAction.ACTION_BOW,
    Action.SHRUG: body_pb2.PlayAction.ACTION_SHRUG,
}
_CUE_KINDS: Final = {
    body_pb2.Cue.KIND_STRESS: CueKind.STRESS,
    body_pb2.Cue.KIND_BEAT: CueKind.BEAT,
    body_pb2.Cue.KIND_EMOTION: CueKind.EMOTION,
}


def tracks_from_proto(tracks: Iterable[pb.Track.ValueType]) -> frozenset[Track]:
    """The tracks that this version knows."""
    return frozenset(_TRACKS[t] for t in tracks if t in _TRACKS)


def bones_from_proto(body: body_pb2.BodyDescription) -> Bones | None:
    """What the body track moves; None without one."""
    return Bones(tuple(body.bone_names), body.frame_rate) if body.bone_names else None


def track_from_proto(frames: Sequence[body_pb2.BodyFrame]) -> BodyTrack:
    """The dataclass of body frames."""
    if not frames:
        return NO_BODY
    return BodyTrack(
        np.array([f.time_us for f in frames], np.int64),
        np.array([f.rotations for f in frames], np.float32).reshape(len(frames), -1, 4),
        np.array([f.hips_translation for f in frames], np.float32).reshape(len(frames), 3),
    )


def activity_from_proto(motion: body_pb2.Motion) -> BodyActivity:
    """What the body does; idle for what a newer server says."""
    return _ACTIVITIES.get(motion.activity, BodyActivity.IDLE)


def cues_from_proto(cues: Iterable[body_pb2.Cue]) -> tuple[Cue, ...]:
    """The cues that this version knows."""
    return tuple(
        Cue(_CUE_KINDS[c.kind], c.time_us, c.duration_us, c.strength, c.name)
        for c in cues
        if c.kind in _CUE_KINDS
    )


def action_to_proto(action: Action) -> body_pb2.PlayAction:
    """The request's payload."""
    return body_pb2.PlayAction(action=_ACTIONS[action])


def look_at_to_proto(target: Sequence[float] | None) -> body_pb2.LookAt:
    """The request's payload.

    Raises:
        InvalidInputError: The target is no point within 100 metres.
    """
    if target is None:
        return body_pb2.LookAt()
    if len(target) != 3:
        raise InvalidInputError("target", list(target), "x, y and z in metres")
    # The server would end the conversation. Not a number is not in any range either.
    if not all(-_FARTHEST_M <= value <= _FARTHEST_M for value in target):
        raise InvalidInputError("target", list(target), "-100 to 100 metres each")
    return body_pb2.LookAt(target=body_pb2.Point(x=target[0], y=target[1], z=target[2]))


def joined(tracks: Sequence[BodyTrack]) -> BodyTrack:
    """Tracks one after the other as one."""
    filled = [t for t in tracks if len(t.times_us)]
    if not filled:
        return NO_BODY
    return BodyTrack(
        np.concatenate([t.times_us for t in filled]),
        np.concatenate([t.rotations for t in filled]),
        np.concatenate([t.hips for t in filled]),
    )
