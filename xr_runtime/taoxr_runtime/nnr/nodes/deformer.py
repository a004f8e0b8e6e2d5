"""Deformer: free Gaussians bound to the triangles of a mesh, with blendshapes of their own.

The binding of Chen et al., "TaoAvatar" (CVPR 2025, arXiv 2503.17032, sections 4.1 and 4.3): a splat keeps its
place, turn and size in the frame of its triangle; learned offsets of place and colour make up for what the
mesh cannot show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.nodes import growth
from taoxr_runtime.nnr.nodes.base import BLOCK, F32, F64, Node, Reader, Tensors
from taoxr_runtime.nnr.nodes.binding import DEGENERATE, MAX_TRIANGLES
from taoxr_runtime.nnr.nodes.coefficients import MAX_COEFFICIENTS
from taoxr_runtime.nnr.nodes.skinning import rotations
from taoxr_runtime.nnr.schema import MAX_SPLATS, Strict
from taoxr_runtime.splats import UPPER, upper

TENSORS: Final = {
    "triangles", "splat_triangle", "barycentric", "offset", "rotation", "scale",
    "position_shapes", "color_shapes",
}  # fmt: skip
MAX_SCALE: Final = 100


class Attributes(Strict):
    """The deformer has none."""


class Deformer(Node):
    """``vertices`` [V, 3], ``coefficients`` [n] → ``means``, ``covariances``, ``frames``, ``compensation``.

    ``means`` [N, 3], ``covariances`` [N, 6], ``frames`` [F, 3, 3] as of a binding, and ``compensation``
    [N, 3], what the coefficients add to the splats' colours.
    """

    kind: ClassVar[str] = "deformer"
    per_splat: ClassVar[frozenset[str]] = frozenset(TENSORS - {"triangles"})

    def __init__(self, reader: Reader) -> None:
        reader.signature(2, 4, TENSORS)
        reader.attributes(Attributes)
        vertices = reader.input_shape(0, (None, 3))[0]
        shapes = reader.input_shape(1, (None,))[0]
        reader.limit("inputs[1]", "n", shapes, 1, MAX_COEFFICIENTS)
        self.triangles = reader.indices("triangles", "uint16", (None, 3), vertices)
        triangles = len(self.triangles)
        reader.limit("tensors.triangles", "F", triangles, 1, MAX_TRIANGLES)
        self.triangle = reader.indices("splat_triangle", "uint16", (None,), triangles)
        count = len(self.triangle)
        reader.limit("tensors.splat_triangle", "N", count, 1, MAX_SPLATS)
        self.barycentric: F32 = reader.tensor("barycentric", "float16", (count, 2)).astype(np.float32)
        corner0 = 1 - self.barycentric.sum(1, dtype=np.float32)
        if (self.barycentric < -1e-3).any() or (corner0 < -2e-3).any():
            raise reader.fail("tensors.barycentric", "must be weights of a point inside the triangle")
        self.offset: F32 = reader.tensor("offset", "float16", (count,)).astype(np.float32)
        reader.lengths("offset", self.offset)
        stored = reader.tensor("rotation", "int16", (count, 4)).astype(np.float32)
        length = np.sqrt((stored * stored).sum(1))
        if (length < 16_384).any():
            row = int(np.argmin(length))
            raise reader.fail("tensors.rotation", f"row {row} is no unit quaternion times 32767")
        self.rotation: F32 = stored / length[:, None]
        self.scale: F32 = reader.tensor("scale", "float16", (count, 3)).astype(np.float32)
        if (self.scale < 0).any() or (self.scale > MAX_SCALE).any():
            raise reader.fail("tensors.scale", f"must be 0 to {MAX_SCALE}")
        self.position_shapes: F32 = _shapes(reader, "position_shapes", count, shapes)
        reader.lengths("position_shapes", self.position_shapes)
        self.color_shapes: F32 = _shapes(reader, "color_shapes", count, shapes)
        reader.lengths("color_shapes", self.color_shapes)
        self.output_shapes = ((count, 3), (count, 6), (triangles, 3, 3), (count, 3))

        self.corner_weights: F32 = np.stack([corner0, *self.barycentric.T]).astype(np.float32)
        turned = rotations(self.rotation.astype(np.float64)) * self.scale[:, None]
        local = upper(turned @ turned.transpose(0, 2, 1))
        self.local_covariance: F32 = np.ascontiguousarray(local.T, np.float32)
        """In the triangle's frame, in units of its mean edge length squared, [6, N]."""
        self._corners = np.ascontiguousarray(self.triangles.T).reshape(-1)
        self._moves: F32 = np.empty((3, count), np.float32)

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        vertices, weights = inputs
        means, covariances, frames, compensation = outputs
        np.matmul(weights, self.color_shapes, out=compensation.reshape(-1))
        np.copyto(self._moves, (weights @ self.position_shapes).reshape(-1, 3).T)
        self._moves[2] += self.offset
        corners: F32 = np.take(vertices.T, self._corners, axis=1).reshape(3, 3, -1)
        frame, edge = _frames(corners)
        np.copyto(frames, frame.transpose(2, 0, 1))
        for start in range(0, len(self.triangle), BLOCK):
            block = slice(start, start + BLOCK)
            at = self.triangle[block]
            turn = frame[:, :, at]
            mean = np.einsum("xkn,kn->xn", corners[:, :, at], self.corner_weights[:, block])
            mean += np.einsum("xkn,kn->xn", turn, self._moves[:, block])
            means[block] = mean.T
            turn = turn * edge[at]
            local = _full(self.local_covariance[:, block])
            half = np.einsum("ikn,kjn->ijn", turn, local)
            for k, (i, j) in enumerate(UPPER):
                covariances[block, k] = np.einsum("kn,kn->n", half[i], turn[j])

    def thinned(
        self, attributes: Mapping[str, Any], tensors: Tensors, kept: NDArray[np.intp]
    ) -> tuple[dict[str, Any], Tensors]:
        """See `Node.thinned`."""
        attributes, thin = super().thinned(attributes, tensors, kept)
        share = growth.shares(self.triangles, self.triangle, kept)[self.triangle[kept]]
        grown = self.scale[kept] * np.sqrt(growth.areas(share))[:, None]
        thin["scale"] = np.minimum(grown, MAX_SCALE).astype(np.float16)
        return attributes, thin

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`."""
        vertices, weights = inputs
        p = vertices[self.triangles]  # [F, corner, 3]
        cross = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        area2 = np.linalg.norm(cross, axis=1)
        z = cross / np.maximum(area2, DEGENERATE)[:, None]
        x = p[:, 1] - p[:, 0]
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
        frames = np.stack([x, np.cross(z, x), z], axis=2)
        frames = np.where((area2 > DEGENERATE)[:, None, None], frames, np.eye(3))
        edge = np.linalg.norm(p - np.roll(p, -1, axis=1), axis=2).mean(1)
        t, count = self.triangle, len(self.triangle)
        moves = np.tensordot(weights, self.position_shapes.astype(np.float64), 1).reshape(count, 3)
        moves[:, 2] += self.offset
        means = np.einsum("kn,nkx->nx", self.corner_weights.astype(np.float64), p[t])
        means += np.einsum("nij,nj->ni", frames[t], moves)
        turned = rotations(self.rotation.astype(np.float64)) * self.scale[:, None].astype(np.float64)
        turned = frames[t] @ turned * edge[t, None, None]
        covariances = upper(turned @ turned.transpose(0, 2, 1))
        compensation = np.tensordot(weights, self.color_shapes.astype(np.float64), 1).reshape(count, 3)
        return means, covariances, frames, compensation


def _shapes(reader: Reader, key: str, count: int, shapes: int) -> F32:
    """Blendshapes [N, n, 3] as float32 [n, 3N]: one product with the coefficients then adds them up."""
    stored = reader.tensor(key, "float16", (count, shapes, 3))
    return np.ascontiguousarray(stored.transpose(1, 0, 2).reshape(shapes, -1), np.float32)


def _frames(corners: F32) -> tuple[F32, F32]:
    """Frames [3, 3, F] (the second index counts their columns) and mean edge lengths [F] of triangles."""
    edges = [corners[:, (k + 1) % 3] - corners[:, k] for k in range(3)]
    lengths = [np.sqrt(np.einsum("xn,xn->n", e, e)) for e in edges]
    cross = np.cross(edges[0], -edges[2], axis=0)
    area2 = np.sqrt(np.einsum("xn,xn->n", cross, cross))
    z = cross / np.maximum(area2, np.float32(DEGENERATE))
    x = edges[0] / np.maximum(lengths[0], np.float32(1e-9))
    frame = np.stack([x, np.cross(z, x, axis=0), z], axis=1)
    frame[:, :, area2 <= DEGENERATE] = np.eye(3, dtype=np.float32)[:, :, None]
    return frame, (lengths[0] + lengths[1] + lengths[2]) / np.float32(3)


def _full(stored: F32) -> F32:
    """Symmetric matrices [3, 3, n] of their upper triangles [6, n]."""
    return stored[[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3, -1)
