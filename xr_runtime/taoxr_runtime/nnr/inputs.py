"""The inputs of a scene."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.graph import Graph
from taoxr_runtime.nnr.nodes.base import MAX_INPUT

_VIEWER_DISTANCE: Final = 1.5


class Inputs:
    """Values that callers set, from any thread, until an update takes them.

    Args:
        container: A checked file.
        graph: Its graph.

    Attributes:
        values: As of the last `take`.
    """

    def __init__(self, container: Container, graph: Graph) -> None:
        self._graph = graph
        self.values = _defaults(container)
        self._pending: dict[str, NDArray[np.float32]] = {}
        self._lock = threading.Lock()

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of each input by name."""
        return {name: self._graph.shapes[name] for name in self.values}

    def set(self, name: str, array: NDArray[Any]) -> None:
        """Sets an input for the next `take`; equal values change nothing.

        Args:
            name: One of those of the scene.
            array: Floats of the input's shape; copied.

        Raises:
            InvalidInputError: Unknown name, another shape, not floats, or a value that is not finite.
        """
        if name not in self.values:
            raise InvalidInputError("input", name, f"one of {', '.join(self.values)}")
        shape = self._graph.shapes[name]
        if array.dtype.kind != "f" or array.shape != shape:
            found = f"{array.dtype} {list(array.shape)}"
            raise InvalidInputError(name, found, f"float32 {list(shape)}")
        fine = np.abs(array) <= MAX_INPUT  # false for what is not a number
        if not fine.all():
            bad = tuple(int(i) for i in np.argwhere(~fine)[0])
            raise InvalidInputError(
                f"{name}{list(bad)}", float(array[bad]), f"a finite number of at most {MAX_INPUT:g}"
            )
        value = array.astype(np.float32)
        with self._lock:
            self._pending[name] = value

    def take(self) -> set[str]:
        """Takes over what was set; returns the names of the inputs that changed."""
        with self._lock:
            pending, self._pending = self._pending, {}
        changed = {name for name, value in pending.items() if not np.array_equal(self.values[name], value)}
        self.values.update((name, pending[name]) for name in changed)
        return changed


def _defaults(container: Container) -> dict[str, NDArray[np.float32]]:
    """Rest pose, no expression, and a viewer 1.5 m in front of the head."""
    scene = container.scene
    pose = np.zeros((len(scene.rig.bones), 4), np.float32)
    pose[:, 3] = 1
    camera = np.array(scene.landmarks.head_center, np.float32)
    camera[2] += _VIEWER_DISTANCE
    values: dict[str, NDArray[np.float32]] = {
        "expression": np.zeros(len(scene.rig.blendshapes), np.float32),
        "pose": pose,
        "root": np.zeros(3, np.float32),
        "camera": camera,
    }
    zeros = {spec.name: np.zeros(spec.shape, np.float32) for spec in scene.inputs if spec.name not in values}
    return {spec.name: (values | zeros)[spec.name] for spec in scene.inputs}
