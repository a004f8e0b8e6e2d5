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
from taoxr_runtime.nnr.gl import GlScene, GlStage
from taoxr_runtime.nnr.graph import RESULTS
from taoxr_runtime.nnr.scene import Scene
from taoxr_runtime.render import OffscreenRenderer, SplatRenderer, View, look_at, perspective
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.objects import Buffer
from taoxr_runtime.render.sorting import back_to_front
from taoxr_runtime.splats import Splats
from taoxr_runtime.stage import Placed, gather

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


@pytest.mark.parametrize("kind", ["built", "learned"])
def test_gives_each_eye_its_colours(tmp_path, kind) -> None:
    file = learned_scene(rings=5) if kind == "learned" else sample_scene(tmp_path)
    beside = Splats.isotropic(np.zeros((5, 3), np.float32), 0.01, 0.5, np.full(3, 0.25, np.float32))
    on_gpu, on_cpu = GlScene(file, beside), Scene(file)
    eyes = np.array([[-0.03, 1.7, 0.9], [0.03, 1.7, 0.9]])
    on_gpu.look_from(eyes)
    splats = on_gpu.update()
    assert splats.eye_stride == 3 * len(splats)
    colors = np.empty((2, len(splats), 3), np.float32)
    splats.colors.read(colors)
    for eye, seen in zip(eyes, colors, strict=True):
        on_cpu.set("camera", eye)
        assert np.abs(on_cpu.update().colors_srgb - seen[:-5]).max() <= TOLERANCES["colors_srgb"]
        np.testing.assert_array_equal(seen[-5:], 0.25)
    assert np.abs(colors[0] - colors[1]).max() > 0.02
    on_gpu.look_from(eyes)
    on_gpu.update()
    assert on_gpu.trace == ()
    with pytest.raises(InvalidInputError, match="eyes"):
        on_gpu.look_from(np.zeros((5, 3)))
    on_gpu.release()


def test_makes_the_default_avatar_as_numpy_does() -> None:
    file = container.read(AVATAR)
    on_cpu = Scene(file)
    on_gpu = GlScene(file, graph=on_cpu.graph)
    assert on_gpu.graph is on_cpu.graph
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


def test_halves_are_what_the_file_holds() -> None:
    file = learned_scene(rings=5)
    as_halves, as_floats = GlScene(file), GlScene(file, halves=False)
    for scene in (as_halves, as_floats):
        for name, array in inputs_of(scene, 2).items():
            scene.set(name, array)
        scene.update()
    for name in RESULTS:
        np.testing.assert_allclose(as_halves.value(name), as_floats.value(name), atol=1e-6)
    as_halves.release()
    as_floats.release()


def test_a_frame_uploads_nothing_per_splat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every byte that goes to the GPU goes through Buffer.write, for the scene and for the renderer."""
    written: list[int] = []
    write = Buffer.write

    def counted(self: Buffer, data: np.ndarray, offset: int = 0) -> None:
        written.append(data.nbytes)
        write(self, data, offset)

    eyes = [View(look_at((x, 1.65, 0.6), (x, 1.6, 0)), perspective(0.6, 1.0), 64, 64) for x in (-0.03, 0.03)]
    canvases = [Canvas(64, 64, "rgba8") for _ in eyes]
    per_frame: list[int] = []
    for rings in (8, 16):
        means = np.zeros((100 * rings, 3), np.float32)
        beside = Splats.isotropic(means, 0.01, 0.5, np.full(3, 0.25, np.float32))
        scene = GlScene(learned_scene(rings=rings, bones=12), beside)
        with SplatRenderer("tiles", lists="gpu") as renderer:
            for frame in range(4):
                for name, array in inputs_of(scene, frame).items():
                    scene.set(name, array)
                with monkeypatch.context() as patch:
                    patch.setattr(Buffer, "write", counted)
                    written.clear()
                    scene.look_from(np.array([view.position for view in eyes]) + 1e-3 * frame)
                    renderer.draw(scene.update(), eyes, canvases)
                    if frame:
                        assert scene.uploaded <= sum(written)
                        per_frame.append(sum(written))
        scene.release()
    # Weights of 52 shapes, 12 bones, 28 coefficients, the field's first layer, and what the renderer tells of
    # two views: the same for 900 splats and for 3,800.
    assert max(per_frame) < 4096
    assert len(set(per_frame)) == 1


def turned(degrees: float, *move: float) -> np.ndarray:
    model, angle = np.eye(4), np.radians(degrees)
    model[:3, :3] = [[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]]
    model[:3, 3] = move
    return model


def test_scenes_of_a_stage_are_blended_together(tmp_path) -> None:
    # Two balls that run into each other.
    places = [turned(0, 0, 0, 0), turned(70, 0.1, 0.02, 0.03)]
    file = sample_scene(tmp_path, rings=12)
    stage = GlStage([Placed(file, model) for model in places])
    camera = np.array([0.3, 1.65, 0.7])
    drawn: list[Placed[Splats]] = []
    for i, (scene, model) in enumerate(zip(stage.scenes, places, strict=True)):
        inputs = {
            name: array for name, array in inputs_of(scene, i).items() if name in ("pose", "expression")
        }
        on_cpu = Scene(file)
        for name, array in inputs.items():
            scene.set(name, array)
            on_cpu.set(name, array)
        scene.set("camera", camera)
        on_cpu.set("camera", np.linalg.inv(model)[:3] @ [*camera, 1])
        drawn.append(Placed(on_cpu.update(), model))
    splats, together = stage.update(), gather(drawn)
    made = splats.read()
    np.testing.assert_allclose(made.means, together.means, atol=5e-6)
    np.testing.assert_allclose(made.covariances, together.covariances, atol=1e-7)
    np.testing.assert_array_equal(made.opacities, together.opacities)
    half = len(together) // 2
    # Lights stay where they are when a body turns: only the one that was not turned looks as alone.
    np.testing.assert_allclose(made.colors_srgb[:half], together.colors_srgb[:half], atol=4e-3)
    view = View(look_at(tuple(camera), (0.05, 1.6, 0)), perspective(0.6, 1.0), 128, 128)
    canvas = Canvas(128, 128, "rgba8")
    with SplatRenderer("tiles", lists="gpu") as renderer:
        renderer.draw(splats, [view], [canvas])
        image = canvas.read().astype(float)
    with OffscreenRenderer(rasterizer="tiles") as offscreen:
        expected = offscreen.render(made, [view])[0].astype(float)
        one_after_another = [
            *back_to_front(made.means[half:], camera) + half,
            *back_to_front(made.means[:half], camera),
        ]
        apart = offscreen.render(made, [view], order=np.array(one_after_another))[0].astype(float)

    def psnr(picture: np.ndarray) -> float:
        return -10 * np.log10(np.square((picture - expected) / 255).mean())

    assert psnr(image) > 45
    assert psnr(apart) < 35
    stage.release()


def test_a_stage_refuses_what_it_cannot_place(tmp_path) -> None:
    file = sample_scene(tmp_path)
    with pytest.raises(InvalidInputError, match="at least one"):
        GlStage([])
    for bad in (2 * np.eye(4), np.diag([-1.0, 1, 1, 1]), np.full((4, 4), np.nan), np.eye(3)):
        with pytest.raises(InvalidInputError, match=r"placed\[0\].model"):
            GlStage([Placed(file, bad)])
