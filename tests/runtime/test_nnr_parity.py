"""Every node kind: NumPy float32 against its float64 reference, and MNN against NumPy."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from taoxr_runtime import nnr
from taoxr_runtime.nnr import Scene, container, sample, sample_learned
from taoxr_runtime.nnr.mnn import MnnKernel, has_twin
from taoxr_runtime.nnr.nodes import KINDS
from taoxr_runtime.nnr.nodes.base import BLOCK, Reader
from taoxr_runtime.nnr.nodes.sort import Sort
from taoxr_runtime.nnr.schema import NodeSpec
from taoxr_runtime.nnr.thinning import thinned

pytestmark = pytest.mark.parity

# Absolute; lengths in metres, covariances relative to the largest, colours of 0 to 1.
TOLERANCES = {
    "opacities": 1e-6,
    "displacement": 1e-7,
    "coefficients": 1e-6,
    "compensation": 1e-6,
    "shaped": 1e-6,
    "bones": 2e-6,
    "vertices": 2e-6,
    "means": 2e-6,
    "covariances": 1e-5,
    "frames": 2e-5,
    "colors_srgb": 1e-4,  # a fortieth of an 8-bit step: highlights of shininess 380 magnify rounding
}
AVATAR = Path(str(files("taoxr_runtime"))) / "assets" / "default.nnr"


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAOXR_HOME", str(tmp_path_factory.mktemp("home")))
        yield


def scenes() -> dict[str, Scene]:
    # More splats than one block of each kind; single-block; the avatar itself.
    large = sample.make(rings=24, subdivision=4, strands=BLOCK + 100, bones=30)
    small = sample.make(rings=5, subdivision=2, strands=15)
    learned = sample_learned.make(rings=20, bones=30)
    relit = sample_learned.make(rings=5, per_triangle=2, degree=1, relit=True)
    made = {
        name: Scene(container.from_bytes(container.to_bytes(*s)))
        for name, s in (("small", small), ("large", large), ("learned", learned), ("relit", relit))
    }
    fewer = {f"{name} thinned": Scene(thinned(made[name].container, 0.4)) for name in ("small", "relit")}
    return made | fewer | {"avatar": nnr.load(AVATAR)}


@pytest.fixture(
    scope="module", params=["small", "large", "learned", "relit", "small thinned", "relit thinned", "avatar"]
)
def posed(request: pytest.FixtureRequest) -> Scene:
    """A scene with every input away from its default."""
    scene = scenes()[request.param]
    rng = np.random.default_rng(7)
    scene.set("expression", rng.random(52))
    pose = rng.normal(0, 0.05, scene.inputs["pose"])
    pose[:, 3] = 1
    scene.set("pose", pose)
    scene.set("root", np.array([0.05, 0.01, -0.1]))
    scene.set("camera", np.array([0.4, 1.7, 1.1]))
    if "latent" in scene.inputs:
        scene.set("latent", rng.normal(size=scene.inputs["latent"]))
    scene.update()
    return scene


def steps(scene: Scene) -> Iterator[tuple[Any, list[np.ndarray]]]:
    for step in scene.graph.steps:
        yield step, [scene.value(name) for name in step.inputs]


def difference(name: str, a: np.ndarray, b: np.ndarray) -> float:
    scale = float(np.abs(b).max()) if name == "covariances" else 1.0
    return float(np.abs(a - b).max()) / scale


def test_the_samples_have_every_kind() -> None:
    kinds = {step.node.kind for scene in scenes().values() for step in scene.graph.steps}
    # See test_splat_cloud.py and test_nnr_compile.py.
    assert kinds == set(KINDS) - {"cloud", "model"}


def test_float32_against_the_float64_reference(posed: Scene) -> None:
    for step, inputs in steps(posed):
        expected = step.node.reference([x.astype(np.float64) for x in inputs])
        for name, reference in zip(step.outputs, expected, strict=True):
            if name != "order":
                assert difference(name, posed.value(name), reference) <= TOLERANCES[name], name


def test_the_order_agrees_with_the_exact_one_up_to_a_key(posed: Scene) -> None:
    means, camera = (posed.value(n).astype(np.float64) for n in ("means", "camera"))
    exact = posed.graph.steps[-1].node.reference([means, camera])[0].astype(int)
    distance = np.linalg.norm(means - camera, axis=1)
    step = np.ptp(distance) / 65_535
    assert np.abs(distance[posed.value("order")] - distance[exact]).max() <= 1.1 * step


def test_mnn_against_numpy(posed: Scene) -> None:
    twins = 0
    for step, inputs in steps(posed):
        if not has_twin(step.node.kind):
            assert step.node.kind == "splats"
            continue
        twins += 1
        kernel = MnnKernel(step.node, [x.shape for x in inputs])
        outputs = [np.empty_like(posed.value(name)) for name in step.outputs]
        kernel.evaluate(inputs, outputs)
        for name, output in zip(step.outputs, outputs, strict=True):
            if name == "order":
                same_order(output, posed.value(name), *inputs)
            else:
                assert difference(name, output, posed.value(name)) <= TOLERANCES[name], name
    assert twins == len(posed.graph.steps) - 1


def same_order(order: np.ndarray, expected: np.ndarray, means: np.ndarray, camera: np.ndarray) -> None:
    """The same splats, and none farther from its place than a step of the keys, which rounding may move."""
    np.testing.assert_array_equal(np.sort(order), np.arange(len(means)))
    distance = np.linalg.norm(means.astype(np.float64) - camera, axis=1)
    assert np.abs(distance[order] - distance[expected]).max() <= 1.1 * np.ptp(distance) / 65_535


@pytest.mark.parametrize("kind", ["random", "equal", "many equal", "sorted", "reversed", "one"])
def test_mnn_sorts_as_numpy_does_with_ties(kind: str) -> None:
    """Whole numbers of metres on an axis: distances are exact, so that not one index may differ."""
    along = np.random.default_rng(3).integers(0, 900, 5000).astype(np.float32)
    along = {
        "random": along,
        "equal": np.full_like(along, 7),
        "many equal": along % 3,
        "sorted": np.sort(along),
        "reversed": np.sort(along)[::-1],
        "one": along[:1],
    }[kind]
    means = np.zeros((len(along), 3), np.float32)
    means[:, 0] = along
    camera = np.zeros(3, np.float32)
    shapes = [means.shape, camera.shape]
    spec = NodeSpec(kind="sort", inputs=("means", "camera"), outputs=("order",), attributes={}, tensors={})
    node = Sort(Reader("nodes[0]", spec, {}, shapes))
    order = np.empty(len(means), np.int32)
    MnnKernel(node, shapes).evaluate([means, camera], [order])
    np.testing.assert_array_equal(order, np.argsort(-along, kind="stable"))


def test_a_scene_on_mnn_runs_its_worker_and_gives_the_same_splats(tmp_path: Path) -> None:
    path = tmp_path / "a.nnr"
    container.write_scene(path, *sample.make(rings=5, subdivision=2, strands=15))
    numpy, mnn = nnr.load(path), nnr.load(path, backend="mnn")
    for scene in (numpy, mnn):
        scene.set("expression", np.full(52, 0.4))
    splats = mnn.update_async().result(30)
    assert {run.kind: run.backend for run in mnn.trace} == {
        "splats": "numpy", "sort": "mnn",
        "blendshapes": "mnn", "skinning": "mnn", "binding": "mnn", "color": "mnn",
    }  # fmt: skip
    for field in ("means", "covariances", "opacities", "colors_srgb"):
        assert difference(field, getattr(splats, field), getattr(numpy.update(), field)) <= TOLERANCES[field]
    mnn.close()


def test_converted_models_are_cached_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path))
    scene = scenes()["small"]
    step = scene.graph.steps[1]
    shapes = [scene.value(n).shape for n in step.inputs]
    MnnKernel(step.node, shapes)
    (model,) = (tmp_path / "cache" / "nnr").glob("*.mnn")
    good, stamp = model.read_bytes(), model.stat().st_mtime_ns
    MnnKernel(step.node, shapes)
    assert model.stat().st_mtime_ns == stamp
    # A damaged model could crash MNN: it is made again instead of loaded.
    model.write_bytes(good[:-8] + b"\0" * 8)
    kernel = MnnKernel(step.node, shapes)
    assert model.stat().st_size == len(good)
    output = np.empty_like(scene.value("shaped"))
    kernel.evaluate([scene.value("expression")], [output])
    assert difference("shaped", output, scene.value("shaped")) <= TOLERANCES["shaped"]
    assert sorted(p.suffix for p in model.parent.iterdir()) == [".mnn", ".sha256"]
