"""OpenGL against the float64 reference, 256x256: at least 45 dB in each of the four channels."""

import functools
from collections.abc import Iterator

import numpy as np
import pytest
from tests.runtime.pictures import MIN_PSNR, RASTERIZERS, cloud, psnr

from taoxr_runtime.render import (
    OffscreenRenderer,
    View,
    look_at,
    perspective,
    perspective_from_angles,
    reference,
)
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.parity


@pytest.fixture(scope="module", params=RASTERIZERS)
def renderer(request: pytest.FixtureRequest) -> Iterator[OffscreenRenderer]:
    rasterizer, lists = RASTERIZERS[request.param]
    with OffscreenRenderer(rasterizer=rasterizer, lists=lists) as opened:
        yield opened


@functools.cache
def expected_of(name: str) -> np.ndarray:
    return reference.render(*CASES[name])


def view(eye=(0.3, 0.2, 1.5), target=(0, 0, 0), roll=0.0, projection=None) -> View:
    return View(
        look_at(eye, target, roll=roll), perspective(0.9, 1.0) if projection is None else projection, 256, 256
    )


CASES = {
    "random": (cloud(), view()),
    "faint layers": (cloud(6000, (0.01, 0.06), (0.004, 0.06)), view()),
    "hair": (cloud(2000, (0.03, 0.2), (0.5, 1.0), thin=2e-4), view()),
    "lines without width": (cloud(2000, (0.03, 0.2), (1.0, 1.0), thin=0.0), view()),
    "discs without thickness": (cloud(1500, (0.02, 0.05), (1.0, 1.0), flat=0.0), view()),
    "points without size": (cloud(2000, (1e-9, 1e-8)), view()),
    "opaque": (cloud(1500, (0.01, 0.05), (1.0, 1.0)), view()),
    "invisible": (cloud(500, opacities=(0.0, 0.0)), view()),
    "under the cut-off": (cloud(500, opacities=(0.0, 1 / 255)), view()),
    "large": (cloud(150, (0.2, 0.8), (0.05, 0.5)), view()),
    "centres outside the picture": (cloud(700, (0.03, 0.1)), view(projection=perspective(0.3, 1.0))),
    "head roll": (cloud(seed=3), view(roll=0.7)),
    "asymmetric": (cloud(seed=4), view(projection=perspective_from_angles(-0.9, 0.3, 0.6, -0.85))),
    "straight ahead outside": (cloud(seed=5), view(projection=perspective_from_angles(0.05, 0.5, 0.6, 0.1))),
    "inside the cloud": (cloud(1500, (0.005, 0.03)), view((0, 0, 0.1), projection=perspective(1.2, 1.0))),
    "wide": (cloud(1500, (0.005, 0.03)), view((0, 0, 0.4), projection=perspective(2.3, 1.0))),
    "far": (cloud(3000, seed=8), view((0, 0, 30.0))),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_the_reference(name: str, renderer: OffscreenRenderer) -> None:
    splats, eye = CASES[name]
    expected = expected_of(name)
    figure = psnr(renderer.render(splats, [eye])[0], expected)
    # Eight bits round after each splat that the hardware blends; a finer canvas does not, see below.
    assert figure >= (40 if (name, renderer.rasterizer) == ("faint layers", "quads") else MIN_PSNR)


def test_finer_target_rounds_less() -> None:
    splats, eye = CASES["faint layers"]
    expected = reference.render(splats, eye)
    with OffscreenRenderer("rgba8", "quads") as coarse, OffscreenRenderer("rgba16f", "quads") as fine:
        figures = [psnr(opened.render(splats, [eye])[0], expected) for opened in (coarse, fine)]
    assert figures[1] > figures[0] + 4
    assert figures[1] >= MIN_PSNR


@functools.cache
def expected_over_noise() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A background with and without alpha, and the random cloud over it."""
    behind = np.random.default_rng(0).integers(0, 256, (256, 256, 3), np.uint8)
    opaque = np.dstack([behind, np.full((256, 256), 255, np.uint8)])
    return behind, opaque, reference.render(*CASES["random"], background=opaque / 255)


def test_splats_cover_backgrounds_as_premultiplied_colours_do(renderer: OffscreenRenderer) -> None:
    splats, eye = CASES["random"]
    behind, opaque, expected = expected_over_noise()
    over = renderer.render(splats, [eye], behind)[0]
    assert psnr(over, expected) >= MIN_PSNR
    assert (over[:, :, 3] == 255).all()
    alone = renderer.render(splats, [eye])[0] / 255
    assert psnr(over, alone + opaque / 255 * (1 - alone[:, :, 3:])) >= MIN_PSNR


@functools.cache
def expected_shuffled() -> tuple[np.ndarray, np.ndarray]:
    """Some order, and the random cloud drawn in it."""
    order = np.random.default_rng(0).permutation(len(CASES["random"][0]))
    return order, reference.render(*CASES["random"], order=order)


def test_order_given(renderer: OffscreenRenderer) -> None:
    splats, eye = CASES["random"]
    order, expected = expected_shuffled()
    image = renderer.render(splats, [eye], order=order)[0]
    assert psnr(image, expected) >= MIN_PSNR
    assert psnr(image, expected_of("random")) < 30
    own = reference.back_to_front(splats.means, eye.position)
    np.testing.assert_array_equal(
        renderer.render(splats, [eye], order=own)[0], renderer.render(splats, [eye])[0]
    )


@functools.cache
def expected_for_two_eyes() -> tuple[Splats, list[View], list[np.ndarray]]:
    splats = cloud(3000, (0.003, 0.02), seed=9)  # small enough to share an order
    angles = ((-0.9, 0.6), (-0.6, 0.9))
    eyes = [
        view((x, 0, 1.2), (x, 0, 0), projection=perspective_from_angles(left, right, 0.7, -0.75))
        for x, (left, right) in zip((-0.0315, 0.0315), angles, strict=True)
    ]
    order = reference.back_to_front(splats.means, np.array([0, 0, 1.2]))
    return splats, eyes, [reference.render(splats, eye, order=order) for eye in eyes]


def test_two_eyes_share_one_sort_but_not_the_projection(renderer: OffscreenRenderer) -> None:
    splats, eyes, expected = expected_for_two_eyes()
    for image, wanted in zip(renderer.render(splats, eyes), expected, strict=True):
        assert psnr(image, wanted) >= MIN_PSNR


def test_one_pass_for_several_eyes_draws_what_one_pass_each_does(renderer: OffscreenRenderer) -> None:
    splats = cloud(1000, seed=6)
    # More than one pass takes, of several sizes and near planes, one of them inside the cloud.
    eyes = [
        View(
            look_at((x, 0.1, z), (0, 0, 0), roll=roll), perspective(0.9, size[0] / size[1], near=near), *size
        )
        for x, z, roll, size, near in (
            (-0.3, 1.3, 0.0, (128, 128), 0.05),
            (0.3, 1.3, 0.0, (128, 128), 0.05),
            (0.2, 0.4, 0.5, (96, 64), 0.3),
            (-0.2, 1.5, -0.5, (33, 70), 1.2),
            (0.0, 2.0, 3.0, (64, 64), 0.05),
        )
    ]
    order = reference.back_to_front(splats.means, eyes[0].position)
    colors = [np.roll(splats.colors_srgb, number, axis=0) for number in range(len(eyes))]
    together = renderer.render(splats, eyes, order=order, view_colors_srgb=colors)
    for image, eye, own in zip(together, eyes, colors, strict=True):
        alone = renderer.render(splats, [eye], order=order, view_colors_srgb=[own])[0]
        np.testing.assert_array_equal(image, alone)


def test_colours_for_each_eye(renderer: OffscreenRenderer) -> None:
    splats, eye = CASES["random"]
    swapped = np.ascontiguousarray(splats.colors_srgb[:, ::-1])
    images = renderer.render(splats, [eye, eye], view_colors_srgb=[splats.colors_srgb, swapped])
    np.testing.assert_array_equal(images[0][:, :, ::-1][:, :, 1:], images[1][:, :, :3])
