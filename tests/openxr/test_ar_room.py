"""The avatar's shadow where the room shows, and its dark clothes where light is only added."""

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest
from scenes import person

from taoxr_runtime.render import (
    SplatRenderer,
    TextureTarget,
    View,
    egl,
    gl,
    perspective_from_angles,
    reference,
)
from taoxr_runtime.splats import Splats
from taoxr_runtime.xr.floor import floor, shadow
from taoxr_runtime.xr.swapchain import encode_srgb

pytestmark = pytest.mark.gl

WIDTH, HEIGHT = 120, 90
SHADE = 0.06
"""Of the light; the floor blurs its shadow by its own splats."""
FEET = np.array([[-0.12, 0, 0.08], [0.12, 0, 0.08]])


def view(at: tuple[float, float, float] = (0.0, 1.2, 1.6), down: float = 0.0) -> View:
    """An eye that looks along -Z, turned down by an angle."""
    cos, sin = np.cos(down), np.sin(down)
    pose = np.eye(4)
    pose[:3, :3] = [[1, 0, 0], [0, cos, sin], [0, -sin, cos]]
    pose[:3, 3] = at
    return View(np.linalg.inv(pose), perspective_from_angles(-0.6, 0.6, 0.5, -0.5), WIDTH, HEIGHT)


def seen(splats: Splats, eye: View) -> np.ndarray:
    return reference.render(splats, eye, reference.back_to_front(splats.means, eye.position))


def test_the_shadow_darkens_the_room_as_the_floor_shows_it() -> None:
    eye = view((0.0, 1.5, 0.05), np.pi / 2 - 0.01)  # from above
    shade = seen(shadow(FEET), eye)
    assert shade[..., :3].max() == 0, "it adds no light"
    # What it leaves of a light floor, against what the drawn floor leaves of its own colour.
    plain, shaded = (seen(floor(feet), eye)[HEIGHT // 2 - 20 : HEIGHT // 2 + 20] for feet in (FEET[:0], FEET))
    left = 1 - shade[HEIGHT // 2 - 20 : HEIGHT // 2 + 20, :, 3]
    ratio = shaded[..., 1] / plain[..., 1]
    middle = np.s_[:, WIDTH // 2 - 20 : WIDTH // 2 + 20]
    assert ratio[middle].min() < 0.8
    np.testing.assert_allclose(left[middle], ratio[middle], atol=SHADE)
    assert shade[0, 0, 3] < 0.02, "far from the feet there is none"


@pytest.fixture
def renderer() -> Iterator[SplatRenderer]:
    context = egl.Context()
    with SplatRenderer() as made:
        yield made
    context.release()


def drawn(renderer: SplatRenderer, splats: Splats, eye: View, least: float) -> np.ndarray:
    """Light with alpha, float32 [H, W, 4], row 0 at the top, as an RGBA16F swapchain gets it."""
    g = gl.gl()
    name = ctypes.c_uint32()
    g.glCreateTextures(g.GL_TEXTURE_2D, 1, ctypes.byref(name))
    g.glTextureStorage2D(name.value, 1, g.GL_RGBA16F, WIDTH, HEIGHT)
    renderer.draw(splats, [eye], [TextureTarget(name.value, WIDTH, HEIGHT, None, "linear", least)])
    numbers = np.empty((HEIGHT, WIDTH, 4), np.float32)
    at = ctypes.c_void_p(numbers.ctypes.data)
    g.glGetTextureSubImage(
        name.value, 0, 0, 0, 0, WIDTH, HEIGHT, 1, g.GL_RGBA, g.GL_FLOAT, numbers.nbytes, at
    )
    g.glDeleteTextures(1, [name.value])
    return numbers[::-1]


def test_dark_clothes_stay_visible_where_light_is_added(renderer: SplatRenderer) -> None:
    crowd, eye = person(), view()
    dark = Splats(crowd.means, crowd.covariances, crowd.opacities, crowd.colors_srgb * np.float32(0.1))
    least = 0.3
    found = drawn(renderer, dark, eye, least)
    # The plain twin: the premultiplied sRGB picture is mixed with white's share of it.
    picture = seen(dark, eye)
    alpha = picture[..., 3:]
    wanted = least * alpha + (1 - least) * picture[..., :3]
    solid = alpha[..., 0] > 0.1
    encoded = encode_srgb(np.where(solid[..., None], found[..., :3] / np.maximum(found[..., 3:], 1e-3), 0))
    np.testing.assert_allclose(encoded[solid] / 255, (wanted / np.maximum(alpha, 1e-3))[solid], atol=0.03)
    np.testing.assert_allclose(found[..., 3], alpha[..., 0], atol=0.02)
    assert (encoded[alpha[..., 0] > 0.5] / 255).min() > least - 0.03
    assert not found[0, 0].any(), "where nothing is, no light is added"


def test_without_a_floor_nothing_changes(renderer: SplatRenderer) -> None:
    crowd, eye = person(), view()
    picture = seen(crowd, eye)
    found = drawn(renderer, crowd, eye, 0.0)
    solid = picture[..., 3] > 0.1
    encoded = encode_srgb(found[..., :3] / np.maximum(found[..., 3:], 1e-3))
    np.testing.assert_allclose(
        encoded[solid] / 255, (picture[..., :3] / np.maximum(picture[..., 3:], 1e-3))[solid], atol=0.04
    )
