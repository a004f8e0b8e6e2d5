"""Depth of a mesh: OpenGL against NumPy, in the state of someone else's context."""

import ctypes
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from taoxr_runtime.demo.stage import load_avatar
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.render import TextureTarget, View, gl, look_at, objects, perspective_from_angles, reference
from taoxr_runtime.render.depth import DepthPass, Mesh, distance, read_depth
from taoxr_runtime.render.egl import Context

pytestmark = pytest.mark.gl

WIDTH, HEIGHT = 96, 80
FORMATS = ["GL_DEPTH_COMPONENT32F", "GL_DEPTH_COMPONENT24", "GL_DEPTH24_STENCIL8", "GL_DEPTH32F_STENCIL8"]
# A texel's step of 24 bits at 2 m, between planes at 0.05 m and 100 m, is 5 micrometres; float32 vertices
# move an edge by less than a thousandth of a pixel.
TOLERANCE_M = 5e-4
EDGE_SHARE = 0.006
"""Pixels whose centre lies so near an edge that either may be right; 0.5 % of a small one on an H200."""


@pytest.fixture(scope="module")
def context() -> Iterator[Context]:
    opened = Context()
    yield opened
    opened.release()


@pytest.fixture
def g(context: Context) -> Iterator[Any]:
    context.make_current()
    yield gl.gl()
    gl.check("test")


def texture(g: Any, kind: str, layers: int = 0) -> int:
    name = ctypes.c_uint32()
    g.glCreateTextures(g.GL_TEXTURE_2D_ARRAY if layers else g.GL_TEXTURE_2D, 1, ctypes.byref(name))
    if layers:
        g.glTextureStorage3D(name.value, 1, getattr(g, kind), WIDTH, HEIGHT, layers)
    else:
        g.glTextureStorage2D(name.value, 1, getattr(g, kind), WIDTH, HEIGHT)
    return int(name.value)


def soup(seed: int, count: int = 60) -> Mesh:
    """Triangles of all sizes that pierce each other."""
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-0.6, 0.6, (count, 1, 3))
    vertices = (middles + rng.normal(0, 0.2, (count, 3, 3))).reshape(-1, 3).astype(np.float32)
    return Mesh(vertices, rng.permutation(3 * count).reshape(count, 3))


def views(far: float = 100.0) -> list[View]:
    lens = perspective_from_angles(-0.6, 0.45, 0.5, -0.4, far=far)
    return [View(look_at((x, 0.3, 2.0), (x, 0, 0), roll=x), lens, WIDTH, HEIGHT) for x in (-0.1, 0.1)]


def compare(found: np.ndarray, wanted: np.ndarray) -> None:
    on_both = np.isfinite(found) & np.isfinite(wanted)
    assert on_both.mean() > 0.1
    assert (np.isfinite(found) != np.isfinite(wanted)).mean() <= EDGE_SHARE
    off = np.abs(found[on_both] - wanted[on_both]) > TOLERANCE_M
    assert off.mean() <= EDGE_SHARE


@pytest.mark.parity
@pytest.mark.parametrize("format", FORMATS)
def test_agrees_with_the_reference(g: Any, format: str) -> None:
    drawing = DepthPass()
    targets = [TextureTarget(texture(g, format), WIDTH, HEIGHT) for _ in range(2)]
    for seed in range(3):
        mesh = soup(seed)
        drawing.draw(mesh, views(), targets)
        for view, target in zip(views(), targets, strict=True):
            found = distance(read_depth(target), view.near, view.far)
            compare(found, reference.distances(np.asarray(mesh.vertices), mesh.triangles, view))
    drawing.release()
    g.glDeleteTextures(2, [target.texture for target in targets])


@pytest.mark.parity
def test_draws_on_layers_and_parts_of_them_from_a_buffer(g: Any) -> None:
    drawing, name = DepthPass(), texture(g, FORMATS[0], layers=2)
    small = [View(v.world_to_view, v.projection, WIDTH // 2, HEIGHT // 2) for v in views()]
    targets = [TextureTarget(name, WIDTH // 2, HEIGHT // 2, layer) for layer in range(2)]
    mesh, vertices = soup(5), objects.Buffer()
    vertices.write(np.asarray(mesh.vertices))
    drawing.draw(Mesh(vertices, mesh.triangles), small, targets)
    for view, target in zip(small, targets, strict=True):
        found = distance(read_depth(target), view.near, view.far)
        compare(found, reference.distances(np.asarray(mesh.vertices), mesh.triangles, view))
    drawing.release()
    vertices.release()
    g.glDeleteTextures(1, [name])


def test_leaves_the_context_as_it_was(g: Any) -> None:
    drawing, target = DepthPass(), TextureTarget(texture(g, FORMATS[0]), WIDTH, HEIGHT)
    g.glDepthMask(False)
    g.glDepthFunc(g.GL_GREATER)
    g.glEnable(g.GL_CULL_FACE)
    drawing.draw(soup(0), views()[:1], [target])
    assert not g.glGetBooleanv(g.GL_DEPTH_WRITEMASK)
    assert gl.integer(g.GL_DEPTH_FUNC) == int(g.GL_GREATER)
    assert g.glIsEnabled(g.GL_CULL_FACE)
    assert not g.glIsEnabled(g.GL_DEPTH_TEST)
    g.glDepthMask(True)
    g.glDepthFunc(g.GL_LESS)
    g.glDisable(g.GL_CULL_FACE)
    drawing.release()
    g.glDeleteTextures(1, [target.texture])


def test_refuses_what_is_no_depth_texture(g: Any) -> None:
    drawing, target = DepthPass(), TextureTarget(texture(g, "GL_RGBA8"), WIDTH, HEIGHT)
    with pytest.raises(gl.GlError, match="cannot draw depth on"):
        drawing.draw(soup(0), views()[:1], [target])
    drawing.release()
    g.glDeleteTextures(1, [target.texture])


@pytest.mark.unit
@pytest.mark.parametrize("far", [3.0, 100.0, math.inf])
def test_planes_are_read_back(far: float) -> None:
    view = views(far)[0]
    assert view.far == pytest.approx(far)
    for metres in (0.06, 1.0, 2.5):
        clip = view.projection @ [0, 0, -metres, 1]
        depth = np.array([(clip[2] / clip[3] + 1) / 2, 1.0])
        assert distance(depth, view.near, view.far) == pytest.approx([metres, math.inf])


def test_the_avatars_mesh_is_where_its_splats_are(g: Any) -> None:
    scene = load_avatar(None)
    expression = np.zeros(52, np.float32)
    expression[scene.rig.blendshapes.index("jawOpen")] = 0.7
    on_gpu = GlScene(scene.container, graph=scene.graph)
    for one in (scene, on_gpu):
        one.set("expression", expression)
        one.set("root", np.array([0.3, 0.1, -0.2], np.float32))
    splats = scene.update()
    on_gpu.update()
    assert scene.mesh is not None
    assert on_gpu.mesh is not None
    drawing, target = DepthPass(), TextureTarget(texture(g, FORMATS[0]), WIDTH, HEIGHT)
    lens = perspective_from_angles(-0.5, 0.5, 0.5, -0.5)
    view = View(look_at((0.3, 1.2, 1.8), (0.3, 1.1, 0)), lens, WIDTH, HEIGHT)
    found = []
    for mesh in (scene.mesh, on_gpu.mesh):
        drawing.draw(mesh, [view], [target])
        found.append(distance(read_depth(target), view.near, view.far))
    compare(found[1], found[0])
    # The nearest splats of a pixel lie on it, or are hair in front.
    seen = splats.means @ view.world_to_view[:3, :3].T + view.world_to_view[:3, 3]
    x = (view.principal[0] + view.focal[0] * seen[:, 0] / -seen[:, 2]).astype(int)
    y = (view.principal[1] - view.focal[1] * seen[:, 1] / -seen[:, 2]).astype(int)
    inside = (x >= 0) & (x < WIDTH) & (y >= 0) & (y < HEIGHT)
    nearest = np.full((HEIGHT, WIDTH), np.inf)
    np.minimum.at(nearest, (y[inside], x[inside]), -seen[inside, 2])
    both = np.isfinite(nearest) & np.isfinite(found[0])
    assert both.sum() > 500
    assert np.mean(np.abs(nearest[both] - found[0][both]) < 0.03) > 0.9
    drawing.release()
    on_gpu.release()
    scene.close()
    g.glDeleteTextures(1, [target.texture])
