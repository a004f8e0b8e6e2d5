"""Blendshapes: a rest mesh plus weighted sparse offsets."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from taoxr import arkit
from taoxr_runtime.nnr.nodes.base import F32, F64, Node, Reader
from taoxr_runtime.nnr.schema import Strict

MAX_VERTICES = 65_535
SHAPES = len(arkit.NAMES)


class Remap(Strict):
    """How one coefficient acts on itself and on others; every part is optional.

    Attributes:
        power: Exponent of its value.
        fades: Coefficients that it suppresses.
        at_most: Coefficient that bounds it.
    """

    power: Annotated[float, Field(gt=0, le=16)] = 1.0
    fades: tuple[str, ...] = ()
    at_most: str | None = None


class Attributes(Strict):
    """What is done to the coefficients before they weigh the shapes."""

    neutral: dict[str, float] = Field(default_factory=dict[str, float])
    remap: dict[str, Remap] = Field(default_factory=dict[str, Remap])


class Blendshapes(Node):
    """``expression`` [52], optional ``displacement`` [V, 3] of a field → ``shaped`` [V, 3]."""

    kind: ClassVar[str] = "blendshapes"

    def __init__(self, reader: Reader) -> None:
        keys = {"rest", "delta_offsets", "delta_vertices", "delta_xyz"}
        reader.signature(1, 1, keys, optional_inputs=1)
        reader.input_shape(0, (SHAPES,))
        self.rest: F32 = reader.tensor("rest", "float32", (None, 3))
        vertices = len(self.rest)
        self.displaced = len(reader.spec.inputs) > 1
        if self.displaced:
            reader.input_shape(1, (vertices, 3))
        reader.limit("tensors.rest", "V", vertices, 1, MAX_VERTICES)
        offsets = reader.tensor("delta_offsets", "int32", (SHAPES + 1,)).astype(np.int64)
        index = reader.indices("delta_vertices", "uint16", (None,), vertices)
        xyz = reader.tensor("delta_xyz", "float16", (len(index), 3)).astype(np.float32)
        reader.lengths("rest", self.rest)
        reader.lengths("delta_xyz", xyz)
        if offsets[0] != 0 or offsets[-1] != len(index) or (np.diff(offsets) < 0).any():
            raise reader.fail("tensors.delta_offsets", f"must rise from 0 to {len(index)}")
        self.moved = np.unique(index)
        # Dense over the vertices that move at all: one matrix product then beats 52 scattered sums.
        self.deltas: F32 = np.zeros((SHAPES, len(self.moved), 3), np.float32)
        shape = np.repeat(np.arange(SHAPES), np.diff(offsets))
        np.add.at(self.deltas, (shape, np.searchsorted(self.moved, index)), xyz)
        self._flat = self.deltas.reshape(SHAPES, -1)
        self._rest_moved = self.rest[self.moved].reshape(-1)
        attributes = reader.attributes(Attributes)
        self._read_remap(reader, attributes)
        self.output_shapes = ((vertices, 3),)

    def _read_remap(self, reader: Reader, attributes: Attributes) -> None:
        def index(name: str, field: str) -> int:
            if name not in arkit.INDEX:
                raise reader.fail(f"attributes.{field}", f"{name!r} is not an ARKit blendshape")
            return arkit.INDEX[name]

        self.neutral = np.zeros(SHAPES)
        self.bound = np.arange(SHAPES)  # which value bounds each; itself where none does
        self.power = np.ones(SHAPES)
        self.fades: list[tuple[int, list[int]]] = []
        for name, value in attributes.neutral.items():
            self.neutral[index(name, "neutral")] = value
        for name, remap in attributes.remap.items():
            i, field = index(name, "remap"), f"remap.{name}"
            self.power[i] = remap.power
            if remap.at_most is not None:
                self.bound[i] = index(remap.at_most, f"{field}.at_most")
            if remap.fades:
                self.fades.append((i, [index(n, f"{field}.fades") for n in remap.fades]))

    def coefficients(self, expression: F64) -> F64:
        """The weights of the shapes [52] for an expression [52]."""
        e = np.clip(expression + self.neutral, 0.0, 1.0)
        e = np.minimum(e, e[self.bound]) ** self.power
        result = e.copy()
        for i, faded in self.fades:
            result[faded] *= 1.0 - e[i]
        return result

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        (shaped,) = outputs
        np.copyto(shaped, self.rest)
        if len(self.moved):
            weights = self.coefficients(inputs[0].astype(np.float64)).astype(np.float32)
            shaped[self.moved] = (weights @ self._flat + self._rest_moved).reshape(-1, 3)
        if self.displaced:
            shaped += inputs[1]

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`."""
        shaped = self.rest.astype(np.float64)
        for weight, deltas in zip(self.coefficients(inputs[0]), self.deltas.astype(np.float64), strict=True):
            shaped[self.moved] += weight * deltas
        return (shaped + inputs[1] if self.displaced else shaped,)
