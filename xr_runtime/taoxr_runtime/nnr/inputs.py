"""The inputs of a scene, and which steps of the graph they make run."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.graph import Graph

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
            name: ``expression``, ``pose``, ``root`` or ``camera``.
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
        value = array.astype(np.float32)
        if not np.isfinite(value).all():
            bad = tuple(int(i) for i in np.argwhere(~np.isfinite(value))[0])
            raise InvalidInputError(f"{name}{list(bad)}", float(array[bad]), "a finite number")
        with self._lock:
            self._pending[name] = value

    def take(self) -> set[int]:
        """Takes over what was set; returns the numbers of the steps that depend on what changed."""
        with self._lock:
            pending, self._pending = self._pending, {}
        dirty: set[int] = set()
        for name, value in pending.items():
            if not np.array_equal(self.values[name], value):
                self.values[name] = value
                dirty |= self._graph.dependents(name)
        return dirty


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
    return {spec.name: values[spec.name] for spec in scene.inputs}
