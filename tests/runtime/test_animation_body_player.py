"""The body of a conversation on the stage: media and motion between them, on one display clock."""

import numpy as np
import pytest

from taoxr.client import BodyTrack
from taoxr_runtime.animation import rotation
from taoxr_runtime.animation.body_player import JOIN_US, BodyPlayer, Poses

pytestmark = pytest.mark.unit

NAMES = ("hips", "head")
PERIOD_US = 33_333


def track(start_us: int, length_us: int, degrees: float, per_second: float = 0.0) -> BodyTrack:
    """The head turned by so much at the start, and by so much more per second."""
    times = np.arange(start_us, start_us + length_us, PERIOD_US, dtype=np.int64)
    heads = [rotation.from_euler_deg(0.0, degrees + per_second * (t - start_us) / 1e6, 0.0) for t in times]
    rotations = np.stack([np.tile(rotation.IDENTITY, (len(times), 1)), np.array(heads)], axis=1)
    hips = np.zeros((len(times), 3), np.float32)
    return BodyTrack(times, rotations.astype(np.float32), hips)


def head(player: BodyPlayer, now_us: int, media_us: int | None = None) -> float:
    pose = player.sample(now_us, media_us)
    assert pose is not None
    assert pose.names == NAMES
    assert np.linalg.norm(pose.rotations, axis=1) == pytest.approx([1.0, 1.0])
    return float(np.rad2deg(2.0 * np.arcsin(pose.rotations[1, 1])))


def test_before_anything_came_there_is_no_pose() -> None:
    assert BodyPlayer(NAMES).sample(0, None) is None
    assert BodyPlayer(NAMES).sample(0, 1_000) is None


def test_poses_are_interpolated_and_held_at_the_ends() -> None:
    poses = Poses()
    poses.add(track(0, 1_000_000, 0.0, per_second=30.0))
    for time_us, degrees in ((-500_000, 0.0), (16_667, 0.5), (500_000, 15.0), (9_000_000, 30.0)):
        turned, _ = poses.at(time_us)
        assert np.rad2deg(2.0 * np.arcsin(turned[1, 1])) == pytest.approx(degrees, abs=0.05)


def test_motion_is_due_when_its_first_piece_comes() -> None:
    player = BodyPlayer(NAMES)
    player.add_motion(10_000_000, track(700_000, 400_000, 0.0, per_second=10.0))
    player.add_motion(10_200_000, track(1_100_000, 400_000, 4.0, per_second=10.0))
    assert head(player, 10_000_000) == pytest.approx(0.0, abs=0.01)
    assert head(player, 10_500_000) == pytest.approx(5.0, abs=0.05)


def test_a_late_piece_delays_what_follows_and_does_not_skip() -> None:
    player = BodyPlayer(NAMES)
    player.add_motion(0, track(0, 400_000, 0.0, per_second=10.0))
    assert head(player, 500_000) == pytest.approx(4.0, abs=0.1)
    player.add_motion(900_000, track(400_000, 400_000, 4.0, per_second=10.0))
    assert head(player, 900_000) == pytest.approx(4.0, abs=0.1)
    assert head(player, 1_000_000) == pytest.approx(5.0, abs=0.1)


def test_media_take_over_while_they_are_heard_and_nothing_jumps() -> None:
    player = BodyPlayer(NAMES)
    player.add_motion(0, track(0, 8_000_000, 0.0))
    player.add_media("turn-1", track(0, 1_000_000, 20.0))
    player.add_media("turn-1", track(1_000_020, 1_000_000, 20.0))
    shown: list[float] = []
    for now_us in range(0, 5_000_000, 10_000):
        media_us = now_us - 1_000_000 if 1_000_000 <= now_us < 3_000_000 else None
        shown.append(head(player, now_us, media_us))
    assert shown[50] == pytest.approx(0.0, abs=0.01)
    assert shown[200] == pytest.approx(20.0, abs=0.01)
    assert shown[-1] == pytest.approx(0.0, abs=0.01)
    assert np.abs(np.diff(shown)).max() < 20.0 * 1.6 * 10_000 / JOIN_US


def test_an_interrupted_turn_gives_way_to_newer_motion() -> None:
    player = BodyPlayer(NAMES)
    player.add_motion(0, track(0, 600_000, 0.0))
    player.add_media("turn-1", track(0, 2_000_000, 20.0))
    for now_us in range(500_000, 1_500_000, 10_000):
        head(player, now_us, now_us - 500_000)
    # Nothing plays any more, and the motion that is there is old: it stays as it is until newer comes.
    assert head(player, 1_510_000) == pytest.approx(20.0, abs=0.01)
    player.add_motion(1_600_000, track(1_600_000, 2_000_000, 18.0))
    head(player, 1_610_000)
    assert head(player, 1_610_000 + JOIN_US) == pytest.approx(18.0, abs=0.01)


def test_a_new_turn_takes_the_place_of_the_one_before() -> None:
    player = BodyPlayer(NAMES)
    player.add_media("turn-1", track(0, 1_000_000, 10.0))
    assert head(player, 0, 500_000) == pytest.approx(10.0, abs=0.01)
    player.add_media("turn-2", track(0, 1_000_000, -10.0))
    head(player, 100_000, 0)
    assert head(player, 100_000 + JOIN_US, JOIN_US) == pytest.approx(-10.0, abs=0.01)


def test_motion_of_an_hour_is_not_kept() -> None:
    player = BodyPlayer(NAMES)
    for start in range(0, 60_000_000, 400_000):
        player.add_motion(start, track(start, 400_000, 0.0))
    span = player._motion.span_us
    assert span is not None
    assert span[1] - span[0] < 4_000_000


def test_a_track_of_which_no_more_comes_is_told_and_so_is_that_it_goes_on() -> None:
    player = BodyPlayer(NAMES)
    player.add_motion(0, track(0, 1_000_000, 10.0))
    for now_us, stalled in ((500_000, False), (1_200_000, False), (1_300_000, True), (5_000_000, True)):
        pose = player.sample(now_us, None)
        assert pose is not None
        assert pose.stalled is stalled
    player.add_motion(6_000_000, track(1_000_000, 1_000_000, 20.0))
    pose = player.sample(6_100_000, None)
    assert pose is not None
    assert not pose.stalled
