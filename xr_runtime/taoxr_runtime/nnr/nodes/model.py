"""Model: a node of the file's own, which is an MNN model: the only one whose bytes MNN reads as they came."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

import numpy as np
from pydantic import Field as Limits

from taoxr import paths
from taoxr.engine import Session
from taoxr.engine.probe import ModelInfo, probe
from taoxr.engine.trial import try_out
from taoxr.errors import ModelError
from taoxr_runtime.nnr.nodes.base import F32, F64, MAX_INPUT, Node, Rate, Reader, Shape
from taoxr_runtime.nnr.schema import Strict

MAX_VALUES: Final = 16 << 20


class Attributes(Strict):
    """What the model makes, and how often it runs."""

    output_shapes: Annotated[
        tuple[Annotated[tuple[Annotated[int, Limits(ge=1, le=MAX_VALUES)], ...], Limits(max_length=4)], ...],
        Limits(min_length=1, max_length=16),
    ]
    rate: Rate


class Model(Node):
    """Any values → any values, float32; a model's inputs are ``in0``, ``in1``, ..., its outputs ``out0``, ...

    Before this process loads the model, another one loads and runs it: MNN crashes on some damaged files, on
    some of them only when they run, and tells the shapes of what it makes only then.
    """

    kind: ClassVar[str] = "model"

    def __init__(self, reader: Reader) -> None:
        attributes = reader.attributes(Attributes)
        reader.signature(len(reader.spec.inputs), len(attributes.output_shapes), set())
        self._where = reader.where
        self.output_shapes = attributes.output_shapes
        self.rate = attributes.rate
        reader.limit("inputs", "number of inputs", len(reader.input_shapes), 1, 16)
        for i, shape in enumerate(attributes.output_shapes):
            reader.limit(f"attributes.output_shapes[{i}]", "number of values", _count(shape), 1, MAX_VALUES)
        if reader.model is None:
            raise reader.fail("model", "is missing: a model node names an entry models/<name>.mnn")
        path = _stored(reader.model, reader.model_sha256)
        shapes = {f"in{i}": shape for i, shape in enumerate(reader.input_shapes)}
        try:
            self._check(reader, probe(path))
            made = try_out(path, shapes)
            self._session = Session(path, shapes)
        except ModelError as error:
            raise reader.fail("model", str(error)) from error
        for i, shape in enumerate(self.output_shapes):
            if made[f"out{i}"] != shape:
                problem = f"the model makes {list(made[f'out{i}'])}, not {list(shape)}"
                raise reader.fail(f"attributes.output_shapes[{i}]", problem)

    def _check(self, reader: Reader, info: ModelInfo) -> None:
        names = [f"in{i}" for i in range(len(reader.input_shapes))]
        if sorted(given.name for given in info.inputs) != sorted(names):
            raise reader.fail("model", f"takes {[i.name for i in info.inputs]}, expected {names}")
        for given in info.inputs:
            shape = reader.input_shapes[names.index(given.name)]
            fits = len(given.shape) == len(shape) and all(
                g in (-1, s) for g, s in zip(given.shape, shape, strict=True)
            )
            if given.kind != "float32" or not fits:
                found = f"{given.name} {given.kind} {list(given.shape)}"
                raise reader.fail("model", f"takes {found}, the graph gives float32 {list(shape)}")
        outputs = [f"out{i}" for i in range(len(self.output_shapes))]
        if sorted(info.outputs) != sorted(outputs):
            raise reader.fail("model", f"makes {list(info.outputs)}, expected {outputs}")

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`.

        Raises:
            ModelError: The model makes values that are no numbers.
        """
        results = self._session.run({f"in{i}": array for i, array in enumerate(inputs)})
        for i, output in enumerate(outputs):
            # As large as an input may be, so that no later node leaves float32.
            np.clip(results[f"out{i}"], -MAX_INPUT, MAX_INPUT, out=output)
            if np.isnan(output).any():
                raise ModelError(f"{self._where} makes values that are no numbers")

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`; there is nothing plainer than the model itself."""
        outputs = [np.empty(shape, np.float32) for shape in self.output_shapes]
        self.evaluate([np.asarray(array, np.float32) for array in inputs], outputs)
        return tuple(output.astype(np.float64) for output in outputs)


def _count(shape: Shape) -> int:
    return int(np.prod(shape, dtype=object)) if shape else 1


def _stored(data: bytes, sha256: str) -> Path:
    """The model as a file, which is what MNN reads; under its sha256, so that it is written once."""
    folder = paths.cache_dir() / "nnr"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"model-{sha256}.mnn"
    if not path.is_file() or path.read_bytes() != data:
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(data)
        Path(file.name).replace(path)
    return path
