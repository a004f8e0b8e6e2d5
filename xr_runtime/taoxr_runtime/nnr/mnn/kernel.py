"""Runs a node's MNN twin: converted once, cached, and checked before it is loaded."""

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from taoxr import paths
from taoxr.engine import Session, convert_onnx
from taoxr_runtime.nnr.mnn import learned, models, shading, sorting
from taoxr_runtime.nnr.mnn.builder import Expr, GraphBuilder
from taoxr_runtime.nnr.nodes.base import F32, Node
from taoxr_runtime.nnr.schema import Precision

_OPTIONS: Final[dict[Precision, tuple[str, ...]]] = {
    "fp32": (),
    "fp16": ("--fp16",),
    "int8": ("--weightQuantBits", "8"),
}
_BUILDERS: Final[dict[str, Callable[[Any, GraphBuilder], list[Expr]]]] = {
    "field": learned.field,
    "coefficients": learned.coefficients,
    "blendshapes": models.blendshapes,
    "skinning": models.skinning,
    "binding": models.binding,
    "deformer": learned.deformer,
    "color": shading.color,
    "sh_color": learned.sh_color,
    "sort": sorting.sort,
}


def has_twin(kind: str) -> bool:
    """Whether a node kind has an MNN twin; ``splats`` and ``cloud``, which hold constants only, have none."""
    return kind in _BUILDERS


def has_weights(kind: str) -> bool:
    """Whether its twin holds weights that may be smaller; numbers that a sort counts with may not."""
    return has_twin(kind) and kind != "sort"


class MnnKernel:
    """A node on MNN. A call releases the GIL while MNN computes; one thread at a time.

    Args:
        node: A checked node of a kind that `has_twin`.
        input_shapes: Shape of each input.
        precision: Of the model's weights, if it has any.

    Attributes:
        path: The converted model.

    Raises:
        ModelError: MNN could not convert or load the model.
    """

    def __init__(
        self, node: Node, input_shapes: Sequence[tuple[int, ...]], precision: Precision = "fp32"
    ) -> None:
        graph = GraphBuilder(input_shapes)
        outputs = _BUILDERS[node.kind](node, graph)
        weights: Precision = precision if has_weights(node.kind) else "fp32"
        self.path = converted(graph.build(outputs, node.output_shapes), weights)
        self._session = Session(self.path, graph.input_shapes)

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """As `Node.evaluate`."""
        results = self._session.run({f"in{i}": array for i, array in enumerate(inputs)})
        for i, output in enumerate(outputs):
            np.copyto(output, results[f"out{i}"], casting="unsafe")  # indices come as floats


def converted(model: bytes, precision: Precision = "fp32") -> Path:
    """The ``.mnn`` of an ONNX model from the cache, converted now if it is not there intact.

    Raises:
        ModelError: MNN could not convert it.
    """
    options = _OPTIONS[precision]
    key = hashlib.sha256(f"MNN {version('MNN')} {' '.join(options)}\n".encode() + model).hexdigest()
    folder = paths.cache_dir() / "nnr"
    target, checksum = folder / f"{key}.mnn", folder / f"{key}.sha256"
    # MNN may crash on a damaged file, so what another run left is not trusted blindly.
    if (
        target.is_file()
        and checksum.is_file()
        and hashlib.sha256(target.read_bytes()).hexdigest() == checksum.read_text()
    ):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        source, made = Path(scratch) / "node.onnx", Path(scratch) / "node.mnn"
        source.write_bytes(model)
        convert_onnx(source, made, options)
        digest = Path(scratch) / "digest"
        digest.write_text(hashlib.sha256(made.read_bytes()).hexdigest())
        made.replace(target)
        digest.replace(checksum)
    return target
