"""Compiles arrays and networks into a `.nnr` file, and measures what smaller weights cost.

>>> compiled = compile_scene(scene, tensors, modules={5: my_torch_module}, precision="fp16")
>>> path.write_bytes(compiled.data)

Standard nodes stay arrays in the file: MNN models are made of them where they run. Networks become MNN models
here, and MNN reads those as they are.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast, get_args

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Session
from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime.nnr import container
from taoxr_runtime.nnr.graph import Graph, build
from taoxr_runtime.nnr.mnn import MnnKernel, converted, has_weights
from taoxr_runtime.nnr.scene import Scene
from taoxr_runtime.nnr.schema import Precision

PRECISIONS: Final = get_args(Precision)
_OPSET: Final = 17


@dataclass(frozen=True)
class NodeError:
    """What one precision of one node's weights costs.

    Attributes:
        node: Its number in the graph.
        kind: Its kind.
        precision: Of its weights.
        model_bytes: Size of the MNN model.
        output: A value that it makes.
        largest: Largest absolute difference from float32 weights.
        relative: The same, as a part of the largest absolute value.
    """

    node: int
    kind: str
    precision: Precision
    model_bytes: int
    output: str
    largest: float
    relative: float


@dataclass(frozen=True)
class Compiled:
    """A compiled scene.

    Attributes:
        data: The file.
        errors: One entry for each node, precision and output.
    """

    data: bytes
    errors: tuple[NodeError, ...]

    def report(self) -> list[dict[str, Any]]:
        """The errors as JSON has them."""
        return [asdict(error) for error in self.errors]


def compile_scene(
    scene: Mapping[str, Any],
    tensors: Mapping[str, NDArray[Any]],
    modules: Mapping[int, Any] | None = None,
    *,
    precision: Precision = "fp32",
    tolerance: float = 0.02,
    measure: bool = True,
    seed: int = 1,
) -> Compiled:
    """Makes a `.nnr` file of arrays and networks.

    Args:
        scene: ``scene.json`` as `container.write_scene` takes it; nodes of the kind ``model`` name none yet.
        tensors: Arrays of the standard nodes by entry name, ``tensors/x.npy``.
        modules: For the number of each ``model`` node a PyTorch module, or the bytes of an ONNX model with
            inputs ``in0``, ... and outputs ``out0``, ... A module takes its inputs as the graph has them,
            without a batch.
        precision: Of the weights, for every node that has an MNN model and does not say itself.
        tolerance: Largest difference from float32 weights, as a part of the largest value, of any of a node's
            outputs, up to which the node gets that precision; others keep float32. Some must: no frame of a
            triangle survives that the smallest area becomes zero in 16 bits.
        measure: Whether to compare all precisions of every node with float32; if not, none is kept back.
        seed: Of the inputs of that comparison.

    Raises:
        NnrFormatError: The scene breaks the format.
        ModelError: MNN cannot convert a network.
        InvalidInputError: A module for a node that is no model, or none for one that is.
        UnavailableError: PyTorch is needed and not installed.
    """
    document = {**scene, "nodes": [dict(node) for node in scene["nodes"]]}
    given = dict(modules or {})
    wanted = {i for i, node in enumerate(document["nodes"]) if node.get("kind") == "model"}
    if set(given) != wanted:
        raise InvalidInputError("modules", sorted(given), f"one for each model node: {sorted(wanted)}")
    shapes = _shapes_by_value(document)
    onnx = {i: _as_onnx(module, document["nodes"][i], shapes) for i, module in given.items()}
    for i in onnx:
        document["nodes"][i]["model"] = f"models/node{i}.mnn"
    plain: bytes | None = None
    errors: list[NodeError] = []
    if measure:
        plain = container.to_bytes(document, tensors, _models(document, onnx, "fp32"))
        errors = _errors(Scene(container.from_bytes(plain)), onnx, seed)
    for i, node in enumerate(document["nodes"]):
        worst = max((e.relative for e in errors if e.node == i and e.precision == precision), default=0.0)
        if precision != "fp32" and (i in onnx or has_weights(str(node.get("kind")))) and worst <= tolerance:
            node.setdefault("precision", precision)
    data = container.to_bytes(document, tensors, _models(document, onnx))
    if data != plain:
        build(container.from_bytes(data))
    return Compiled(data, tuple(errors))


def _models(
    document: Mapping[str, Any], onnx: Mapping[int, bytes], precision: Precision | None = None
) -> dict[str, bytes]:
    """The networks as MNN models by entry name, with the nodes' own precision or the one given."""
    nodes = document["nodes"]
    return {
        nodes[i]["model"]: converted(model, precision or nodes[i].get("precision", "fp32")).read_bytes()
        for i, model in onnx.items()
    }


def read_source(folder: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]], dict[int, bytes]]:
    """What ``taoxr nnr compile`` takes: ``scene.json``, ``tensors/*.npy``, and ``models/node<i>.onnx``.

    Raises:
        InvalidInputError: The folder lacks ``scene.json``, or it or an array cannot be read.
    """
    try:
        scene: Any = json.loads((folder / "scene.json").read_text(encoding="utf-8"))
        tensors = {
            f"tensors/{path.name}": np.load(path, allow_pickle=False)
            for path in sorted((folder / "tensors").glob("*.npy"))
        }
        modules = {
            int(path.stem.removeprefix("node")): path.read_bytes()
            for path in sorted((folder / "models").glob("node*.onnx"))
        }
    except (OSError, ValueError) as error:
        raise InvalidInputError("source", f"{folder}: {error}", "a folder with scene.json") from error
    if not (isinstance(scene, dict) and "inputs" in scene and "nodes" in scene):
        raise InvalidInputError("source", str(folder / "scene.json"), "an object with inputs and nodes")
    return cast("dict[str, Any]", scene), tensors, modules


def _shapes_by_value(document: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Shapes of the inputs, and of what model nodes make; others are known only when the scene is built."""
    shapes: dict[str, tuple[int, ...]] = {s["name"]: tuple(s["shape"]) for s in document["inputs"]}
    for node in document["nodes"]:
        if node.get("kind") == "model":
            made: list[list[int]] = node["attributes"]["output_shapes"]
            shapes |= {name: tuple(shape) for name, shape in zip(node["outputs"], made, strict=True)}
    return shapes


def _as_onnx(module: Any, node: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> bytes:
    if isinstance(module, bytes):
        return module
    try:
        torch: Any = import_module("torch")
    except ModuleNotFoundError as error:
        raise UnavailableError("PyTorch is not installed: pip install 'taoxr[avatar]'") from error
    unknown = [name for name in node["inputs"] if name not in shapes]
    if unknown:
        raise InvalidInputError("modules", unknown, "values that inputs or other models make")
    examples: tuple[Any, ...] = tuple(torch.zeros(shapes[name]) for name in node["inputs"])
    target = io.BytesIO()
    with torch.no_grad():
        torch.onnx.export(
            module.eval(),
            examples,
            target,
            input_names=[f"in{i}" for i in range(len(examples))],
            output_names=[f"out{i}" for i in range(len(node["outputs"]))],
            opset_version=_OPSET,
            dynamo=False,
        )
    return target.getvalue()


def _errors(scene: Scene, onnx: Mapping[int, bytes], seed: int) -> list[NodeError]:
    """Every node with an MNN model, on the values that seeded inputs lead to."""
    rng = np.random.default_rng(seed)
    for name, shape in scene.inputs.items():
        value = scene.value(name) + rng.normal(0, 0.05, shape)
        scene.set(name, np.clip(value, 0, 1) if name == "expression" else value)
    scene.update()
    errors: list[NodeError] = []
    for i, step in enumerate(scene.graph.steps):
        if i not in onnx and not has_weights(step.node.kind):
            continue
        inputs = [scene.value(name) for name in step.inputs]
        exact: list[NDArray[np.float32]] | None = None
        for precision in PRECISIONS:
            path, outputs = _run(scene.graph, i, onnx.get(i), precision, inputs)
            exact = outputs if exact is None else exact
            for name, output, reference in zip(step.outputs, outputs, exact, strict=True):
                largest = float(np.abs(output - reference).max())
                size = float(np.abs(reference).max())
                relative = largest / size if size else 0.0
                errors.append(
                    NodeError(i, step.node.kind, precision, path.stat().st_size, name, largest, relative)
                )
    return errors


def _run(
    graph: Graph,
    i: int,
    onnx: bytes | None,
    precision: Precision,
    inputs: Sequence[NDArray[np.float32]],
) -> tuple[Path, list[NDArray[np.float32]]]:
    node = graph.steps[i].node
    outputs = [np.empty(shape, np.float32) for shape in node.output_shapes]
    if onnx is None:
        kernel = MnnKernel(node, [x.shape for x in inputs], precision)
        kernel.evaluate(inputs, outputs)
        return kernel.path, outputs
    path = converted(onnx, precision)
    session = Session(path, {f"in{k}": x.shape for k, x in enumerate(inputs)})
    results = session.run({f"in{k}": x for k, x in enumerate(inputs)})
    return path, [results[f"out{k}"].copy() for k in range(len(outputs))]
