"""A recorded conversation, read back from the folder in which a demo left it."""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from taoxr.client import (
    BodyActivity,
    BodyTrack,
    Bones,
    MediaChunk,
    Rig,
    SessionStarted,
    State,
    Transcript,
    TurnState,
)
from taoxr.client import Motion as BodyMotion
from taoxr.errors import InvalidInputError
from taoxr_runtime.demo.figures import POSES, TIMELINE, VOICES
from taoxr_runtime.demo.playback import Playback, Span
from taoxr_runtime.demo.record import Arrival, Asked, Clock, Prompt, Record, Source, Turn
from taoxr_runtime.demo.sound import read_voices

_FIELD: Final = "--conversation"
_SHOWN: Final = ("SessionStarted", "MediaChunk", "TurnState", "Transcript", "Motion")
Time = Annotated[int, Field(ge=0, le=10**12)]
Rate = Annotated[int, Field(ge=8000, le=192_000)]


@dataclass(frozen=True, eq=False)
class Conversation:
    """What happened, and how it sounded.

    Attributes:
        record: As it was made live, but without the sound of its parts.
        sound: Both voices on the film's clock, int16 [2, n] at `voices.FILM_HZ`.
    """

    record: Record
    sound: NDArray[np.int16]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Asked(_Part):
    source: Source
    text: str
    start_us: Time
    end_us: Time | None
    turn_ids: list[str]


class _Heard(_Part):
    turn_id: str
    spans: list[tuple[Time, Time, Annotated[int, Field(ge=0)]]]


class _Rig(_Part):
    space: str
    names: tuple[str, ...]
    frame_rate: float
    provisional: bool


class _Bones(_Part):
    names: Annotated[tuple[str, ...], Field(min_length=1, max_length=255)]
    frame_rate: float


class _Event(_Part):
    at_us: Time
    kind: str
    seq: int
    turn_id: str
    epoch: int


class _Started(_Event):
    session_id: str
    rig: _Rig
    bones: _Bones | None = None


class _Chunk(_Event):
    start_us: Time
    sample_rate_hz: Rate
    samples: Annotated[int, Field(ge=0, le=10**8)]
    frame_times_us: list[Time]
    frame_weights: list[list[float]]
    clause: int
    clause_text: str
    last: bool
    body_times_us: list[Time]


class _State(_Event):
    state: State
    heard_text: str


class _Transcript(_Event):
    text: str
    is_final: bool
    start_us: Time
    end_us: Time


class _Motion(_Event):
    activity: str
    body_times_us: list[Time]


def _kind(event: object) -> str:
    kind = cast("dict[str, object]", event).get("kind") if isinstance(event, dict) else None
    return kind if isinstance(kind, str) and kind in _SHOWN else "other"


_AnyEvent = Annotated[
    Annotated[_Started, Tag("SessionStarted")]
    | Annotated[_Chunk, Tag("MediaChunk")]
    | Annotated[_State, Tag("TurnState")]
    | Annotated[_Transcript, Tag("Transcript")]
    | Annotated[_Motion, Tag("Motion")]
    | Annotated[_Event, Tag("other")],  # shows nothing
    Discriminator(_kind),
]


class _Timeline(_Part):
    version: Literal[1]
    fps: Annotated[float, Field(gt=0, le=240)]
    audio_out_hz: Rate
    asked: list[_Asked]
    events: list[_AnyEvent]
    heard: list[_Heard]
    ticks_us: Annotated[list[Time], Field(min_length=1, max_length=10**6)]


def read(folder: Path) -> Conversation:
    """Reads a conversation.

    Raises:
        InvalidInputError: A file is missing or damaged; says which and where.
    """
    try:
        timeline = _Timeline.model_validate_json((folder / TIMELINE).read_bytes())
        with np.load(folder / POSES, allow_pickle=False) as stored:
            bodies = _Bodies(stored["rotations"], stored["hips"])
        record = _record(timeline, bodies)
    except FileNotFoundError as error:
        expected = f"the folder of a `taoxr demo`, with {TIMELINE}, {POSES} and {VOICES}"
        raise InvalidInputError(_FIELD, str(folder), f"{expected} ({error})") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidInputError(_FIELD, f"{folder / TIMELINE}, {where}", first["msg"]) from error
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        expected = f"files as a demo writes them ({error})"
        raise InvalidInputError(_FIELD, str(folder), expected) from error
    return Conversation(record, read_voices(folder / VOICES))


class _Bodies:
    """Deals out poses in the order in which they came."""

    def __init__(self, rotations: NDArray[np.generic], hips: NDArray[np.generic]) -> None:
        if rotations.ndim != 3 or rotations.shape[2] != 4 or hips.shape != (len(rotations), 3):
            raise ValueError(f"shapes {list(rotations.shape)} and {list(hips.shape)}")
        self._rotations, self._hips = rotations.astype(np.float32), hips.astype(np.float32)
        if not (np.isfinite(self._rotations).all() and np.isfinite(self._hips).all()):
            raise ValueError("numbers that are not finite")
        self._next = 0

    def take(self, times_us: list[int]) -> BodyTrack:
        """The next poses, at these times."""
        here = slice(self._next, self._next + len(times_us))
        self._next = here.stop
        if self._next > len(self._rotations):
            raise ValueError(f"{len(self._rotations)} poses, and the timeline has more")
        return BodyTrack(np.array(times_us, np.int64), self._rotations[here], self._hips[here])


def _record(timeline: _Timeline, bodies: _Bodies) -> Record:
    started = [event for event in timeline.events if isinstance(event, _Started)]
    if not started:
        raise InvalidInputError(_FIELD, TIMELINE, "an event SessionStarted")
    rig, bones = started[0].rig, started[0].bones
    session = SessionStarted(
        started[0].seq, "", 0, started[0].session_id, 0, timeline.audio_out_hz,
        Rig(rig.space, rig.names, rig.frame_rate, rig.provisional), 0,
        bones=None if bones is None else Bones(bones.names, bones.frame_rate),
    )  # fmt: skip
    record = Record(Clock(), session, timeline.fps, ticks=list(timeline.ticks_us))
    record.asked = [
        Asked(Prompt(a.source, a.text), a.start_us, a.end_us, list(a.turn_ids)) for a in timeline.asked
    ]
    turns = {turn_id: n for n, asked in enumerate(record.asked) for turn_id in asked.turn_ids}
    heard = {part.turn_id: [Span(*span) for span in part.spans] for part in timeline.heard}
    for event in timeline.events:
        turn = record.turn(event.turn_id)
        if turn is None and event.turn_id in turns:
            playback = Playback(timeline.audio_out_hz)
            playback.spans = heard.get(event.turn_id, [])
            turn = Turn(event.turn_id, turns[event.turn_id], playback)
            record.turns.append(turn)
        _take(record, turn, event, bodies)
    record.end_us = round(len(record.ticks) * 1e6 / record.fps)
    return record


def _take(record: Record, turn: Turn | None, event: _Event, bodies: _Bodies) -> None:
    ids = event.seq, event.turn_id, event.epoch
    match event:
        case _Motion():
            # What the body does is the pose alone; what it is called, nobody looks at.
            motion = BodyMotion(*ids, BodyActivity.IDLE, bodies.take(event.body_times_us))
            record.arrivals.append(Arrival(event.at_us, motion))
        case _Chunk():
            body = bodies.take(event.body_times_us)
            weights = np.array(event.frame_weights, np.float32).reshape(-1, len(record.started.rig.names))
            if len(weights) != len(event.frame_times_us):
                raise ValueError(f"{len(weights)} frames of the face at {len(event.frame_times_us)} times")
            if turn is not None:
                chunk = MediaChunk(
                    *ids, event.start_us, event.sample_rate_hz, np.zeros(event.samples, np.int16),
                    np.array(event.frame_times_us, np.int64), weights, event.clause, event.clause_text, (),
                    event.last, body,
                )  # fmt: skip
                turn.chunks.append((event.at_us, chunk))
        case _State() if turn is not None:
            turn.states.append((event.at_us, TurnState(*ids, event.state, event.heard_text)))
        case _Transcript() if turn is not None:
            said = Transcript(*ids, event.text, event.is_final, event.start_us, event.end_us)
            turn.transcripts.append((event.at_us, said))
        case _:
            pass
