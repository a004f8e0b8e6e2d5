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


def part_of(*layers: tuple[str, tuple[int, ...], int], bias: bool = True) -> Part:
    """A part with layers of these kinds, shapes of weight and strides, an activation behind each."""
    random = np.random.default_rng(1)
    g = OnnxGraph("some")
    first, last = channels(*layers[0][:2])[0], channels(*layers[-1][:2])[1]
    y = g.input("x", [1, first, "time"])
    for kind, shape, stride in layers:
        inputs, outputs = channels(kind, shape)
        weight = (random.standard_normal(shape) / np.sqrt(inputs * shape[2])).astype(np.float32)
        given = [g.constant(random.standard_normal(outputs).astype(np.float32))] if bias else []
        pad = (shape[2] - stride) // 2
        options = {"kernel_shape": shape[2:], "strides": [stride], "pads": [pad, pad]}
        y = g.op("LeakyRelu", g.op(kind, y, g.constant(weight), *given, **options), alpha=0.1)
    g.output("z", y, [1, last, "samples"])
    graph = Graph(onnx.ModelProto.FromString(g.serialized()))
    return graph.part("some", {"x": Port("x", [1, first, "time"])}, {"y": "z"})


def load(path: Path, model: bytes) -> Module:
    path.write_bytes(model)
    convert_onnx(path, path.with_suffix(".mnn"))
    return Module(path.with_suffix(".mnn"), ["x"], ["y"])


UP = ("ConvTranspose", (16, 24, 16), 8)


@pytest.mark.parametrize(
    ("layers", "bias", "written"),
    [
        ([("Conv", (200, 192, 5), 1)], True, "Concat"),  # Winograd
        ([("Conv", (1, 24, 7), 1)], False, "Transpose"),  # one channel
        ([UP, ("Conv", (1, 24, 7), 1)], True, "Transpose"),
        ([("ConvTranspose", (16, 8, 10), 4)], False, "Slice"),  # sub-pixel
        ([("ConvTranspose", (8, 8, 4), 4)], True, "Slice"),
    ],
)
def test_rewritten_layers_are_the_plain_ones(
    tmp_path: Path, layers: list[tuple[str, tuple[int, ...], int]], bias: bool, written: str
) -> None:
    part = part_of(*layers, bias=bias)
    rewritten = faster(part).serialized()
    assert written in {node.op_type for node in onnx.ModelProto.FromString(rewritten).graph.node}
    plain = load(tmp_path / "plain.onnx", part.serialized())
    fast = load(tmp_path / "fast.onnx", rewritten)
    random = np.random.default_rng(2)
    for length in LENGTHS:
        x = random.standard_normal((1, channels(*layers[0][:2])[0], length)).astype(np.float32)
        expected, told = (module.run(x)[0] for module in (plain, fast))
        assert told.shape == expected.shape
        error = ((told - expected) ** 2).sum()
        assert error < (expected**2).sum() * 10 ** (-SNR_DB / 10), length


def test_narrow_layers_stay() -> None:
    for shape in ((64, 64, 5), (192, 192, 3)):
        part = part_of(("Conv", shape, 1))
        kinds = [n.op_type for n in onnx.ModelProto.FromString(faster(part).serialized()).graph.node]
        assert kinds == [n.op_type for n in part.nodes] + ["Identity"]


def test_other_upsampling_is_refused() -> None:
    part = part_of(("ConvTranspose", (8, 8, 11), 4))
    with pytest.raises(ModelError, match="makes other than 4 outputs"):
        faster(part)
