"""Idle motion: within limits, continuous, deterministic; speech stays readable."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoxr import arkit
from taoxr.errors import InvalidInputError
from taoxr_runtime.animation import Activity, Idle, Motion, Skeleton, merge_expressions, rotation
from taoxr_runtime.animation.blink import LEAST_APART_S, LONGEST_S, ONSET_S, SHORTEST_S, Blinks
from taoxr_runtime.animation.gaze import PITCH_LIMIT_DEG, YAW_LIMIT_DEG, LidShapes, eye_motion
from taoxr_runtime.animation.humanoid import BodyPose
from taoxr_runtime.animation.merge import IDLE_SHAPES

pytestmark = pytest.mark.unit

NAMES = (
    "root", "spine04", "spine03", "spine02", "spine01", "neck01", "neck02", "neck03", "head", "eye.L",
    "eye.R", "clavicle.L", "upperarm01.L", "clavicle.R", "upperarm01.R",
)  # fmt: skip
SKELETON = Skeleton(
    NAMES,
    np.array([-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 4, 11, 4, 13]),
    np.array(
        [
            [0, 0.9, 0], [0, 1, 0], [0, 1.05, 0], [0, 1.1, 0], [0, 1.3, 0], [0, 1.45, 0], [0, 1.5, 0],
            [0, 1.52, 0], [0, 1.55, 0.04], [0.031, 1.6, 0.12], [-0.031, 1.6, 0.12], [0.02, 1.4, 0],
            [0.17, 1.4, 0], [-0.02, 1.4, 0], [-0.17, 1.4, 0],
        ]
    ),
    "head",
    ("eye.L", "eye.R"),
    np.array([[0.031, 1.6, 0.12], [-0.031, 1.6, 0.12]]),
)  # fmt: skip
FRONT = np.array([0.0, 1.6, 1.5])
TICK_US = 10_000
# Degrees per second: human saccades reach about 500, a quick nod about 100.
EYE_SPEED, BODY_SPEED = 700.0, 120.0
# Lids close in 60 ms along a smoothstep; brows are slow, eyeLook shapes follow the eyes.
BLINK_SPEED, BROW_SPEED = 1.5 / 0.055, 3.0


def run(
    seed: int, script: list[tuple[Activity, int]], camera: np.ndarray = FRONT, tick_us: int = TICK_US
) -> list[Motion]:
    idle, motions, time_us = Idle(SKELETON, seed=seed), [], 0
    for activity, ticks in script:
        for _ in range(ticks):
            face = np.zeros(52, np.float32)
            if activity is Activity.SPEAKING:
                face[arkit.INDEX["jawOpen"]] = 0.3 + 0.3 * np.sin(time_us / 30_000)
            motions.append(idle.sample(time_us, activity, camera, face))
            time_us += tick_us
    return motions


SCRIPTS = st.lists(st.tuples(st.sampled_from(list(Activity)), st.integers(5, 120)), min_size=1, max_size=5)
CAMERAS = st.tuples(st.floats(-3, 3), st.floats(0.5, 2.5), st.floats(-3, 3)).map(np.array)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), SCRIPTS, CAMERAS)
def test_within_limits_and_continuous(
    seed: int, script: list[tuple[Activity, int]], camera: np.ndarray
) -> None:
    motions = run(seed, script, camera)
    pose = np.array([m.pose for m in motions])
    expression = np.array([m.expression for m in motions])
    assert np.isfinite(pose).all()
    assert np.allclose(np.linalg.norm(pose, axis=-1), 1.0, atol=1e-5)
    assert expression.min() >= 0.0
    assert expression.max() <= 1.0
    turned = rotation.angles_deg(pose, np.broadcast_to(SKELETON.rest_pose(), pose.shape))
    assert turned.max() <= 40.0

    seconds = TICK_US / 1e6
    speed = rotation.angles_deg(pose[1:], pose[:-1]) / seconds
    eyes = [NAMES.index("eye.L"), NAMES.index("eye.R")]
    assert speed[:, eyes].max(initial=0.0) <= EYE_SPEED
    assert np.delete(speed, eyes, axis=1).max(initial=0.0) <= BODY_SPEED
    change = np.abs(np.diff(expression, axis=0)) / seconds
    for index, name in enumerate(arkit.NAMES):
        if name.startswith("eyeBlink"):
            assert change[:, index].max(initial=0.0) <= BLINK_SPEED
        elif name.startswith("brow"):
            assert change[:, index].max(initial=0.0) <= BROW_SPEED


def test_same_seed_same_motion_and_another_seed_another() -> None:
    script = [(activity, 100) for activity in Activity]
    first, again, other = run(7, script), run(7, script), run(8, script)
    assert all(
        np.array_equal(a.pose, b.pose) and np.array_equal(a.expression, b.expression)
        for a, b in zip(first, again, strict=True)
    )
    assert not np.array_equal(first[-1].pose, other[-1].pose)


def test_it_begins_at_any_time() -> None:
    """The steady clock of a machine that has run for three years."""
    late_us = 10**14
    from_zero, late = Idle(SKELETON, seed=7), Idle(SKELETON, seed=7)
    for time_us in range(0, 3_000_000, 50_000):
        expected = from_zero.sample(time_us, Activity.IDLE, FRONT)
        found = late.sample(late_us + time_us, Activity.IDLE, FRONT)
        assert np.array_equal(found.pose, expected.pose)
        assert np.array_equal(found.expression, expected.expression)


def directions_deg(motion: Motion, side: str, skeleton: Skeleton = SKELETON) -> tuple[float, float]:
    """Where an eye looks, yaw and pitch relative to the head: by its bone and by the shapes of the lids."""
    lids = LidShapes()
    weight = {n: float(motion.expression[i]) for n, i in arkit.INDEX.items() if n.startswith("eyeLook")}
    bone = motion.pose[skeleton.index["eye." + side[0]]].astype(np.float64)
    yaw, pitch = rotation.look_angles_deg(rotation.to_matrix(bone) @ [0, 0, 1])
    left = 1.0 if side == "Left" else -1.0
    yaw += left * (weight[f"eyeLookOut{side}"] * lids.outwards - weight[f"eyeLookIn{side}"] * lids.inwards)
    pitch += weight[f"eyeLookUp{side}"] * lids.up - weight[f"eyeLookDown{side}"] * lids.down
    return yaw, pitch


def wanted_deg(
    motion: Motion, side: str, camera: np.ndarray, skeleton: Skeleton = SKELETON
) -> tuple[float, float]:
    """Where it would look if it looked at the point between the viewer's eyes."""
    turn, shift = skeleton.transform(motion.pose.astype(np.float64), skeleton.index["head"])
    viewer = turn.T @ (camera - shift - motion.root)
    return rotation.look_angles_deg(viewer - skeleton.eyes[int(side == "Right")])


@pytest.mark.parametrize("camera", [FRONT, np.array([0.5, 1.7, 1.2]), np.array([-0.4, 1.4, 0.9])])
def test_eyes_meet_the_viewer_most_of_the_time(camera: np.ndarray) -> None:
    misses = [
        np.hypot(*np.subtract(directions_deg(motion, "Left"), wanted_deg(motion, "Left", camera)))
        for motion in run(1, [(Activity.LISTENING, 2_000)], camera)
    ]
    assert np.mean(np.array(misses) < 1.8) > 0.8


def test_eyes_stay_on_a_viewer_who_walks_past_and_sits_down() -> None:
    idle, misses, vergence = Idle(SKELETON, seed=2), [], []
    for n in range(1200):
        t = n / 60
        # To and fro by 0.7 m at up to 0.55 m/s, down to a chair and up, 0.7 to 1.5 m away.
        camera = np.array(
            [0.7 * np.sin(0.8 * t), 1.45 + 0.25 * np.cos(0.5 * t), 1.1 + 0.4 * np.cos(0.33 * t)]
        )
        motion = idle.sample(round(t * 1e6), Activity.LISTENING, camera)
        looks = {side: np.array(directions_deg(motion, side)) for side in ("Left", "Right")}
        wanted = {side: np.array(wanted_deg(motion, side, camera)) for side in looks}
        misses.append([float(np.hypot(*(looks[side] - wanted[side]))) for side in looks])
        vergence.append((looks["Right"][0] - looks["Left"][0]) - (wanted["Right"][0] - wanted["Left"][0]))
    # The rest are glances aside, which the other eye makes as well.
    assert np.mean(np.array(misses).max(axis=1) < 2.0) > 0.85
    assert np.abs(vergence).max() < 0.2


@given(
    st.sampled_from(["Left", "Right"]), st.floats(-90, 90), st.floats(-90, 90), st.sampled_from([0.0, 1.0])
)
def test_eye_motion_splits_the_angle_exactly(side: str, yaw: float, pitch: float, scale: float) -> None:
    full = LidShapes()
    shapes = LidShapes(full.outwards * scale, full.inwards * scale, full.up * scale, full.down * scale)
    turn, weights = eye_motion(side, yaw, pitch, shapes)
    got = dict.fromkeys(("Out", "In", "Up", "Down"), 0.0)
    for index, weight in weights.items():
        assert 0.0 <= weight <= 1.0
        got[arkit.NAMES[index].removeprefix("eyeLook").removesuffix(side)] = weight
    sign = 1.0 if side == "Left" else -1.0
    bone_yaw, bone_pitch = rotation.look_angles_deg(rotation.to_matrix(turn) @ [0, 0, 1])
    total_yaw = bone_yaw + sign * (got["Out"] * shapes.outwards - got["In"] * shapes.inwards)
    total_pitch = bone_pitch + got["Up"] * shapes.up - got["Down"] * shapes.down
    assert total_yaw == pytest.approx(np.clip(yaw, -YAW_LIMIT_DEG, YAW_LIMIT_DEG), abs=1e-6)
    assert total_pitch == pytest.approx(np.clip(pitch, -PITCH_LIMIT_DEG, PITCH_LIMIT_DEG), abs=1e-6)


COARSE_US = 40_000


def blink_starts(seed: int, script: list[tuple[Activity, float]]) -> np.ndarray:
    """Seconds at which blinks begin, to 40 ms; the script has seconds, too."""
    ticks = [(activity, round(seconds * 1e6 / COARSE_US)) for activity, seconds in script]
    motions = run(seed, ticks, tick_us=COARSE_US)
    shut = [motion.expression[arkit.INDEX["eyeBlinkLeft"]] > 0.02 for motion in motions]
    return np.flatnonzero(np.diff(np.array(shut, int)) == 1) * COARSE_US / 1e6


@pytest.mark.parametrize(
    ("activity", "least", "most"),
    [(Activity.IDLE, 15, 19), (Activity.LISTENING, 15, 19), (Activity.SPEAKING, 24, 29)],
)
def test_it_blinks_as_often_as_people(activity: Activity, least: float, most: float) -> None:
    """Bentivoglio et al. (1997): 17 a minute at rest, 26 in conversation."""
    starts = [blink_starts(seed, [(activity, 120.0)]) for seed in range(4)]
    assert least < np.mean([len(found) for found in starts]) / 2 < most
    assert max(np.diff(found).max() for found in starts) <= LONGEST_S + 2 * COARSE_US / 1e6


def test_it_blinks_soon_after_it_begins_to_speak() -> None:
    times = 12
    starts = blink_starts(5, [(Activity.LISTENING, 5.0), (Activity.SPEAKING, 3.0)] * times)
    onsets = np.arange(times) * 8.0 + 5.0
    soon = [((starts > onset - LEAST_APART_S) & (starts < onset + ONSET_S + 0.1)).any() for onset in onsets]
    assert all(soon)


def test_large_movements_of_the_gaze_often_come_with_a_blink() -> None:
    blinks, gaps = Blinks(np.random.default_rng(1)), []
    for n in range(400):
        at = 10.0 + 8 * n
        blinks.at(at)
        blinks.shifted(at + 0.5, 16.0)
        gaps.append(max(blinks.at(at + 0.5 + s) for s in (0.05, 0.1, 0.15)) > 0.5)
    chance = np.mean([Blinks(np.random.default_rng(k)).at(10.6) > 0.5 for k in range(400)])
    assert 0.35 < np.mean(gaps) < 0.65
    assert np.mean(gaps) > 4 * chance


@pytest.mark.parametrize("seed", range(5))
def test_blinks_look_like_blinks(seed: int) -> None:
    times = np.arange(0.0, 300.0, 0.005)
    blinks = Blinks(np.random.default_rng(seed))
    closure = np.array([blinks.at(t) for t in times])
    shut = closure > 0.02
    edges = np.flatnonzero(np.diff(shut.astype(int)))
    starts, ends = times[edges[::2]], times[edges[1::2]]
    assert ((ends - starts) > 0.15).all()
    assert ((ends - starts) < 0.25).all()
    assert all(closure[(times >= a) & (times <= b)].max() > 0.99 for a, b in zip(starts, ends, strict=True))
    gaps = np.diff(starts)
    singles = gaps[gaps > 1.0]
    assert singles.min() >= SHORTEST_S - 0.01
    assert singles.max() <= LONGEST_S + 0.01
    # Asked backwards it is the same: a pure function of time.
    assert np.array_equal(closure[::-7], [blinks.at(t) for t in times[::-7]])


def test_blinks_come_irregularly_and_sometimes_twice() -> None:
    times = np.arange(0.0, 2000.0, 0.02)
    blinks = Blinks(np.random.default_rng(7))
    shut = np.array([blinks.at(t) for t in times]) > 0.02
    gaps = np.diff(times[np.flatnonzero(np.diff(shut.astype(int)) > 0)])
    singles = gaps[gaps > 1.0]
    assert 0.05 < np.mean(gaps < 1.0) < 0.2
    # Neither a clock nor without memory, and not one after exactly the longest time.
    assert 0.3 < singles.std() / singles.mean() < 0.8
    assert np.mean(singles > LONGEST_S - 0.1) < 0.02


def test_speech_keeps_its_lips_and_the_more_closed_lid_wins() -> None:
    rng = np.random.default_rng(0)
    face, idle = rng.random(52, np.float32), rng.random(52, np.float32)
    merged = merge_expressions(face, idle)
    lips = [i for i in range(52) if i not in IDLE_SHAPES]
    assert np.array_equal(merged[lips], face[lips])
    assert not any(arkit.NAMES[i].startswith(("jaw", "mouth", "tongue", "cheek")) for i in IDLE_SHAPES)
    blink = arkit.INDEX["eyeBlinkLeft"]
    assert merged[blink] == max(face[blink], idle[blink])


def test_transform_follows_the_chain_of_the_format() -> None:
    rng = np.random.default_rng(4)
    pose = rng.normal(size=(len(NAMES), 4))
    pose /= np.linalg.norm(pose, axis=1, keepdims=True)
    full = np.zeros((len(NAMES), 4, 4))
    for bone, parent in enumerate(SKELETON.parents):
        there, turn, back = np.eye(4), np.eye(4), np.eye(4)
        there[:3, 3], back[:3, 3] = SKELETON.heads[bone], -SKELETON.heads[bone]
        turn[:3, :3] = rotation.to_matrix(pose[bone])
        full[bone] = (np.eye(4) if parent < 0 else full[parent]) @ there @ turn @ back
    for name in ("head", "eye.R", "upperarm01.L"):
        matrix, shift = SKELETON.transform(pose, SKELETON.index[name])
        assert np.allclose(matrix, full[SKELETON.index[name], :3, :3])
        assert np.allclose(shift, full[SKELETON.index[name], :3, 3])


@given(st.lists(st.floats(-180, 180), min_size=6, max_size=6))
def test_quaternions_agree_with_matrices(angles: list[float]) -> None:
    a, b = rotation.from_euler_deg(*angles[:3]), rotation.from_euler_deg(*angles[3:])
    product = rotation.to_matrix(a) @ rotation.to_matrix(b)
    assert np.allclose(rotation.to_matrix(rotation.multiply(a, b)), product, atol=1e-9)


def test_a_rig_with_other_bones_still_moves_its_head() -> None:
    names, parents = ("hips", "skull", "l", "r"), np.array([-1, 0, 1, 1])
    skeleton = Skeleton(names, parents, np.zeros((4, 3)), "skull", ("l", "r"), np.zeros((2, 3)))
    idle = Idle(skeleton, seed=0)
    motions = [idle.sample(t * TICK_US, Activity.SPEAKING, FRONT) for t in range(200)]
    assert max(rotation.angles_deg(m.pose[1], np.array([0, 0, 0, 1.0])) for m in motions) > 0.5


def test_clear_errors() -> None:
    idle = Idle(SKELETON)
    idle.sample(1000, Activity.IDLE, FRONT)
    with pytest.raises(InvalidInputError, match="never goes back"):
        idle.sample(999, Activity.IDLE, FRONT)
    with pytest.raises(InvalidInputError, match="face"):
        idle.sample(1000, Activity.IDLE, FRONT, np.zeros(3, np.float32))
    with pytest.raises(InvalidInputError, match="skull"):
        Skeleton(NAMES, SKELETON.parents, SKELETON.heads, "skull", ("eye.L", "eye.R"), SKELETON.eyes)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**31),
    st.lists(
        st.tuples(
            st.sampled_from(list(Activity)),
            CAMERAS,
            st.sampled_from(["none", "stalled", "track"]),
            st.integers(20, 240),
        ),
        min_size=2,
        max_size=6,
    ),
)
def test_whatever_changes_it_eases(seed: int, script: list[tuple[Activity, np.ndarray, str, int]]) -> None:
    """What it does, where the viewer goes, a body's track that comes, stalls, goes: no part jerks."""
    idle, poses, roots, time_us = Idle(SKELETON, seed=seed), [], [], 0
    raised = SKELETON.rest_pose()
    raised[SKELETON.index["upperarm01.L"]] = rotation.from_euler_deg(0.0, 0.0, 40.0)
    body, viewer = BodyPose(raised, np.array([0.03, 0.0, 0.0])), FRONT.copy()
    for activity, goal, track, ticks in script:
        for _ in range(ticks):
            viewer = viewer + (goal - viewer) * 0.02  # half a second for most of the way
            face = np.zeros(52, np.float32)
            if activity is Activity.SPEAKING:
                face[arkit.INDEX["jawOpen"]] = 0.3 + 0.3 * np.sin(time_us / 30_000)
            motion = idle.sample(
                time_us, activity, viewer, face, None if track == "none" else body, stalled=track == "stalled"
            )
            poses.append(motion.pose.astype(np.float64))
            roots.append(motion.root.astype(np.float64))
            time_us += TICK_US
    turned = np.array(poses)
    eyes = [NAMES.index("eye.L"), NAMES.index("eye.R")]
    a, b = turned[:-1], turned[1:]
    vectors = 2 * (a[..., 3:] * b[..., :3] - b[..., 3:] * a[..., :3] + np.cross(b[..., :3], a[..., :3]))
    speed = np.rad2deg(np.delete(vectors, eyes, axis=1)) * 1e6 / TICK_US
    assert np.linalg.norm(speed, axis=-1).max() < BODY_SPEED
    # A quick nod has 1000 degrees per second squared.
    assert np.linalg.norm(np.diff(speed, axis=0), axis=-1).max() * 1e6 / TICK_US < 1200.0
    assert np.abs(np.diff(roots, axis=0)).max() * 1e6 / TICK_US < 0.1


def test_a_body_whose_track_stalls_breathes_on_and_goes_back_without_a_jump() -> None:
    idle, poses = Idle(SKELETON, seed=4), []
    raised = SKELETON.rest_pose()
    raised[SKELETON.index["upperarm01.L"]] = rotation.from_euler_deg(0.0, 0.0, 60.0)
    body = BodyPose(raised, np.array([0.05, -0.02, 0.0]))
    seconds = {"comes": (0.0, 3.0), "stalls": (3.0, 12.0), "comes again": (12.0, 18.0)}
    roots = []
    for n in range(18 * 60):
        t = n / 60
        stalled = seconds["stalls"][0] <= t < seconds["stalls"][1]
        motion = idle.sample(round(t * 1e6), Activity.IDLE, FRONT, None, body, stalled=stalled)
        poses.append(motion.pose.astype(np.float64))
        roots.append(motion.root)
    arm = np.array([pose[SKELETON.index["upperarm01.L"]] for pose in poses])
    from_track = rotation.angles_deg(arm, np.broadcast_to(raised[SKELETON.index["upperarm01.L"]], arm.shape))
    assert from_track[:180].max() < 0.1
    assert from_track[int(5.5 * 60) : 12 * 60].min() > 59  # hangs at rest
    assert from_track[int(14.5 * 60) :].max() < 0.1
    chest = np.array([pose[SKELETON.index["spine02"]] for pose in poses])
    assert rotation.angles_deg(chest[6 * 60 : 11 * 60], chest[6 * 60]).max() > 0.2  # breath and sway
    speed = rotation.angles_deg(np.array(poses[1:]), np.array(poses[:-1])) * 60
    still = [k for k, name in enumerate(NAMES) if not name.startswith("eye")]
    assert speed[:, still].max() < BODY_SPEED
    assert np.abs(np.diff(np.array(roots), axis=0)).max() * 60 < 0.2  # metres a second
    turning = np.diff(speed[:, SKELETON.index["upperarm01.L"]]) * 60
    assert np.abs(turning).max() < 1000  # degrees per second squared: eases in and out
