"""Nodes that run at the animation's rate on the GPU, and what is shown between two of their results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taoxr_runtime.nnr.gl.kernels import Base, Kernel, Value, as_array, as_buffer, dispatch
from taoxr_runtime.render import objects


class Slow(Base):
    """Holds the last two results of a node; `show` puts a mix of them where the other nodes read.

    Args:
        kernel: The node.
        outputs: Where the other nodes read.
    """

    def __init__(self, kernel: Kernel, outputs: Sequence[Value]) -> None:
        super().__init__()
        self.kernel = kernel
        self.moving = False
        """Whether the two results differ."""
        self._outputs = outputs
        self._empty = True
        self._before = [self._like(value) for value in outputs]
        self._after = [self._like(value) for value in outputs]
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
        for before, after, shown in zip(self._before, self._after, self._outputs, strict=True):
            if isinstance(shown, np.ndarray):
                old, new = as_array(before), as_array(after)
                np.copyto(shown, old + (new - old) * np.float32(amount) if amount < 1 else new)
            else:
                objects.bind_storage(0, as_buffer(before), as_buffer(after), shown)
                self._program.set_uint("count", shown.size // 4)
                self._program.set("amount", amount)
                dispatch(self._program, shown.size // 4)
        self.moving = amount < 1

    def release(self) -> None:
        """Deletes everything from the GPU."""
        super().release()
        self.kernel.release()

    def _like(self, value: Value) -> Value:
        if isinstance(value, np.ndarray):
            return np.zeros_like(value)
        made = self.buffer()
        made.reserve(value.size)
        made.clear()
        return made
