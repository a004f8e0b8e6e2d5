"""Scenes on the GPU against the nodes' float64 references, and what they upload."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr import container, sample, sample_learned
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.nnr.graph import RESULTS
from taoxr_runtime.nnr.scene import Scene
from taoxr_runtime.render import OffscreenRenderer, SplatRenderer, View, look_at, perspective
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.egl import Context

pytestmark = pytest.mark.gl

AVATAR = Path(str(files("taoxr_runtime"))) / "assets" / "default.nnr"
TOLERANCES = {
    "displacement": 1e-7,  # metres
    "coefficients": 1e-6,
    "compensation": 1e-6,
    "shaped": 2e-6,  # metres
    "vertices": 2e-6,
    "bones": 1e-6,
    "frames": 2e-3,  # of triangles down to a tenth of a millimetre
    "means": 3e-6,
    "covariances": 1e-8,  # square metres, of about 5e-6: single precision of vertices 1 m from the origin
    "opacities": 1e-7,
    "colors_srgb": 4e-3,  # a step of 8 bits: drivers approximate powers
}


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    opened = Context()
    yield
    opened.release()


def sample_scene(tmp_path, **sizes: int) -> Container:
    document, tensors = sample.make(**sizes)
    path = tmp_path / "sample.nnr"
    container.write_scene(path, document, tensors)
    return container.read(path)


def inputs_of(scene: GlScene | Scene, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    pose = np.zeros(scene.inputs["pose"])
    pose[:, 3] = 1
    pose[:, :3] = rng.normal(0, 0.05, (len(pose), 3))
    return {
        "expression": rng.uniform(0, 1, scene.inputs["expression"]),
        "pose": pose,
        "root": rng.normal(0, 0.1, 3),
        "camera": np.array([0.2, 1.5, 1.2]),
    } | ({"latent": rng.normal(size=scene.inputs["latent"])} if "latent" in scene.inputs else {})


def expected_values(scene: GlScene, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    values = {name: np.asarray(array, np.float32).astype(np.float64) for name, array in inputs.items()}
    for step in scene.graph.steps:
        outputs = step.node.reference([values[name] for name in step.inputs])
        values.update(zip(step.outputs, outputs, strict=True))
    return values


def learned_scene(**options: Any) -> Container:
    return container.from_bytes(container.to_bytes(*sample_learned.make(**options)))


@pytest.mark.parametrize("kind", ["built", "learned", "relit"])
def test_makes_what_the_nodes_make(tmp_path, kind) -> None:
    made = {
        "built": lambda: sample_scene(tmp_path),
        "learned": lambda: learned_scene(rings=10, bones=30),
        "relit": lambda: learned_scene(rings=4, degree=2, relit=True),
    }
    scene = GlScene(made[kind]())
    for seed in range(3 if kind == "built" else 1):
        inputs = inputs_of(scene, seed)
        for name, array in inputs.items():
            scene.set(name, array)
        scene.update()
        expected = expected_values(scene, inputs)
        for name in expected.keys() & TOLERANCES.keys():
            worst = np.abs(scene.value(name) - expected[name]).max()
            # The sample's largest splats are centimetres wide.
            relative = 3e-4 * np.abs(expected[name]).max() if name == "covariances" else 0
            assert worst <= TOLERANCES[name] + relative, f"{name}: {worst}"
        assert set(RESULTS) <= expected.keys() & TOLERANCES.keys()
    scene.release()


def test_gives_each_eye_its_colours() -> None:
    file = learned_scene(rings=5)
    on_gpu, on_cpu = GlScene(file), Scene(file)
    eyes = np.array([[-0.03, 1.7, 0.9], [0.03, 1.7, 0.9]])
    on_gpu.look_from(eyes)
    splats = on_gpu.update()
    assert splats.eye_stride == 3 * len(splats)
    colors = np.empty((2, len(splats), 3), np.float32)
    splats.colors.read(colors)
    for eye, seen in zip(eyes, colors, strict=True):
        on_cpu.set("camera", eye)
        assert np.abs(on_cpu.update().colors_srgb - seen).max() <= TOLERANCES["colors_srgb"]
    assert np.abs(colors[0] - colors[1]).max() > 0.02
    on_gpu.look_from(eyes)
    on_gpu.update()
    assert on_gpu.trace == ()
    with pytest.raises(InvalidInputError, match="eyes"):
        on_gpu.look_from(np.zeros((5, 3)))
    on_gpu.release()


def test_makes_the_default_avatar_as_numpy_does() -> None:
    file = container.read(AVATAR)
    on_gpu, on_cpu = GlScene(file), Scene(file)
    for scene in (on_gpu, on_cpu):
        for name, array in inputs_of(scene, 4).items():
            scene.set(name, array)
    on_cpu.update()
    on_gpu.update()
    for name in ("means", "covariances", "colors_srgb"):
        off = np.abs(on_gpu.value(name) - on_cpu.value(name))
        # Wet eyes have highlights of shininess 380, which magnify the rounding of a few normals.
        assert np.percentile(off, 99.99) <= TOLERANCES[name], name
        assert off.max() <= 5 * TOLERANCES[name], name
    on_gpu.release()


def test_runs_what_depends_on_what_changed_and_uploads_no_splats(tmp_path) -> None:
    scene = GlScene(sample_scene(tmp_path, rings=16))
    inputs = inputs_of(scene, 0)
    scene.update()
    assert scene.trace == ("splats", "blendshapes", "skinning", "binding", "color", "sort")
    for name, expected, uploaded in (
        ("camera", ("color", "sort"), 0),
        ("pose", ("skinning", "binding", "color", "sort"), 12 * 4 * scene.inputs["pose"][0]),
        ("expression", ("blendshapes", "skinning", "binding", "color", "sort"), None),
    ):
        scene.set(name, inputs[name])
        scene.update()
        assert scene.trace == expected
        most = 4 * (52 + 12 * scene.inputs["pose"][0])
        assert scene.uploaded == (most if uploaded is None else uploaded)
    scene.set("camera", inputs["camera"])
    scene.update()
    assert scene.trace == ()
    scene.release()


@pytest.mark.parametrize("rasterizer", ["quads", "tiles"])
def test_is_drawn_where_it_was_made(tmp_path, rasterizer) -> None:
    file = sample_scene(tmp_path, rings=12)
    view = View(look_at((0.1, 1.65, 0.6), (0, 1.6, 0)), perspective(0.6, 1.0), 128, 128)
    on_gpu, on_cpu = GlScene(file), Scene(file)
    for scene in (on_gpu, on_cpu):
        for name, array in inputs_of(scene, 1).items():
            scene.set(name, array)
    canvas = Canvas(128, 128, "rgba8")
    with SplatRenderer(rasterizer, lists="gpu") as renderer:
        renderer.draw(on_gpu.update(), [view], [canvas])
        image = canvas.read().astype(float)
    with OffscreenRenderer(rasterizer=rasterizer) as offscreen:
        expected = offscreen.render(on_cpu.update(), [view])[0].astype(float)
    assert expected[:, :, 3].mean() > 20
    psnr = -10 * np.log10(np.square((image - expected) / 255).mean())
    assert psnr > 45


def test_the_renderer_leaves_its_colours_alone(tmp_path) -> None:
    scene = GlScene(sample_scene(tmp_path))
    view = View(look_at((0, 1.6, 0.6), (0, 1.6, 0)), perspective(0.6, 1.0), 16, 16)
    splats, canvas = scene.update(), Canvas(16, 16, "rgba8")
    before = scene.value("colors_srgb")
    with SplatRenderer("tiles") as renderer, pytest.raises(InvalidInputError, match="view_colors_srgb"):
        renderer.draw(splats, [view], [canvas], view_colors_srgb=[np.zeros((len(splats), 3), np.float32)])
    np.testing.assert_array_equal(scene.value("colors_srgb"), before)
    scene.release()


def test_refuses_what_the_scene_refuses(tmp_path) -> None:
    scene = GlScene(sample_scene(tmp_path))
    with pytest.raises(InvalidInputError, match="float32"):
        scene.set("camera", np.zeros(4))
    with pytest.raises(InvalidInputError, match="one of"):
        scene.set("lens", np.zeros(3))
    with pytest.raises(InvalidInputError, match="finite"):
        scene.set("root", np.array([0, np.nan, 0]))
    with pytest.raises(InvalidInputError, match="one of"):
        scene.value("order")
    scene.release()
