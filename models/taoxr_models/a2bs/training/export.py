"""Writes the trained head as MNN: ``python -m taoxr_models.a2bs.training.export HEAD.npz [OUT.mnn]``.

The graph is written from the arrays, so no PyTorch is needed; weights are stored in half precision.
"""

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import convert_onnx
from taoxr_models.a2bs.articulation import CONTROLS, TABLE
from taoxr_models.a2bs.network import HEAD
from taoxr_models.catalog.recipes.onnx_graph import OnnxGraph

_DILATIONS = (1, 2, 4, 8, 1)


def head_graph(weights: Mapping[str, NDArray[np.float32]]) -> OnnxGraph:
    """``x`` [1, n, width] to ``sounds`` [1, n, rows of the table] and ``curves`` [1, n, controls + 1].

    Args:
        weights: The arrays of `model.Head`.
    """
    g = OnnxGraph("lips_head")
    x = g.input("x", [1, "n", weights["norm.weight"].size])
    x = g.layer_norm(x, weights["norm.weight"], weights["norm.bias"])
    x = g.op("Transpose", x, perm=[0, 2, 1])
    x = g.op("Relu", _convolution(g, x, weights, "enter", 1))
    for i, dilation in enumerate(_DILATIONS):
        x = g.op("Add", x, g.op("Relu", _convolution(g, x, weights, f"layers.{i}", dilation)))
    x = g.op("Transpose", _convolution(g, x, weights, "leave", 1), perm=[0, 2, 1])
    curves = len(CONTROLS) + 1
    logits, rest = g.ops("Split", 2, x, g.integers(len(TABLE), curves), axis=-1)
    g.output("sounds", g.op("Softmax", logits, axis=-1), [1, "n", len(TABLE)])
    g.output("curves", g.op("Sigmoid", rest), [1, "n", curves])
    return g


def _convolution(
    g: OnnxGraph, x: str, weights: Mapping[str, NDArray[np.float32]], name: str, dilation: int
) -> str:
    weight = weights[f"{name}.weight"]
    size = weight.shape[2]
    pad = dilation * (size // 2)
    return g.op(
        "Conv", x, g.constant(weight), g.constant(weights[f"{name}.bias"]),
        kernel_shape=[size], dilations=[dilation], pads=[pad, pad],
    )  # fmt: skip


def main() -> None:
    """Converts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("head", type=Path)
    parser.add_argument("out", type=Path, nargs="?", default=Path(__file__).parent.parent / HEAD)
    arguments = parser.parse_args()
    with np.load(arguments.head) as arrays:
        graph = head_graph(dict(arrays))
    with tempfile.TemporaryDirectory() as folder:
        graph.save(Path(folder) / "head.onnx")
        convert_onnx(Path(folder) / "head.onnx", arguments.out, ["--fp16"])


if __name__ == "__main__":
    main()
