"""Inputs of an animation over time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.animation.rotation import slerp

Inputs = Mapping[str, NDArray[Any]]


def between(before: Inputs, after: Inputs, amount: float) -> dict[str, NDArray[np.float64]]:
    """Inputs of a scene between two animation frames: rotations on the shortest way, all else in a line.

    Args:
        before: Inputs by name; ``pose`` [B, 4] holds rotations.
        after: The same names.
        amount: 0 for ``before``, 1 for ``after``.
    """
    return {
        name: slerp(value.astype(np.float64), after[name].astype(np.float64), amount)
        if name == "pose"
        else value + (after[name].astype(np.float64) - value) * amount
        for name, value in before.items()
    }


class Timeline:
    """Remembers the inputs of the last second or so, and tells what lies between them."""

    def __init__(self, most: int = 256) -> None:
        self._frames: deque[tuple[int, Inputs]] = deque(maxlen=most)

    def add(self, time_us: int, inputs: Inputs) -> None:
        """Adds a frame; its time is later than those before it, or it is left out."""
        if not self._frames or time_us > self._frames[-1][0]:
            self._frames.append((time_us, inputs))

    def at(self, time_us: int) -> Inputs:
        """Inputs at a time; before the first frame and after the last, those of that frame."""
        after = self._frames[-1]
        if time_us >= after[0]:
            return after[1]
        for before in reversed(self._frames):
            if before[0] <= time_us:
                return between(before[1], after[1], (time_us - before[0]) / (after[0] - before[0]))
            after = before
        return after[1]
