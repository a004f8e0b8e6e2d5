"""How the avatar stays in view, as a function of time."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from taoxr_runtime.ar.follow import Follower, Manner
from taoxr_runtime.xr.poses import Pose

pytestmark = pytest.mark.unit

MANNER = Manner()
START = Pose((0.0, 0.0, 0.0, 1.0), (0.0, 0.1, -1.5))
"""In front of a user at the origin, who looks along -Z; the floor is at 0.1 m."""

User = Callable[[float], tuple[float, float, float]]
"""For a time: x, z, and by how much the user has turned to the left."""


def head(x: float, z: float, left: float, pitch: float = 0.0) -> np.ndarray:
    cy, sy, cx, sx = math.cos(left), math.sin(left), math.cos(pitch), math.sin(pitch)
    matrix = np.eye(4)
    matrix[:3, :3] = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]]) @ [[1, 0, 0], [0, cx, -sx], [0, sx, cx]]
    matrix[:3, 3] = x, 1.7, z
    return matrix


def path(user: User, seconds: float, rate_hz: float = 72.0, model: Pose = START) -> list[Pose]:
    """Where the avatar stands in each frame."""
    follower, poses = Follower(), []
    for frame in range(round(seconds * rate_hz)):
        now = frame / rate_hz
        model = follower(model, head(*user(now)), 1_000_000_000 + round(now * 1e9))
        poses.append(model)
    return poses


def seen(model: Pose, x: float, z: float, left: float) -> tuple[float, float, float]:
    """From the user: distance, how far to the side, and how far the avatar looks past the user."""
    dx, dz = model.position[0] - x, model.position[2] - z
    aside = math.remainder(math.atan2(dx, dz) - math.atan2(-math.sin(left), -math.cos(left)), math.tau)
    front = 2 * math.atan2(model.orientation[1], model.orientation[3])
    return math.hypot(dx, dz), aside, math.remainder(front - math.atan2(-dx, -dz), math.tau)


def still(poses: list[Pose], seconds: float, rate_hz: float = 72.0) -> bool:
    """Whether nothing has moved at the end."""
    return len(set(poses[-round(seconds * rate_hz) :])) == 1


def test_within_the_dead_zone_nothing_moves() -> None:
    poses = path(lambda t: (0.1 * math.sin(t), 0.2 * math.sin(0.7 * t), 0.5 * math.sin(t)), 20)
    assert set(poses) == {START}


def test_a_look_aside_moves_nothing() -> None:
    assert set(path(lambda t: (0, 0, 1.5 if 1 < t < 1.7 else 0), 4)) == {START}


@pytest.mark.parametrize(
    "user", [(0.0, 4.0, 0.0), (3.0, 1.0, 0.5), (0.0, -1.0, 0.0), (0.0, 0.0, 3.1), (2, -4, -2)]
)
def test_it_comes_to_where_the_user_went(user: tuple[float, float, float]) -> None:
    poses = path(lambda t: user, 12)
    distance, aside, past = seen(poses[-1], *user)
    assert MANNER.nearest <= distance <= MANNER.farthest
    assert abs(aside) <= MANNER.beside
    assert abs(past) < 0.01
    assert still(poses, 3)
    assert {pose.position[1] for pose in poses} == {0.1}
    assert all(pose.orientation[0] == pose.orientation[2] == 0 for pose in poses)


def test_it_comes_without_overshoot_or_haste() -> None:
    user = (0.0, 4.0, 0.0)
    poses = path(lambda t: user, 12)
    distances = np.array([seen(pose, *user)[0] for pose in poses])
    assert (np.diff(distances) <= 1e-9).all()
    speeds = -np.diff(distances) * 72
    assert speeds.max() <= MANNER.speed * 1.01
    # Neither does it start or stop with a jerk.
    assert np.abs(np.diff(speeds)).max() * 72 < 8
    assert distances[-1] == pytest.approx(1.8, abs=0.01)


def test_it_goes_around_the_user_not_through() -> None:
    user = (0.0, 0.0, math.radians(175))
    poses = path(lambda t: user, 12)
    found = np.array([seen(pose, *user) for pose in poses])
    assert found[:, 0].min() > MANNER.nearest
    assert (np.diff(np.abs(found[:, 1])) <= 1e-9).all()


def test_it_keeps_up_with_a_walk_and_rests_after_it() -> None:
    poses = path(lambda t: (0, min(t, 8.0), 0), 14)  # 8 m backwards, at 1 m/s
    assert max(seen(pose, 0, min(i / 72, 8.0), 0)[0] for i, pose in enumerate(poses)) < 3.5
    assert still(poses, 2)
    assert seen(poses[-1], 0, 8, 0)[0] <= MANNER.farthest


@pytest.mark.parametrize("rate_hz", [20, 45, 120])
def test_the_path_hardly_depends_on_the_frame_rate(rate_hz: float) -> None:
    fine, other = (path(lambda t: (1, 4, 1), 8, rate) for rate in (360.0, rate_hz))
    for second in np.arange(0.5, 8, 0.5):
        a, b = fine[round(second * 360)], other[round(second * rate_hz)]
        assert np.linalg.norm(np.subtract(a.position, b.position)) < 0.12


def test_it_turns_to_the_user_who_walks_round_it() -> None:
    angle = math.radians(60)
    user = (1.5 * math.sin(angle), -1.5 + 1.5 * math.cos(angle), angle)
    poses = path(lambda t: user, 6)
    assert {pose.position for pose in poses} == {START.position}
    assert abs(seen(poses[-1], *user)[2]) < 0.01
    assert still(poses, 2)


@pytest.mark.parametrize("pitch", [-math.pi / 2, math.pi / 2])
def test_looking_straight_down_or_up_is_no_turn(pitch: float) -> None:
    follower, model = Follower(), START
    for frame in range(300):
        model = follower(model, head(0, 0, 0, pitch), frame * 14_000_000)
    assert model == START


def test_hands_may_put_it_elsewhere() -> None:
    follower = Follower()
    model = START
    for frame in range(1, 100):
        moved = Pose(START.orientation, (0.01 * frame, 0.1, -1.5))
        model = follower(moved, head(0, 0, 0), frame * 14_000_000)
        assert model == moved


def test_a_break_is_no_leap() -> None:
    follower, model = Follower(), START
    for frame in range(90):
        model = follower(model, head(0, 4, 0), frame * 14_000_000)
    after = follower(model, head(0, 4, 0), 3_600_000_000_000)
    assert np.linalg.norm(np.subtract(after.position, model.position)) < 0.15
