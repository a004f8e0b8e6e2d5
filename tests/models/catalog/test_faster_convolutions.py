"""Convolutions rewritten for MNN against the plain ones."""

import itertools
from pathlib import Path

import numpy as np
import onnx
import pytest

from taoxr.engine import Module, convert_onnx
from taoxr.errors import ModelError
from taoxr_models.catalog.recipes.onnx_cut import Graph, Part, Port
from taoxr_models.catalog.recipes.onnx_faster import faster, transforms
from taoxr_models.catalog.recipes.onnx_graph import OnnxGraph

pytestmark = pytest.mark.models

SNR_DB = 100.0
LENGTHS = (1, 2, 3, 4, 5, 7, 24, 33)


def test_transforms_filter() -> None:
    random = np.random.default_rng(0)
    for tile, taps in itertools.product((1, 2, 3, 4), (1, 3, 5)):
        kernel, x = random.standard_normal(taps), random.standard_normal(tile + taps - 1)
        to_outputs, of_kernel, of_inputs = transforms(tile, taps)
        told = to_outputs @ ((of_kernel @ kernel) * (of_inputs @ x))
        np.testing.assert_allclose(told, np.correlate(x, kernel, "valid"), atol=1e-12)


def channels(kind: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """Inputs and outputs of a layer with such a weight."""
    return (shape[0], shape[1]) if kind == "ConvTranspose" else (shape[1], shape[0])


def part_of(kind: str, shape: tuple[int, ...], *, stride: int = 1, bias: bool = True) -> Part:
    """A part with one layer, and an activation behind it."""
    random = np.random.default_rng(1)
    g = OnnxGraph("one")
    inputs, outputs = channels(kind, shape)
    x = g.input("x", [1, inputs, "time"])
    weight = g.constant((random.standard_normal(shape) / np.sqrt(inputs * shape[2])).astype(np.float32))
    given = [g.constant(random.standard_normal(outputs).astype(np.float32))] if bias else []
    pad = (shape[2] - stride) // 2
    y = g.op(kind, x, weight, *given, kernel_shape=shape[2:], strides=[stride], pads=[pad, pad])
    g.output("z", g.op("LeakyRelu", y, alpha=0.1), [1, outputs, "samples"])
    graph = Graph(onnx.ModelProto.FromString(g.serialized()))
    return graph.part("one", {"x": Port("x", [1, inputs, "time"])}, {"y": "z"})


def load(path: Path, model: bytes) -> Module:
    path.write_bytes(model)
    convert_onnx(path, path.with_suffix(".mnn"))
    return Module(path.with_suffix(".mnn"), ["x"], ["y"])


@pytest.mark.parametrize(
    ("kind", "shape", "stride", "written"),
    [
        ("Conv", (200, 192, 5), 1, "Concat"),  # Winograd
        ("Conv", (1, 24, 7), 1, "Transpose"),  # one channel
        ("ConvTranspose", (16, 8, 16), 8, "Slice"),  # sub-pixel
        ("ConvTranspose", (16, 8, 10), 4, "Slice"),
        ("ConvTranspose", (8, 8, 4), 4, "Slice"),
    ],
)
def test_rewritten_layers_are_the_plain_ones(
    tmp_path: Path, kind: str, shape: tuple[int, ...], stride: int, written: str
) -> None:
    part = part_of(kind, shape, stride=stride, bias=stride != 8)
    rewritten = onnx.ModelProto.FromString(faster(part).serialized())
    assert written in {node.op_type for node in rewritten.graph.node}
    plain, fast = (
        load(tmp_path / f"{name}.onnx", model)
        for name, model in (("plain", part.serialized()), ("fast", faster(part).serialized()))
    )
    random = np.random.default_rng(2)
    for length in LENGTHS:
        x = random.standard_normal((1, channels(kind, shape)[0], length))
        expected, told = (m.run(x.astype(np.float32))[0] for m in (plain, fast))
        assert told.shape == expected.shape
        error = ((told - expected) ** 2).sum()
        assert error < (expected**2).sum() * 10 ** (-SNR_DB / 10), length


def test_narrow_layers_stay() -> None:
    for shape in ((64, 64, 5), (192, 192, 3)):
        part = part_of("Conv", shape)
        kinds = [n.op_type for n in onnx.ModelProto.FromString(faster(part).serialized()).graph.node]
        assert kinds == [n.op_type for n in part.nodes] + ["Identity"]


def test_other_upsampling_is_refused() -> None:
    part = part_of("ConvTranspose", (8, 8, 11), stride=4)
    with pytest.raises(ModelError, match="makes other than 4 outputs"):
        faster(part)
