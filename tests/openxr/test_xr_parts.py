"""Poses, places, floor, captions and frame times, without a runtime."""

import gc
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenes import person

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime.render import gl
from taoxr_runtime.xr import api, swapchain
from taoxr_runtime.xr.app import Still
from taoxr_runtime.xr.captions import Words, paint
from taoxr_runtime.xr.floor import OnFloor, floor
from taoxr_runtime.xr.link import Pictures
from taoxr_runtime.xr.poses import DISTANCE_M, Eye, Pose, head, in_front
from taoxr_runtime.xr.runtime import Size
from taoxr_runtime.xr.swapchain import EyeImages, choose_format, encode_srgb
from taoxr_runtime.xr.timing import Timing, collector_off, short_turns

pytestmark = pytest.mark.unit

angle = st.floats(-math.pi, math.pi)


def turned(x: float, y: float, z: float, at: tuple[float, float, float]) -> np.ndarray:
    """A head turned by yaw y, then pitch x, then roll z, about its own axes."""
    cx, sx, cy, sy, cz, sz = (f(a) for a in (x, y, z) for f in (math.cos, math.sin))
    pitch = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    yaw = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    roll = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    matrix = np.eye(4)
    matrix[:3, :3] = yaw @ pitch @ roll
    matrix[:3, 3] = at
    return matrix


@given(angle, st.floats(-1.3, 1.3), st.floats(-1.5, 1.5))
def test_the_avatar_stands_ahead_and_faces_the_user(yaw: float, pitch: float, roll: float) -> None:
    at = (0.3, 1.6, -0.2)
    model = in_front(turned(pitch, yaw, roll, at), -0.1).matrix
    towards = np.array([at[0], 0, at[2]]) - model[:3, 3] * (1, 0, 1)
    assert model[1, 3] == pytest.approx(-0.1)
    assert np.linalg.norm(towards) == pytest.approx(DISTANCE_M)
    np.testing.assert_allclose(model[:3, 1], (0, 1, 0), atol=1e-9)
    # Its +Z points to the user, who looks along the yaw.
    np.testing.assert_allclose(model[:3, 2], towards / DISTANCE_M, atol=1e-6)
    np.testing.assert_allclose(towards / DISTANCE_M, (math.sin(yaw), 0, math.cos(yaw)), atol=1e-6)


@pytest.mark.parametrize("pitch", [-math.pi / 2, math.pi / 2])
def test_looking_straight_down_or_up_still_has_a_direction(pitch: float) -> None:
    model = in_front(turned(pitch, 0.7, 0, (0, 1.6, 0)), 0.0).matrix
    np.testing.assert_allclose(model[:3, 2], (math.sin(0.7), 0, math.cos(0.7)), atol=1e-6)


def test_quaternions_a_percent_off_are_made_rigid() -> None:
    eye = Eye(Pose((0.0, 0.0, 0.303, 0.963), (0.1, 1.5, 0.0)), (-0.8, 0.6, 0.7, -0.9))
    view = eye.view(Pose((0, 0, 0, 1), (0, 0, -1.5)), 64, 48)
    np.testing.assert_allclose(view.position, (0.1, 1.5, 1.5), atol=1e-9)
    np.testing.assert_allclose(view.tangents, np.tan((-0.8, 0.6, -0.9, 0.7)))


def test_the_head_is_between_the_eyes() -> None:
    eyes = [Eye(Pose((0, 0, 0, 1), (x, 1.6, 0.2)), (-1, 1, 1, -1)) for x in (-0.1, 0.3)]
    np.testing.assert_allclose(head(eyes)[:3, 3], (0.1, 1.6, 0.2))


def test_the_floor_is_drawn_before_the_figure_and_follows_it() -> None:
    ground = floor(np.array([[0.1, 0, 0], [-0.1, 0, 0]]))
    ground.check_values()
    assert np.abs(ground.means[:, 1]).max() == 0
    first, second = person(50), person(40)
    figure = Still(first, np.arange(50, dtype=np.int32)[::-1])
    scene = OnFloor(figure, ground)
    together = scene.update(np.zeros(3))
    assert scene.update(np.zeros(3)) is together
    assert scene.order is not None
    np.testing.assert_array_equal(scene.order[: len(ground)], np.arange(len(ground)))
    np.testing.assert_array_equal(scene.order[len(ground) :], len(ground) + np.arange(50)[::-1])
    np.testing.assert_array_equal(together.means[len(ground) :], first.means)
    object.__setattr__(figure, "splats", second)
    object.__setattr__(figure, "order", None)
    together = scene.update(np.zeros(3))
    assert scene.order is None
    np.testing.assert_array_equal(together.covariances[len(ground) :], second.covariances)


def test_captions_show_who_says_what_and_nothing_when_nobody_does() -> None:
    assert not paint(Words()).any()
    both = paint(Words("a question", "an answer " * 60))
    rows = np.flatnonzero((both[..., 3] == 255).any(axis=1))
    assert rows.max() < both.shape[0] - 4, "letters are cut off"
    blue, gold = (
        np.argwhere((both[..., :3] == color).all(axis=2)) for color in ((134, 205, 255), (255, 214, 140))
    )
    assert blue[:, 0].max() < gold[:, 0].min()
    assert (both[..., :3].max(axis=2) <= both[..., 3]).all(), "colours are premultiplied"
    assert paint(Words(note="Hold the trigger")).any()


def test_formats() -> None:
    g = gl.gl()
    offered = [int(g.GL_RGBA16F), int(g.GL_SRGB8_ALPHA8)]
    assert choose_format("auto", offered) == "srgb8"
    assert choose_format("rgba16f", offered) == "rgba16f"
    with pytest.raises(UnavailableError, match="--format srgb8"):
        choose_format("rgba8", offered)
    with pytest.raises(UnavailableError, match="none of the formats"):
        choose_format("auto", [1])


@pytest.mark.parametrize("error", [api.XrError, api.NoRuntimeError])
def test_one_swapchain_with_layers_where_that_can_be_else_two(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    made: list[int] = []
    refused: set[int] = set()

    class Chain:
        def __init__(self, session: object, format: str, size: Size, layers: int) -> None:
            if layers in refused:
                raise error("xrCreateSwapchain: no")
            made.append(layers)

        def close(self) -> None:
            made.pop()

    monkeypatch.setattr(swapchain, "Swapchain", Chain)

    def layers(sizes: list[Size], wanted: int | None) -> tuple[int, list[int]]:
        made.clear()
        images = EyeImages(None, "srgb8", sizes, wanted)
        return images.layers, list(made)

    alike, different = [Size(8, 8)] * 2, [Size(8, 8), Size(8, 9)]
    assert layers(alike, None) == (2, [2])
    assert layers(different, None) == (1, [1, 1])
    assert layers(alike, 1) == (1, [1, 1])
    with pytest.raises(InvalidInputError, match="differ in size"):
        layers(different, 2)
    refused.add(2)
    assert layers(alike, None) == (1, [1, 1])
    with pytest.raises(error):
        layers(alike, 2)
    refused.add(1)
    with pytest.raises(error):
        layers(alike, None)
    assert not made


def test_light_is_encoded_as_srgb() -> None:
    light = np.array([0, 0.002, 0.2, 0.2140411, 1, 7], np.float32)
    assert encode_srgb(light).tolist() == [0, 7, 124, 127, 255, 255]


def test_sizes() -> None:
    recommended = [Size(1000, 800)] * 2
    assert Pictures(scale=0.5).sizes(recommended) == [Size(500, 400)] * 2
    assert Pictures(size=(64, 32)).sizes(recommended) == [Size(64, 32)] * 2


def test_skipped_pictures_are_counted() -> None:
    timing = Timing()
    for display in (10, 20, 50, 60):
        timing.begin()
        for _ in Timing.PARTS:
            timing.passed()
        timing.end(display, 10, gpu_ms=display / 10)
    assert (timing.frames, timing.skipped) == (4, 2)
    took = timing.durations_ms()
    np.testing.assert_array_equal(took["gpu"], [1, 2, 5, 6])
    np.testing.assert_allclose(took["work"], took["avatar"] + took["draw"] + took["submit"])
    assert timing.summary()[0].startswith("4 frames, 2 skipped")
    assert Timing().summary() == ["no frame was shown"]


def test_other_threads_get_short_turns_within_the_block_only() -> None:
    before = sys.getswitchinterval()
    with short_turns():
        assert sys.getswitchinterval() == pytest.approx(0.0005)
    assert sys.getswitchinterval() == before


def test_the_collector_comes_back() -> None:
    with collector_off():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_names_of_calls() -> None:
    assert api.spec_name("wait_swapchain_image") == "xrWaitSwapchainImage"


def test_angles_out_of_order_are_refused() -> None:
    with pytest.raises(InvalidInputError):
        Eye(Pose((0, 0, 0, 1), (0, 0, 0)), (0.5, -0.5, 0.5, -0.5)).view(Pose((0, 0, 0, 1), (0, 0, 0)), 8, 8)
