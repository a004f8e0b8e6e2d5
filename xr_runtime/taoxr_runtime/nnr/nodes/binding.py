"""Binding: splats that ride on the triangles of a mesh.

The fast path does per triangle what does not depend on the splat. Phong tessellation (Boubekeur and
Alexa, "Phong Tessellation", SIGGRAPH Asia 2008) of a barycentric point b is a quadratic in b whose six
coefficients are per triangle: ``Σ b_i v_i − α Σ_{i<j} b_i b_j C_ij`` with
``C_ij = ((v_j − v_i)·n_i) n_i + ((v_i − v_j)·n_j) n_j``; a splat then costs one gather and six products.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from taoxr_runtime.nnr.nodes import growth
from taoxr_runtime.nnr.nodes.base import BLOCK, F32, F64, MAX_LENGTH, Node, Reader, Tensors, gather
from taoxr_runtime.nnr.schema import MAX_SPLATS, Strict
from taoxr_runtime.splats import upper

MAX_TRIANGLES: Final = 65_535
MAX_SUBDIVISION: Final = 255
MAX_SPREAD: Final = 100
MAX_THIN: Final = 10
DEGENERATE: Final = 1e-12
"""Twice the area, in square metres, up to which a triangle has the identity as its frame."""
PAIRS: Final = ((0, 1), (1, 2), (0, 2))
TENSORS: Final = {
    "triangles", "subdivision", "surface_triangle", "surface_barycentric",
    "strand_triangle", "strand_offset", "strand_axis", "strand_width",
}  # fmt: skip


class Attributes(Strict):
    """How surface splats fill their triangles.

    Attributes:
        phong: Weight α of Phong tessellation, 0 to 1.
        spread: Factor k on the covariance of a uniform triangle.
        thin: Standard deviation along the normal, as a part of the radius of the sub-triangle's circle.
    """

    phong: Annotated[float, Field(ge=0, le=1)]
    spread: Annotated[float, Field(gt=0, le=MAX_SPREAD)]
    thin: Annotated[float, Field(ge=0, le=MAX_THIN)]


class Binding(Node):
    """``vertices`` [V, 3] → ``means`` [N, 3], ``covariances`` [N, 6], ``frames`` [F, 3, 3]."""

    kind: ClassVar[str] = "binding"

    def __init__(self, reader: Reader) -> None:
        reader.signature(1, 3, TENSORS)
        vertices = reader.input_shape(0, (None, 3))[0]
        self.attributes = reader.attributes(Attributes)
        self.triangles = reader.indices("triangles", "uint16", (None, 3), vertices)
        triangles = len(self.triangles)
        reader.limit("tensors.triangles", "F", triangles, 1, MAX_TRIANGLES)
        self.subdivision = reader.tensor("subdivision", "uint8", (triangles,)).astype(np.float32)
        if (self.subdivision < 1).any():
            raise reader.fail("tensors.subdivision", "must be at least 1")
        self.surface_triangle = reader.indices("surface_triangle", "uint16", (None,), triangles)
        self.strand_triangle = reader.indices("strand_triangle", "uint16", (None,), triangles)
        surface, strands = len(self.surface_triangle), len(self.strand_triangle)
        reader.limit("tensors.surface_triangle", "N", surface + strands, 1, MAX_SPLATS)
        self.barycentric: F32 = reader.tensor("surface_barycentric", "float16", (surface, 2)).astype(
            np.float32
        )
        corner0 = 1 - self.barycentric.sum(1)
        if (self.barycentric < -1e-3).any() or (corner0 < -2e-3).any():
            raise reader.fail("tensors.surface_barycentric", "must be weights of a point inside the triangle")
        self.offset: F32 = reader.tensor("strand_offset", "float16", (strands, 3)).astype(np.float32)
        self.axis: F32 = reader.tensor("strand_axis", "float16", (strands, 3)).astype(np.float32)
        self.width: F32 = reader.tensor("strand_width", "float16", (strands,)).astype(np.float32)
        for key, array in (
            ("strand_offset", self.offset),
            ("strand_axis", self.axis),
            ("strand_width", self.width),
        ):
            reader.lengths(key, array)
        self.output_shapes = ((surface + strands, 3), (surface + strands, 6), (triangles, 3, 3))

        self.weights = self._surface_weights(corner0)
        self._corners = np.ascontiguousarray(self.triangles.T).reshape(-1)
        self._strand_local: F32 = np.ascontiguousarray(np.stack([self.offset, self.axis]).transpose(2, 0, 1))
        self._width2: F32 = self.width * self.width
        self._area_scale: F32 = np.reciprocal(self.subdivision * self.subdivision)
        # Planes per triangle: 18 coefficients of the mean; then frame (9) and corner 0 (3) for strands.
        self._mean: F32 = np.empty((3, 6, triangles), np.float32)
        self._placing: F32 = np.empty((12, triangles), np.float32)
        self._covariance: F32 = np.empty((triangles, 6), np.float32)
        self._scratch: F32 = np.empty(18 * BLOCK, np.float32)

    def _surface_weights(self, corner0: F32) -> F32:
        """The six monomials of the mean for each surface splat, [6, Ns]."""
        b = np.stack([corner0, *self.barycentric.T])
        alpha = np.float32(self.attributes.phong)
        return np.concatenate([b, np.stack([-alpha * b[i] * b[j] for i, j in PAIRS])]).astype(np.float32)

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        means, covariances, frames = outputs
        self._per_triangle(np.ascontiguousarray(inputs[0].T))
        np.copyto(frames, self._placing[:9].reshape(3, 3, -1).transpose(2, 0, 1))
        self._surface(means, covariances)
        self._strands(means, covariances)

    def _per_triangle(self, vertices: F32) -> None:
        """Fills the planes from vertices [3, V]."""
        corners: F32 = np.take(vertices, self._corners, axis=1, mode="clip").reshape(3, 3, -1)
        edge1, edge2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        cross = _cross(edge1, edge2)
        double_area = _norm(cross)
        flat = double_area <= DEGENERATE
        any_flat = bool(flat.any())

        x, y, z = self._placing[:9].reshape(3, 3, -1).swapaxes(0, 1)  # columns of the frame
        safe = np.maximum(double_area, np.float32(DEGENERATE))
        np.divide(cross, safe, out=z)
        np.divide(edge1, np.maximum(_norm(edge1), np.float32(1e-9)), out=x)
        y[...] = _cross(z, x)
        if any_flat:
            for row, column in enumerate((x, y, z)):
                column[:, flat] = np.eye(3, dtype=np.float32)[:, row : row + 1]
        self._placing[9:] = corners[:, 0]

        self._triangle_covariance(edge1, edge2, z, double_area)
        self._triangle_mean(corners, self._corner_normals(cross, vertices.shape[1]))

    def _corner_normals(self, cross: F32, vertices: int) -> F32:
        """Unit normals at the corners [3, 3, F]; the cross product weighs each triangle by its area."""
        total = np.empty((3, vertices), np.float32)
        weights = np.empty((3, cross.shape[1]))
        for axis in range(3):
            weights[...] = cross[axis]
            total[axis] = np.bincount(self._corners, weights.reshape(-1), vertices)
        total /= np.maximum(_norm(total), np.float32(1e-20))
        return np.take(total, self._corners, axis=1, mode="clip").reshape(3, 3, -1)

    def _triangle_covariance(self, edge1: F32, edge2: F32, normal: F32, double_area: F32) -> None:
        """Fills [F, 6].

        ``Σ (p − c)(p − c)ᵀ = ⅔ (e₁e₁ᵀ + e₂e₂ᵀ) − ⅓ (e₁e₂ᵀ + e₂e₁ᵀ)``, scaled, plus the thickness.
        """
        a = self.attributes
        inside = self._area_scale * np.float32(a.spread / 36)
        along = double_area * self._area_scale * np.float32(a.thin**2 / (2 * np.pi))
        twice1, twice2 = 2 * edge1 - edge2, 2 * edge2 - edge1
        for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
            spread = edge1[i] * twice1[j] + edge2[i] * twice2[j]
            self._covariance[:, k] = spread * inside + normal[i] * normal[j] * along

    def _triangle_mean(self, corners: F32, normals: F32) -> None:
        self._mean[:, :3] = corners
        for k, (i, j) in enumerate(PAIRS, start=3):
            edge = corners[:, j] - corners[:, i]
            n_i, n_j = normals[:, i], normals[:, j]
            self._mean[:, k] = n_i * (edge * n_i).sum(0) - n_j * (edge * n_j).sum(0)

    def _surface(self, means: F32, covariances: F32) -> None:
        count = len(self.surface_triangle)
        planes = self._mean.reshape(18, -1)
        for start in range(0, count, BLOCK):
            block = slice(start, min(start + BLOCK, count))
            gathered = gather(planes, self.surface_triangle[block], self._scratch).reshape(3, 6, -1)
            gathered *= self.weights[:, block]
            np.add.reduce(gathered, axis=1, out=gathered[:, 0])
            means[block] = gathered[:, 0].T
        np.take(self._covariance, self.surface_triangle, axis=0, out=covariances[:count], mode="clip")

    def _strands(self, means: F32, covariances: F32) -> None:
        first = len(self.surface_triangle)
        for start in range(0, len(self.strand_triangle), BLOCK):
            block = slice(start, min(start + BLOCK, len(self.strand_triangle)))
            gathered = gather(self._placing, self.strand_triangle[block], self._scratch)
            frame, corner = gathered[:9].reshape(3, 3, 1, -1), gathered[9:]
            # Both local vectors at once: [3 local, 2 vectors, n] → [3 world, 2, n].
            local = self._strand_local[:, :, block]
            world = frame[:, 0] * local[0]
            world += frame[:, 1] * local[1]
            world += frame[:, 2] * local[2]
            target = slice(first + block.start, first + block.stop)
            means[target] = (world[:, 0] + corner).T
            axis, width2 = world[:, 1], self._width2[block]
            for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
                product = axis[i] * axis[j]
                covariances[target, k] = product + width2 if i == j else product

    def thinned(
        self, attributes: Mapping[str, Any], tensors: Tensors, kept: NDArray[np.intp]
    ) -> tuple[dict[str, Any], Tensors]:
        """See `Node.thinned`: surface splats grow with their triangle's cells, strands by their width."""
        surface = kept[kept < len(self.surface_triangle)]
        strands = kept[len(surface) :] - len(self.surface_triangle)
        a, most = self.attributes, float(self.subdivision.max())
        # Cells may be larger than triangles: subdivision counts in finer steps, as do spread and thin.
        finest = min(np.sqrt(MAX_SPREAD / a.spread), MAX_THIN / max(a.thin, 1e-9), MAX_SUBDIVISION / most)
        steps = max(int(finest), 1)
        grown = growth.areas(growth.shares(self.triangles, self.surface_triangle, surface))
        subdivision = np.round(steps * self.subdivision / np.sqrt(grown))
        share = growth.shares(self.triangles, self.strand_triangle, strands)[self.strand_triangle[strands]]
        width = np.minimum(self.width[strands] * growth.widths(share), MAX_LENGTH)
        return {**attributes, "spread": a.spread * steps**2, "thin": a.thin * steps}, {
            "triangles": tensors["triangles"],
            "subdivision": np.clip(subdivision, 1, MAX_SUBDIVISION).astype(np.uint8),
            "strand_width": width.astype(np.float16),
            **{key: tensors[key][surface] for key in ("surface_triangle", "surface_barycentric")},
            **{key: tensors[key][strands] for key in ("strand_triangle", "strand_offset", "strand_axis")},
        }

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`."""
        p = inputs[0][self.triangles]  # [F, 3 corners, 3]
        cross = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        double_area = np.linalg.norm(cross, axis=1)
        ok = double_area > DEGENERATE
        z = cross / np.maximum(double_area, DEGENERATE)[:, None]
        x = p[:, 1] - p[:, 0]
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
        frames = np.where(ok[:, None, None], np.stack([x, np.cross(z, x), z], axis=2), np.eye(3))

        normals = np.zeros_like(inputs[0])
        np.add.at(normals, self.triangles, cross[:, None])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-20)

        t, b = self.surface_triangle, self.weights[:3].T.astype(np.float64)
        point = np.einsum("nc,ncx->nx", b, p[t])
        n = normals[self.triangles][t]
        height = np.einsum("ncx,ncx->nc", point[:, None] - p[t], n)
        mean = point - self.attributes.phong * np.einsum("nc,nc,ncx->nx", b, height, n)
        c = p - p.mean(1, keepdims=True)
        n2 = self.subdivision.astype(np.float64)[:, None, None] ** 2
        normal = frames[:, :, 2]
        flat = self.attributes.spread / 12 * np.einsum("fci,fcj->fij", c, c) / n2
        radius2 = double_area[:, None, None] / 2 / n2 / np.pi
        thick = self.attributes.thin**2 * radius2 * np.einsum("fi,fj->fij", normal, normal)

        s = self.strand_triangle
        offset = np.einsum("nij,nj->ni", frames[s], self.offset.astype(np.float64))
        axis = np.einsum("nij,nj->ni", frames[s], self.axis.astype(np.float64))
        width = self.width.astype(np.float64)[:, None, None]
        strand = width**2 * np.eye(3) + np.einsum("ni,nj->nij", axis, axis)

        means = np.concatenate([mean, p[s, 0] + offset])
        return means, upper(np.concatenate([(flat + thick)[t], strand])), frames


def _cross(a: F32, b: F32) -> F32:
    """Cross product of planes [3, F]; np.cross makes several times as many temporaries."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _norm(a: F32) -> F32:
    return np.sqrt(np.einsum("kn,kn->n", a, a))
