"""What the avatar does can be told from how it moves, alone or with the body that the server sends."""

import numpy as np
import pytest
from tests.runtime.test_animation_idle import (
    COARSE_US,
    FRONT,
    SKELETON,
    directions_deg,
    run,
    wanted_deg,
)

from taoxr import arkit
from taoxr_models.a2bs.phonemes import Phoneme
from taoxr_models.motion import bones, mover
from taoxr_runtime.animation import Activity, Idle, Motion, Skeleton, rotation
from taoxr_runtime.animation.body_player import HumanoidPose
from taoxr_runtime.animation.humanoid import Retarget
from taoxr_runtime.demo.stage import load_avatar

pytestmark = pytest.mark.unit

SERVERS = {
    Activity.IDLE: mover.Activity.IDLE,
    Activity.LISTENING: mover.Activity.LISTENING,
    Activity.THINKING: mover.Activity.THINKING,
    Activity.SPEAKING: mover.Activity.TALKING,
}
TICKS = 500


def guessed(motions: list[Motion], skeleton: Skeleton, camera: np.ndarray) -> Activity:
    """What somebody takes it for who sees gaze, head, and the lips of the speech."""
    looks = [
        np.subtract(directions_deg(m, "Left", skeleton), wanted_deg(m, "Left", camera, skeleton))
        for m in motions
    ]
    aside = [look for look in looks if np.hypot(*look) > 5.0]
    head = skeleton.index["head"]
    facing = [skeleton.transform(m.pose.astype(np.float64), head)[0] @ [0, 0, 1] for m in motions]
    pitch = np.array([rotation.look_angles_deg(way)[1] for way in facing])
    nod_speed = np.percentile(np.abs(np.diff(pitch)), 98) * 1e6 / COARSE_US
    if np.std([m.expression[arkit.INDEX["jawOpen"]] for m in motions]) > 0.05:
        return Activity.SPEAKING
    if len(aside) > 0.22 * len(motions) and np.mean(aside, axis=0)[1] > 2.0:
        return Activity.THINKING  # looks up and away
    return Activity.LISTENING if nod_speed > 14.0 else Activity.IDLE


@pytest.mark.parametrize("activity", Activity)
def test_the_stages_own_motion_tells(activity: Activity) -> None:
    for seed in range(3):
        motions = run(seed, [(activity, TICKS)], tick_us=COARSE_US)[50:]
        assert guessed(motions, SKELETON, FRONT) is activity


@pytest.fixture(scope="module")
def skeleton() -> Skeleton:
    """The default avatar's."""
    scene = load_avatar(None)
    scene.close()
    return Skeleton.of(scene)


def with_the_servers_body(
    skeleton: Skeleton, activity: Activity, seed: int, camera: np.ndarray
) -> list[Motion]:
    """As on the stage, with the body that the motion worker makes for the activity."""
    body, idle, retarget = (
        mover.Mover(seed, frame_rate=1e6 / COARSE_US),
        Idle(skeleton, seed=seed),
        Retarget(skeleton),
    )
    motions: list[Motion] = []
    while len(motions) < TICKS:
        face = np.zeros(52, np.float32)
        if activity is Activity.SPEAKING:
            body.speak(
                "One and two", [Phoneme("ˈɑ", 0.1, 0.3), Phoneme("n", 0.3, 0.6), Phoneme("ˈu", 0.6, 0.9)]
            )
        span = body.advance(SERVERS[activity], 1_000_000, body.now_us)
        for time_us, rotations, hips in zip(span.times_us.tolist(), span.rotations, span.hips, strict=True):
            if activity is Activity.SPEAKING:
                face[arkit.INDEX["jawOpen"]] = 0.3 + 0.3 * np.sin(time_us / 30_000)
            pose = retarget.pose(HumanoidPose(bones.BONES, rotations, hips))
            motions.append(idle.sample(time_us, activity, camera, face, pose))
    return motions


@pytest.mark.parametrize("activity", Activity)
def test_with_the_servers_body_it_tells_too(skeleton: Skeleton, activity: Activity) -> None:
    camera = np.array([0.0, 1.65, 1.5])
    for seed in range(2):
        motions = with_the_servers_body(skeleton, activity, seed, camera)[50:]
        assert guessed(motions, skeleton, camera) is activity


def test_with_the_servers_body_the_eyes_stay_on_the_viewer(skeleton: Skeleton) -> None:
    camera = np.array([0.3, 1.6, 1.2])
    motions = with_the_servers_body(skeleton, Activity.LISTENING, 3, camera)[50:]
    off = [
        np.hypot(*np.subtract(directions_deg(m, side, skeleton), wanted_deg(m, side, camera, skeleton)))
        for m in motions
        for side in ("Left", "Right")
    ]
    assert np.mean(np.array(off) < 2.0) > 0.75
