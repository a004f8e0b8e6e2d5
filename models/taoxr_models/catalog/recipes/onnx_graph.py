"""Builds ONNX graphs from weights: the few layers of a transformer over ``onnx.helper``."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

_OPSET: Final = 17
_IR_VERSION: Final = 9
_EPSILON: Final = 1e-5

Dims = Sequence[int | str]


class OnnxGraph:
    """A graph under construction. Methods take and return tensor names.

    Args:
        name: Prefix-free name of the graph.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, dims: Dims, kind: int = TensorProto.FLOAT) -> str:
        """Declares an input; its element type is one of ONNX's."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, list(dims)))
        return name

    def output(self, name: str, tensor: str, dims: Dims | None) -> None:
        """Declares a float32 output under a name of its own; without dimensions when they are unknown."""
        self._nodes.append(helper.make_node("Identity", [tensor], [name]))
        shape = None if dims is None else list(dims)
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def constant(self, array: NDArray[Any]) -> str:
        """Adds an array; equal ones share a name."""
        data = np.ascontiguousarray(array).reshape(array.shape)  # the former makes scalars vectors
        key = hashlib.sha256(f"{data.dtype}{data.shape}".encode() + data.tobytes()).hexdigest()
        if key not in self._constants:
            self._constants[key] = numpy_helper.from_array(data, f"c{len(self._constants)}")
        return self._constants[key].name

    def integers(self, *values: int) -> str:
        """An int64 vector."""
        return self.constant(np.array(values, np.int64))

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node with one output."""
        return self.ops(kind, 1, *inputs, **attributes)[0]

    def ops(self, kind: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        """Adds a node with several outputs."""
        outputs = [f"n{len(self._nodes)}_{i}" for i in range(count)]
        self._nodes.append(helper.make_node(kind, list(inputs), outputs, name=outputs[0], **attributes))
        return outputs

    def linear(self, x: str, weight: NDArray[np.float32], bias: NDArray[np.float32] | None = None) -> str:
        """``x @ weight.T + bias``; weight float32 [out, in]."""
        y = self.op("MatMul", x, self.constant(np.ascontiguousarray(weight.T)))
        return y if bias is None else self.op("Add", y, self.constant(bias))

    def layer_norm(self, x: str, gamma: NDArray[np.float32], beta: NDArray[np.float32]) -> str:
        """Layer normalisation over the last axis."""
        return self.op(
            "LayerNormalization", x, self.constant(gamma), self.constant(beta), epsilon=_EPSILON, axis=-1
        )

    def gelu(self, x: str) -> str:
        """The exact Gaussian error linear unit; MNN recognises this form."""
        root = self.constant(np.array(np.sqrt(2.0), np.float32))
        inner = self.op(
            "Add", self.op("Erf", self.op("Div", x, root)), self.constant(np.array(1, np.float32))
        )
        return self.op("Mul", self.op("Mul", x, inner), self.constant(np.array(0.5, np.float32)))

    def heads(self, x: str, heads: int, size: int) -> str:
        """[1, n, heads * size] to [1, heads, n, size]."""
        return self.op(
            "Transpose", self.op("Reshape", x, self.integers(1, -1, heads, size)), perm=[0, 2, 1, 3]
        )

    def attention(self, q: str, k: str, v: str, width: int, mask: str | None = None) -> str:
        """Softmax attention of scaled queries; [1, heads, n, size] each, result [1, n, width]."""
        return self.mix(self.attention_weights(q, k, mask), v, width)

    def attention_weights(self, q: str, k: str, mask: str | None = None) -> str:
        """How much each query looks at each key, [1, heads, n, m]."""
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        if mask is not None:
            scores = self.op("Add", scores, mask)
        return self.op("Softmax", scores, axis=-1)

    def mix(self, weights: str, v: str, width: int) -> str:
        """Values by `attention_weights`, [1, n, width]."""
        mixed = self.op("MatMul", weights, v)
        return self.op("Reshape", self.op("Transpose", mixed, perm=[0, 2, 1, 3]), self.integers(1, -1, width))

    def save(self, path: Path) -> None:
        """Writes the model."""
        path.write_bytes(self.serialized())

    def serialized(self) -> bytes:
        """The model; the same graph gives the same bytes."""
        graph = helper.make_graph(
            self._nodes, self._name, self._inputs, self._outputs, list(self._constants.values())
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION
        )
        return model.SerializeToString(deterministic=True)
