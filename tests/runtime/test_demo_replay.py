"""A recorded conversation read back: the same film; and files that are no such thing."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.runtime.test_demo_film import LANDMARKS, SKELETON
from tests.runtime.test_demo_record import make_record

from taoxr.client import BodyActivity, BodyTrack, Bones, MediaChunk, Motion
from taoxr.errors import InvalidInputError
from taoxr_runtime.demo import figures, replay
from taoxr_runtime.demo.record import Arrival, Record
from taoxr_runtime.demo.shots import Framing
from taoxr_runtime.demo.sound import write_sound
from taoxr_runtime.demo.story import tell
from taoxr_runtime.demo.voices import FILM_HZ, film_sound

pytestmark = pytest.mark.unit

NAMES = ("hips", "head")


def body(times_us: list[int], seed: int) -> BodyTrack:
    rng = np.random.default_rng(seed)
    rotations = rng.normal(size=(len(times_us), len(NAMES), 4)) * 0.1 + (0, 0, 0, 1)
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    hips = rng.normal(size=(len(times_us), 3)) * 0.02
    return BodyTrack(np.array(times_us), rotations.astype(np.float32), hips.astype(np.float32))


def moved(record: Record) -> Record:
    """With a body between the turns, and in them."""
    record.started = replace(record.started, bones=Bones(NAMES, 30.0))
    (turn,) = record.turns
    for n, (at, chunk) in enumerate(turn.chunks):
        posed = replace(chunk, body=body([chunk.start_us, chunk.start_us + 50_000], n))
        turn.chunks[n] = (at, posed)
        record.arrivals[n] = Arrival(record.arrivals[n].at_us, posed)
    for state_at, state in turn.states:
        record.arrivals.append(Arrival(state_at, state))
    for n in range(9):
        at = n * 400_000
        piece = body([at, at + 200_000], 100 + n)
        record.arrivals.append(Arrival(at, Motion(n, "", 0, BodyActivity.IDLE, piece)))
    record.arrivals.append(Arrival(0, record.started))
    record.arrivals.sort(key=lambda arrival: arrival.at_us)
    return record


@pytest.fixture
def record() -> Record:
    return moved(make_record())


@pytest.fixture
def folder(record: Record, tmp_path: Path) -> Path:
    (tmp_path / replay.TIMELINE).write_text(json.dumps(figures.timeline(record)))
    rotations, hips = figures.poses(record)
    np.savez_compressed(tmp_path / replay.POSES, rotations=rotations, hips=hips)
    assert record.end_us is not None
    write_sound(tmp_path / replay.VOICES, film_sound(record, record.end_us), FILM_HZ)
    return tmp_path


def test_it_is_the_same_film(record: Record, folder: Path) -> None:
    found = replay.read(folder)
    framing = Framing(LANDMARKS, 64, 96)
    wanted = list(tell(record, SKELETON, framing))
    again = list(tell(found.record, SKELETON, framing))
    assert len(again) == len(wanted) > 50
    for a, b in zip(again, wanted, strict=True):
        assert (a.number, a.due_us, a.activity, a.turn, a.heard_us) == (
            b.number,
            b.due_us,
            b.activity,
            b.turn,
            b.heard_us,
        )
        assert a.caption == b.caption
        assert a.note == b.note
        np.testing.assert_array_equal(a.view.world_to_view, b.view.world_to_view)
        np.testing.assert_allclose(a.motion.expression, b.motion.expression, atol=1e-4)  # four digits
        np.testing.assert_array_equal(a.motion.pose, b.motion.pose)
        np.testing.assert_array_equal(a.motion.root, b.motion.root)
    assert any(m.motion.root.any() for m in again), "the body moves"
    assert record.end_us is not None
    np.testing.assert_array_equal(found.sound, film_sound(record, record.end_us))


def test_another_shot_keeps_the_camera_still(folder: Path) -> None:
    found, framing = replay.read(folder), Framing(LANDMARKS, 64, 96)
    moments = list(tell(found.record, SKELETON, framing, shot=framing.face))
    views = {m.view.world_to_view.tobytes() for m in moments}
    assert views == {framing.view(framing.face).world_to_view.tobytes()}


def test_a_conversation_without_a_body(tmp_path: Path) -> None:
    record = make_record()
    record.arrivals.insert(0, Arrival(0, record.started))
    (tmp_path / replay.TIMELINE).write_text(json.dumps(figures.timeline(record)))
    rotations, hips = figures.poses(record)
    assert rotations.shape == (0, 0, 4)
    np.savez_compressed(tmp_path / replay.POSES, rotations=rotations, hips=hips)
    write_sound(tmp_path / replay.VOICES, np.zeros((2, 100), np.int16), FILM_HZ)
    moments = list(tell(replay.read(tmp_path).record, SKELETON, Framing(LANDMARKS, 64, 96)))
    assert max(float(m.motion.expression[:10].max()) for m in moments) > 0.2


def change(edit: Callable[[dict], None]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        timeline = json.loads((folder / replay.TIMELINE).read_text())
        edit(timeline)
        (folder / replay.TIMELINE).write_text(json.dumps(timeline))

    return damage


def first_chunk(timeline: dict) -> dict:
    return next(event for event in timeline["events"] if event["kind"] == "MediaChunk")


def short(folder: Path) -> None:
    with np.load(folder / replay.POSES) as stored:
        np.savez(folder / replay.POSES, rotations=stored["rotations"][:-1], hips=stored["hips"][:-1])


def not_finite(folder: Path) -> None:
    with np.load(folder / replay.POSES) as stored:
        np.savez(folder / replay.POSES, rotations=stored["rotations"] * np.nan, hips=stored["hips"])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / replay.TIMELINE).unlink(), "the folder of a `taoxr demo`"),
        (lambda folder: (folder / replay.POSES).unlink(), "the folder of a `taoxr demo`"),
        (lambda folder: (folder / replay.VOICES).unlink(), "voices.wav"),
        (lambda folder: (folder / replay.TIMELINE).write_text("{"), "Invalid JSON"),
        (lambda folder: (folder / replay.POSES).write_bytes(b"x" * 99), "files as a demo writes them"),
        (lambda folder: (folder / replay.VOICES).write_bytes(b"x" * 99), "both voices as a demo writes"),
        (short, r"and the timeline has more"),
        (not_finite, "not finite"),
        (change(lambda t: t.update(version=2)), "version"),
        (change(lambda t: t.pop("ticks_us")), "ticks_us.*Field required"),
        (change(lambda t: t.update(ticks_us=[])), "ticks_us"),
        (change(lambda t: t["events"].append(7)), "events.*Input should be an object"),
        (change(lambda t: t.update(events=[])), "an event SessionStarted"),
        (change(lambda t: first_chunk(t).pop("frame_weights")), r"MediaChunk\.frame_weights"),
        (change(lambda t: first_chunk(t)["frame_weights"].pop()), "frames of the face at"),
        (change(lambda t: first_chunk(t)["frame_weights"][0].pop()), "files as a demo writes them"),
        (change(lambda t: first_chunk(t).update(start_us=-1)), r"MediaChunk\.start_us"),
    ],
)
def test_damage_is_named(folder: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(folder)
    with pytest.raises(InvalidInputError, match=message):
        replay.read(folder)


def test_sound_of_one_channel_is_refused(folder: Path) -> None:
    write_sound(folder / replay.VOICES, np.zeros((1, 100), np.int16), FILM_HZ)
    with pytest.raises(InvalidInputError, match="two channels; it has 1"):
        replay.read(folder)


def test_chunks_keep_their_length(folder: Path, record: Record) -> None:
    (turn,), (was,) = replay.read(folder).record.turns, record.turns
    found = [(chunk.start_us, chunk.end_us, chunk.clause_text, chunk.last) for _, chunk in turn.chunks]
    assert found == [(c.start_us, c.end_us, c.clause_text, c.last) for _, c in was.chunks]
    assert all(isinstance(chunk, MediaChunk) for _, chunk in turn.chunks)
