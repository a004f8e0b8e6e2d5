"""Fewer splats in place of many: which ones, and that they look like all."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import SplatRenderer, View, lod, reference
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.egl import Context
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.gl

SIZE = 128


@pytest.fixture(scope="module")
def renderer() -> Iterator[SplatRenderer]:
    context = Context()
    with SplatRenderer() as opened:
        yield opened
    context.release()


def wall(across: int = 64) -> Splats:
    """A closed surface 1 m wide, in rows, coloured smoothly."""
    y, x = np.mgrid[:across, :across].reshape(2, -1) / (across - 1)
    means = np.stack([x - 0.5, y - 0.5, np.zeros_like(x)], axis=1).astype(np.float32)
    colors = np.stack([x, y, np.full_like(x, 0.5)], axis=1).astype(np.float32)
    return Splats.isotropic(means, 1 / across, 0.95, colors)


VIEW = View.from_pose((0, 0, 1), (0, 0, 0, 1), (-0.4, 0.4, 0.4, -0.4), (SIZE, SIZE))


def drawn(renderer: SplatRenderer, splats: Splats, **options: Any) -> np.ndarray:
    canvas = Canvas(SIZE, SIZE, "rgba8")
    renderer.draw(splats, [VIEW], [canvas], **options)
    image = canvas.read()
    canvas.release()
    return image


@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_kept_ones_are_evenly_spaced(count: int, most: int) -> None:
    kept = lod.subset(count, most)
    assert len(kept) == min(count, most)
    if len(kept) > 1:
        assert set(np.diff(kept)) <= {count // len(kept), -(-count // len(kept))}
        assert kept[-1] < count


def test_fewer_splats_look_like_all_and_leave_no_gaps(renderer: SplatRenderer) -> None:
    splats = wall()
    full = drawn(renderer, splats).astype(float)
    fewer = drawn(renderer, splats, max_splats=len(splats) // 3).astype(float)
    assert not np.array_equal(full, fewer)
    assert np.abs(full - fewer)[..., 3].max() < 8
    assert 10 * np.log10(255**2 / np.square(full - fewer).mean()) > 35


def test_what_is_drawn_is_the_thinned_splats(renderer: SplatRenderer) -> None:
    splats = wall()
    thinned = lod.thinned(splats, lod.subset(len(splats), 500))
    assert len(thinned) == 500
    expected = reference.render(thinned, VIEW)
    image = drawn(renderer, splats, max_splats=500) / 255
    assert -10 * np.log10(np.square(image - expected).mean(axis=(0, 1)).max()) >= 40


def test_an_order_and_colours_given_for_all_still_hold(renderer: SplatRenderer) -> None:
    splats = wall()
    order = np.random.default_rng(0).permutation(len(splats))[:3000]
    colors = np.ascontiguousarray(splats.colors_srgb[:, ::-1])
    kept = lod.subset(len(splats), 1000)
    thinned = lod.thinned(Splats(splats.means, splats.covariances, splats.opacities, colors), kept)
    own = [list(kept).index(number) for number in order if number in set(kept)]
    expected = drawn(renderer, thinned, order=np.array(own))
    found = drawn(renderer, splats, order=order, view_colors_srgb=[colors], max_splats=1000)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("most", [64 * 64, 1 << 20])
def test_nothing_changes_where_there_are_no_more(most: int, renderer: SplatRenderer) -> None:
    np.testing.assert_array_equal(drawn(renderer, wall(), max_splats=most), drawn(renderer, wall()))


def test_none_at_all_is_refused(renderer: SplatRenderer) -> None:
    with pytest.raises(InvalidInputError, match="max_splats"):
        drawn(renderer, wall(), max_splats=0)
