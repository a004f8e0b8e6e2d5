"""Writes ONNX graphs as arithmetic on expressions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray
from onnx import TensorProto, helper, numpy_helper

_OPSET = 13
_IR_VERSION = 8


class Expr:
    """A value of a graph under construction; arithmetic adds nodes and broadcasts as NumPy does."""

    def __init__(self, graph: "GraphBuilder", name: str) -> None:
        self._graph = graph
        self.name = name

    def __add__(self, other: "Expr | ArrayLike") -> "Expr":
        return self._graph.op("Add", self, other)

    def __sub__(self, other: "Expr | ArrayLike") -> "Expr":
        return self._graph.op("Sub", self, other)

    def __mul__(self, other: "Expr | ArrayLike") -> "Expr":
        return self._graph.op("Mul", self, other)

    def __truediv__(self, other: "Expr | ArrayLike") -> "Expr":
        return self._graph.op("Div", self, other)

    def __matmul__(self, other: "Expr | ArrayLike") -> "Expr":
        return self._graph.op("MatMul", self, other)

    def __pow__(self, other: "Expr | ArrayLike") -> "Expr":
        return self._graph.op("Pow", self, other)

    def at_least(self, low: float) -> "Expr":
        """The larger of each value and a number."""
        return self._graph.op("Max", self, [low])

    def at_most(self, other: "Expr") -> "Expr":
        """The smaller of each pair."""
        return self._graph.op("Min", self, other)

    def clip(self, low: float, high: float) -> "Expr":
        """Each value within bounds."""
        return self._graph.op("Clip", self, np.float32(low), np.float32(high))

    def sqrt(self) -> "Expr":
        """Square roots."""
        return self._graph.op("Sqrt", self)

    def to_integers(self) -> "Expr":
        """As int32."""
        return self._graph.op("Cast", self, to=TensorProto.INT32)

    def to_floats(self) -> "Expr":
        """As float32."""
        return self._graph.op("Cast", self, to=TensorProto.FLOAT)

    def sum(self, axis: int, *, keep: bool = False) -> "Expr":
        """Sum over an axis."""
        return self._graph.op("ReduceSum", self, self._graph.indices([axis]), keepdims=int(keep))

    def gather(self, index: ArrayLike, axis: int) -> "Expr":
        """Entries along an axis at constant indices [n]."""
        return self._graph.op("Gather", self, self._graph.indices(index), axis=axis)

    def columns(self, index: ArrayLike) -> "Expr":
        """Columns of planes [P, F] at constant indices [n], as [P, n].

        By way of rows, which MNN copies whole: a gather along the last axis takes it three times as long.
        """
        return self.transpose(1, 0).gather(index, 0).transpose(1, 0)

    def pick(self, index: "Expr") -> "Expr":
        """Entries [n] of [m] at indices that the graph makes."""
        return self._graph.op("Gather", self, index, axis=0)

    def floor(self) -> "Expr":
        """The next integers below, still as floats."""
        return self._graph.op("Floor", self)

    def rows(self, start: int, stop: int, axis: int = 0) -> "Expr":
        """A range along an axis."""
        bounds = [self._graph.indices([x]) for x in (start, stop, axis)]
        return self._graph.op("Slice", self, *bounds)

    def reshape(self, *shape: int) -> "Expr":
        """The same values in another shape."""
        return self._graph.op("Reshape", self, self._graph.indices(shape))

    def transpose(self, *axes: int) -> "Expr":
        """Axes in another order."""
        return self._graph.op("Transpose", self, perm=list(axes))


class GraphBuilder:
    """Collects nodes and constants.

    Args:
        inputs: Shape of each input; they are named ``in0``, ``in1``, ... Results are ``out0``, ...
    """

    def __init__(self, inputs: Sequence[tuple[int, ...]]) -> None:
        self.input_shapes = {f"in{i}": tuple(shape) for i, shape in enumerate(inputs)}
        self.inputs = [Expr(self, name) for name in self.input_shapes]
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def op(self, kind: str, *operands: "Expr | ArrayLike", **attributes: Any) -> Expr:
        """Adds a node of one output; operands that are not expressions become float32 constants."""
        names = [x.name if isinstance(x, Expr) else self.constant(x).name for x in operands]
        name = f"v{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, names, [name], **attributes))
        return Expr(self, name)

    def constant(self, array: ArrayLike) -> Expr:
        """A float32 constant."""
        return self._store(np.asarray(array, np.float32))

    def indices(self, array: ArrayLike) -> Expr:
        """An int64 constant, as ONNX wants for indices and shapes."""
        return self._store(np.asarray(array, np.int64))

    def integers(self, array: ArrayLike) -> Expr:
        """An int32 constant."""
        return self._store(np.asarray(array, np.int32))

    def largest_first(self, keys: Expr, count: int) -> Expr:
        """Integer indices that sort ``count`` keys, which must all differ: MNN gives equal ones no order."""
        values, found = f"v{len(self._nodes)}", f"i{len(self._nodes)}"
        self._nodes.append(helper.make_node("TopK", [keys.name, self.indices([count]).name], [values, found]))
        return Expr(self, found)

    def concat(self, parts: Sequence[Expr], axis: int) -> Expr:
        """Parts one after another along an axis."""
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=axis)

    def stack_rows(self, rows: Sequence[Expr]) -> Expr:
        """Rows [1, n] as one matrix [len, n]."""
        return self.concat(rows, 0)

    def build(self, outputs: Sequence[Expr], shapes: Sequence[tuple[int, ...]]) -> bytes:
        """The serialised ONNX model; equal graphs give equal bytes."""
        for i, expr in enumerate(outputs):
            self._nodes.append(helper.make_node("Identity", [expr.name], [f"out{i}"]))

        def infos(named: dict[str, tuple[int, ...]]) -> list[onnx.ValueInfoProto]:
            return [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in named.items()]

        results = {f"out{i}": shape for i, shape in enumerate(shapes)}
        graph = helper.make_graph(
            self._nodes, "nnr", infos(self.input_shapes), infos(results), self._constants
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)])
        model.ir_version = _IR_VERSION
        return model.SerializeToString(deterministic=True)

    def _store(self, array: NDArray[Any]) -> Expr:
        name = f"c{len(self._constants)}"
        self._constants.append(
            numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
        )
        return Expr(self, name)
