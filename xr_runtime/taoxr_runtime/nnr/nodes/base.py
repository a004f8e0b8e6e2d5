"""What every node kind has in common, and the reader through which it takes its part of the file."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.errors import NnrFormatError
from taoxr_runtime.nnr.schema import NodeSpec, Strict, parse

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Shape = tuple[int, ...]
Rate = Literal["display", "animation"]
"""How often a node runs at most: for each frame that is shown, or 20 times a second."""
Tensors = dict[str, NDArray[Any]]
TAttributes = TypeVar("TAttributes", bound=Strict)

MAX_LENGTH: Final = 1000.0
MAX_INPUT: Final = 1e6
"""Largest absolute value of an input: no sum of products of them leaves float32."""
BLOCK: Final = 8192
"""Splats per step of a fast path: its temporaries then stay in the second-level cache."""


@dataclass(frozen=True)
class Reader:
    """One node's part of a file, with errors that say where they are.

    Attributes:
        where: Path of the node in ``scene.json``.
        spec: The node.
        tensors: The node's tensors by key.
        input_shapes: Shape of each input value.
        model: Bytes of the node's MNN model, if it names one.
        model_sha256: Their hash.
    """

    where: str
    spec: NodeSpec
    tensors: Mapping[str, NDArray[Any]]
    input_shapes: Sequence[Shape]
    model: bytes | None = None
    model_sha256: str = ""

    def fail(self, field: str, problem: str) -> NnrFormatError:
        """The error to raise for a part of this node."""
        return NnrFormatError(f"{self.where}.{field}", problem)

    def signature(self, inputs: int, outputs: int, keys: set[str], optional_inputs: int = 0) -> None:
        """Checks the number of inputs and outputs and that the tensors are exactly ``keys``."""
        if not inputs <= len(self.spec.inputs) <= inputs + optional_inputs:
            takes = f"{inputs} to {inputs + optional_inputs}" if optional_inputs else f"{inputs}"
            raise self.fail("inputs", f"has {len(self.spec.inputs)} names, {self.spec.kind} takes {takes}")
        if len(self.spec.outputs) != outputs:
            raise self.fail(
                "outputs", f"has {len(self.spec.outputs)} names, {self.spec.kind} makes {outputs}"
            )
        if self.spec.model is not None and self.spec.kind != "model":
            raise self.fail("model", "is only for nodes of the kind 'model'")
        if set(self.tensors) != keys:
            raise self.fail("tensors", f"has {sorted(self.tensors)}, {self.spec.kind} needs {sorted(keys)}")

    def input_shape(self, index: int, expected: tuple[int | None, ...]) -> Shape:
        """Checks the shape of an input value; ``None`` stands for any length."""
        shape = self.input_shapes[index]
        if not _fits(shape, expected):
            name = self.spec.inputs[index]
            raise self.fail(
                f"inputs[{index}]", f"{name!r} has shape {list(shape)}, expected {_text(expected)}"
            )
        return shape

    def tensor(self, key: str, dtype: str, expected: tuple[int | None, ...]) -> NDArray[Any]:
        """A tensor, checked for dtype and shape; ``None`` stands for any length."""
        array = self.tensors[key]
        if array.dtype.name != dtype or not _fits(array.shape, expected):
            found = f"{array.dtype.name} {list(array.shape)}"
            raise self.fail(f"tensors.{key}", f"is {found}, expected {dtype} {_text(expected)}")
        return array

    def indices(self, key: str, dtype: str, expected: tuple[int | None, ...], count: int) -> NDArray[np.intp]:
        """A tensor of indices, each under ``count``."""
        array = self.tensor(key, dtype, expected)
        if array.size and (int(array.max()) >= count or int(array.min()) < 0):
            raise self.fail(f"tensors.{key}", f"holds {int(array.max())}, indices must be 0 to {count - 1}")
        return array.astype(np.intp)

    def lengths(self, key: str, array: NDArray[Any]) -> None:
        """Checks that lengths are sane, so that no product of a few of them leaves float32."""
        if array.size and float(np.abs(array).max()) > MAX_LENGTH:
            raise self.fail(f"tensors.{key}", f"holds a length over {MAX_LENGTH:g} m")

    def limit(self, field: str, name: str, value: int, low: int, high: int) -> None:
        """Checks a count against the limits of the format."""
        if not low <= value <= high:
            raise self.fail(field, f"{name} is {value}, must be {low} to {high}")

    def attributes(self, model: type[TAttributes]) -> TAttributes:
        """The node's attributes."""
        return parse(model, self.spec.attributes, f"{self.where}.attributes")


class Node(ABC):
    """A step of the graph, read and checked, with its NumPy kernels.

    Attributes:
        kind: Its name in ``scene.json``.
        per_splat: Keys of the tensors whose first axis counts the splats.
        rate: How often it runs at most; see `taoxr_runtime.nnr.keyframes`.
        output_shapes: Shape of each output value.
    """

    kind: ClassVar[str]
    per_splat: ClassVar[frozenset[str]] = frozenset()
    rate: Rate = "display"
    output_shapes: tuple[Shape, ...]

    @abstractmethod
    def __init__(self, reader: Reader) -> None:
        """Reads the node.

        Raises:
            NnrFormatError: The node breaks the format.
        """

    @abstractmethod
    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """Runs the node in float32 into preallocated arrays. Not reentrant: it owns scratch memory."""

    @abstractmethod
    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """Runs the node in float64, written as plainly as the format's text."""

    def thinned(
        self, attributes: Mapping[str, Any], tensors: Tensors, kept: NDArray[np.intp]
    ) -> tuple[dict[str, Any], Tensors]:
        """Its part of a file with some of the splats, which make up for the others.

        Args:
            attributes: The node's, as in ``scene.json``.
            tensors: The node's, by key.
            kept: Numbers of the splats that stay, ascending.

        Returns:
            New attributes and tensors.
        """
        return dict(attributes), {k: t[kept] if k in self.per_splat else t for k, t in tensors.items()}

    @property
    def output_dtypes(self) -> tuple[type[np.generic], ...]:
        """Type of each output value."""
        return (np.float32,) * len(self.output_shapes)


def gather(planes: F32, index: NDArray[np.intp], scratch: F32) -> F32:
    """Columns of planes [P, F] at an index [n], into the front of a flat scratch array: [P, n]."""
    out = scratch[: len(planes) * len(index)].reshape(len(planes), -1)
    # "clip" writes straight into out; the indices were checked when the node was read.
    return np.take(planes, index, axis=1, out=out, mode="clip")


def _fits(shape: Shape, expected: tuple[int | None, ...]) -> bool:
    return len(shape) == len(expected) and all(
        e is None or s == e for s, e in zip(shape, expected, strict=True)
    )


def _text(expected: tuple[int | None, ...]) -> str:
    return "[" + ", ".join("any" if e is None else str(e) for e in expected) + "]"
