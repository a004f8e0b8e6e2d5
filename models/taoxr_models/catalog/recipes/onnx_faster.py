"""Writes convolutions over time in forms that take fewer multiplications, or that MNN is faster at.

All forms are exact: they differ from the plain ones by the rounding of float32 (110 dB and more below the
signal).

- A transposed convolution becomes a convolution to one channel per phase, whose phases are then put one
  after the other in time (sub-pixel convolution: Shi et al. 2016, "Real-Time Single Image and Video
  Super-Resolution Using an Efficient Sub-Pixel Convolutional Neural Network").
- A wide convolution becomes products of transformed tiles (Winograd, "Arithmetic Complexity of Computations",
  1980; Lavin and Gray 2016, "Fast Algorithms for Convolutional Neural Networks"): for a kernel of 5, 8
  products give 4 outputs in place of 20. MNN does the same by itself, but only for square kernels.
- A convolution to one channel makes the outputs of several times at once, since MNN computes channels in
  groups of 8.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import onnx
from numpy.polynomial import polynomial
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from taoxr.errors import ModelError
from taoxr_models.catalog.recipes.onnx_cut import Part
from taoxr_models.catalog.recipes.onnx_graph import OnnxGraph

Array = NDArray[np.float64]

# Transforms cost so much that narrow convolutions, or those of few taps, are better left alone.
_WIDE: Final = 192
_TAPS: Final = 5
_TILE: Final = 4
"""Outputs of a tile."""
# Where the polynomials are evaluated: small numbers and their inverses lose least in float32.
_POINTS: Final = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5)


def faster(part: Part) -> OnnxGraph:
    """A part with its wide and its transposed convolutions rewritten.

    Raises:
        ModelError: A transposed convolution is not of the kind that upsamples by its stride.
    """
    graph = OnnxGraph(part.name)
    names = {name: graph.input(name, port.dims, port.kind) for name, port in part.inputs.items()}
    names |= {"": ""}
    names |= {name: graph.constant(numpy_helper.to_array(t)) for name, t in part.constants.items()}
    for node in part.nodes:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        given = [names[i] for i in node.input]
        if (conv := _Conv.of(node, attributes, part)) is not None:
            names[node.output[0]] = conv.write(graph, given[0], part.reach.factor)
        else:
            made = graph.ops(node.op_type, len(node.output), *given, **attributes)
            names.update(zip(node.output, made, strict=True))
    for name in part.outputs:
        graph.output(name, names[name], None)
    return graph


@dataclass(frozen=True)
class _Conv:
    """A convolution over the last of three axes that is to be written otherwise.

    Attributes:
        weight: float32 [out, in, taps], or [in, out, taps] of a transposed one.
        bias: float32 [out].
        pad: Zeros before and after; of a transposed one, outputs left out there.
        stride: Of a transposed one; else 0.
    """

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    pad: int
    stride: int = 0

    @classmethod
    def of(cls, node: onnx.NodeProto, attributes: dict[str, Any], part: Part) -> "_Conv | None":
        """The node's convolution; None for what stays as it is."""
        if node.op_type not in ("Conv", "ConvTranspose") or node.input[1] not in part.constants:
            return None
        weight = numpy_helper.to_array(part.constants[node.input[1]])
        plain = attributes.get("group", 1) == 1 and list(attributes.get("dilations", [1])) == [1]
        transposed = node.op_type == "ConvTranspose"
        if weight.ndim != 3 or not plain:
            return None
        wide = min(weight.shape[:2]) >= _WIDE and weight.shape[2] == _TAPS
        if not transposed and not wide and weight.shape[0] > 1:
            return None
        bias = np.zeros(weight.shape[1 if transposed else 0], np.float32)
        if len(node.input) > 2:
            bias = numpy_helper.to_array(part.constants[node.input[2]])
        pads, (stride,) = attributes.get("pads", [0, 0]), attributes.get("strides", [1])
        if not transposed:
            same = list(pads) == [(weight.shape[2] - 1) // 2] * 2 and weight.shape[2] % 2 and stride == 1
            return cls(weight, bias, pads[0]) if same else None
        if weight.shape[2] - sum(pads) != stride or pads[0] != pads[1] or "output_padding" in attributes:
            raise ModelError(
                f"{node.name} makes other than {stride} outputs of an input: no VITS that is known here"
            )
        return cls(weight, bias, pads[0], stride)

    def write(self, graph: OnnxGraph, x: str, factor: int) -> str:
        """Adds the nodes to a part that upsamples by a factor; returns the result."""
        if self.stride:
            return _subpixel(graph, x, self)
        return _winograd(graph, x, self) if len(self.weight) > 1 else _one_channel(graph, x, self, factor)


def _subpixel(graph: OnnxGraph, x: str, conv: _Conv) -> str:
    inputs, outputs, size = conv.weight.shape
    taps = -(-size // conv.stride)
    phases = np.zeros((inputs, outputs, taps * conv.stride), np.float32)
    phases[..., :size] = conv.weight
    # Output stride * q + r is the sum over j of x[q - j] with the weight r + stride * j.
    phases = phases.reshape(inputs, outputs, taps, conv.stride)[:, :, ::-1]
    weight = phases.transpose(1, 3, 0, 2).reshape(outputs * conv.stride, inputs, taps)
    bias = graph.constant(np.repeat(conv.bias, conv.stride))
    y = graph.op("Conv", x, graph.constant(weight), bias, kernel_shape=[taps], pads=[taps - 1] * 2)
    y = graph.op("Reshape", y, graph.integers(1, outputs, conv.stride, -1))
    y = graph.op("Transpose", y, perm=[0, 1, 3, 2])
    y = graph.op("Reshape", y, graph.integers(1, outputs, -1))
    # The convolution told (taps - 1) * stride outputs more than there are; the pad is left out in front.
    rest = (taps - 1) * conv.stride - conv.pad
    end = graph.integers(-rest if rest else np.iinfo(np.int64).max)
    return graph.op("Slice", y, graph.integers(conv.pad), end, graph.integers(2))


def _one_channel(graph: OnnxGraph, x: str, conv: _Conv, count: int) -> str:
    """The length of `x` is a multiple of `count`."""
    _, inputs, taps = conv.weight.shape
    weight = np.zeros((count, inputs, count + taps - 1), np.float32)
    for i in range(count):
        weight[i, :, i : i + taps] = conv.weight[0]
    shape: dict[str, Any] = {"kernel_shape": weight.shape[2:], "strides": [count], "pads": [conv.pad] * 2}
    bias = graph.constant(np.repeat(conv.bias, count))
    y = graph.op("Conv", x, graph.constant(weight), bias, **shape)
    return graph.op("Reshape", graph.op("Transpose", y, perm=[0, 2, 1]), graph.integers(1, 1, -1))


def _winograd(graph: OnnxGraph, x: str, conv: _Conv) -> str:
    outputs, inputs, taps = conv.weight.shape
    to_outputs, of_kernel, of_inputs = transforms(_TILE, taps)
    products = len(of_kernel)
    # One after the other: the order in which a library adds up depends on the processor, and so would the
    # bytes of the model.
    kernels = sum(np.multiply.outer(of_kernel[:, k], conv.weight[..., k]) for k in range(taps))
    row = graph.op("Unsqueeze", x, graph.integers(2))
    # As many tiles as cover all outputs; what is beyond them is cut off at the end.
    pads = [0, conv.pad, 0, conv.pad + _TILE - 1]
    tiles: list[str] = []
    for transform, kernel in zip(of_inputs, np.asarray(kernels), strict=True):
        spread = _per_channel(transform, inputs, [1, products])
        shape: dict[str, Any] = {"kernel_shape": [1, products], "strides": [1, _TILE], "pads": pads}
        tile = graph.op("Conv", row, graph.constant(spread), group=inputs, **shape)
        weight = graph.constant(kernel.astype(np.float32)[..., None, None])
        tiles.append(graph.op("Conv", tile, weight, kernel_shape=[1, 1]))
    stacked = graph.op("Concat", *tiles, axis=2)
    bias = graph.constant(conv.bias)
    told: list[str] = []
    for transform in to_outputs:
        spread = graph.constant(_per_channel(transform, outputs, [products, 1]))
        y = graph.op("Conv", stacked, spread, bias, group=outputs, kernel_shape=[products, 1])
        told.append(graph.op("Reshape", y, graph.integers(1, outputs, -1, 1)))
    y = graph.op("Reshape", graph.op("Concat", *told, axis=3), graph.integers(1, outputs, -1))
    length = graph.op("Slice", graph.op("Shape", x), graph.integers(2), graph.integers(3))
    return graph.op("Slice", y, graph.integers(0), length, graph.integers(2))


def _per_channel(row: Array, channels: int, shape: list[int]) -> NDArray[np.float32]:
    return np.tile(row.astype(np.float32), (channels, 1)).reshape(channels, 1, *shape)


def transforms(tile: int, taps: int) -> tuple[Array, Array, Array]:
    """The matrices of Winograd's minimal filtering F(tile, taps), by the construction of Cook and Toom.

    With them ``y = to_outputs @ ((of_kernel @ kernel) * (of_inputs @ x))`` are the ``tile`` values of
    ``sum over k of kernel[k] * x[i + k]``.

    Args:
        tile: Outputs.
        taps: Size of the kernel.

    Returns:
        ``to_outputs`` [tile, n], ``of_kernel`` [n, taps] and ``of_inputs`` [n, n], n = tile + taps - 1.
    """
    count = tile + taps - 1
    points = np.array(_POINTS[: count - 1])
    evaluate = np.vander(points, count, increasing=True)
    infinity = np.zeros((1, count))
    to_outputs = np.concatenate([evaluate[:, :tile], infinity[:, :tile]])
    of_kernel = np.concatenate([evaluate[:, :taps], infinity[:, :taps]])
    to_outputs[-1, -1] = of_kernel[-1, -1] = 1.0
    of_inputs = np.zeros((count, count))
    for i, point in enumerate(points):
        others = np.delete(points, i)
        of_inputs[i, :-1] = polynomial.polyfromroots(others) / np.prod(point - others)
    of_inputs[-1] = polynomial.polyfromroots(points)
    # The transforms share the size of the numbers, which keeps the rounding small; powers of 2 add none.
    largest: Array = np.abs(of_inputs).max(axis=1, keepdims=True)
    size: Array = np.exp2(np.round(0.5 * np.log2(largest)))
    return to_outputs.T, of_kernel * size, of_inputs / size
