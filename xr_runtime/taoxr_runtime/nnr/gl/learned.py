"""The nodes whose numbers were learned, as compute programs: field, deformer and sh_color."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.gl.kernels import Base, PerEye, Value, as_array, as_buffer, dispatch
from taoxr_runtime.nnr.nodes.deformer import Deformer
from taoxr_runtime.nnr.nodes.field import MAX_HIDDEN, Field
from taoxr_runtime.nnr.nodes.sh_color import ShColor
from taoxr_runtime.render import gl, objects

_TILE: Final = 32


class GlField(Base):
    """Twin of `Field`."""

    def __init__(self, node: Field) -> None:
        super().__init__()
        self._node = node
        self._count = len(node.at_rest)
        self._program = self.program("nnr_field.comp")
        tiles = -(-self._count // _TILE)
        at_rest = np.zeros((tiles * _TILE, MAX_HIDDEN), np.float32)
        at_rest[: self._count, : node.at_rest.shape[1]] = node.at_rest
        self._at_rest = self.constant(at_rest.reshape(tiles, _TILE, MAX_HIDDEN).transpose(0, 2, 1))
        self._first = self.buffer()
        inner, (weight, bias) = node.mlp.layers[1:-1], node.mlp.layers[-1]
        self._weights = self.constant(np.stack([_padded(w, b) for w, b in inner] or [_padded(weight, bias)]))
        last = np.zeros((MAX_HIDDEN + 1, 4), np.float32)
        last[: weight.shape[1], :3], last[-1, :3] = weight.T, bias
        self._last = self.constant(last)
        self._program.set_uint("count", self._count)
        self._program.set_uint("layers", len(inner))
        self._program.set("limit", node.attributes.limit)

    def run(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """See `Kernel.run`."""
        first = np.zeros(MAX_HIDDEN, np.float32)
        of_pose = self._node.first(as_array(inputs[0]), as_array(inputs[1]))
        first[: len(of_pose)] = of_pose
        self.upload(self._first, first)
        displacement = as_buffer(outputs[0])
        objects.bind_storage(0, self._at_rest, self._first, self._weights, self._last, displacement)
        self._program.use()
        gl.dispatch(-(-self._count // _TILE))


class GlDeformer(Base):
    """Twin of `Deformer`."""

    def __init__(self, node: Deformer, first: int, halves: bool) -> None:
        super().__init__()
        self._count, self._triangle_count = len(node.triangle), len(node.triangles)
        shapes = len(node.position_shapes)
        self._pairs = -(-shapes // 2)
        words = np.empty((6, self._count), np.uint32)
        words[0] = node.triangle.astype(np.uint32) | _halves(node.offset).astype(np.uint32) << 16
        words[1] = _halves(node.barycentric).view(np.uint32)[:, 0]
        quaternions = np.round(node.rotation * 32_767).astype(np.int16)
        words[2:4] = np.ascontiguousarray(quaternions).view(np.uint32).T
        scale = np.zeros((self._count, 4), np.float32)
        scale[:, :3] = node.scale
        words[4:6] = _halves(scale).view(np.uint32).T
        self._program = self.program("nnr_deformer.comp", HALVES=int(halves))
        self._frames_program = self.program("nnr_frames.comp")
        self._triangles = self.constant(node.triangles.astype(np.uint32))
        self._splats = self.constant(words)
        tables = [t.reshape(shapes, -1, 3) for t in (node.position_shapes, node.color_shapes)]
        self._shapes = self.constant(np.concatenate([packed_vectors(t, halves) for t in tables]))
        self._coefficients = self.buffer()
        self._program.set_uint("count", self._count)
        self._program.set_uint("first", first)
        self._program.set_uint("pairs", self._pairs)
        self._frames_program.set_uint("count", self._triangle_count)

    def run(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """See `Kernel.run`."""
        vertices, given = as_buffer(inputs[0]), as_array(inputs[1])
        means, covariances, frames, compensation = (as_buffer(value) for value in outputs)
        coefficients = np.zeros(2 * self._pairs, np.float32)
        coefficients[: len(given)] = given
        self.upload(self._coefficients, coefficients)
        objects.bind_storage(0, vertices, self._triangles, frames)
        dispatch(self._frames_program, self._triangle_count)
        objects.bind_storage(
            0, vertices, self._triangles, self._splats, self._shapes, self._coefficients,
            means, covariances, compensation,
        )  # fmt: skip
        dispatch(self._program, self._count)


class GlShColor(PerEye):
    """Twin of `ShColor`."""

    def __init__(self, node: ShColor, first: int, pooled: int, halves: bool) -> None:
        super().__init__()
        self._count = len(node.triangle)
        self._program = self.program("nnr_sh_color.comp", SIZE=len(node.sh), HALVES=int(halves))
        self._triangles = self.constant(node.triangle.astype(np.uint32))
        self._harmonics = self.constant(packed_vectors(node.sh.transpose(0, 2, 1), halves))
        normals = np.zeros((self._count if node.normal is not None else 1, 4), np.int8)
        if node.normal is not None:
            normals[:, :3] = np.round(node.normal.T * 127)
        self._normals = self.constant(normals.view(np.uint32)[:, 0])
        self._program.set_uint("count", self._count)
        self._program.set_uint("first", first)
        self._program.set_uint("pooled", pooled)
        self._program.set_uint("relit", node.normal is not None)
        for i, row in enumerate(node.irradiance.tolist()):
            self._program.set(f"irradiance[{i}]", *row)

    def run(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """See `Kernel.run`."""
        frames, means, compensation = (as_buffer(value) for value in inputs[:3])
        self.show_to(self._program, as_array(inputs[3]))
        objects.bind_storage(
            0, frames, means, compensation, self._triangles, self._harmonics, self._normals,
            as_buffer(outputs[0]),
        )  # fmt: skip
        dispatch(self._program, self._count)


def packed_vectors(vectors: NDArray[np.float32], halves: bool) -> NDArray[np.uint32]:
    """Vectors [K, N, 3], two of the K together, word by word: [3 · ceil(K / 2), N], or twice that."""
    count, splats = vectors.shape[:2]
    even = np.zeros((count + count % 2, splats, 3), np.float16 if halves else np.float32)
    even[:count] = vectors
    pairs = even.reshape(-1, 2, splats, 3).transpose(0, 2, 1, 3).reshape(-1, splats, 6)
    return np.ascontiguousarray(pairs).view(np.uint32).transpose(0, 2, 1).reshape(-1, splats)


def _halves(array: NDArray[np.float32]) -> NDArray[np.uint16]:
    return np.ascontiguousarray(array, np.float16).view(np.uint16)


def _padded(weight: NDArray[Any], bias: NDArray[Any]) -> NDArray[np.float32]:
    """A hidden layer by input, then the bias: [MAX_HIDDEN + 1, MAX_HIDDEN]."""
    rows = np.zeros((MAX_HIDDEN + 1, MAX_HIDDEN), np.float32)
    rows[: weight.shape[1], : len(weight)], rows[-1, : len(bias)] = weight.T, bias
    return rows
