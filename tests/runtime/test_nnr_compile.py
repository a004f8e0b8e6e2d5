"""``taoxr nnr compile``: arrays and networks become a file, and smaller weights are measured."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr import NnrFormatError, Scene, container, sample_learned
from taoxr_runtime.nnr.cli import app
from taoxr_runtime.nnr.compiler import compile_scene
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.nnr.graph import build
from taoxr_runtime.nnr.mnn.builder import GraphBuilder
from taoxr_runtime.render.egl import Context

pytestmark = pytest.mark.parity

BONES, COEFFICIENTS, MODEL = 6, sample_learned.COEFFICIENTS, 2
WEIGHT = np.random.default_rng(5).normal(0, 0.3, (52 + 4 * BONES, COEFFICIENTS)).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAOXR_HOME", str(tmp_path_factory.mktemp("home")))
        yield


def with_model() -> tuple[dict[str, Any], dict[str, Any]]:
    """The learned sample with a network of the file's own in place of its coefficients."""
    scene, tensors = sample_learned.make(rings=4, per_triangle=2, bones=BONES, degree=1)
    scene["nodes"][MODEL] = {
        "kind": "model", "inputs": ["expression", "pose"], "outputs": ["coefficients"], "tensors": {},
        "attributes": {"output_shapes": [[COEFFICIENTS]], "rate": "animation"},
    }  # fmt: skip
    return scene, {name: array for name, array in tensors.items() if "/coefficients_" not in name}


def network(scale: float = 1.0) -> bytes:
    g = GraphBuilder([(52,), (BONES, 4)])
    row = g.concat([g.inputs[0].reshape(1, -1), g.inputs[1].reshape(1, -1)], 1)
    return g.build([(row @ (WEIGHT * scale)).reshape(COEFFICIENTS)], [(COEFFICIENTS,)])


def expected(scene: Scene) -> np.ndarray:
    return np.concatenate([scene.value("expression"), scene.value("pose").reshape(-1)]) @ WEIGHT


def test_a_network_of_the_files_own_runs_everywhere() -> None:
    compiled = compile_scene(*with_model(), {MODEL: network()}, measure=False)
    file = container.from_bytes(compiled.data)
    scene = Scene(file)
    scene.set("expression", np.linspace(0, 1, 52))
    scene.update()
    assert ("model", "mnn") in {(run.kind, run.backend) for run in scene.trace}
    np.testing.assert_allclose(scene.value("coefficients"), expected(scene), atol=1e-5)
    context = Context()
    on_gpu = GlScene(file)
    on_gpu.set("expression", np.linspace(0, 1, 52))
    on_gpu.update()
    np.testing.assert_allclose(on_gpu.value("coefficients"), expected(scene), atol=1e-5)
    np.testing.assert_allclose(on_gpu.value("means"), scene.value("means"), atol=3e-6)
    on_gpu.release()
    context.release()


def test_reports_what_smaller_weights_cost_per_node() -> None:
    compiled = compile_scene(*with_model(), {MODEL: network()}, precision="int8", tolerance=1.0)
    found = {(e.node, e.precision, e.output): e for e in compiled.errors}
    kinds = {e.kind for e in compiled.errors}
    assert kinds == {"model", "field", "blendshapes", "skinning", "deformer", "sh_color"}
    assert all(e.largest == 0 for e in compiled.errors if e.precision == "fp32")
    full, half, small = (found[MODEL, p, "coefficients"] for p in ("fp32", "fp16", "int8"))
    assert 0 < half.relative < 1e-3 < small.relative < 0.05
    assert full.model_bytes > half.model_bytes > small.model_bytes
    # What was measured is what runs.
    scene = Scene(container.from_bytes(compiled.data))
    off = np.abs(scene.value("coefficients") - expected(scene)).max()
    assert 0 < off < 0.05
    assert {spec.kind: spec.precision for spec in scene.container.scene.nodes} == {
        "splats": "fp32", "sort": "fp32", **dict.fromkeys(kinds, "int8"),
    }  # fmt: skip


def test_nodes_that_smaller_weights_would_spoil_keep_theirs() -> None:
    compiled = compile_scene(*with_model(), {MODEL: network()}, precision="fp16", tolerance=2e-4)
    spoiled = {e.kind for e in compiled.errors if e.precision == "fp16" and e.relative > 2e-4}
    assert 0 < len(spoiled) < 6
    file = container.from_bytes(compiled.data)
    assert {spec.kind for spec in file.scene.nodes if spec.precision == "fp32"} == spoiled | {
        "splats",
        "sort",
    }
    exact, small = Scene(file), Scene(file, "mnn")
    for scene in (exact, small):
        scene.set("expression", np.linspace(0, 1, 52))
    off = np.abs(small.update().means - exact.update().means).max()
    assert off < 0.003


def test_the_command_compiles_a_folder(tmp_path: Path) -> None:
    scene, tensors = with_model()
    (tmp_path / "tensors").mkdir()
    (tmp_path / "models").mkdir()
    (tmp_path / "scene.json").write_text(json.dumps(scene))
    for name, array in tensors.items():
        np.save(tmp_path / name, array)
    (tmp_path / "models" / f"node{MODEL}.onnx").write_bytes(network())
    out = tmp_path / "a.nnr"
    arguments = ["compile", str(tmp_path), "-o", str(out), "--precision", "fp16"]
    result = CliRunner().invoke(app, [*arguments, "--json"])
    report = json.loads(result.output)
    assert report["bytes"] == out.stat().st_size
    assert {e["precision"] for e in report["errors"]} == {"fp32", "fp16", "int8"}
    assert "fp16" in CliRunner().invoke(app, arguments).output
    assert "model" in CliRunner().invoke(app, ["inspect", str(out)]).output
    (tmp_path / "scene.json").write_text("[]")
    assert isinstance(CliRunner().invoke(app, arguments).exception, InvalidInputError)


def test_without_measuring_it_makes_one_file_and_checks_its_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    write = container.to_bytes
    monkeypatch.setattr(container, "to_bytes", lambda *a: made.append(1) or write(*a))
    scene, tensors = with_model()
    scene["nodes"][-1]["inputs"] = ["means", "nothing"]
    with pytest.raises(NnrFormatError, match="nothing before this node makes 'nothing'"):
        compile_scene(scene, tensors, {MODEL: network()}, measure=False)
    assert made == [1]


def test_modules_must_match_the_model_nodes() -> None:
    with pytest.raises(InvalidInputError, match=r"one for each model node: \[2\]"):
        compile_scene(*with_model())
    with pytest.raises(InvalidInputError, match="modules"):
        compile_scene(*sample_learned.make(rings=3), {1: network()})


def hostile(change: Any) -> NnrFormatError:
    scene, tensors = with_model()
    compiled = compile_scene(scene, tensors, {MODEL: network()}, measure=False)
    read = container.from_bytes(compiled.data)
    document = read.scene.model_dump(mode="json", exclude={"tensors", "models"})
    models = dict(read.models)
    change(document["nodes"][MODEL], models)
    with pytest.raises(NnrFormatError) as caught:
        build(container.from_bytes(container.to_bytes(document, dict(read.tensors), models)))
    return caught.value


def test_a_hostile_model_is_an_error_that_names_the_field() -> None:
    entry = f"models/node{MODEL}.mnn"

    def garbage(node: dict[str, Any], models: dict[str, bytes]) -> None:
        models[entry] = b"\0" * 100

    def flipped(node: dict[str, Any], models: dict[str, bytes]) -> None:
        data = bytearray(models[entry])
        for place in range(0, 64):
            data[place] ^= 0xFF
        models[entry] = bytes(data)

    def wrong_shape(node: dict[str, Any], models: dict[str, bytes]) -> None:
        node["attributes"]["output_shapes"] = [[COEFFICIENTS + 1]]

    def absurd(node: dict[str, Any], models: dict[str, bytes]) -> None:
        node["attributes"]["output_shapes"] = [[1 << 20, 1 << 20]]

    def other_inputs(node: dict[str, Any], models: dict[str, bytes]) -> None:
        node["inputs"] = ["expression", "root"]

    def not_there(node: dict[str, Any], models: dict[str, bytes]) -> None:
        node["model"] = "models/none.mnn"

    def none(node: dict[str, Any], models: dict[str, bytes]) -> None:
        node["model"] = None

    where = f"scene.nodes[{MODEL}]"
    for change, field in (
        (garbage, f"{where}.model"),
        (flipped, f"{where}.model"),
        (wrong_shape, f"{where}.attributes.output_shapes[0]"),
        (absurd, f"{where}.attributes.output_shapes[0]"),
        (other_inputs, f"{where}.model"),
        (not_there, f"{where}.model"),
        (none, f"{where}.model"),
    ):
        assert hostile(change).field == field, change


def test_a_damaged_model_entry_is_refused_by_its_hash() -> None:
    data = compile_scene(*with_model(), {MODEL: network()}, measure=False).data
    model = container.from_bytes(data).models[f"models/node{MODEL}.mnn"]
    place = data.index(model) + len(model) // 2
    damaged = bytearray(data)
    damaged[place] ^= 1
    with pytest.raises(NnrFormatError):
        container.from_bytes(bytes(damaged))


def test_compiles_pytorch_modules() -> None:
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(52 + 4 * BONES, COEFFICIENTS, bias=False)
            self.layer.weight.data = torch.from_numpy(WEIGHT.T.copy())

        def forward(self, expression: Any, pose: Any) -> Any:
            return self.layer(torch.cat([expression, pose.reshape(-1)]))

    scene = Scene(container.from_bytes(compile_scene(*with_model(), {MODEL: Net()}, measure=False).data))
    np.testing.assert_allclose(scene.value("coefficients"), expected(scene), atol=1e-5)
