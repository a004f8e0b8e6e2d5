"""Nodes that run at the animation's rate on the GPU, and what is shown between two of their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.gl.kernels import Base, Kernel, Value, as_array, as_buffer, dispatch
from taoxr_runtime.nnr.nodes.base import F32
from taoxr_runtime.render import objects


@dataclass(frozen=True)
class Span:
    """Where other nodes read what a node makes.

    Attributes:
        value: It, or a buffer of which it is a part.
        first: Number of its first word there.
        count: Number of its words.
    """

    value: Value
    first: int
    count: int


class Slow(Base):
    """Holds the last two results of a node; `show` puts a mix of them where the other nodes read.

    Args:
        kernel: The node; writes each result from the start of its buffer on.
        outputs: Where the other nodes read.
    """

    def __init__(self, kernel: Kernel, outputs: Sequence[Span]) -> None:
        super().__init__()
        self.kernel = kernel
        self.moving = False
        """Whether the two results differ."""
        self._outputs = outputs
        self._empty = True
        self._before = [self._room(span) for span in outputs]
        self._after = [self._room(span) for span in outputs]
        self._program = self.program("nnr_mix.comp")

    def run(self, inputs: Sequence[Value]) -> int:
        """Makes the newest result; returns the bytes that this uploaded."""
        self._before, self._after = self._after, self._before
        self.kernel.run(inputs, self._after)
        uploaded = self.kernel.uploaded
        if self._empty:
            # There is nothing to come from yet.
            self.kernel.run(inputs, self._before)
            uploaded += self.kernel.uploaded
            self._empty = False
        self.moving = True
        return uploaded

    def show(self, amount: float) -> None:
        """Mixes the older result (0) and the newest (1); at 1 it stays there."""
        for before, after, span in zip(self._before, self._after, self._outputs, strict=True):
            if isinstance(span.value, np.ndarray):
                np.copyto(span.value, _between(as_array(before), as_array(after), amount))
            else:
                objects.bind_storage(0, as_buffer(before), as_buffer(after), span.value)
                self._program.set_uint("first", span.first)
                self._program.set_uint("count", span.count)
                self._program.set("amount", amount)
                dispatch(self._program, span.count)
        self.moving = amount < 1

    def release(self) -> None:
        """Deletes everything from the GPU."""
        super().release()
        self.kernel.release()

    def _room(self, span: Span) -> Value:
        if isinstance(span.value, np.ndarray):
            return np.zeros_like(span.value)
        made = self.buffer()
        made.reserve(max(4 * span.count, 16))
        return made


def _between(old: F32, new: F32, amount: float) -> NDArray[Any]:
    """A mix of two results; rows of four are rotations, which go the shorter way."""
    if amount >= 1:
        return new
    if new.ndim == 2:
        new = np.where((old * new).sum(1, keepdims=True) < 0, -new, new)
    return old + (new - old) * np.float32(amount)
