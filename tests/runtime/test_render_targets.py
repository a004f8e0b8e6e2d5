"""Drawing into textures of someone else, in a context of someone else: colours, rows, layers and state."""

import ctypes
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import psutil
import pytest

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime.render import SplatRenderer, TextureTarget, View, WindowTarget, gl, objects, reference
from taoxr_runtime.render.egl import Context
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.gl

WIDTH, HEIGHT = 96, 64
FORMATS = ["GL_RGBA8", "GL_SRGB8_ALPHA8", "GL_RGBA16F"]
GREY = (0.3, 0.32, 0.35)


@pytest.fixture(scope="module")
def context() -> Iterator[Context]:
    opened = Context()
    yield opened
    opened.release()


@pytest.fixture(scope="module", params=["quads", "tiles"])
def renderer(request: pytest.FixtureRequest, context: Context) -> Iterator[SplatRenderer]:
    context.make_current()
    with SplatRenderer(request.param) as opened:
        yield opened


@pytest.fixture
def g(context: Context) -> Iterator[Any]:
    """OpenGL; every test must leave without an error of OpenGL's."""
    context.make_current()
    yield gl.gl()
    gl.check("test")


def texture(g: Any, kind: str, layers: int = 0) -> int:
    """A texture filled with a colour that nothing here draws."""
    name = ctypes.c_uint32()
    g.glCreateTextures(g.GL_TEXTURE_2D_ARRAY if layers else g.GL_TEXTURE_2D, 1, ctypes.byref(name))
    if layers:
        g.glTextureStorage3D(name.value, 1, getattr(g, kind), WIDTH, HEIGHT, layers)
    else:
        g.glTextureStorage2D(name.value, 1, getattr(g, kind), WIDTH, HEIGHT)
    g.glClearTexImage(name.value, 0, g.GL_RGBA, g.GL_FLOAT, np.array([1, 0, 1, 0.5], np.float32))
    return int(name.value)


def stored(g: Any, name: int, layers: int = 1) -> np.ndarray:
    """Numbers as stored, float32 [layers, H, W, 4], turned so that row 0 is the top."""
    pixels = np.empty((layers, HEIGHT, WIDTH, 4), np.float32)
    g.glGetTextureImage(name, 0, g.GL_RGBA, g.GL_FLOAT, pixels.nbytes, ctypes.c_void_p(pixels.ctypes.data))
    return pixels[:, ::-1]


def decode(srgb: np.ndarray) -> np.ndarray:
    """IEC 61966-2-1."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((np.maximum(srgb, 0.04045) + 0.055) / 1.055) ** 2.4)


def encode(light: np.ndarray) -> np.ndarray:
    return np.where(
        light <= 0.0031308, light * 12.92, 1.055 * np.maximum(light, 0.0031308) ** (1 / 2.4) - 0.055
    )


def to_light(image: np.ndarray) -> np.ndarray:
    """Premultiplied sRGB-encoded to premultiplied light."""
    alpha = image[..., 3:]
    color = np.divide(image[..., :3], alpha, out=np.zeros_like(image[..., :3]), where=alpha > 0)
    return np.concatenate([decode(np.clip(color, 0, 1)) * alpha, alpha], axis=-1)


def psnr(image: np.ndarray, expected: np.ndarray) -> float:
    squared = np.square(image - expected).mean(axis=(0, 1))
    return float(-10 * np.log10(max(squared.max(), 1e-12)))


def cloud(seed: int = 0, count: int = 400) -> Splats:
    rng = np.random.default_rng(seed)
    means = rng.uniform(-0.5, 0.5, (count, 3)).astype(np.float32)
    means[:, 1] = np.abs(means[:, 1])  # the lower half stays empty: a picture upside down would show
    colors = rng.uniform(0, 1, (count, 3)).astype(np.float32)
    return Splats.isotropic(means, 0.04, 0.7, colors)


def eye(x: float = 0.0) -> View:
    angles = (-0.45, 0.4, 0.3, -0.33)
    return View.from_pose((x, 0.1, 1.6), (0, 0, 0, 1), angles, (WIDTH, HEIGHT))


@pytest.mark.parametrize("background", [None, GREY])
@pytest.mark.parametrize("encoding", ["srgb", "linear"])
@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_stored_is_the_reference_in_the_targets_encoding(
    kind: str, encoding: Any, background: Any, renderer: SplatRenderer, g: Any
) -> None:
    splats, view = cloud(), eye()
    behind = None if background is None else np.full((HEIGHT, WIDTH, 4), (*background, 1.0))
    expected = reference.render(splats, view, background=behind)
    name = texture(g, kind)
    renderer.draw(splats, [view], [TextureTarget(name, WIDTH, HEIGHT, encoding=encoding)], background)
    found = stored(g, name)[0].astype(np.float64)
    if encoding == "linear":
        expected = to_light(expected)
        if kind == "GL_SRGB8_ALPHA8":  # the driver encodes the product with alpha, and its reader decodes it
            expected[..., :3] = encode(expected[..., :3])
    assert psnr(found, expected) >= 40
    g.glDeleteTextures([name])


def test_an_opaque_picture_has_the_same_bytes_on_an_srgb_texture_as_without_any_conversion(
    renderer: SplatRenderer, g: Any
) -> None:
    plain, srgb = texture(g, "GL_RGBA8"), texture(g, "GL_SRGB8_ALPHA8")
    renderer.draw(cloud(), [eye()], [TextureTarget(plain, WIDTH, HEIGHT)], GREY)
    renderer.draw(cloud(), [eye()], [TextureTarget(srgb, WIDTH, HEIGHT, encoding="linear")], GREY)
    np.testing.assert_array_equal(stored(g, plain), stored(g, srgb))


def test_each_eye_on_its_layer_and_no_other_touched(renderer: SplatRenderer, g: Any) -> None:
    splats, views = cloud(), [eye(-0.2), eye(0.2)]
    array, flat = texture(g, "GL_RGBA8", layers=4), [texture(g, "GL_RGBA8") for _ in views]
    for _ in range(2):  # a GPU knows a frame later that these eyes need orders of their own
        renderer.draw(splats, views, [TextureTarget(array, WIDTH, HEIGHT, layer) for layer in (2, 1)])
        g.glFinish()
    renderer.draw(splats, views, [TextureTarget(name, WIDTH, HEIGHT) for name in flat])
    layers = stored(g, array, 4)
    for layer, name in ((2, flat[0]), (1, flat[1])):
        np.testing.assert_array_equal(layers[layer], stored(g, name)[0])
    assert not np.array_equal(layers[1], layers[2])
    for untouched in (0, 3):
        np.testing.assert_allclose(layers[untouched], np.full((HEIGHT, WIDTH, 4), (1, 0, 1, 0.5)), atol=3e-3)


SWITCHES = ("GL_BLEND", "GL_DEPTH_TEST", "GL_CULL_FACE", "GL_SCISSOR_TEST", "GL_STENCIL_TEST", "GL_DITHER")
NUMBERS = (
    "GL_DRAW_FRAMEBUFFER_BINDING",
    "GL_READ_FRAMEBUFFER_BINDING",
    "GL_CURRENT_PROGRAM",
    "GL_VERTEX_ARRAY_BINDING",
    "GL_BLEND_SRC_RGB",
    "GL_BLEND_DST_ALPHA",
    "GL_BLEND_EQUATION_RGB",
)


def state(g: Any) -> dict[str, object]:
    found: dict[str, object] = {name: bool(g.glIsEnabled(getattr(g, name))) for name in SWITCHES}
    found["srgb"] = bool(g.glIsEnabled(g.GL_FRAMEBUFFER_SRGB))
    found |= {name: int(g.glGetIntegerv(getattr(g, name))) for name in NUMBERS}
    return found | {
        name: list(g.glGetIntegerv(getattr(g, name))) for name in ("GL_VIEWPORT", "GL_COLOR_WRITEMASK")
    }


@pytest.mark.parametrize("on", [False, True])
def test_the_hosts_state_neither_shows_in_the_picture_nor_is_changed(
    on: bool, renderer: SplatRenderer, g: Any
) -> None:
    name = texture(g, "GL_RGBA8")
    target = TextureTarget(name, WIDTH, HEIGHT, encoding="linear")
    renderer.draw(cloud(), [eye()], [target], GREY)
    expected = stored(g, name)

    framebuffers = (ctypes.c_uint32 * 2)()
    g.glCreateFramebuffers(2, framebuffers)
    vertices = ctypes.c_uint32()
    g.glCreateVertexArrays(1, ctypes.byref(vertices))
    program = objects.Program("splat.vert", "splat.frag")
    g.glBindFramebuffer(g.GL_DRAW_FRAMEBUFFER, framebuffers[0])
    g.glBindFramebuffer(g.GL_READ_FRAMEBUFFER, framebuffers[1])
    g.glBindVertexArray(vertices.value)
    program.use()
    g.glViewport(3, 4, 5, 6)
    g.glScissor(0, 0, 1, 1)
    g.glColorMask(True, False, True, False)
    g.glBlendFunc(g.GL_SRC_ALPHA, g.GL_ONE)
    g.glBlendEquation(g.GL_MAX)
    for switch in (*SWITCHES, "GL_FRAMEBUFFER_SRGB"):
        (g.glEnable if on else g.glDisable)(getattr(g, switch))
    try:
        before = state(g)
        renderer.draw(cloud(), [eye()], [target], GREY)
        assert state(g) == before
        renderer.paint(np.zeros((8, 8, 4), np.uint8), TextureTarget(name, 8, 8), over=True)
        assert state(g) == before
        with pytest.raises(gl.GlError):
            renderer.draw(cloud(), [eye()], [TextureTarget(999_999, WIDTH, HEIGHT)])
        assert state(g) == before
        np.testing.assert_array_equal(stored(g, name), expected)
    finally:
        for switch in (*SWITCHES, "GL_FRAMEBUFFER_SRGB"):
            g.glDisable(getattr(g, switch))
        g.glColorMask(True, True, True, True)
        g.glBindFramebuffer(g.GL_FRAMEBUFFER, 0)
        g.glUseProgram(0)
        g.glBindVertexArray(0)
        g.glDeleteFramebuffers(2, list(framebuffers))
        program.release()


def test_a_caption_is_put_over_the_picture_or_in_its_place(renderer: SplatRenderer, g: Any) -> None:
    name = texture(g, "GL_RGBA8")
    renderer.draw(cloud(), [eye()], [TextureTarget(name, WIDTH, HEIGHT)], GREY)
    before = stored(g, name)[0]
    caption = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    caption[:10] = (100, 50, 0, 128)
    renderer.paint(caption, TextureTarget(name, WIDTH, HEIGHT), over=True)
    over = stored(g, name)[0]
    np.testing.assert_array_equal(over[10:], before[10:])
    np.testing.assert_allclose(over[:10], caption[:10] / 255 + before[:10] * (1 - 128 / 255), atol=0.6 / 255)
    renderer.paint(caption, TextureTarget(name, WIDTH, HEIGHT))
    np.testing.assert_allclose(stored(g, name)[0], caption / 255, atol=1e-6)


def test_light_survives_for_every_colour_and_alpha(renderer: SplatRenderer, g: Any) -> None:
    picture = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    rng = np.random.default_rng(1)
    picture[..., 3] = rng.integers(0, 256, (HEIGHT, WIDTH))
    picture[..., :3] = rng.uniform(0, 1, (HEIGHT, WIDTH, 3)) * (picture[..., 3:] + 1.0)
    picture[..., :3] = np.minimum(picture[..., :3], picture[..., 3:])
    name = texture(g, "GL_RGBA16F")
    renderer.paint(picture, TextureTarget(name, WIDTH, HEIGHT, encoding="linear"))
    np.testing.assert_allclose(stored(g, name)[0], to_light(picture / 255.0), atol=1e-3)


BAD = {
    "views.too few": lambda: [TextureTarget(1, WIDTH, HEIGHT)],
    "another size": lambda: [TextureTarget(1, WIDTH, HEIGHT), TextureTarget(1, WIDTH + 1, HEIGHT)],
}


@pytest.mark.parametrize("name", BAD)
def test_targets_must_fit_the_views(name: str, renderer: SplatRenderer, g: Any) -> None:
    with pytest.raises(InvalidInputError, match="targets"):
        renderer.draw(cloud(), [eye(), eye()], BAD[name]())


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("texture", lambda: TextureTarget(0, 8, 8)),
        ("width", lambda: TextureTarget(1, 0, 8)),
        ("height", lambda: WindowTarget(8, 100_000)),
        ("layer", lambda: TextureTarget(1, 8, 8, layer=-1)),
        ("encoding", lambda: TextureTarget(1, 8, 8, encoding="rgb")),  # pyright: ignore[reportArgumentType]
        ("x", lambda: WindowTarget(8, 8, x=-1)),
    ],
)
def test_wrong_targets_are_refused_by_name(field: str, make: Any) -> None:
    with pytest.raises(InvalidInputError, match=f"target.{field}"):
        make()


def test_a_depth_texture_is_refused_with_a_reason(renderer: SplatRenderer, g: Any) -> None:
    name = ctypes.c_uint32()
    g.glCreateTextures(g.GL_TEXTURE_2D, 1, ctypes.byref(name))
    g.glTextureStorage2D(name.value, 1, g.GL_DEPTH_COMPONENT24, WIDTH, HEIGHT)
    with pytest.raises(gl.GlError, match="colour texture"):
        renderer.draw(cloud(), [eye()], [TextureTarget(int(name.value), WIDTH, HEIGHT)])


def test_a_picture_of_another_size_is_refused(renderer: SplatRenderer, g: Any) -> None:
    with pytest.raises(InvalidInputError, match="picture"):
        renderer.paint(np.zeros((8, 9, 4), np.uint8), TextureTarget(1, 8, 8))


def test_without_a_context_the_error_says_so(context: Context) -> None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            SplatRenderer()
        except UnavailableError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert "make one current" in str(errors[0])


def test_textures_that_come_and_go_leave_no_memory(renderer: SplatRenderer, g: Any) -> None:
    def once() -> None:
        name = texture(g, "GL_RGBA16F")
        renderer.draw(cloud(count=10), [eye()], [TextureTarget(name, WIDTH, HEIGHT)])
        g.glDeleteTextures([name])

    for _ in range(50):
        once()
    before = psutil.Process().memory_info().rss
    for _ in range(400):
        once()
    assert (psutil.Process().memory_info().rss - before) / 2**20 < 5
