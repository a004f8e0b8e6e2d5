"""Curves of the body's motion."""

import numpy as np
import pytest

from taoxr_models.motion.curves import Drift, Track, minimum_jerk

pytestmark = pytest.mark.unit


def derivatives(track: Track, t: float, side: float) -> list[float]:
    """Value, velocity and acceleration at `t` from one side, by differences."""
    h = 1e-3
    p = track.at(t + side * h * np.arange(4))[:, 0]
    velocity = side * (-11 * p[0] + 18 * p[1] - 9 * p[2] + 2 * p[3]) / (6 * h)
    return [float(p[0]), float(velocity), float((2 * p[0] - 5 * p[1] + 4 * p[2] - p[3]) / h**2)]


def test_it_goes_through_its_keys_and_rests_after_them() -> None:
    track = Track([0.0, 10.0])
    track.plan(1.0, [(2.0, (5.0, 10.0)), (3.0, (-1.0, 20.0))])
    assert track.at(np.array([0.0, 1.0, 2.0, 3.0, 9.0])).tolist() == [
        [0.0, 10.0], [0.0, 10.0], [5.0, 10.0], [-1.0, 20.0], [-1.0, 20.0],
    ]  # fmt: skip


def test_from_rest_to_rest_it_is_the_movement_of_minimum_jerk() -> None:
    track = Track([0.0])
    track.plan(0.0, [(2.0, [3.0])])
    times = np.linspace(0.0, 2.0, 50)
    assert track.at(times)[:, 0] == pytest.approx(3.0 * minimum_jerk(times / 2.0), abs=1e-12)


def test_a_new_plan_changes_neither_the_past_nor_how_it_moves_now() -> None:
    track = Track([0.0])
    track.plan(0.0, [(1.0, [4.0]), (2.0, [0.0])])
    past = np.linspace(0.0, 0.7, 20)
    before, now = track.at(past), derivatives(track, 0.7, -1.0)
    track.plan(0.7, [(1.4, [-2.0])])
    assert track.at(past) == pytest.approx(before, abs=1e-9)
    assert derivatives(track, 0.7, 1.0) == pytest.approx(now, rel=1e-3, abs=1e-2)


def test_a_plan_made_at_a_key_begins_there() -> None:
    track = Track([0.0])
    track.plan(0.0, [(1.0, [4.0])])
    track.plan(1.0, [(2.0, [1.0])])
    assert track.at(np.array([1.0, 2.0])).tolist() == [[4.0], [1.0]]


def test_what_is_forgotten_leaves_the_rest_as_it_is() -> None:
    track = Track([0.0])
    for second in range(20):
        track.plan(float(second), [(second + 0.8, [float(second % 3)])])
    times = np.linspace(12.0, 22.0, 77)
    before = track.at(times)
    track.forget(12.0)
    assert track.at(times).tolist() == before.tolist()


def test_a_drift_stays_in_bounds_and_has_its_seed() -> None:
    times = np.linspace(0.0, 1000.0, 5000)
    drift = Drift(np.random.default_rng(3), 4, 7.0).at(times)
    assert drift.shape == (5000, 4)
    assert np.abs(drift).max() <= 1.0
    assert drift.std(axis=0).min() > 0.2
    assert np.array_equal(drift, Drift(np.random.default_rng(3), 4, 7.0).at(times))
    assert not np.array_equal(drift, Drift(np.random.default_rng(4), 4, 7.0).at(times))
