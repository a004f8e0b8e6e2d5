"""The graph of a scene: nodes and values wired together and checked as a whole."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.errors import NnrFormatError
from taoxr_runtime.nnr.nodes import KINDS, Node, Reader
from taoxr_runtime.nnr.nodes.binding import Binding
from taoxr_runtime.nnr.nodes.deformer import Deformer
from taoxr_runtime.nnr.schema import NodeSpec, SceneSpec

INPUTS: Final = ("expression", "pose", "root", "latent", "coefficients", "camera")
MAX_VECTOR: Final = 1024
"""Longest input whose length the file chooses."""
RESULTS: Final[dict[str, tuple[int, ...]]] = {
    "means": (3,), "covariances": (6,), "opacities": (), "colors_srgb": (3,),
}  # fmt: skip
"""Values that a scene must make, with the shape after N."""
ORDER: Final = "order"
"""Value that a scene may make: the blending order [N]."""


@dataclass(frozen=True)
class Step:
    """A node and the names of its values."""

    node: Node
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """Steps in topological order, and the shape and dtype of every value."""

    steps: tuple[Step, ...]
    shapes: Mapping[str, tuple[int, ...]]
    dtypes: Mapping[str, np.dtype[Any]]

    @property
    def count(self) -> int:
        """Number of splats."""
        return self.shapes["means"][0]

    @cached_property
    def surface(self) -> tuple[str, NDArray[np.integer]] | None:
        """The mesh that splats ride on: name of its vertices' value, and triangles [F, 3]; None without."""
        for step in self.steps:
            if isinstance(step.node, Binding | Deformer):
                return step.inputs[0], step.node.triangles
        return None

    def consumers(self, names: Collection[str]) -> list[int]:
        """Numbers of the steps that take any of these values."""
        return sorted({step for name in names for step in self._consumers.get(name, ())})

    @cached_property
    def _consumers(self) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = {}
        for i, step in enumerate(self.steps):
            for name in step.inputs:
                found.setdefault(name, []).append(i)
        return found


def build(container: Container) -> Graph:
    """Makes the graph of a container.

    Raises:
        NnrFormatError: A node breaks the format, or the nodes do not fit together.
    """
    scene = container.scene
    shapes = _input_shapes(scene)
    dtypes: dict[str, np.dtype[Any]] = {name: np.dtype(np.float32) for name in shapes}
    steps: list[Step] = []
    for i, spec in enumerate(scene.nodes):
        where = f"scene.nodes[{i}]"
        if spec.kind not in KINDS:
            raise NnrFormatError(
                f"{where}.kind", f"{spec.kind!r} is unknown, expected one of {', '.join(KINDS)}"
            )
        for k, name in enumerate(spec.inputs):
            if name not in shapes:
                raise NnrFormatError(f"{where}.inputs[{k}]", f"nothing before this node makes {name!r}")
            if dtypes[name] != np.float32:
                raise NnrFormatError(f"{where}.inputs[{k}]", f"{name!r} is {dtypes[name]}, not float32")
        node = KINDS[spec.kind](_reader(container, where, spec, [shapes[n] for n in spec.inputs]))
        for k, (name, shape, dtype) in enumerate(
            zip(spec.outputs, node.output_shapes, node.output_dtypes, strict=True)
        ):
            if name in shapes:
                raise NnrFormatError(f"{where}.outputs[{k}]", f"{name!r} is made twice")
            shapes[name], dtypes[name] = shape, np.dtype(dtype)
        steps.append(Step(node, spec.inputs, spec.outputs))
    _check_results(shapes, dtypes)
    _check_importance(container, shapes["means"][0])
    return Graph(tuple(steps), shapes, dtypes)


def _reader(container: Container, where: str, spec: NodeSpec, shapes: list[tuple[int, ...]]) -> Reader:
    tensors = {key: container.tensors[entry] for key, entry in spec.tensors.items()}
    if spec.model is None:
        return Reader(where, spec, tensors, shapes)
    sha256 = container.scene.models[spec.model].sha256
    return Reader(where, spec, tensors, shapes, container.models[spec.model], sha256)


def _input_shapes(scene: SceneSpec) -> dict[str, tuple[int, ...]]:
    known: dict[str, tuple[int | None, ...]] = {
        "expression": (len(scene.rig.blendshapes),),
        "pose": (len(scene.rig.bones), 4),
        "root": (3,),
        "latent": (None,),
        "coefficients": (None,),
        "camera": (3,),
    }
    shapes: dict[str, tuple[int, ...]] = {}
    for i, spec in enumerate(scene.inputs):
        if spec.name not in known:
            problem = f"{spec.name!r} is unknown, expected one of {', '.join(INPUTS)}"
            raise NnrFormatError(f"scene.inputs[{i}].name", problem)
        if spec.name in shapes:
            raise NnrFormatError(f"scene.inputs[{i}].name", f"{spec.name!r} occurs twice")
        expected = known[spec.name]
        if len(spec.shape) != len(expected) or any(
            n > MAX_VECTOR if e is None else e != n for e, n in zip(expected, spec.shape, strict=True)
        ):
            wanted = f"[at most {MAX_VECTOR}]" if None in expected else list(expected)
            problem = f"is {list(spec.shape)}, expected {wanted}"
            raise NnrFormatError(f"scene.inputs[{i}].shape", problem)
        shapes[spec.name] = spec.shape
    return shapes


def _check_results(shapes: dict[str, tuple[int, ...]], dtypes: dict[str, np.dtype[Any]]) -> None:
    count = shapes.get("means", (0,))[0]
    for name, tail in {**RESULTS, ORDER: ()}.items():
        dtype = np.dtype(np.int32 if name == ORDER else np.float32)
        if name not in shapes and name == ORDER:
            continue
        if name not in shapes:
            raise NnrFormatError("scene.nodes", f"no node makes {name!r}")
        if shapes[name] != (count, *tail) or dtypes[name] != dtype:
            found = f"{dtypes[name]} {list(shapes[name])}"
            raise NnrFormatError("scene.nodes", f"{name!r} is {found}, expected {dtype} {[count, *tail]}")


def _check_importance(container: Container, count: int) -> None:
    entry = container.scene.importance
    if entry is None:
        return
    array = container.tensors[entry]
    if array.dtype != np.uint8 or array.shape != (count,):
        found = f"{array.dtype} {list(array.shape)}"
        raise NnrFormatError("scene.importance", f"{entry!r} is {found}, expected uint8 {[count]}")
