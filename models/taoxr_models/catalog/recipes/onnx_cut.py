"""Cuts parts out of an ONNX graph, and measures how far a convolutional part sees in time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import onnx
from onnx import TensorProto, helper

from taoxr.errors import ModelError

# Kinds of node whose output at one time depends on their inputs at that time only. Those that move
# values between channels do, too, as long as time is the last axis.
_POINTWISE: Final = frozenset(
    {"Add", "Concat", "ConstantOfShape", "Div", "Exp", "Identity", "LeakyRelu", "Mul", "Neg"}
    | {"Shape", "Sigmoid", "Slice", "Split", "Sub", "Tanh", "Unsqueeze"}
)


@dataclass(frozen=True)
class Port:
    """A tensor that becomes an input of a part.

    Attributes:
        tensor: Its name in the whole graph.
        dims: Shape; strings are free.
        kind: Element type.
    """

    tensor: str
    dims: Sequence[int | str]
    kind: int = TensorProto.FLOAT


@dataclass(frozen=True)
class Reach:
    """How a part maps time.

    Attributes:
        margin: Input steps before and after a span that its output depends on.
        factor: Output steps per input step.
    """

    margin: int
    factor: int


class Graph:
    """An ONNX graph to look around in.

    Args:
        model: What was read from a file.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        self._opsets = model.opset_import
        self._ir_version = model.ir_version
        self.nodes: Sequence[onnx.NodeProto] = model.graph.node
        self.inputs: frozenset[str] = frozenset(i.name for i in model.graph.input)
        self._initializers = {i.name: i for i in model.graph.initializer}
        self.producers = {tensor: node for node in self.nodes for tensor in node.output}

    def of_kind(self, kind: str) -> list[onnx.NodeProto]:
        """All nodes of a kind, in the order of the graph."""
        return [node for node in self.nodes if node.op_type == kind]

    def consumers(self, tensor: str) -> list[onnx.NodeProto]:
        """Nodes that take a tensor."""
        return [node for node in self.nodes if tensor in node.input]

    def back(self, tensor: str, *kinds: str) -> str:
        """Follows first inputs through nodes of the given kinds, nearest first.

        Raises:
            ModelError: A node on the way is of another kind.
        """
        for kind in kinds:
            node = self.producers.get(tensor)
            if node is None or node.op_type != kind:
                found = "an input" if node is None else node.op_type
                raise ModelError(f"{tensor} comes from {found}, expected {kind}: no VITS that is known here")
            tensor = node.input[0]
        return tensor

    def reached_from(self, tensors: Iterable[str]) -> set[str]:
        """Tensors that depend on any of the given ones, these included."""
        reached = set(tensors)
        for node in self.nodes:  # ONNX wants them sorted
            if not reached.isdisjoint(node.input):
                reached.update(node.output)
        return reached

    def part(self, name: str, inputs: Mapping[str, Port], outputs: Mapping[str, str]) -> "Part":
        """The nodes between some tensors and others.

        Products with a mask, that is with what neither follows from the inputs nor is constant, are left
        out: a mask is 1 where one sentence is computed at a time.

        Args:
            name: Name of the part.
            inputs: Where to begin, by the names that the part gives its inputs.
            outputs: Where to end, by the names that the part gives its outputs.

        Raises:
            ModelError: The outputs need more than the inputs.
        """
        live = self.reached_from(port.tensor for port in inputs.values())
        varies = self.reached_from(self.inputs) | live
        new_names = {port.tensor: new for new, port in inputs.items()}
        constants: dict[str, onnx.TensorProto] = {}
        nodes: list[onnx.NodeProto] = []
        done: dict[str, str] = {}

        def visit(tensor: str) -> str:
            """Adds what a tensor needs, and returns its name in the part."""
            if tensor == "" or tensor in new_names:
                return new_names.get(tensor, tensor)
            if tensor in done:
                return done[tensor]
            if tensor in self._initializers:
                constants[tensor] = self._initializers[tensor]
                return tensor
            node = self.producers.get(tensor)
            if node is None:
                raise ModelError(f"{name} depends on {tensor}, not only on {', '.join(new_names)}")
            if node.op_type == "Mul" and tensor in live:
                factors = [i for i in node.input if i in live or i not in varies]
                if len(factors) == 1:
                    done[tensor] = visit(factors[0])
                    return done[tensor]
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copy.input[:] = [visit(i) for i in node.input]
            nodes.append(copy)
            done.update((t, t) for t in node.output)
            return tensor

        for new, tensor in outputs.items():
            nodes.append(helper.make_node("Identity", [visit(tensor)], [new], name=new))
        return Part(name, dict(inputs), list(outputs), nodes, constants, self._opsets, self._ir_version)


@dataclass(frozen=True)
class Part:
    """Nodes cut out of a graph; made by `Graph.part`."""

    name: str
    inputs: Mapping[str, Port]
    outputs: Sequence[str]
    nodes: Sequence[onnx.NodeProto]
    constants: Mapping[str, onnx.TensorProto]
    opsets: Any
    ir_version: int

    def serialized(self) -> bytes:
        """The part as an ONNX model; the same graph gives the same bytes."""
        inputs = [helper.make_tensor_value_info(n, p.kind, list(p.dims)) for n, p in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs]
        graph = helper.make_graph(self.nodes, self.name, inputs, outputs, list(self.constants.values()))
        model = helper.make_model(graph, opset_imports=self.opsets, ir_version=self.ir_version)
        return model.SerializeToString(deterministic=True)

    @cached_property
    def reach(self) -> Reach:
        """How far the part sees in time, from its first input to its first output.

        Follows, from the output back, the interval that each tensor is needed in.

        Raises:
            ModelError: A node mixes times in a way that is not known here.
        """
        source, result = next(iter(self.inputs)), self.outputs[0]
        rates = {source: 1}
        for node in self.nodes:
            if known := [rates[i] for i in node.input if i in rates]:
                stride = _ints(node, "strides", 1)[0] if node.op_type == "ConvTranspose" else 1
                rates.update((tensor, known[0] * stride) for tensor in node.output)
        needed = {result: (0, rates[result] - 1)}
        for node in reversed(self.nodes):
            wanted = [needed[tensor] for tensor in node.output if tensor in needed]
            if not wanted:
                continue
            low, high = _before(node, min(w[0] for w in wanted), max(w[1] for w in wanted))
            for tensor in node.input:
                if tensor in rates:
                    least, most = needed.get(tensor, (low, high))
                    needed[tensor] = (min(low, least), max(high, most))
        low, high = needed[source]
        return Reach(max(-low, high), rates[result])


def _before(node: onnx.NodeProto, low: int, high: int) -> tuple[int, int]:
    """The interval of a node's input that an interval of its output depends on; ends inclusive."""
    if node.op_type in _POINTWISE:
        return low, high
    if node.op_type not in ("Conv", "ConvTranspose"):
        raise ModelError(f"cannot tell how far {node.op_type} {node.name} sees in time")
    (size,), (gap,), pad = _ints(node, "kernel_shape"), _ints(node, "dilations", 1), _ints(node, "pads", 0)[0]
    (stride,) = _ints(node, "strides", 1)
    width = (size - 1) * gap
    if node.op_type == "Conv":
        if stride != 1:
            raise ModelError(f"{node.name} has a stride of {stride}, expected 1")
        return low - pad, high - pad + width
    return -((width - low - pad) // stride), (high + pad) // stride


def _ints(node: onnx.NodeProto, name: str, default: int | None = None) -> list[int]:
    for attribute in node.attribute:
        if attribute.name == name:
            return list(attribute.ints)
    if default is None:
        raise ModelError(f"{node.op_type} {node.name} does not say its {name}")
    return [default]
