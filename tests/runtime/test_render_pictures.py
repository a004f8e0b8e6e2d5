"""Whole scenes and pairs of eyes against the float64 reference, and what a viewer would notice."""

import functools
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from tests.runtime.pictures import MIN_PSNR, MIN_TRUE_PSNR, RASTERIZERS, cloud, psnr

from taoxr_runtime.demo.stage import load_avatar
from taoxr_runtime.render import OffscreenRenderer, View, lod, look_at, perspective, reference
from taoxr_runtime.render.camera import centre
from taoxr_runtime.render.stereo import EYE_DISTANCE_M
from taoxr_runtime.splat_files.viewpoint import Viewpoint
from taoxr_runtime.splats import Splats
from taoxr_runtime.stage import Placed, gather

pytestmark = pytest.mark.parity

HEAD = np.array([0.0, 1.5, 0.0])
ROLL = np.radians(30)


@pytest.fixture(scope="module", params=RASTERIZERS)
def renderer(request: pytest.FixtureRequest) -> Iterator[OffscreenRenderer]:
    rasterizer, lists = RASTERIZERS[request.param]
    with OffscreenRenderer(rasterizer=rasterizer, lists=lists) as opened:
        yield opened


@functools.cache
def avatar(most: int) -> Splats:
    """The default avatar at rest with at most so many splats."""
    scene = load_avatar(None)
    whole = scene.splats
    scene.close()
    return lod.thinned(whole, lod.subset(len(whole), most))


def shared_order(splats: Splats, views: tuple[View, ...]) -> np.ndarray:
    return reference.back_to_front(splats.means, centre(views))


@functools.cache
def drawn(name: str, number: int) -> np.ndarray:
    """One eye's reference, in the order that both eyes share."""
    splats, views = SCENES[name]()
    return reference.render(splats, views[number], shared_order(splats, views))


@functools.cache
def drawn_in_true_order(name: str, number: int) -> np.ndarray:
    splats, views = SCENES[name]()
    return reference.render(splats, views[number])


def pair(target: np.ndarray, distance: float, yaw: float = 10, size: int = 128) -> tuple[View, View]:
    """Both eyes of a head that is tipped by 30 degrees."""
    return Viewpoint(target=target, distance=distance, yaw=yaw, roll=30, fov=34).pair(size, size)


def headset(position: tuple[float, float, float]) -> tuple[View, View]:
    """A headset's eyes: tipped by 30 degrees, seeing farther outwards than inwards, near plane at 5 cm."""
    across = np.array([np.cos(ROLL), np.sin(ROLL), 0]) * EYE_DISTANCE_M / 2
    turn = (0, 0, np.sin(ROLL / 2), np.cos(ROLL / 2))
    left = View.from_pose(np.array(position) - across, turn, (-0.9, 0.6, 0.7, -0.85), (128, 128), near=0.05)
    right = View.from_pose(np.array(position) + across, turn, (-0.6, 0.9, 0.7, -0.85), (128, 128), near=0.05)
    return left, right


def mono(eye: tuple[float, float, float], target: np.ndarray, size: int) -> tuple[View]:
    return (View(look_at(eye, target), perspective(0.7, 1.0), size, size),)


def two_avatars(most: int = 2500) -> Splats:
    """One in the arms of the other, in one pool."""
    one = avatar(most)
    pose = np.eye(4)
    pose[:3, :3] = [[0.6, 0, 0.8], [0, 1, 0], [-0.8, 0, 0.6]]
    pose[:3, 3] = (0.12, -0.05, 0.08)
    return gather([Placed(one, np.eye(4)), Placed(one, pose)])


SCENES: dict[str, Callable[[], tuple[Splats, tuple[View, ...]]]] = {
    "the avatar": lambda: (avatar(10_000), mono((0.4, 1.5, 1.4), HEAD, 256)),
    "a cloud": lambda: (cloud(10_000, (0.002, 0.03), seed=2), mono((0.3, 0.2, 1.5), np.zeros(3), 256)),
    "the avatar to two eyes": lambda: (avatar(3000), pair(HEAD, 1.3)),
    "the avatar near by": lambda: (avatar(3000), pair(HEAD, 0.6)),
    "a cloud to two eyes": lambda: (cloud(3000, (0.002, 0.03), seed=3), pair(np.zeros(3), 1.5)),
    "a headset in a cloud": lambda: (cloud(3000, (0.002, 0.02), seed=4), headset((0.05, 0.1, 0.2))),
    "two avatars": lambda: (two_avatars(), pair(HEAD, 1.3, yaw=-20)),
}
SLOW_SCENES: dict[str, Callable[[], tuple[Splats, tuple[View, ...]]]] = {
    "the whole avatar": lambda: (avatar(10_000_000), mono((0.4, 1.5, 1.4), HEAD, 512)),
    "a cloud of 200,000": lambda: (cloud(200_000, (0.001, 0.01)), mono((0.3, 0.2, 1.5), np.zeros(3), 512)),
}
STEREO = [name for name in SCENES if name not in ("the avatar", "a cloud")]


@pytest.mark.parametrize("name", SCENES)
def test_pictures_are_the_references(
    name: str, renderer: OffscreenRenderer, record_property: Callable[[str, object], None]
) -> None:
    splats, views = SCENES[name]()
    # With two eyes some scenes would get an order for each, see test_render_sorts.py.
    order = None if len(views) == 1 else shared_order(splats, views)
    pictures = renderer.render(splats, views, order=order)
    worst = min(psnr(picture, drawn(name, number)) for number, picture in enumerate(pictures))
    record_property("psnr_db", round(worst, 1))
    assert worst >= MIN_PSNR


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SLOW_SCENES)
def test_large_pictures_are_the_references(name: str) -> None:
    splats, views = SLOW_SCENES[name]()
    expected = reference.render(splats, views[0])
    for rasterizer, lists in RASTERIZERS.values():
        with OffscreenRenderer(rasterizer=rasterizer, lists=lists) as opened:
            assert psnr(opened.render(splats, views)[0], expected) >= MIN_PSNR


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_one_order_for_both_eyes_of_the_whole_avatar_near_by() -> None:
    splats, views = avatar(10_000_000), pair(HEAD, 0.6, size=256)
    with OffscreenRenderer() as opened:
        pictures = opened.render(splats, views)
    for picture, view in zip(pictures, views, strict=True):
        assert psnr(picture, reference.render(splats, view)) >= MIN_TRUE_PSNR


@pytest.mark.parametrize("name", STEREO)
def test_both_eyes_pictures_are_close_to_each_eyes_own_order(
    name: str, renderer: OffscreenRenderer, record_property: Callable[[str, object], None]
) -> None:
    splats, views = SCENES[name]()
    pictures = renderer.render(splats, views)
    worst = min(psnr(picture, drawn_in_true_order(name, number)) for number, picture in enumerate(pictures))
    record_property("worst_psnr_db", round(worst, 1))
    assert worst >= MIN_TRUE_PSNR


def test_two_avatars_hide_each_other_splat_by_splat(renderer: OffscreenRenderer) -> None:
    """Drawing one after the other gives another picture, and so does the other way round."""
    splats, views = SCENES["two avatars"]()
    together = renderer.render(splats, views[:1])[0]
    half = len(splats) // 2
    own = reference.back_to_front(splats.means, views[0].position)
    first, second = own[own < half], own[own >= half]
    for order in (np.concatenate([first, second]), np.concatenate([second, first])):
        assert psnr(renderer.render(splats, views[:1], order=order)[0], together / 255) < 30


@pytest.mark.parametrize("depth", [0.3, 1.5, 20.0])
def test_what_is_near_is_farther_right_for_the_left_eye(depth: float, renderer: OffscreenRenderer) -> None:
    """Parallel eyes: a point moves from one to the other by focal length times distance over depth."""
    sigma = 0.01 * depth
    dot = Splats.isotropic(np.array([[0.0, 0.0, -depth]], np.float32), sigma, 1.0, np.ones(3, np.float32))
    eyes = [
        View(look_at((x, 0, 0), (x, 0, -1)), perspective(0.9, 1.0), 256, 256)
        for x in (-EYE_DISTANCE_M / 2, EYE_DISTANCE_M / 2)
    ]
    columns = np.arange(256) + 0.5
    left, right = (
        float((picture[..., 3].sum(axis=0) * columns).sum() / picture[..., 3].sum())
        for picture in renderer.render(dot, eyes)
    )
    expected = eyes[0].focal[0] * EYE_DISTANCE_M / depth
    assert left - right == pytest.approx(expected, abs=0.02)
    assert (left + right) / 2 == pytest.approx(128, abs=0.02)


def test_the_near_plane_is_at_5_cm(renderer: OffscreenRenderer) -> None:
    eye = View(look_at((0, 0, 0), (0, 0, -1)), perspective(1.2, 1.0, near=0.05), 64, 64)
    for z, seen in ((0.049, False), (0.051, True)):
        dot = Splats.isotropic(np.array([[0, 0, -z]], np.float32), 0.002, 1.0, np.ones(3, np.float32))
        assert bool(renderer.render(dot, [eye])[0].any()) is seen


@functools.cache
def colourful(color: tuple[float, float, float]) -> tuple[Splats, View, np.ndarray, np.ndarray]:
    """A cloud, its eye, one colour as a picture, and the reference over it."""
    splats, (eye,) = cloud(1000, (0.003, 0.06), seed=7), mono((0.3, 0.2, 1.5), np.zeros(3), 128)
    behind = np.full((128, 128, 4), (*color, 1.0))
    return splats, eye, behind, reference.render(splats, eye, background=behind)


@pytest.mark.parametrize("color", [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.2, 0.7, 0.4)])
def test_alone_or_over_a_colour_is_the_same_picture(
    color: tuple[float, float, float], renderer: OffscreenRenderer
) -> None:
    splats, eye, behind, expected = colourful(color)
    assert psnr(renderer.render(splats, [eye], color)[0], expected) >= MIN_PSNR
    alone = renderer.render(splats, [eye])[0] / 255
    assert psnr(255 * (alone + behind * (1 - alone[..., 3:])), expected) >= MIN_PSNR
    assert (alone[..., :3] <= alone[..., 3:] + 1.5 / 255).all()  # premultiplied
