"""What MNN's converter would crash on, or convert into something wrong without a word (MNN 3.6.1).

Each rule was seen: see docs/models.md. They concern ONNX, whose files can be looked into.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import onnx
from onnx import TensorProto

from taoxr.errors import ModelError

# Of quantised and fused exports; the converter stops at them with a message that does not say what to do.
_UNSUPPORTED: Final = {
    "ConvInteger",
    "MatMulInteger",
    "DynamicQuantizeLinear",
    "DynamicQuantizeLSTM",
    "QLinearConv",
    "QLinearMatMul",
    "QLinearAdd",
}
_FED: Final = {
    TensorProto.FLOAT: "float32",
    TensorProto.INT32: "int32",
    TensorProto.INT64: "int64",
    TensorProto.BOOL: "bool",
    TensorProto.UINT8: "uint8",
}


def check_onnx(source: Path) -> None:
    """Refuses what would go wrong.

    Raises:
        ModelError: With every reason, and what to do instead.
    """
    try:
        model = onnx.ModelProto.FromString(source.read_bytes())
    except Exception as error:  # protobuf's own, of several types
        raise ModelError(f"{source} is no ONNX file: {error}") from error
    if not model.graph.node:
        raise ModelError(f"{source} is no ONNX file, or has an empty graph")
    reasons = list(_reasons(model, source))
    if reasons:
        raise ModelError(f"{source.name} would not convert right: " + "; ".join(reasons))


def _reasons(model: onnx.ModelProto, source: Path) -> Iterator[str]:
    nodes = list(_nodes(model.graph))
    quantised = sorted({n.op_type for n in nodes if n.op_type in _UNSUPPORTED})
    if quantised:
        yield f"it is quantised already ({', '.join(quantised)}); take the float32 export and quantise that"
    foreign = sorted({f"{n.domain}.{n.op_type}" for n in nodes if n.domain not in ("", "ai.onnx")})
    if foreign:
        yield f"it has operators of one runtime only ({', '.join(foreign)}); export without that fusion"
    fed = {i.name for i in model.graph.input} - {t.name for t in model.graph.initializer}
    for node in nodes:
        # Converts, and then ignores the state: silero_vad_16k_sequence is off by 0.7.
        if node.op_type in ("LSTM", "GRU") and any(name in fed for name in node.input[5:7]):
            yield f"{node.op_type} {node.name!r} takes its state as an input, which MNN ignores; unroll it"
    for tensor in model.graph.initializer:
        if 0 in tensor.dims:
            yield f"constant {tensor.name!r} is empty ({list(tensor.dims)}); some kernels crash on that"
        if tensor.data_location == TensorProto.EXTERNAL:
            place = next((e.value for e in tensor.external_data if e.key == "location"), "")
            if not (source.parent / place).is_file():
                yield f"its weights' file {place!r} is missing beside it"
                break
    for value in model.graph.input:
        if value.name not in fed:
            continue
        kind = value.type.tensor_type.elem_type
        if kind not in _FED:
            name = TensorProto.DataType.Name(kind).lower()
            yield f"input {value.name!r} is {name}; MNN's Python API feeds float32 and int32 only: cast it"
        if any(d.HasField("dim_value") and d.dim_value == 0 for d in value.type.tensor_type.shape.dim):
            yield f"input {value.name!r} has a dimension of 0, on which some kernels crash"


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """All nodes, those of branches and loops included."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _nodes(attribute.g)
