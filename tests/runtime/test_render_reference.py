"""The NumPy reference against what can be worked out by hand, and the fast sort against it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr_runtime.render import View, look_at, perspective, reference
from taoxr_runtime.render.backdrop import Studio, backdrop, sees_floor
from taoxr_runtime.render.sorting import back_to_front
from taoxr_runtime.render.tiles import TILE, tile_lists
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.unit

RED = np.array([1, 0, 0], np.float32)
BLUE = np.array([0, 0, 1], np.float32)


def front(size: int = 65) -> View:
    return View(look_at((0, 0, 1), (0, 0, 0)), perspective(1.0, 1.0), size, size)


def dot(position: tuple[float, float, float], sigma: float, opacity: float, color: np.ndarray) -> Splats:
    return Splats.isotropic(np.array([position], np.float32), sigma, opacity, color)


def join(*parts: Splats) -> Splats:
    fields = ("means", "covariances", "opacities", "colors_srgb")
    return Splats(*(np.concatenate([getattr(part, field) for part in parts]) for field in fields))


def test_a_round_splat_is_the_gaussian_of_the_pinhole_model() -> None:
    view = front()
    image = reference.render(dot((0, 0, 0), 0.05, 0.8, RED), view)
    variance = (0.05 * view.focal[0]) ** 2
    peak = 0.8 * variance / (variance + reference.LOW_PASS)
    assert image[32, 32, 3] == pytest.approx(peak, rel=1e-6)
    assert image[32, 36, 3] == pytest.approx(peak * np.exp(-0.5 * 16 / (variance + 0.3)), rel=1e-6)
    np.testing.assert_allclose(image[:, :, 0], image[:, :, 3])
    np.testing.assert_allclose(image, image[::-1], atol=1e-12)
    np.testing.assert_allclose(image, image.transpose(1, 0, 2), atol=1e-12)


def test_compensation_keeps_the_light_of_a_splat_smaller_than_a_pixel() -> None:
    view = front(64)
    for sigma in (0.002, 0.02):
        variance = (sigma * view.focal[0]) ** 2
        peak = variance / (variance + reference.LOW_PASS)
        drawn = reference.render(dot((0, 0, 0), sigma, 1.0, RED), view)[:, :, 3].sum()
        # The integral of an opaque Gaussian, whatever its size, less what the cut-off takes.
        assert drawn == pytest.approx(2 * np.pi * variance * (1 - reference.MIN_ALPHA / peak), rel=0.01)


def test_the_nearer_one_covers_the_farther_one_and_an_order_given_wins() -> None:
    both = join(dot((0, 0, 0.2), 0.05, 1.0, RED), dot((0, 0, -0.2), 0.05, 1.0, BLUE))
    view = front()
    own = reference.render(both, view)[32, 32]
    assert own[0] > 0.9
    assert own[2] < 0.05
    turned = reference.render(both, view, order=np.array([0, 1]))[32, 32]
    assert turned[2] > 0.9


def test_row_zero_is_the_top() -> None:
    image = reference.render(dot((0, 0.3, 0), 0.02, 1.0, RED), front())
    assert image[:32, :, 3].sum() > 0.99 * image[:, :, 3].sum()


@pytest.mark.parametrize("position", [(0, 0, 0.97), (0, 0, 2), (5, 0, 0)])
def test_too_near_behind_and_outside_are_not_drawn(position: tuple[float, float, float]) -> None:
    assert not reference.render(dot(position, 0.01, 1.0, RED), front()).any()


def test_a_centre_outside_still_reaches_into_the_picture() -> None:
    image = reference.render(dot((0.65, 0, 0), 0.1, 1.0, RED), front())
    assert image[32, 64, 3] > 0.1


def test_given_background_shows_through() -> None:
    background = np.ones((65, 65, 4)) * (0, 1, 0, 1)
    image = reference.render(dot((0, 0, 0), 0.05, 0.5, RED), front(), background=background)
    np.testing.assert_allclose(image[:, :, 3], 1)
    np.testing.assert_allclose(image[0, 0], (0, 1, 0, 1))
    np.testing.assert_allclose(image[32, 32, :2].sum(), 1)


@given(st.integers(0, 2**32 - 1), st.integers(0, 300), st.sampled_from([0.0, 0.1, 100.0, 1e6]))
def test_radix_sort_is_the_float32_order_and_stable(seed: int, count: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    means = rng.normal(scale=spread, size=(count, 3)).astype(np.float32)
    viewpoint = rng.normal(size=3)
    order = back_to_front(means, viewpoint)
    x, y, z = means.T - viewpoint.astype(np.float32)[:, None]
    squared = x * x + y * y + z * z
    np.testing.assert_array_equal(order, np.argsort(-squared, kind="stable"))


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_tile_lists_hold_every_box_once_and_in_order(limit: int) -> None:
    rng = np.random.default_rng(0)
    count, across, down = 60, 5, 3
    rows = np.zeros((count, 8), np.float32)
    rows[:, :2] = rng.uniform(-10, 55, (count, 2))
    rows[:, 2:5] = rng.uniform(0.5, 3, (count, 3))
    rows[:, 5] = rng.choice([0, 1, 3], count)
    turn = np.array([[0, -1], [1, 0]])
    expected: list[list[int]] = [[] for _ in range(across * down)]
    for rank, (x, y, major_x, major_y, minor, reach, _, _) in enumerate(rows.astype(float)):
        major = np.array([major_x, major_y])
        short = turn @ major / np.linalg.norm(major) * minor
        half = reach * np.sqrt(major**2 + short**2)
        for tile in range(across * down) if reach else ():
            low = np.clip((np.array([x, y]) - half) // TILE, 0, (across - 1, down - 1))
            high = np.clip((np.array([x, y]) + half) // TILE, 0, (across - 1, down - 1))
            if (low <= (tile % across, tile // across)).all() and (
                high >= (tile % across, tile // across)
            ).all():
                expected[tile].append(rank)
    found: list[list[int]] = [[] for _ in range(across * down)]
    for starts, members in tile_lists(rows, across, down, limit):
        for tile in range(across * down):
            found[tile] += members[starts[tile] : starts[tile + 1]].tolist()
    assert found == expected


def test_no_tile_lists_where_nothing_is_seen() -> None:
    assert list(tile_lists(np.zeros((5, 8), np.float32), 2, 2)) == []
    assert list(tile_lists(np.zeros((0, 8), np.float32), 2, 2)) == []


@pytest.mark.parametrize(
    ("target", "seen"),
    [((0, 0.0, 0), True), ((0, 1.6, 0), False), ((0, 3.0, 0), False), ((0, -50.0, 2.999), True)],
)
def test_where_no_floor_is_seen_feet_change_nothing(target: tuple[float, float, float], seen: bool) -> None:
    view = View(look_at((0, 1.6, 3), target), perspective(0.35, 0.75), 30, 40)
    assert sees_floor(view) is seen
    feet = np.array([[-0.1, 0, 0], [0.1, 0, 0]])
    assert seen or np.array_equal(backdrop(view), backdrop(view, feet))


def test_straight_down_the_floor_is_seen() -> None:
    down = np.eye(4)
    down[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    down[2, 3] = -2.0
    view = View(down, perspective(0.7, 1.0), 40, 40)
    np.testing.assert_allclose(view.position, (0, 2, 0))
    assert sees_floor(view)


def test_backdrop_is_darkest_under_the_feet_and_smooth_elsewhere() -> None:
    view = View(look_at((0, 1.2, 3), (0, 0.8, 0)), perspective(0.7, 0.75), 120, 160)
    feet = np.array([[-0.1, 0, 0], [0.1, 0, 0]])
    plain, shaded = backdrop(view), backdrop(view, feet)
    assert plain.shape == (160, 120, 4)
    assert (plain[:, :, 3] == 255).all()
    removed = plain[:, :, :3].astype(int).sum(axis=2) - shaded[:, :, :3].astype(int).sum(axis=2)
    assert removed.min() >= 0
    row, column = np.unravel_index(removed.argmax(), removed.shape)
    clip = view.projection @ view.world_to_view @ (0.1 * np.sign(column - 60), 0, 0, 1)
    expected = ((clip[0] / clip[3] + 1) * 60, (1 - clip[1] / clip[3]) * 80)
    np.testing.assert_allclose((column, row), expected, atol=4)
    means = plain[:, :, 1].mean(axis=1)
    assert np.diff(means).max() < 0.6
    assert means[0] == pytest.approx(255 * Studio().top_srgb[1], abs=1)
