"""The gaze against what is known of people's: when it looks where, how fast it moves, what turns with it."""

import numpy as np
import pytest
from tests.runtime.test_animation_idle import FRONT, SKELETON, directions_deg, wanted_deg

from taoxr_runtime.animation import Activity, Idle, rotation
from taoxr_runtime.animation.aim import HEAD_YAW_LIMIT_DEG, TRUNK_YAW_LIMIT_DEG
from taoxr_runtime.animation.gaze import YAW_LIMIT_DEG, Gaze, MicroSaccades

pytestmark = pytest.mark.unit

TICK_S = 0.001


@pytest.mark.parametrize(
    ("activity", "least", "most"),
    [
        # Argyle and Ingham (1972): 75 % while listening, 41 % while speaking; see the module for the second.
        (Activity.LISTENING, 0.75, 0.95),
        (Activity.SPEAKING, 0.5, 0.8),
        (Activity.THINKING, 0.3, 0.6),
    ],
)
def test_how_much_of_the_time_it_looks_at_the_viewer(activity: Activity, least: float, most: float) -> None:
    gaze = Gaze(np.random.default_rng(5))
    at_viewer = [np.hypot(*gaze.offset_deg(t, activity)) < 3.0 for t in np.arange(0.0, 900.0, 0.05)]
    assert least < np.mean(at_viewer) < most


def test_it_looks_up_while_thinking_and_not_while_speaking() -> None:
    up = {}
    for activity in (Activity.THINKING, Activity.SPEAKING):
        gaze = Gaze(np.random.default_rng(6))
        offsets = np.array([gaze.offset_deg(t, activity) for t in np.arange(0.0, 300.0, 0.05)])
        up[activity] = offsets[np.hypot(*offsets.T) > 6.0, 1].mean()
    assert up[Activity.THINKING] > 4.0
    assert up[Activity.SPEAKING] < 0.0


def saccades(offsets: np.ndarray, threshold: float = 10.0) -> list[tuple[float, float]]:
    """Size in degrees and peak speed in degrees per second of each rapid movement, by speed, [n, 2] in."""
    speed = np.hypot(*np.diff(offsets, axis=0).T) / TICK_S
    fast = np.flatnonzero(np.diff(np.concatenate([[0], (speed > threshold).astype(int), [0]])))
    return [
        (float(np.hypot(*(offsets[end] - offsets[start]))), float(speed[start:end].max()))
        for start, end in zip(fast[::2], fast[1::2], strict=True)
    ]


def test_saccades_follow_the_main_sequence() -> None:
    """Bahill, Clark and Stark (1975); Boghen et al. (1974): 10 degrees at 320 to 460 degrees per second."""
    gaze = Gaze(np.random.default_rng(7))
    times = np.arange(0.0, 400.0, TICK_S)
    found = np.array(saccades(np.array([gaze.offset_deg(t, Activity.SPEAKING) for t in times])))
    size, peak = found.T
    tens = peak[(size > 9.0) & (size < 11.0)]
    assert len(tens) >= 5
    assert 320 < np.median(tens) < 460
    ones = peak[(size > 0.8) & (size < 1.2)]
    assert len(ones) >= 20
    assert 40 < np.median(ones) < 110  # about 30 to 100 there
    assert np.corrcoef(np.log(size), np.log(peak))[0, 1] > 0.97


def test_micro_saccades_are_small_rare_and_keep_the_fixation() -> None:
    micro = MicroSaccades(np.random.default_rng(8))
    times = np.arange(0.0, 300.0, TICK_S)
    offsets = np.array([micro.at(t) for t in times])
    found = np.array(saccades(offsets, 4.0))
    per_second = len(found) / 300.0
    assert 0.8 < per_second < 2.0
    size = found[:, 0]
    assert np.median(size) < 0.5
    assert size.max() < 1.0
    assert np.hypot(*offsets.T).max() < 1.2
    still = np.hypot(*np.diff(offsets, axis=0).T) / TICK_S
    assert 0.02 < np.median(still) < 0.5  # it drifts, degrees per second
    gaps = np.diff(times[:-1][np.diff((still > 4.0).astype(int), prepend=0) == 1])
    assert gaps.std() / gaps.mean() > 0.3  # no clock


def turns_deg(camera: np.ndarray) -> tuple[float, float, float, float]:
    """When all has settled: yaw of trunk, head on the trunk, and eyes in the head, and what they miss."""
    idle, rows = Idle(SKELETON, seed=9), []
    for n in range(60 * 14):
        motion = idle.sample(round(n * 1e6 / 60), Activity.LISTENING, camera)
        if n < 60 * 6:
            continue
        pose = motion.pose.astype(np.float64)
        chest, _ = SKELETON.transform(pose, SKELETON.index["spine01"])
        head, _ = SKELETON.transform(pose, SKELETON.index["head"])
        trunk = rotation.look_angles_deg(chest @ [0, 0, 1])[0]
        eyes = [directions_deg(motion, side)[0] for side in ("Left", "Right")]
        wanted = [wanted_deg(motion, side, camera)[0] for side in ("Left", "Right")]
        rows.append(
            (
                trunk,
                rotation.look_angles_deg(head @ [0, 0, 1])[0] - trunk,
                np.mean(eyes),
                np.mean(eyes) - np.mean(wanted),
            )
        )
    trunk, head, eyes, missed = np.median(np.array(rows), axis=0)
    return float(trunk), float(head), float(eyes), float(missed)


def at_angle(degrees: float, metres: float = 1.5) -> np.ndarray:
    angle = np.deg2rad(degrees)
    return np.array([metres * np.sin(angle), FRONT[1], metres * np.cos(angle)])


def test_eyes_head_and_trunk_share_a_turn_and_stop_at_their_limits() -> None:
    angles = (0.0, 10.0, 40.0, 65.0)
    found = {angle: turns_deg(at_angle(angle)) for angle in angles}
    assert abs(found[0.0][0]) < 1.0
    assert abs(found[10.0][0]) < 1.5, "the trunk stays for a viewer nearly in front"
    trunk, head, eyes, missed = found[40.0]
    assert 5.0 < trunk < TRUNK_YAW_LIMIT_DEG
    assert head > trunk
    assert eyes > 4.0
    assert abs(missed) < 1.5, "together they reach the viewer"
    trunk, head, eyes, missed = found[65.0]
    assert trunk < TRUNK_YAW_LIMIT_DEG + 2.5  # with the sway
    assert head < HEAD_YAW_LIMIT_DEG + 4.0
    assert eyes <= YAW_LIMIT_DEG + 0.5
    assert abs(missed) < 1.5
    # To the other side it is the mirror image.
    left, right = turns_deg(at_angle(50.0)), turns_deg(at_angle(-50.0))
    assert left[0] == pytest.approx(-right[0], abs=3.0)


def test_nobody_is_followed_behind_its_back() -> None:
    trunk, head, eyes, _ = turns_deg(at_angle(175.0))
    assert abs(trunk) < 2.0
    assert abs(head) < 6.0
    assert abs(eyes) < 6.0


def test_the_trunk_turns_last_and_slowly() -> None:
    idle, yaws = Idle(SKELETON, seed=3), []
    for n in range(60 * 8):
        camera = at_angle(0.0 if n < 60 * 4 else 60.0)
        pose = idle.sample(round(n * 1e6 / 60), Activity.LISTENING, camera).pose.astype(np.float64)
        parts = [
            SKELETON.transform(pose, SKELETON.index[bone])[0] @ [0, 0, 1] for bone in ("spine01", "head")
        ]
        yaws.append([rotation.look_angles_deg(part)[0] for part in parts])
    trunk, head = np.array(yaws).T
    after = slice(60 * 4, None)
    halfway = [int(np.argmax(part[after] > part[-1] / 2)) / 60 for part in (trunk, head)]
    assert halfway[1] < halfway[0] < 1.0
    assert np.abs(np.diff(trunk)).max() * 60 < 40.0
