"""The body's motion: smooth, within limits, in time with the speech, the same for the same seed."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from motion_steps import Array, clause, elbow_deg, joined, length_us, talk, turning, world

from taoxr.errors import InvalidInputError
from taoxr.v1.body_pb2 import PlayAction
from taoxr_models.a2bs.phonemes import Phoneme
from taoxr_models.motion.bones import BONES, INDEX
from taoxr_models.motion.joints import LIMITS, within
from taoxr_models.motion.legs import HIPS_HEIGHT_M
from taoxr_models.motion.mover import Activity, CueKind, Mover, Span
from taoxr_models.motion.rotations import rotate

pytestmark = pytest.mark.unit

FRAME_US = 1e6 / 30
# Degrees per second, and per second squared; no bone but the eyes, which jump, moves faster.
FASTEST = 520.0
HARDEST = 7000.0
EYES = [INDEX["leftEye"], INDEX["rightEye"]]
ACTIONS = PlayAction.Action.values()[1:]

Steps = list[tuple[str, int]]


def kept(spans: list[Span], at_us: int) -> list[Span]:
    """The frames before a cut."""
    out: list[Span] = []
    for s in spans:
        keep = s.times_us < at_us
        out.append(Span(s.start_us, s.times_us[keep], s.rotations[keep], s.hips[keep], s.cues))
    return out


def play(mover: Mover, steps: Steps) -> list[Span]:
    """What is seen of a body that is told to do things."""
    seen: list[Span] = []
    for what, number in steps:
        match what:
            case "talk":
                seen += talk(mover)
            case "act":
                mover.act(ACTIONS[number % len(ACTIONS)])
            case "look":
                mover.look_at(
                    None if number % 4 == 0 else (number % 7 - 3.0, number % 3 * 1.0, number % 5 - 1.5)
                )
            case "cut":
                at = max(0, mover.now_us - number * 1000)
                seen = kept(seen, at)
                mover.cut(at)
            case _:
                activity = list(Activity)[number % len(Activity)]
                seen.append(mover.advance(activity, 100_000 + number * 900, mover.now_us))
    return seen


STEPS = st.lists(
    st.tuples(st.sampled_from(["talk", "act", "look", "cut", "advance", "advance"]), st.integers(0, 2000)),
    min_size=2, max_size=14,
)  # fmt: skip


@given(seed=st.integers(0, 2**31), steps=STEPS)
@settings(max_examples=20, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
def test_whatever_happens_it_moves_smoothly_and_within_limits(seed: int, steps: Steps) -> None:
    mover = Mover(seed, frame_rate=120.0)
    times, rotations, hips = joined(
        [*play(mover, steps), mover.advance(Activity.IDLE, 500_000, mover.now_us)]
    )
    assert set(np.diff(times).tolist()) <= {8333, 8334}
    assert np.abs(np.linalg.norm(rotations, axis=-1) - 1.0).max() < 1e-9
    speed = np.delete(turning(rotations), EYES, axis=1) * 120.0
    assert np.linalg.norm(speed, axis=-1).max() < FASTEST
    assert np.linalg.norm(np.diff(speed, axis=0), axis=-1).max() * 120.0 < HARDEST
    assert np.abs(np.diff(hips, axis=0)).max() * 120.0 < 0.1
    for side in ("left", "right"):
        elbow = elbow_deg(rotations, side)
        assert elbow.min() > 2.0
        assert elbow.max() < 145.0
    head = rotate(world(rotations, "neck", "head"), np.array([0.0, 0.0, 1.0]))
    assert np.rad2deg(np.arctan2(np.abs(head[:, 0]), head[:, 2])).max() < 62.0
    for eye in EYES:
        assert np.rad2deg(2.0 * np.arccos(np.clip(rotations[:, eye, 3], -1.0, 1.0))).max() < 36.1


@given(st.lists(st.floats(-500.0, 500.0), min_size=len(LIMITS), max_size=len(LIMITS)))
@settings(max_examples=50, deadline=None)
def test_no_joint_can_be_asked_beyond_its_limit(values: list[float]) -> None:
    joints = within(np.array([values]), LIMITS)[0]
    assert (joints >= LIMITS[:, 0] - 1e-9).all()
    assert (joints <= LIMITS[:, 1] + 1e-9).all()


def test_same_seed_and_steps_same_bytes_another_seed_another_motion() -> None:
    steps: Steps = [
        ("advance", 900), ("talk", 0), ("act", 0), ("advance", 1000), ("talk", 0), ("cut", 800), ("look", 5),
        ("advance", 600),
    ]  # fmt: skip
    first, again, other = (joined(play(Mover(seed), steps))[1].tobytes() for seed in (4, 4, 5))
    assert first == again
    assert first != other


def test_it_does_not_matter_in_what_pieces_time_goes_on() -> None:
    whole, pieces = Mover(2), Mover(2)
    _, expected, _ = joined([whole.advance(Activity.LISTENING, 12_000_000, 0)])
    _, got, _ = joined([pieces.advance(Activity.LISTENING, 400_000, pieces.now_us) for _ in range(30)])
    assert got == pytest.approx(expected, abs=1e-9)


def test_at_ease_the_arms_hang_and_the_feet_stay() -> None:
    mover = Mover(1)
    _, rotations, hips = joined([mover.advance(Activity.IDLE, 60_000_000, 0)])
    for side, sign in (("left", 1.0), ("right", -1.0)):
        along = rotate(
            world(rotations, "hips", "spine", "chest", "upperChest", f"{side}Shoulder", f"{side}UpperArm"),
            np.array([sign, 0.0, 0.0]),
        )
        assert along[:, 1].max() < -0.97
        legs = ("hips", f"{side}UpperLeg", f"{side}LowerLeg")
        foot = world(rotations, *legs, f"{side}Foot")
        assert np.abs(foot - (0.0, 0.0, 0.0, 1.0)).max() < 1e-9
        down = np.array([0.0, -0.43, 0.0])
        ankle = hips + rotate(world(rotations, "hips"), np.array([sign * 0.1, 0.0, 0.0]))
        ankle = ankle + rotate(world(rotations, *legs[:2]), down) + rotate(world(rotations, *legs), down)
        assert np.abs(ankle - (sign * 0.1, -0.86, 0.0)).max() < 2e-4
    # It lives: the weight goes from leg to leg, the chest rises and sinks.
    assert np.ptp(hips[:, 0]) > 0.02
    assert np.abs(hips).max() < 0.05 * HIPS_HEIGHT_M
    assert np.ptp(rotations[:, INDEX["leftShoulder"], 2]) > np.sin(np.deg2rad(0.5))


def extreme(values: Array, times: Array, around_us: float, pick: Callable[[Array], int]) -> float:
    """Time of the lowest or highest value within 120 ms, microseconds."""
    near = np.flatnonzero(np.abs(times - around_us) <= 120_000)
    return float(times[near[pick(values[near])]])


def test_strokes_arrive_with_stressed_syllables() -> None:
    checked = 0
    for seed in range(6):
        mover = Mover(seed)
        mover.advance(Activity.THINKING, 500_000, 0)
        spans = talk(mover, clauses=3)
        spans.append(mover.advance(Activity.IDLE, 1_000_000, mover.now_us))
        times, rotations, _ = joined(spans)
        cues = [cue for span in spans for cue in span.cues]
        peaks = [c.time_us + c.duration_us / 2 for c in cues if c.kind is CueKind.STRESS]
        beats = [c for c in cues if c.kind is CueKind.BEAT]
        for beat in beats:
            apex = beat.time_us + beat.duration_us
            assert min(abs(apex - peak) for peak in peaks) <= 1.0
            # The forearm comes down with the stroke, of one arm or of both.
            bent = [elbow_deg(rotations, side) for side in ("left", "right")]
            near = np.abs(times - apex) < 250_000
            elbow = max(bent, key=lambda b: np.ptp(b[near]))
            assert abs(extreme(elbow, times, apex, lambda v: int(np.argmin(v))) - apex) <= FRAME_US
            checked += 1
    assert checked >= 12


def test_the_head_goes_down_with_stressed_syllables() -> None:
    mover = Mover(3)
    spans = talk(mover, clauses=2)
    times, rotations, _ = joined(spans)
    peaks = [c.time_us + c.duration_us / 2 for s in spans for c in s.cues if c.kind is CueKind.STRESS]
    ahead = rotate(world(rotations, "neck", "head"), np.array([0.0, 0.0, 1.0]))
    hits = [abs(extreme(ahead[:, 1], times, p, lambda v: int(np.argmin(v))) - p) <= FRAME_US for p in peaks]
    assert sum(hits) >= len(peaks) / 2


def test_a_voice_without_stress_marks_is_stressed_on_its_long_vowels() -> None:
    mover = Mover()
    symbols = [(s.replace("ˈ", ""), p.start, p.end) for p in clause() for s in [p.symbol]]
    mover.speak("", [Phoneme(*s) for s in symbols])
    span = mover.advance(Activity.TALKING, length_us(clause()), 0)
    assert len([c for c in span.cues if c.kind is CueKind.STRESS]) == 6


def test_a_listener_nods_and_an_idler_does_not() -> None:
    nodding = []
    for activity in (Activity.LISTENING, Activity.IDLE):
        mover = Mover(1)
        _, rotations, _ = joined([mover.advance(activity, 30_000_000, 0)])
        ahead = rotate(world(rotations, "neck", "head"), np.array([0.0, 0.0, 1.0]))
        pitch = np.rad2deg(np.arcsin(ahead[60:, 1]))
        nodding.append(np.abs(np.diff(pitch)).max() * 30.0)
    assert nodding[0] > 15.0  # degrees per second
    assert nodding[1] < 6.0


def test_eyes_and_head_together_point_at_the_target() -> None:
    for point in ((1.0, 1.5, 1.5), (-0.6, 1.2, 1.0), (0.0, 2.0, 2.0)):
        mover = Mover(1)
        mover.look_at(point)
        mover.advance(Activity.IDLE, 2_000_000, 0)
        _, rotations, _ = joined([mover.advance(Activity.IDLE, 8_000_000, mover.now_us)])
        chain = ("hips", "spine", "chest", "upperChest", "neck", "head")
        ahead = np.array([0.0, 0.0, 1.0])
        wanted = np.subtract(point, (0.0, 1.6, 0.1))
        wanted /= np.linalg.norm(wanted)
        eyes = np.median(rotate(world(rotations, *chain, "leftEye"), ahead), axis=0)
        head = np.median(rotate(world(rotations, *chain), ahead), axis=0)
        assert np.rad2deg(np.arccos(eyes @ wanted / np.linalg.norm(eyes))) < 1.5
        # The head goes most of the way.
        assert head[0] * wanted[0] >= 0.0
        assert abs(head[0]) >= 0.5 * abs(wanted[0])


def test_what_is_behind_is_looked_at_as_far_as_a_head_turns() -> None:
    mover = Mover(1)
    mover.look_at((0.5, 1.6, -3.0))
    mover.advance(Activity.IDLE, 2_000_000, 0)
    _, rotations, _ = joined([mover.advance(Activity.IDLE, 1_000_000, mover.now_us)])
    ahead = rotate(world(rotations, "neck", "head"), np.array([0.0, 0.0, 1.0]))
    assert 40.0 < np.rad2deg(np.arctan2(ahead[-1, 0], ahead[-1, 2])) < 60.0


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_shows_and_ends_at_ease(action: PlayAction.Action.ValueType) -> None:
    acting, idle = Mover(1), Mover(1)
    acting.act(action)
    _, with_it, _ = joined([acting.advance(Activity.IDLE, 4_500_000, 0)])
    _, without, _ = joined([idle.advance(Activity.IDLE, 4_500_000, 0)])
    apart = np.abs(with_it - without).max(axis=(1, 2))
    assert apart[0] == 0.0
    assert apart.max() > 0.08
    assert apart[-1] < 1e-9
    moved = {BONES[i] for i in np.flatnonzero(np.abs(with_it - without).max(axis=(0, 2)) > 0.05)}
    if action == PlayAction.ACTION_WAVE:
        assert "rightLowerArm" in moved
        assert "leftLowerArm" not in moved
    elif action == PlayAction.ACTION_SHRUG:
        assert {"leftShoulder", "rightShoulder"} <= moved


def test_a_cut_takes_back_the_speech_but_not_a_gesture_asked_for() -> None:
    mover = Mover(1)
    phonemes = clause()
    mover.speak("What wonderful news!", phonemes)
    mover.advance(Activity.TALKING, length_us(phonemes) // 2, 0)
    mover.act(PlayAction.ACTION_WAVE)
    mover.advance(Activity.TALKING, 400_000, mover.now_us)
    mover.cut(700_000)
    rest = mover.advance(Activity.IDLE, 3_000_000, 700_000)
    assert rest.start_us == 700_000
    assert rest.times_us[0] == 700_000
    assert rest.cues == ()
    _, rotations, _ = joined([rest])
    assert elbow_deg(rotations, "right").max() > 90.0


def test_the_mood_comes_as_a_cue_over_its_clause_and_goes_again() -> None:
    mover = Mover(1)
    spans = [*talk(mover, text="What a wonderful surprise!"), *talk(mover, text="It is made of wood.")]
    spans += talk(mover, text="It is made of stone.")
    moods = [c for s in spans for c in s.cues if c.kind is CueKind.EMOTION]
    assert [c.name for c in moods] == ["joy", "neutral"]
    assert moods[0].duration_us == length_us(clause())


def test_wrong_times_are_named() -> None:
    mover = Mover(0, start_us=5_000_000)
    mover.advance(Activity.IDLE, 100_000, 0)
    for at in (4_000_000, 5_200_000):
        with pytest.raises(InvalidInputError, match="at_us"):
            mover.cut(at)
    with pytest.raises(InvalidInputError, match="phonemes"):
        mover.speak("", [Phoneme("a", 0.5, 0.6), Phoneme("b", 0.1, 0.2)])


def test_a_body_that_takes_anothers_place_stands_where_it_stood() -> None:
    first = Mover(6)
    first.advance(Activity.IDLE, 20_000_000, 0)
    _, expected, _ = joined([first.advance(Activity.IDLE, 1_000_000, 0)])
    _, got, _ = joined([Mover(6, start_us=20_000_000).advance(Activity.IDLE, 1_000_000, 0)])
    assert got == pytest.approx(expected, abs=1e-9)
