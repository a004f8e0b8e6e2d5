"""A loaded scene: inputs to set, splats to take, and the nodes between them run only when they must."""

import threading
import time
from collections.abc import Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr import container as containers
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.graph import ORDER, Graph, Step, build
from taoxr_runtime.nnr.inputs import Inputs
from taoxr_runtime.nnr.nodes import Node
from taoxr_runtime.nnr.nodes.model import Model
from taoxr_runtime.nnr.nodes.sort import Sort
from taoxr_runtime.nnr.schema import Landmarks, Precision, Rig
from taoxr_runtime.render.depth import Mesh
from taoxr_runtime.splats import Splats

if TYPE_CHECKING:
    from taoxr_runtime.nnr.mnn import MnnKernel

F32 = NDArray[np.float32]
Backend = Literal["numpy", "mnn"]


@dataclass(frozen=True)
class NodeRun:
    """One node's run in an update.

    Attributes:
        kind: The node's kind.
        backend: What ran it, ``"numpy"`` or ``"mnn"``.
        ms: Time that it took, in milliseconds.
    """

    kind: str
    backend: str
    ms: float


class Scene:
    """One avatar.

    `set` marks what depends on an input; `update` runs that and nothing else. Outputs are double
    buffered: arrays taken from a scene stay as they are during the next update of their node and are
    written again by the one after it. All methods may be called from any thread.

    Args:
        container: A checked file.
        backend: What runs the nodes. ``"numpy"`` is the default because it is the faster: on the default
            avatar MNN takes two and a half times as long for binding and twice as long for color.
            ``"mnn"`` runs the nodes that have a twin there on MNN.

    Raises:
        InvalidInputError: The backend is unknown.
        NnrFormatError: The graph breaks the format.
        ModelError: MNN could not make a node's twin.
    """

    def __init__(self, container: Container, backend: Backend = "numpy") -> None:
        self._container = container
        self._graph: Graph = build(container)
        if backend not in get_args(Backend):
            raise InvalidInputError("backend", backend, f"one of {', '.join(get_args(Backend))}")
        self._kernels = [
            _kernel(step, self._graph, backend, spec.precision)
            for step, spec in zip(self._graph.steps, container.scene.nodes, strict=True)
        ]
        self._inputs = Inputs(container, self._graph)
        self._values: dict[str, NDArray[Any]] = {}
        self._buffers = [_Buffers(step) for step in self._graph.steps]
        self._dirty = [True] * len(self._graph.steps)
        self._worker_lock = threading.Lock()
        self._run_lock = threading.Lock()
        self._worker: ThreadPoolExecutor | None = None
        self._trace: tuple[NodeRun, ...] = ()
        self._published: dict[str, NDArray[Any]] = {}
        self._splats: Splats | None = None

    @property
    def name(self) -> str:
        """Name of the avatar."""
        return self._container.scene.name

    @property
    def rig(self) -> Rig:
        """Names of the coefficients and bones."""
        return self._container.scene.rig

    @property
    def landmarks(self) -> Landmarks:
        """Places at rest."""
        return self._container.scene.landmarks

    @property
    def container(self) -> Container:
        """The file."""
        return self._container

    @property
    def graph(self) -> Graph:
        """The nodes and the shapes of all values."""
        return self._graph

    @property
    def inputs(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of each input by name."""
        return self._inputs.shapes

    @property
    def trace(self) -> tuple[NodeRun, ...]:
        """The nodes that the last update ran, in order."""
        return self._trace

    @property
    def splats(self) -> Splats:
        """The splats of the last completed update; the first access runs one."""
        return self._splats or self.update()

    @property
    def order(self) -> NDArray[np.int32] | None:
        """The blending order of the last completed update, farthest first; None if no node makes it."""
        return self.value(ORDER) if ORDER in self._graph.shapes else None

    @property
    def mesh(self) -> Mesh | None:
        """The surface that splats ride on, as of the last completed update; None if they ride on none."""
        surface = self._graph.surface
        return None if surface is None else Mesh(self.value(surface[0]), surface[1])

    def value(self, name: str) -> NDArray[Any]:
        """Any value of the graph as of the last completed update, such as ``vertices``.

        Raises:
            InvalidInputError: The graph has no such value.
        """
        if name not in self._graph.shapes:
            raise InvalidInputError("value", name, f"one of {', '.join(self._graph.shapes)}")
        if self._splats is None:
            self.update()
        return self._published[name]

    def set(self, name: str, array: NDArray[Any]) -> None:
        """Sets an input for the next update; equal values change nothing.

        Args:
            name: One of `inputs`.
            array: Floats of the input's shape; copied.

        Raises:
            InvalidInputError: Unknown name, another shape, not floats, or a value that is not finite.
        """
        self._inputs.set(name, array)

    def update(self) -> Splats:
        """Runs the nodes that depend on changed inputs, in topological order, on this thread."""
        with self._run_lock:
            self._mark(self._inputs.take())
            self._values.update(self._inputs.values)
            trace: list[NodeRun] = []
            for i, step in enumerate(self._graph.steps):
                if self._dirty[i] and self._worthwhile(i, step):
                    trace.append(self._run(i, step))
            self._trace = tuple(trace)
            if trace or self._splats is None:
                self._published = v = dict(self._values)
                self._splats = Splats(v["means"], v["covariances"], v["opacities"], v["colors_srgb"])
            return self._splats

    def update_async(self) -> "Future[Splats]":
        """Runs `update` on this scene's worker thread; inputs set until it starts are part of it."""
        with self._worker_lock:
            if self._worker is None:
                self._worker = ThreadPoolExecutor(1, thread_name_prefix="nnr")
        return self._worker.submit(self.update)

    def close(self) -> None:
        """Ends the worker thread, if there is one."""
        if self._worker is not None:
            self._worker.shutdown(wait=True)
            self._worker = None

    def _worthwhile(self, i: int, step: Step) -> bool:
        """Whether a dirty node must run: a sort need not, when hardly anything moved."""
        if isinstance(step.node, Sort) and not step.node.worthwhile([self._values[n] for n in step.inputs]):
            self._dirty[i] = False
            return False
        return True

    def _run(self, i: int, step: Step) -> NodeRun:
        outputs = self._buffers[i].back()
        start = time.perf_counter()
        self._kernels[i].evaluate([self._values[n] for n in step.inputs], outputs)
        ms = (time.perf_counter() - start) * 1e3
        self._values.update(zip(step.outputs, outputs, strict=True))
        self._dirty[i] = False
        self._mark(step.outputs)
        return NodeRun(step.node.kind, self._backend(i), ms)

    def _backend(self, i: int) -> str:
        node = self._graph.steps[i].node
        return "numpy" if self._kernels[i] is node and not isinstance(node, Model) else "mnn"

    def _mark(self, names: Collection[str]) -> None:
        for i in self._graph.consumers(names):
            self._dirty[i] = True


def _kernel(step: Step, graph: Graph, backend: Backend, precision: Precision) -> "Node | MnnKernel":
    if backend == "mnn":
        # Here, because it imports onnx, which NumPy kernels do without.
        from taoxr_runtime.nnr.mnn import MnnKernel, has_twin

        if has_twin(step.node.kind):
            return MnnKernel(step.node, [graph.shapes[name] for name in step.inputs], precision)
    return step.node


class _Buffers:
    """Two sets of output arrays of a node, used in turn."""

    def __init__(self, step: Step) -> None:
        node = step.node
        kinds = list(zip(node.output_shapes, node.output_dtypes, strict=True))
        self._sets = [[np.empty(shape, dtype) for shape, dtype in kinds] for _ in range(2)]
        self._next = 0

    def back(self) -> list[NDArray[Any]]:
        """The set that was not handed out last."""
        self._next ^= 1
        return self._sets[self._next]


def load(path: Path | str, backend: Backend = "numpy") -> Scene:
    """Loads a `.nnr` file.

    Raises:
        NnrFormatError: The file breaks the format.
        OSError: The file cannot be read.
    """
    return Scene(containers.read(Path(path)), backend)
