"""The standard nodes as compute programs; each is the twin of the node's ``evaluate``.

What is small is computed by the node's own code on the CPU and uploaded: 52 weights, one transform per bone.
What there is for each vertex, triangle or splat never leaves the GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr.nodes.base import Node
from taoxr_runtime.nnr.nodes.binding import Binding
from taoxr_runtime.nnr.nodes.blendshapes import Blendshapes
from taoxr_runtime.nnr.nodes.skinning import Skinning
from taoxr_runtime.render import gl, objects

MAX_EYES: Final = 4
_GROUP: Final = 64

Value = objects.Buffer | NDArray[np.float32]
"""A value of the graph: inputs that are set are arrays, what kernels make are buffers."""


class Kernel(Protocol):
    """A node on the GPU; `uploaded` counts the bytes that the last run sent there."""

    uploaded: int

    def run(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """Runs the node in place."""
        ...

    def release(self) -> None:
        """Deletes everything from the GPU."""
        ...


class Base:
    """What kernels share: programs, constant buffers, and a count of what was uploaded."""

    def __init__(self) -> None:
        self.uploaded = 0
        self._things: list[objects.Buffer | objects.Program] = []

    def program(self, file: str, **defines: int) -> objects.Program:
        """A compute program."""
        made = objects.Program(file, defines=defines)
        self._things.append(made)
        return made

    def constant(self, array: NDArray[Any]) -> objects.Buffer:
        """A buffer that holds an array for good.

        Raises:
            InvalidInputError: The driver's shaders see no more than a part of so large a buffer.
        """
        most = gl.storage_block_bytes()
        if array.nbytes > most:
            raise InvalidInputError(
                "scene", f"a table of {array.nbytes} bytes", f"at most {most} with this driver"
            )
        made = self.buffer()
        made.write(array if array.size else np.zeros(4, array.dtype))
        return made

    def buffer(self) -> objects.Buffer:
        """An empty buffer."""
        made = objects.Buffer()
        self._things.append(made)
        return made

    def upload(self, buffer: objects.Buffer, array: NDArray[np.float32]) -> None:
        """Replaces a small buffer's contents for this run."""
        buffer.write(array)
        self.uploaded = array.nbytes

    def release(self) -> None:
        """Deletes everything from the GPU."""
        for thing in self._things:
            thing.release()


class PerEye(Base):
    """A node whose colours depend on where they are seen from; see `GlScene.look_from`.

    Attributes:
        eyes: Positions [eyes, 3], at most `MAX_EYES`; None for the input ``camera``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.eyes: NDArray[np.float32] | None = None

    def show_to(self, program: objects.Program, camera: NDArray[np.float32]) -> None:
        """Tells a program the eyes."""
        eyes = camera[None] if self.eyes is None else self.eyes
        program.set_uint("eyes", len(eyes))
        for i, eye in enumerate(eyes.tolist()):
            program.set(f"eye[{i}]", *eye)


class OnCpu(Base):
    """A node that its own code runs, on the CPU: constants, `Coefficients`, and a file's own models.

    What it makes is uploaded once per run, unless it lives on the CPU. A model that takes what is on the GPU
    waits for it.

    Args:
        node: The node.
        input_shapes: Shape of each input.
        read_at: For each input, from which byte of its buffer on it lies.
        write_at: The same for each output.
    """

    def __init__(
        self,
        node: Node,
        input_shapes: Sequence[tuple[int, ...]],
        read_at: Sequence[int],
        write_at: Sequence[int],
    ) -> None:
        super().__init__()
        self._node = node
        self._read_at, self._write_at = read_at, write_at
        self._inputs = [np.zeros(shape, np.float32) for shape in input_shapes]
        self._made = [np.zeros(shape, np.float32) for shape in node.output_shapes]

    def run(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """See `Kernel.run`."""
        for value, array, offset in zip(inputs, self._inputs, self._read_at, strict=True):
            if isinstance(value, objects.Buffer):
                value.read(array, offset)
            else:
                np.copyto(array, value)
        self._node.evaluate(self._inputs, self._made)
        self.uploaded = 0
        for output, array, offset in zip(outputs, self._made, self._write_at, strict=True):
            if isinstance(output, objects.Buffer):
                output.write(array, offset)
                self.uploaded += array.nbytes
            else:
                np.copyto(output, array)


class GlBlendshapes(Base):
    """Twin of `Blendshapes`."""

    def __init__(self, node: Blendshapes) -> None:
        super().__init__()
        self._node = node
        self._count = len(node.rest)
        shape, vertex = np.nonzero(node.deltas.any(2))
        by_vertex = np.lexsort((shape, vertex))
        shape, vertex = shape[by_vertex], vertex[by_vertex]
        deltas = np.empty((len(shape), 4), np.uint32)
        deltas[:, 0] = shape
        deltas[:, 1:] = node.deltas[shape, vertex].view(np.uint32)
        counts = np.zeros(self._count, np.int64)
        counts[node.moved] = np.bincount(vertex, minlength=len(node.moved))
        self._program = self.program("nnr_blendshapes.comp")
        self._rest, self._starts = self.constant(node.rest), self.constant(_starts(counts))
        self._deltas, self._weights = self.constant(deltas), self.buffer()

    def run(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """See `Kernel.run`."""
        weights = self._node.coefficients(as_array(inputs[0]).astype(np.float64))
        self.upload(self._weights, weights.astype(np.float32))
        moved = as_buffer(inputs[1]) if self._node.displaced else self._rest
        shaped = as_buffer(outputs[0])
        objects.bind_storage(0, self._rest, self._starts, self._deltas, self._weights, shaped, moved)
        self._program.set_uint("displaced", self._node.displaced)
        self._program.set_uint("count", self._count)
        dispatch(self._program, self._count)


class GlSkinning(Base):
    """Twin of `Skinning`; ``model`` [4, 4] puts the body somewhere else in the world."""

    def __init__(self, node: Skinning, model: NDArray[np.float64]) -> None:
        super().__init__()
        self._node, self._model = node, model
        self._count, self._influences = node.bone_indices.shape
        self._program = self.program("nnr_skinning.comp")
        self._indices = self.constant(node.bone_indices.astype(np.uint32))
        self._weights = self.constant(node.bone_weights)

    def run(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """See `Kernel.run`."""
        pose, root = (as_array(value).astype(np.float64) for value in inputs[1:])
        vertices, bones = (as_buffer(value) for value in outputs)
        transforms = self._model[:3, :3] @ self._node.bone_transforms(pose, root)
        transforms[:, :, 3] += self._model[:3, 3]
        self.upload(bones, transforms.astype(np.float32))
        objects.bind_storage(0, as_buffer(inputs[0]), bones, self._indices, self._weights, vertices)
        self._program.set_uint("count", self._count)
        self._program.set_uint("influences", self._influences)
        dispatch(self._program, self._count)


class GlBinding(Base):
    """Twin of `Binding`: normals of the vertices, frames of the triangles, then the splats."""

    def __init__(self, node: Binding, vertices: int, first: int) -> None:
        super().__init__()
        self._node, self._vertices = node, vertices
        self._triangle_count = len(node.triangles)
        self._splat_count = node.output_shapes[0][0]
        surface = len(node.surface_triangle)
        places = np.empty((self._splat_count, 4), np.float32)
        places[:surface, :2] = node.barycentric
        places[:surface, 2] = node.subdivision[node.surface_triangle]
        places[surface:, :3] = node.offset
        triangle = np.concatenate([node.surface_triangle, node.strand_triangle]).astype(np.uint32)
        places[:, 3] = triangle.view(np.float32)
        around = np.argsort(node.triangles.reshape(-1), kind="stable") // 3
        counts = np.bincount(node.triangles.reshape(-1), minlength=vertices)
        self._normals_program = self.program("nnr_normals.comp")
        self._frames_program = self.program("nnr_frames.comp")
        self._binding_program = self.program("nnr_binding.comp")
        self._triangles = self.constant(node.triangles.astype(np.uint32))
        self._starts, self._around = self.constant(_starts(counts)), self.constant(around.astype(np.uint32))
        self._places = self.constant(places)
        self._extents = self.constant(np.column_stack([node.axis, node.width]).astype(np.float32))
        self._normals = self.buffer()
        self._normals.reserve(12 * vertices)
        attributes, program = node.attributes, self._binding_program
        program.set_uint("count", self._splat_count)
        program.set_uint("first", first)
        program.set_uint("surface", surface)
        for name, value in (("phong", attributes.phong), ("spread", attributes.spread)):
            program.set(name, value)
        program.set("thin", attributes.thin)

    def run(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """See `Kernel.run`."""
        vertices = as_buffer(inputs[0])
        means, covariances, frames = (as_buffer(value) for value in outputs)
        objects.bind_storage(0, vertices, self._triangles, self._starts, self._around, self._normals)
        self._normals_program.set_uint("count", self._vertices)
        dispatch(self._normals_program, self._vertices)
        objects.bind_storage(0, vertices, self._triangles, frames)
        self._frames_program.set_uint("count", self._triangle_count)
        dispatch(self._frames_program, self._triangle_count)
        objects.bind_storage(
            0,
            vertices,
            self._normals,
            frames,
            self._triangles,
            self._places,
            self._extents,
            means,
            covariances,
        )
        dispatch(self._binding_program, self._splat_count)


def _starts(counts: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Where each one's entries start, and one past the last."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)


def dispatch(program: objects.Program, count: int) -> None:
    """Runs a program with one invocation for each of what there is."""
    program.use()
    gl.dispatch(*gl.in_rows(-(-count // _GROUP)))


def as_array(value: Value) -> NDArray[np.float32]:
    """A value that is on the CPU."""
    assert isinstance(value, np.ndarray), "an input of the scene, or a value of few numbers"
    return value


def as_buffer(value: Value) -> objects.Buffer:
    """A value that is on the GPU."""
    assert isinstance(value, objects.Buffer), "what another kernel made"
    return value
