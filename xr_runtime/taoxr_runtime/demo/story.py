"""From a record to what each picture of the film shows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from taoxr import arkit
from taoxr.client import BodyTrack, State
from taoxr.client import Motion as BodyMotion
from taoxr.errors import InvalidInputError
from taoxr_runtime.animation import Activity, Face, Idle, Motion, Skeleton
from taoxr_runtime.animation.body_player import BodyPlayer
from taoxr_runtime.animation.humanoid import Retarget
from taoxr_runtime.demo.captions import AVATAR_SRGB, USER_SRGB, Caption
from taoxr_runtime.demo.record import Record, Turn
from taoxr_runtime.demo.shots import Framing, Path, Shot
from taoxr_runtime.render.camera import View

_NOTE_US: Final = 1_800_000


@dataclass(frozen=True, eq=False)
class Moment:
    """What one picture shows.

    Attributes:
        number: Picture of the film, from 0.
        due_us: When the film shows it.
        activity: What the avatar does.
        turn: Index of the turn it belongs to; -1 before the first.
        heard_us: Media position heard when its state was taken; None when nothing was.
        motion: The avatar.
        view: The camera.
        caption: Who says what.
        note: A few words on the timing.
    """

    number: int
    due_us: int
    activity: Activity
    turn: int
    heard_us: int | None
    motion: Motion
    view: View
    caption: Caption | None
    note: str


def tell(
    record: Record, skeleton: Skeleton, framing: Framing, *, seed: int = 1, shot: Shot | None = None
) -> Iterator[Moment]:
    """The moments of a film, in order, each from what was known when its state was taken.

    Args:
        record: What happened.
        skeleton: The avatar's.
        framing: Its shots.
        seed: Of the stage's own motion.
        shot: Where the camera stays; None lets it move.

    Raises:
        InvalidInputError: The face's coefficients are no ARKit weights.
    """
    names = record.started.rig.names
    if names != arkit.NAMES:
        raise InvalidInputError("rig.blendshape_names", names[:3], "the 52 ARKit names in canonical order")
    path, face, idle = _plan(record, framing), Face(), Idle(skeleton, seed=seed)
    chunks = [(at, turn, chunk) for turn in record.turns for at, chunk in turn.chunks]
    chunks.sort(key=lambda item: item[0])
    moved = [(a.at_us, a.event) for a in record.arrivals if isinstance(a.event, BodyMotion)]
    bones, retarget = record.started.bones, Retarget(skeleton)
    body = None if bones is None else BodyPlayer(bones.names)
    taken = 0
    for number, now_us in enumerate(record.ticks):
        while taken < len(chunks) and chunks[taken][0] <= now_us:
            _, turn, chunk = chunks[taken]
            face.add(turn.turn_id, chunk.epoch, chunk.frame_times_us, chunk.frame_weights)
            if body is not None:
                body.add_media(turn.turn_id, chunk.body)
            taken += 1
        while body is not None and moved and moved[0][0] <= now_us:
            body.add_motion(*_track(moved.pop(0)))
        index = _current(record, now_us)
        turn = record.turns[index] if index >= 0 else None
        heard = turn.playback.heard_at(now_us) if turn else None
        activity = _activity(record, turn, now_us)
        view = framing.view(shot or path.at(now_us / 1e6))
        pose = retarget.pose(None if body is None else body.sample(now_us, heard))
        motion = idle.sample(now_us, activity, view.position, face.sample(now_us, heard), pose)
        yield Moment(
            number, round(number * 1e6 / record.fps), activity, index, heard, motion, view,
            _caption(record, turn, activity, heard, now_us), _note(record, turn, activity, now_us),
        )  # fmt: skip


def _track(arrived: tuple[int, BodyMotion]) -> tuple[int, BodyTrack]:
    return arrived[0], arrived[1].body


def _plan(record: Record, framing: Framing) -> Path:
    """Life-size at first, then closer; another angle for every answer."""
    path = Path(framing.full)
    path.move(1.4, framing.waist)
    angles = (7.0, -11.0, 4.0, -6.0)
    ready = 4.5
    for number, turn in enumerate(record.turns):
        first = turn.playback.first_heard_us
        if first is None:
            continue
        start = max(first / 1e6, ready)
        shot = (framing.bust, framing.waist)[number % 2]
        path.move(start, shot.turned(angles[number % len(angles)]))
        ready = start + 3.2
    return path


def _current(record: Record, now_us: int) -> int:
    """Index of the newest turn that had begun by a time; -1 before the first."""
    index = -1
    for i, turn in enumerate(record.turns):
        begun = [at for at, _ in (*turn.states, *turn.transcripts, *turn.chunks)]
        if begun and min(begun) <= now_us:
            index = i
    return index


def _activity(record: Record, turn: Turn | None, now_us: int) -> Activity:
    asked = next((a for a in reversed(record.asked) if a.start_us <= now_us), None)
    if asked is None:
        return Activity.IDLE
    if asked.end_us is None or now_us <= asked.end_us:
        return Activity.LISTENING
    if turn is None or turn.turn_id not in asked.turn_ids:
        return Activity.THINKING
    first, last = turn.playback.first_heard_us, turn.playback.last_heard_us
    if first is None or last is None or now_us < first:
        failed = any(s.state.ended and s.state is not State.DONE and at <= now_us for at, s in turn.states)
        return Activity.IDLE if failed else Activity.THINKING
    return Activity.SPEAKING if now_us <= last else Activity.IDLE


def _caption(
    record: Record, turn: Turn | None, activity: Activity, heard: int | None, now_us: int
) -> Caption | None:
    if activity in (Activity.LISTENING, Activity.THINKING):
        asked = next(a for a in reversed(record.asked) if a.start_us <= now_us)
        ours = turn if turn is not None and turn.turn_id in asked.turn_ids else None
        understood = [t.text for at, t in ours.transcripts if at <= now_us] if ours else []
        # What was said while it is said, where that is known; then what was understood.
        words = asked.prompt.text if activity is Activity.LISTENING else ""
        words = words or (understood[-1] if understood else asked.prompt.text)
        return Caption("You", USER_SRGB, words) if words else None
    if turn is None or heard is None:
        return None
    clauses = [c for _, c in turn.chunks if c.clause_text and c.start_us <= heard]
    return Caption("Avatar", AVATAR_SRGB, clauses[-1].clause_text.strip()) if clauses else None


def _note(record: Record, turn: Turn | None, activity: Activity, now_us: int) -> str:
    asked = next((a for a in reversed(record.asked) if a.start_us <= now_us), None)
    if asked is None or asked.end_us is None:
        return ""
    if activity is Activity.THINKING:
        return f"thinking {(now_us - asked.end_us) / 1e6:.1f} s"
    first = turn.playback.first_heard_us if turn else None
    if activity is Activity.SPEAKING and first is not None and now_us - first < _NOTE_US:
        return f"answered after {(first - asked.end_us) / 1e6:.1f} s"
    return ""


def jaw(moment: Moment) -> float:
    """How far the mouth is open, 0 to 1 (an opened jaw behind closed lips is a closed mouth)."""
    weights = moment.motion.expression
    return float(max(weights[arkit.INDEX["jawOpen"]] - weights[arkit.INDEX["mouthClose"]], np.float32(0)))
