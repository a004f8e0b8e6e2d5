"""A scene whose nodes run on the GPU and write where the renderer reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.gl.color import GlColor
from taoxr_runtime.nnr.gl.kernels import (
    MAX_EYES,
    GlBinding,
    GlBlendshapes,
    GlSkinning,
    Kernel,
    OnCpu,
    PerEye,
    Value,
    as_array,
    as_buffer,
)
from taoxr_runtime.nnr.gl.learned import GlDeformer, GlField, GlShColor
from taoxr_runtime.nnr.gl.slow import Slow, Span
from taoxr_runtime.nnr.graph import ORDER, Graph, Step, build
from taoxr_runtime.nnr.inputs import Inputs
from taoxr_runtime.nnr.nodes.base import MAX_INPUT
from taoxr_runtime.nnr.nodes.binding import Binding
from taoxr_runtime.nnr.nodes.blendshapes import Blendshapes
from taoxr_runtime.nnr.nodes.cloud import Cloud
from taoxr_runtime.nnr.nodes.coefficients import Coefficients
from taoxr_runtime.nnr.nodes.color import Color
from taoxr_runtime.nnr.nodes.deformer import Deformer
from taoxr_runtime.nnr.nodes.field import Field
from taoxr_runtime.nnr.nodes.model import Model
from taoxr_runtime.nnr.nodes.sh_color import ShColor
from taoxr_runtime.nnr.nodes.skinning import Skinning
from taoxr_runtime.nnr.nodes.sort import Sort
from taoxr_runtime.nnr.nodes.splats import Constants
from taoxr_runtime.nnr.rates import Beat
from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.depth import Mesh
from taoxr_runtime.render.sorting import LastSort
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats

_MEANS: Final = "means"
_RESULTS: Final = {_MEANS: 3, "covariances": 6, "opacities": 1, "colors_srgb": 3}


@dataclass(frozen=True)
class Room:
    """Where a scene puts its splats, and where in the world it stands.

    Attributes:
        pool: Buffers with room for the splats of several scenes.
        first: Number of this scene's first splat there.
        model: Rigid transform from the scene to the world, float64 [4, 4].
    """

    pool: SplatBuffers
    first: int
    model: NDArray[np.float64]

    def words_before(self, name: str) -> int:
        """Number of the scene's first word in the buffer that holds a value; 0 in buffers of its own."""
        return self.first * _RESULTS.get(name, 0)


class GlScene:
    """One avatar on the GPU; the context that made it must be current at every call.

    As `taoxr_runtime.nnr.Scene`, but splats stay on the GPU: an update uploads the weights of the shapes and
    the transforms of the bones, and nothing for each splat. The order is left to the renderer, which sorts.

    Args:
        container: A checked file.
        beside: Splats that do not change, such as the floor; they come after the avatar's.
        graph: The container's, where it has been built already, such as `Scene.graph`: building one tries out
            the file's own models. Nodes own scratch memory: whoever shares them does not run meanwhile.
        room: Part of somebody else's pool, see `GlStage`; not with ``beside``.
        halves: Keep learned shapes and harmonics as 16-bit floats, which is what files hold, on the GPU too;
            False unpacks them to 32 bits, to measure what that costs.

    Attributes:
        splats: What the renderer draws; `update` changes it in place.
        trace: Kinds of the nodes that the last update ran, in order.
        uploaded: Bytes that the last update sent to the GPU.

    Raises:
        NnrFormatError: The graph breaks the format.
        InvalidInputError: The scene is too large for the driver.
        GlError: The driver refuses a shader.
    """

    def __init__(
        self,
        container: Container,
        beside: Splats | None = None,
        *,
        graph: Graph | None = None,
        room: Room | None = None,
        halves: bool = True,
    ) -> None:
        self.container = container
        self.graph = build(container) if graph is None else graph
        self._inputs = Inputs(container, self.graph)
        self._beside = beside
        self._owns_pool = room is None
        if room is None:
            pool = SplatBuffers(self.graph.count + (0 if beside is None else len(beside)))
            room = Room(pool, 0, np.eye(4))
        self.splats, self._room = room.pool, room
        if beside is not None:
            self.splats.place(beside, self.graph.count)
        self._values: dict[str, Value] = {}
        self._own: list[objects.Buffer] = []
        results = dict(zip(_RESULTS, self.splats.all, strict=True))
        self._steps: list[tuple[Step, Kernel | Slow | None]] = []
        for step in self.graph.steps:
            for name in step.outputs:
                self._values[name] = results.get(name) or self._value(name)
            kernel = _kernel(step, self.graph, room, halves)
            if kernel is not None and step.node.rate == "animation":
                self._steps.append((step, Slow(kernel, [self._span(name) for name in step.outputs])))
            else:
                self._steps.append((step, kernel))
        self._dirty = [True] * len(self._steps)
        self._beat, self._last_sort = Beat(), LastSort()
        self._time_us: int | None = None
        self._again = False
        self._eyes = 1
        self.trace: tuple[str, ...] = ()
        self.uploaded = 0

    @property
    def inputs(self) -> Mapping[str, tuple[int, ...]]:
        """Shape of each input by name."""
        return self._inputs.shapes

    @property
    def lights_each_eye(self) -> bool:
        """Whether `look_from` does anything: not where a network of the file's own makes the colours."""
        return any(isinstance(kernel, PerEye) for _, kernel in self._steps)

    @property
    def mesh(self) -> Mesh | None:
        """The surface that splats ride on, as the last update left it; None if they ride on none."""
        if self.graph.surface is None:
            return None
        name, triangles = self.graph.surface
        return Mesh(as_buffer(self._held(name)), triangles)

    def set(self, name: str, array: NDArray[Any]) -> None:
        """Sets an input for the next update; equal values change nothing.

        Raises:
            InvalidInputError: Unknown name, another shape, not floats, or a value that is not finite.
        """
        self._inputs.set(name, array)

    def look_from(self, eyes: NDArray[Any] | None) -> None:
        """Gives each eye colours of its own.

        The benchmark's frames have them; `taoxr_runtime.live.Actor`, and with it the apps, keeps to one set.

        Args:
            eyes: Positions in the model frame, metres, floats [eyes, 3], at most 4; None for one set of
                colours, as seen from the input ``camera``.

        Raises:
            InvalidInputError: There are too many, or positions are not finite.
        """
        if eyes is not None and (eyes.shape[1:] != (3,) or not 1 <= len(eyes) <= MAX_EYES):
            raise InvalidInputError("eyes", list(eyes.shape), f"[1 to {MAX_EYES}, 3]")
        if eyes is not None and not (np.abs(eyes) <= MAX_INPUT).all():
            raise InvalidInputError("eyes", eyes.tolist(), f"finite numbers of at most {MAX_INPUT:g}")
        for i, (_, kernel) in enumerate(self._steps):
            if isinstance(kernel, PerEye) and not _same(kernel.eyes, eyes):
                kernel.eyes = None if eyes is None else eyes.astype(np.float32)
                self._dirty[i] = True
                self._give_room(1 if kernel.eyes is None else len(kernel.eyes))

    def update(self, clock: objects.GpuClock | None = None, time_us: int | None = None) -> SplatBuffers:
        """Runs the nodes that depend on changed inputs, in topological order.

        Args:
            clock: Told when each node ends, by its kind.
            time_us: When the picture will be seen. Nodes of the animation's rate then run in the first frame
                of each of its periods, and what they made last is reached at the end of that period; all
                others run for every frame. Without it everything is as of now. Called again for the same
                time, only what depends on inputs that were changed in between runs.
        """
        self._mark(self._inputs.take())
        self._again = time_us is not None and time_us == self._time_us
        self._time_us = time_us
        self.uploaded = 0
        begins = time_us is None or self._beat.begins(time_us)
        amount = 1.0 if time_us is None else Beat.amount(time_us)
        trace: list[str] = []
        with gl.borrowed_for_compute():
            for i, (step, kernel) in enumerate(self._steps):
                if self._run(i, step, kernel, begins, amount):
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
        if held is None or name == ORDER:
            known = [n for n in self._values if n != ORDER]
            raise InvalidInputError("value", name, f"one of {', '.join(known)}")
        if isinstance(held, np.ndarray):
            return held.copy()
        array = np.empty(self.graph.shapes[name], np.float32)
        held.read(array, 4 * self._room.words_before(name))
        return array

    def release(self) -> None:
        """Deletes everything from the GPU."""
        if self._owns_pool:
            self.splats.release()
        for buffer in self._own:
            buffer.release()
        for _, kernel in self._steps:
            if kernel is not None:
                kernel.release()

    def _give_room(self, eyes: int) -> None:
        """Room for the colours of so many eyes; those of splats beside the scene are the same for all."""
        if eyes == self._eyes:
            return
        self._eyes = eyes
        colors, count = self.splats.colors, self.splats.count
        colors.reserve(12 * count * eyes)
        self.splats.eye_stride = 3 * count if eyes > 1 else 0
        if self._beside is not None:
            for eye in range(eyes):
                colors.write(self._beside.colors_srgb, 12 * (eye * count + self.graph.count))

    def _value(self, name: str) -> Value:
        """Where a value lives: vectors and rotations on the CPU, as kernels take them."""
        shape = self.graph.shapes[name]
        if name != ORDER and (len(shape) == 1 or shape[1:] == (4,)):
            return np.zeros(shape, np.float32)
        made = objects.Buffer()
        made.reserve(max(4 * int(np.prod(shape)), 16))
        self._own.append(made)
        return made

    def _held(self, name: str) -> Value:
        """An input, or what a node made."""
        given = self._inputs.values.get(name)
        return self._values[name] if given is None else given

    def _span(self, name: str) -> Span:
        count = int(np.prod(self.graph.shapes[name]))
        return Span(self._values[name], self._room.words_before(name), count)

    def _run(self, i: int, step: Step, kernel: Kernel | Slow | None, begins: bool, amount: float) -> bool:
        """Brings one step's outputs up to date; returns whether the node ran."""
        ran = self._dirty[i] and (begins or not isinstance(kernel, Slow))
        if isinstance(step.node, Sort):
            # The renderer sorts, and by the same rule only when it is worth it.
            self._dirty[i] = False
            camera = as_array(self._held(step.inputs[1]))
            return ran and self._last_sort.outdated(self.splats.place_number, camera)
        moved = ran
        if ran:
            inputs = [self._held(name) for name in step.inputs]
            self._dirty[i] = False
            if isinstance(kernel, Slow):
                self.uploaded += kernel.run(inputs)
            elif kernel is not None:
                kernel.run(inputs, [self._values[name] for name in step.outputs])
                self.uploaded += kernel.uploaded
        if isinstance(kernel, Slow):
            # In the first frame of a period in which nothing changed, what it made last is reached.
            moved = kernel.moving and not self._again
            if moved:
                kernel.show(1.0 if begins and not ran else amount)
        if moved:
            self._mark(step.outputs)
            if _MEANS in step.outputs:
                self.splats.moved()
        return ran

    def _mark(self, names: Collection[str]) -> None:
        for i in self.graph.consumers(names):
            self._dirty[i] = True


def _same(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b.astype(np.float32)))


def _kernel(step: Step, graph: Graph, room: Room, halves: bool) -> Kernel | None:
    """The node's kernel; None for the sort, which is the renderer's."""
    node = step.node
    match node:
        case Constants() | Cloud() | Coefficients() | Model():
            shapes = [graph.shapes[name] for name in step.inputs]
            read_at = [4 * room.words_before(name) for name in step.inputs]
            # At the animation's rate it makes them in buffers of their own, see `Slow`.
            here = node.rate == "display"
            write_at = [4 * room.words_before(name) if here else 0 for name in step.outputs]
            return OnCpu(node, shapes, read_at, write_at)
        case Field():
            return GlField(node)
        case Deformer():
            return GlDeformer(node, room.first, halves)
        case ShColor():
            return GlShColor(node, room.first, room.pool.count, halves)
        case Blendshapes():
            return GlBlendshapes(node)
        case Skinning():
            return GlSkinning(node, room.model)
        case Binding():
            return GlBinding(node, graph.shapes[step.inputs[0]][0], room.first)
        case Color():
            return GlColor(node, room.first, room.pool.count)
        case _:
            return None
