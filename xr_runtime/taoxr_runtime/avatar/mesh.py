"""Triangle meshes: vertices with skinning, cutting along a field, and regular sampling of triangles."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .fields import Floats, Ints, unit

if TYPE_CHECKING:  # both need torch and anny; this module does not
    from .anatomy import Anatomy
    from .stance import Stance

PHONG = 0.7  # weight of the curved surface over the flat triangle, for the whole avatar


@dataclass(frozen=True)
class Vertices:
    """Vertices of one part.

    Attributes:
        bind: positions in Anny's bind pose [V,3]; colours and shapes are designed in it.
        rest: positions in the relaxed stance [V,3]; what the file holds.
        weights: skinning weights [V,B].
        source: Anny vertex whose blendshape deltas apply [V]; −1 for none.
    """

    bind: Floats
    rest: Floats
    weights: Floats
    source: Ints

    def __len__(self) -> int:
        return len(self.bind)

    def posed(self, stance: "Stance") -> "Vertices":
        """The same with ``rest`` skinned anew from ``bind``."""
        return replace(self, rest=stance.apply(self.bind, self.weights))


@dataclass(frozen=True)
class Mesh:
    """Vertices and triangles [F,3]."""

    vertices: Vertices
    faces: Ints

    def compact(self) -> "Mesh":
        """Without the vertices that no triangle uses."""
        used, faces = np.unique(self.faces, return_inverse=True)
        return Mesh(_take(self.vertices, used), faces.reshape(-1, 3))


def from_anatomy(body: "Anatomy", stance: "Stance", faces: Ints) -> Mesh:
    """A part of Anny's own mesh."""
    vertices = Vertices(
        body.bind, stance.apply(body.bind, body.weights), body.weights, np.arange(len(body.bind))
    )
    return Mesh(vertices, faces).compact()


def joined(meshes: list[Mesh]) -> Mesh:
    """All of ``meshes`` as one; vertices are not merged."""
    starts = np.cumsum([0] + [len(m.vertices) for m in meshes])
    vertices = Vertices(*(
        np.concatenate([getattr(m.vertices, name) for m in meshes])
        for name in ("bind", "rest", "weights", "source")
    ))  # fmt: skip
    return Mesh(vertices, np.concatenate([m.faces + s for m, s in zip(meshes, starts, strict=False)]))


def interpolate(vertices: Vertices, a: Ints, b: Ints, t: Floats) -> Vertices:
    """New vertices on the segments a→b; they carry no blendshapes."""
    w = t[:, None]
    return Vertices(
        vertices.bind[a] * (1 - w) + vertices.bind[b] * w,
        vertices.rest[a] * (1 - w) + vertices.rest[b] * w,
        vertices.weights[a] * (1 - w) + vertices.weights[b] * w,
        np.full(len(a), -1),
    )


def _take(v: Vertices, index: Ints) -> Vertices:
    return Vertices(v.bind[index], v.rest[index], v.weights[index], v.source[index])


def append(a: Vertices, b: Vertices) -> Vertices:
    """``a`` followed by ``b``."""
    return Vertices(*(
        np.concatenate([getattr(a, n), getattr(b, n)]) for n in ("bind", "rest", "weights", "source")
    ))  # fmt: skip


def cut(mesh: Mesh, values: Floats, snap: float = 0.35) -> Mesh:
    """The part where ``values`` [V] > 0, with vertices exactly on the zero line.

    Vertices nearer to the line than ``snap`` of an edge move onto it, so that no slivers arise.
    """
    mesh, values = _snapped(mesh, values, snap)
    inside = values[mesh.faces] > 0
    count = inside.sum(1)
    mixed = mesh.faces[(count == 1) | (count == 2)]
    # Rotate every mixed triangle so that its first corner is alone on its side.
    sides = values[mixed] > 0
    alone = np.where(sides.sum(1) == 1, sides.argmax(1), (~sides).argmax(1))
    corner = (alone[:, None] + np.arange(3)) % 3
    mixed = np.take_along_axis(mixed, corner, 1)
    a, b, c = mixed.T
    key = np.sort(np.concatenate([mixed[:, [0, 1]], mixed[:, [0, 2]]]), 1)
    unique, where = np.unique(key, axis=0, return_inverse=True)
    lo, hi = unique.T
    new = interpolate(mesh.vertices, lo, hi, values[lo] / (values[lo] - values[hi]))
    ab, ac = len(mesh.vertices) + where.reshape(2, -1)
    in_a = values[a] > 0
    faces = [
        mesh.faces[count == 3],
        np.stack([a, ab, ac], 1)[in_a],
        np.stack([ab, b, c], 1)[~in_a],
        np.stack([ab, c, ac], 1)[~in_a],
    ]
    return weld(Mesh(append(mesh.vertices, new), np.concatenate(faces)))


def _snapped(mesh: Mesh, values: Floats, snap: float) -> tuple[Mesh, Floats]:
    """Moves vertices close to the zero line along an edge onto it; their value becomes a tiny positive."""
    f = mesh.faces
    edges = np.unique(np.sort(np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]]), 1), axis=0)
    edges = np.concatenate([edges, edges[:, ::-1]])
    a, b = edges.T
    crossing = (values[a] > 0) != (values[b] > 0)
    a, b = a[crossing], b[crossing]
    t = values[a] / (values[a] - values[b])
    order = np.argsort(t, kind="stable")
    a, b, t = a[order], b[order], t[order]
    first = np.unique(a, return_index=True)[1]
    a, b, t = a[first], b[first], t[first]
    near = t < snap
    a, b, t = a[near], b[near], t[near]
    moved = interpolate(mesh.vertices, a, b, t)
    v = mesh.vertices
    columns = {n: getattr(v, n).copy() for n in ("bind", "rest", "weights", "source")}
    for name, column in columns.items():
        column[a] = getattr(moved, name)
    values = values.copy()
    values[a] = 1e-12
    return Mesh(Vertices(**columns), mesh.faces), values


def weld(mesh: Mesh, distance: float = 1e-6) -> Mesh:
    """Merges vertices at the same bind position and drops triangles that vanish."""
    _, first, where = np.unique(
        np.round(mesh.vertices.bind / distance).astype(np.int64),
        axis=0,
        return_index=True,
        return_inverse=True,
    )
    faces = where.reshape(-1)[mesh.faces]
    distinct = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    merged = Mesh(_take(mesh.vertices, first), faces[distinct])
    solid = areas(merged.vertices.bind, merged.faces) > 1e-9
    return Mesh(merged.vertices, merged.faces[solid]).compact()


def refine(mesh: Mesh) -> Mesh:
    """Every triangle cut into four at its edge midpoints."""
    f = mesh.faces
    edges = np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]])
    unique, where = np.unique(np.sort(edges, 1), axis=0, return_inverse=True)
    mid = interpolate(mesh.vertices, unique[:, 0], unique[:, 1], np.full(len(unique), 0.5))
    m01, m12, m20 = len(mesh.vertices) + where.reshape(3, -1)
    a, b, c = f.T
    faces = [(a, m01, m20), (b, m12, m01), (c, m20, m12), (m01, m12, m20)]
    return Mesh(append(mesh.vertices, mid), np.concatenate([np.stack(t, 1) for t in faces]))


def boundary(faces: Ints) -> list[Ints]:
    """Closed loops of boundary vertices, each in the direction of its triangles' edges."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    present = {(int(a), int(b)) for a, b in edges}
    following = {a: b for a, b in present if (b, a) not in present}
    loops: list[Ints] = []
    while following:
        start, current = following.popitem()
        loop = [start]
        while current != start and current in following:
            loop.append(current)
            current = following.pop(current)
        loops.append(np.array(loop))
    return loops


def normals(points: Floats, faces: Ints) -> Floats:
    """Area-weighted vertex normals [V,3]."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    total = np.zeros_like(points)
    for k in range(3):
        np.add.at(total, faces[:, k], face)
    return unit(total)


def smoothed(points: Floats, faces: Ints, amount: Floats, rounds: int) -> Floats:
    """Laplacian smoothing; ``amount`` [V,3] per vertex and axis, 0 keeps."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    edges = np.unique(np.sort(edges, 1), axis=0)
    both = np.concatenate([edges, edges[:, ::-1]])
    degree = np.maximum(np.bincount(both[:, 0], minlength=len(points)), 1)[:, None]
    for _ in range(rounds):
        total = np.stack(
            [np.bincount(both[:, 0], points[both[:, 1], k], minlength=len(points)) for k in range(3)], 1
        )
        mean = np.where(degree > 0, total / degree, points)
        points = points + amount * (mean - points)
    return points


def frames(points: Floats, faces: Ints) -> Floats:
    """Frame of every triangle as in docs/nnr-format.md [F,3,3]; columns x along edge 0→1, y, z the normal."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    x = unit(b - a)
    z = unit(np.cross(b - a, c - a))
    return np.stack([x, np.cross(z, x), z], 2)


def areas(points: Floats, faces: Ints) -> Floats:
    """Area of every triangle [F], m²."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def subdivisions(area: Floats, cell: Floats | float, most: int = 24) -> Ints:
    """N per triangle so that n² equal parts have about the area ``cell``."""
    return np.clip(np.round(np.sqrt(area / cell)), 1, most).astype(np.int64)


def cells(n: Ints) -> tuple[Ints, Floats]:
    """Centres of the n² equal parts of every triangle: triangle [N], barycentric weights [N,3]."""
    triangle: list[Ints] = []
    weights: list[Floats] = []
    for k in np.unique(n):
        i, j = (m.ravel() for m in np.mgrid[:k, :k])
        up, down = i + j < k, i + j < k - 1
        b1 = np.concatenate([(i[up] + 1 / 3) / k, (i[down] + 2 / 3) / k])
        b2 = np.concatenate([(j[up] + 1 / 3) / k, (j[down] + 2 / 3) / k])
        centre = np.stack([1 - b1 - b2, b1, b2], 1)
        which = np.flatnonzero(n == k)
        triangle.append(np.repeat(which, len(centre)))
        weights.append(np.tile(centre, (len(which), 1)))
    order = np.argsort(np.concatenate(triangle), kind="stable")
    return np.concatenate(triangle)[order], np.concatenate(weights)[order]


def phong(mesh: Mesh, triangle: Ints, bary: Floats, alpha: float) -> Floats:
    """Bind-space points of the curved surface that the `binding` node puts splats on [N,3]."""
    points, corners = mesh.vertices.bind, mesh.faces[triangle]
    normal = normals(points, mesh.faces)
    flat = np.einsum("nk,nkd->nd", bary, points[corners])
    curved = np.zeros_like(flat)
    for k in range(3):
        n = normal[corners[:, k]]
        height = ((flat - points[corners[:, k]]) * n).sum(1, keepdims=True)
        curved += bary[:, k : k + 1] * (flat - height * n)
    return flat * (1 - alpha) + curved * alpha


def at(values: NDArray[np.float64], faces: Ints, triangle: Ints, bary: Floats) -> Floats:
    """Vertex values [V] or [V,D] at points of triangles → [N] or [N,D]."""
    return np.einsum("nk,nk...->n...", bary, values[faces[triangle]])
