"""A body that follows a recording: without jumps, in every order of things, led by gaze and actions."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motion_steps import Array, clause, joined, length_us, talk, turning
from recorded import SLICES, make

from taoxr.v1.body_pb2 import PlayAction
from taoxr_models.motion.bones import INDEX
from taoxr_models.motion.clips import FADE_S, Clips, period, to_and_fro
from taoxr_models.motion.joints import arm_bones
from taoxr_models.motion.mover import Activity, CueKind, Mover
from taoxr_models.motion.recording import Recording, Slice
from taoxr_models.motion.rotations import chain, rotate

pytestmark = pytest.mark.unit

FASTEST = 520.0
HARDEST = 9000.0
"""Degrees per second, and per second squared; the recording itself has 7000, and poses of 20 a second."""
EYES = [INDEX["leftEye"], INDEX["rightEye"]]
ARMS = [*arm_bones("left"), *arm_bones("right")]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return Recording.of_folder(make(tmp_path_factory.mktemp("recording")))


def apart(a: Array, b: Array) -> Array:
    """Degrees between rotations."""
    return np.rad2deg(2.0 * np.arccos(np.clip(np.abs((a * b).sum(-1)), 0.0, 1.0)))


@given(length=st.floats(0.2, 60.0), start=st.floats(0.0, 500.0))
@settings(max_examples=60, deadline=None)
def test_to_and_fro_stays_inside_and_has_no_corner(length: float, start: float) -> None:
    step = 1 / 500
    times = start + np.arange(0.0, min(2 * period(length), 20.0), step)
    places = to_and_fro(times, length)
    assert places.min() >= -1e-9
    assert places.max() <= length + 1e-9
    pace = np.diff(places) / step
    assert np.abs(pace).max() <= 1.0 + 1e-6
    # Smoothstep over the time of a turn, half a second or half of the slice.
    turn = min(0.5, length / 2)
    assert np.abs(np.diff(pace)).max() / step <= 1.5 / turn + 0.05
    assert to_and_fro(np.array([0.0, period(length) / 2, period(length)]), length) == pytest.approx(
        [0.0, length, 0.0], abs=1e-6
    )


STEPS = st.lists(
    st.tuples(st.sampled_from(["talk", "rest", "cut"]), st.floats(0.05, 6.0)), min_size=1, max_size=12
)


@given(seed=st.integers(0, 2**31), steps=STEPS)
@settings(max_examples=25, deadline=None)
def test_whatever_is_asked_for_it_does_not_jump(
    recording: Recording, seed: int, steps: list[tuple[str, float]]
) -> None:
    clips, now, seen = Clips(recording, np.random.default_rng(seed), 0.0), 0.0, []
    for what, seconds in steps:
        if what == "cut":
            at = max(now - seconds, 0.0)
            seen = [(t, q) for t, q in seen if t < at]
            now = at
            clips.cut(at)
            continue
        clips.turn_to(now, what == "talk")
        times = np.arange(round(now * 120), round((now + seconds) * 120)) / 120
        if len(times):
            q, hips = clips.at(times)
            assert np.abs(hips).max() < 0.1
            seen += list(zip(times.tolist(), q, strict=True))
        now += seconds
    if len(seen) < 3:
        return
    q = np.array([rotation for _, rotation in seen])
    speed = np.linalg.norm(np.delete(turning(q), EYES, axis=1), axis=-1) * 120
    steady = np.diff([t for t, _ in seen]) < 0.013
    assert speed[steady].max() < FASTEST


def test_it_talks_within_a_second_and_rests_again(recording: Recording) -> None:
    clips = Clips(recording, np.random.default_rng(2), 0.0)
    clips.at(np.arange(0.0, 5.0, 0.1))
    clips.turn_to(5.0, True)
    clips.turn_to(9.0, False)
    times = np.arange(5.0, 14.0, 0.05)
    q, _ = clips.at(times)

    def nearest(rows: Array, talk: bool) -> Array:
        """Degrees to the most similar pose of the slices of a kind, of the upper arms."""
        pieces = [piece for piece in SLICES if piece.talk is talk]
        there = np.concatenate([recording.at(np.arange(p.start, p.end, 0.02))[0] for p in pieces])
        bones = [INDEX["leftUpperArm"], INDEX["rightUpperArm"], INDEX["rightLowerArm"]]
        return apart(rows[:, None, bones], there[None][:, :, bones]).max(axis=-1).min(axis=1)

    talking = (times > 5.0 + FADE_S) & (times < 9.0)
    resting = times > 9.0 + FADE_S
    # Poses are compared every 20 ms, in which an arm turns by 2 degrees.
    assert nearest(q[talking], True).max() < 3.0
    assert nearest(q[resting], False).max() < 3.0
    assert nearest(q[talking], False).max() > 10.0, "the two kinds can be told apart"


def test_it_never_stands_still_and_changes_slices(recording: Recording) -> None:
    clips = Clips(recording, np.random.default_rng(3), 0.0)
    times = np.arange(0.0, 120.0, 0.25)
    q, _ = clips.at(times)
    moved = apart(q[1:], q[:-1])[:, [INDEX["spine"], INDEX["head"]]].max(axis=1)
    assert (np.convolve(moved, np.ones(4), "valid") > 0.1).all()  # in each second
    first, second = (recording.at(np.arange(s.start, s.end, 0.1))[0] for s in SLICES if not s.talk)
    in_first = apart(q[:, None], first[None])[..., ARMS].max(-1).min(1) < 2.0
    in_second = apart(q[:, None], second[None])[..., ARMS].max(-1).min(1) < 2.0
    assert in_first.sum() > 10
    assert in_second.sum() > 10


def test_a_recording_without_talk_goes_on_at_ease(recording: Recording) -> None:
    quiet = Recording(recording.rotations, recording.hips, recording.rate_hz, (Slice(False, 0.0, 9.0),))
    clips = Clips(quiet, np.random.default_rng(1), 0.0)
    clips.turn_to(1.0, True)
    q, _ = clips.at(np.arange(1.0, 60.0, 0.1))
    there, _ = quiet.at(np.arange(0.0, 9.0, 0.02))
    assert apart(q[::20, None], there[None])[..., ARMS].max(-1).min(1).max() < 1.0


def test_same_seed_same_motion_in_whatever_pieces(recording: Recording) -> None:
    whole, pieces, other = (Mover(seed, recording=recording) for seed in (2, 2, 3))
    _, expected, hips = joined([whole.advance(Activity.LISTENING, 50_000_000, 0)])
    spans = [pieces.advance(Activity.LISTENING, 400_000, pieces.now_us) for _ in range(125)]
    _, got, got_hips = joined(spans)
    assert got == pytest.approx(expected, abs=1e-9)
    assert got_hips == pytest.approx(hips, abs=1e-9)
    _, different, _ = joined([other.advance(Activity.LISTENING, 50_000_000, 0)])
    assert apart(different, expected).max() > 1.0


def test_old_plans_are_forgotten_and_nobody_notices(recording: Recording) -> None:
    kept, forgot = (Clips(recording, np.random.default_rng(5), 0.0) for _ in range(2))
    for now in np.arange(0.0, 200.0, 5.0):
        times = np.arange(now, now + 5.0, 0.5)
        talks = int(now) % 20 == 10
        kept.turn_to(now, talks)
        forgot.turn_to(now, talks)
        np.testing.assert_allclose(forgot.at(times)[0], kept.at(times)[0], atol=1e-9)
        forgot.forget(now)
    assert len(forgot._runs) <= 3 < len(kept._runs)


def test_a_wave_takes_the_arm_and_gives_it_back(recording: Recording) -> None:
    waving, plain = Mover(4, recording=recording), Mover(4, recording=recording)
    for mover in (waving, plain):
        mover.advance(Activity.IDLE, 2_000_000, 0)
    waving.act(PlayAction.ACTION_WAVE)
    seen = [mover.advance(Activity.IDLE, 5_000_000, 2_000_000).rotations for mover in (waving, plain)]
    difference = apart(*seen)
    right, left = arm_bones("right"), arm_bones("left")
    assert difference[:, right].max() > 60.0
    assert difference[:, left].max() < 1e-5
    assert difference[-30:, right].max() < 1e-5


def test_the_eyes_find_their_target_whatever_the_recorded_head_does(recording: Recording) -> None:
    mover = Mover(6, frame_rate=60.0, recording=recording)
    mover.look_at((0.6, 1.7, 1.5))
    mover.advance(Activity.IDLE, 2_000_000, 0)
    q = np.concatenate([span.rotations for span in talk(mover, 4)])
    chain_ = ("hips", "spine", "chest", "upperChest", "neck", "head", "leftEye")
    ahead = rotate(chain(*(q[:, INDEX[bone]] for bone in chain_)), np.array([0.0, 0.0, 1.0]))
    wanted = np.array([0.6, 0.1, 1.4]) / np.linalg.norm([0.6, 0.1, 1.4])
    off = np.rad2deg(np.arccos(np.clip(ahead @ wanted, -1.0, 1.0)))
    assert np.median(off) < 2.0
    assert np.mean(off < 3.0) > 0.7  # the rest are glances


def test_speech_has_its_cues_but_hands_follow_the_recording(recording: Recording) -> None:
    mover = Mover(7, recording=recording)
    mover.advance(Activity.IDLE, 1_000_000, 0)
    spans = talk(mover, 5)
    kinds = {cue.kind for span in spans for cue in span.cues}
    assert CueKind.STRESS in kinds
    assert CueKind.BEAT not in kinds, "nobody planned a stroke"
    _, q, _ = joined(spans)
    talks = np.concatenate([recording.at(np.arange(s.start, s.end, 0.02))[0] for s in SLICES if s.talk])
    late = q[60::10]
    assert apart(late[:, None], talks[None])[..., ARMS].max(-1).min(1).max() < 4.0


@given(seed=st.integers(0, 2**31), cuts=st.lists(st.integers(0, 1500), min_size=1, max_size=4))
@settings(max_examples=8, deadline=None)
def test_a_body_that_is_interrupted_moves_smoothly(recording: Recording, seed: int, cuts: list[int]) -> None:
    mover, seen = Mover(seed, frame_rate=120.0, recording=recording), []
    for back_ms in cuts:
        mover.speak("The weather is wonderful today", clause())
        seen.append(mover.advance(Activity.TALKING, length_us(clause()), mover.now_us))
        at = max(mover.now_us - back_ms * 1000, seen[-1].start_us)
        keep = seen[-1].times_us < at
        seen[-1] = type(seen[-1])(
            at, seen[-1].times_us[keep], seen[-1].rotations[keep], seen[-1].hips[keep], ()
        )
        mover.cut(at)
        seen.append(mover.advance(Activity.LISTENING, 1_500_000, at))
    times, q, hips = joined(seen)
    assert set(np.diff(times).tolist()) <= {8333, 8334}
    speed = np.delete(turning(q), EYES, axis=1) * 120.0
    assert np.linalg.norm(speed, axis=-1).max() < FASTEST
    assert np.linalg.norm(np.diff(speed, axis=0), axis=-1).max() * 120.0 < HARDEST
    assert np.abs(np.diff(hips, axis=0)).max() * 120.0 < 0.15


def test_folder(tmp_path: Path) -> None:
    """Slices that overlap, or are shorter than a turn, are played too."""
    folder = make(tmp_path, slices=(Slice(False, 0.0, 0.3), Slice(True, 0.1, 20.0)))
    clips = Clips(Recording.of_folder(folder), np.random.default_rng(0), 0.0)
    q, _ = clips.at(np.arange(0.0, 3.0, 0.01))
    assert np.isfinite(q).all()


def test_slices_of_minutes_have_no_more_candidates(recording: Recording) -> None:
    """Else going over to one would take as many poses as it is long."""
    long = Recording(
        np.tile(recording.rotations, (30, 1, 1)),
        np.tile(recording.hips, (30, 1)),
        recording.rate_hz,
        (Slice(False, 0.0, 600.0), Slice(True, 600.0, 1190.0)),
    )
    asked: list[int] = []
    at = Recording.at

    def counting(self: Recording, seconds: Array) -> tuple[Array, Array]:
        asked.append(len(seconds))
        return at(self, seconds)

    clips = Clips(long, np.random.default_rng(0), 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Recording, "at", counting)
        clips.turn_to(1.0, True)
    assert max(asked) <= 1001
    q, _ = clips.at(np.arange(1.0, 3.0, 0.1))
    assert np.isfinite(q).all()
