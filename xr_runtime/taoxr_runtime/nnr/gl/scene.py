"""A scene whose nodes run on the GPU and write where the renderer reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.gl.color import GlColor
from taoxr_runtime.nnr.gl.kernels import GlBinding, GlBlendshapes, GlSkinning, Kernel, Value
from taoxr_runtime.nnr.graph import ORDER, Graph, Step, build
from taoxr_runtime.nnr.inputs import Inputs
from taoxr_runtime.nnr.nodes import Node
from taoxr_runtime.nnr.nodes.binding import Binding
from taoxr_runtime.nnr.nodes.blendshapes import Blendshapes
from taoxr_runtime.nnr.nodes.color import Color
from taoxr_runtime.nnr.nodes.skinning import Skinning
from taoxr_runtime.nnr.nodes.splats import Constants
from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats

_RESULTS: Final = ("means", "covariances", "opacities", "colors_srgb")


class GlScene:
    """One avatar on the GPU; the context that made it must be current at every call.

    As `taoxr_runtime.nnr.Scene`, but splats stay on the GPU: an update uploads the weights of the shapes and
    the transforms of the bones, and nothing for each splat. The order is left to the renderer, which sorts.

    Args:
        container: A checked file.
        beside: Splats that do not change, such as the floor; they come after the avatar's.

    Attributes:
        splats: What the renderer draws; `update` changes it in place.
        trace: Kinds of the nodes that the last update ran, in order.
        uploaded: Bytes that the last update sent to the GPU.

    Raises:
        NnrFormatError: The graph breaks the format.
        GlError: The driver refuses a shader.
    """

    def __init__(self, container: Container, beside: Splats | None = None) -> None:
        self.container = container
        self.graph: Graph = build(container)
        self._inputs = Inputs(container, self.graph)
        self.splats = SplatBuffers(self.graph.count + (0 if beside is None else len(beside)))
        if beside is not None:
            self.splats.place(beside, self.graph.count)
        self._values: dict[str, Value] = {}
        self._own: list[objects.Buffer] = []
        results: dict[str, objects.Buffer] = dict(zip(_RESULTS, self.splats.all, strict=True))
        self._steps: list[tuple[Step, Kernel | None]] = []
        for step in self.graph.steps:
            for name in step.outputs:
                self._values[name] = results.get(name) or self._buffer(name)
            self._steps.append((step, _kernel(step.node, self.graph, step)))
        self._dirty = [True] * len(self._steps)
        self.trace: tuple[str, ...] = ()
        self.uploaded = 0

    @property
    def inputs(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of each input by name."""
        return self._inputs.shapes

    def set(self, name: str, array: NDArray[Any]) -> None:
        """Sets an input for the next update; equal values change nothing.

        Raises:
            InvalidInputError: Unknown name, another shape, not floats, or a value that is not finite.
        """
        self._inputs.set(name, array)

    def update(self, clock: objects.GpuClock | None = None) -> SplatBuffers:
        """Runs the nodes that depend on changed inputs, in topological order.

        Args:
            clock: Told when each node ends, by its kind.
        """
        for i in self._inputs.take():
            self._dirty[i] = True
        trace: list[str] = []
        self.uploaded = 0
        if any(self._dirty):
            with gl.borrowed_for_compute():
                for i, (step, kernel) in enumerate(self._steps):
                    if self._dirty[i]:
                        self._run(step, kernel)
                        self._dirty[i] = False
                        trace.append(step.node.kind)
                        if clock is not None:
                            clock.mark(step.node.kind)
            gl.check("update")
        self.trace = tuple(trace)
        return self.splats

    def value(self, name: str) -> NDArray[np.float32]:
        """Fetches any value that a node makes, as of the last update; waits for the GPU.

        Raises:
            InvalidInputError: No node makes such a value on the GPU.
        """
        held = self._values.get(name)
        if not isinstance(held, objects.Buffer) or name == ORDER:
            known = [n for n in self._values if n != ORDER]
            raise InvalidInputError("value", name, f"one of {', '.join(known)}")
        array = np.empty(self.graph.shapes[name], np.float32)
        held.read(array)
        return array

    def release(self) -> None:
        """Deletes everything from the GPU."""
        self.splats.release()
        for buffer in self._own:
            buffer.release()
        for _, kernel in self._steps:
            if kernel is not None:
                kernel.release()

    def _buffer(self, name: str) -> objects.Buffer:
        made = objects.Buffer()
        made.reserve(max(4 * int(np.prod(self.graph.shapes[name])), 16))
        self._own.append(made)
        return made

    def _run(self, step: Step, kernel: Kernel | None) -> None:
        outputs = [self._values[name] for name in step.outputs]
        buffers = [value for value in outputs if isinstance(value, objects.Buffer)]
        if kernel is not None:
            held = self._inputs.values
            kernel.run([held[n] if n in held else self._values[n] for n in step.inputs], buffers)
            self.uploaded += kernel.uploaded
        elif isinstance(step.node, Constants):
            constants = [np.empty(shape, np.float32) for shape in step.node.output_shapes]
            step.node.evaluate([], constants)
            for buffer, array in zip(buffers, constants, strict=True):
                buffer.write(array)
                self.uploaded += array.nbytes


def _kernel(node: Node, graph: Graph, step: Step) -> Kernel | None:
    """The node's kernel; None for constants, which are uploaded once, and for the sort, the renderer's."""
    match node:
        case Blendshapes():
            return GlBlendshapes(node)
        case Skinning():
            return GlSkinning(node)
        case Binding():
            return GlBinding(node, graph.shapes[step.inputs[0]][0])
        case Color():
            return GlColor(node)
        case _:
            return None
