"""MNN twins of the deforming nodes, built from the same checked nodes as the NumPy kernels."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.mnn.builder import Expr, GraphBuilder
from taoxr_runtime.nnr.mnn.planes import cross, frame_columns, norm, row
from taoxr_runtime.nnr.nodes.binding import PAIRS, Binding
from taoxr_runtime.nnr.nodes.blendshapes import Blendshapes
from taoxr_runtime.nnr.nodes.skinning import Skinning
from taoxr_runtime.splats import UPPER

_SUMMANDS: Final = 8


def blendshapes(node: Blendshapes, g: GraphBuilder) -> list[Expr]:
    """Coefficients, then one matrix product over the vertices that move."""
    if not len(node.moved):
        return [_displaced(node, g, g.constant(node.rest) + (g.inputs[0] * 0.0).sum(0))]
    e = (g.inputs[0].reshape(1, -1) + node.neutral[None]).clip(0, 1)
    e = e.at_most(e.gather(node.bound, 1)) ** node.power[None]
    weights = e
    for i, faded in node.fades:
        mask = np.zeros((1, len(node.power)))
        mask[0, faded] = 1
        weights = weights * (g.constant([[1.0]]) - e.rows(i, i + 1, 1) * mask)
    moved = (weights @ node.deltas.reshape(len(node.deltas), -1)).reshape(-1, 3) + node.rest[node.moved]
    still = np.setdiff1d(np.arange(len(node.rest)), node.moved)
    parts = [moved, g.constant(node.rest[still])] if len(still) else [moved]
    return [
        _displaced(node, g, g.concat(parts, 0).gather(np.argsort(np.concatenate([node.moved, still])), 0))
    ]


def _displaced(node: Blendshapes, g: GraphBuilder, shaped: Expr) -> Expr:
    return shaped + g.inputs[1] if node.displaced else shaped


def skinning(node: Skinning, g: GraphBuilder) -> list[Expr]:
    """Bones level by level, then one matrix product with the dense weights."""
    shaped, pose, root = g.inputs
    local = _rotations(pose, g).reshape(-1, 3, 3)
    turns: list[Expr] = []
    moves: list[Expr] = []
    for depth, level in enumerate(node.levels):
        head = node.heads[level][:, :, None]
        turn = local.gather(level, 0)
        if depth == 0:
            moved = root.reshape(1, 3, 1) + head
        else:
            parent = np.searchsorted(node.levels[depth - 1], node.parents[level])
            parent_turn = turns[-1].gather(parent, 0)
            turn = parent_turn @ turn
            moved = parent_turn @ head + moves[-1].gather(parent, 0)
        turns.append(turn)
        moves.append(moved - turn @ head)
    order = np.argsort(np.concatenate(node.levels))
    bones = g.concat([g.concat(turns, 0), g.concat(moves, 0)], 2).gather(order, 0)
    blend = bones.reshape(-1, 12).transpose(1, 0) @ node.dense  # [12, V]
    planes = shaped.transpose(1, 0)
    rows: list[Expr] = []
    for i in range(3):
        matrix = blend.rows(4 * i, 4 * i + 3)
        rows.append((matrix * planes).sum(0, keep=True) + blend.rows(4 * i + 3, 4 * i + 4))
    return [g.stack_rows(rows).transpose(1, 0), bones]


def binding(node: Binding, g: GraphBuilder) -> list[Expr]:
    """The NumPy kernel's steps on planes; vertex normals by gathers, as ONNX has no sums by index."""
    a, faces = node.attributes, len(node.triangles)
    planes = g.inputs[0].transpose(1, 0)
    corners = [planes.columns(node.triangles[:, k]) for k in range(3)]  # each [3, F]
    edge1, edge2 = corners[1] - corners[0], corners[2] - corners[0]
    normal = cross(g, edge1, edge2)
    double_area = norm(normal)  # [1, F]
    x, y, z = frame_columns(g, edge1, normal, norm(edge1))

    n2 = 1 / node.subdivision[None] ** 2
    inside, thick = n2 * (a.spread / 36), n2 * (a.thin**2 / (2 * np.pi))
    twice1, twice2 = edge1 * 2.0 - edge2, edge2 * 2.0 - edge1
    terms: list[Expr] = []
    for i, j in UPPER:
        spread = row(edge1, i) * row(twice1, j) + row(edge2, i) * row(twice2, j)
        terms.append(spread * inside + row(z, i) * row(z, j) * double_area * thick)
    covariance = g.stack_rows(terms)

    means: list[Expr] = []
    covariances: list[Expr] = []
    if len(node.surface_triangle):
        t = node.surface_triangle
        coefficients = g.concat(corners + _curvature(node, g, normal, corners), 0)  # [6 · 3, F]
        means.append((coefficients.columns(t).reshape(6, 3, -1) * node.weights[:, None]).sum(0))
        covariances.append(covariance.columns(t))
    if len(node.strand_triangle):
        mean, strand = _strands(node, g, (x, y, z), corners[0])
        means.append(mean)
        covariances.append(strand)
    frames = g.concat([x, y, z], 0).reshape(3, 3, faces).transpose(2, 1, 0)
    return [g.concat(means, 1).transpose(1, 0), g.concat(covariances, 1).transpose(1, 0), frames]


def _curvature(node: Binding, g: GraphBuilder, weighted: Expr, corners: list[Expr]) -> list[Expr]:
    """The three ``C_ij`` of Phong tessellation, each [3, F]."""
    flat = node.triangles.reshape(-1)
    order = np.argsort(flat, kind="stable") // 3  # the triangles of vertex 0, then of vertex 1, ...
    normal = _segment_sums(g, weighted.transpose(1, 0).gather(order, 0), np.bincount(flat)).transpose(1, 0)
    normal = normal / norm(normal).at_least(1e-20)
    at_corner = [normal.columns(node.triangles[:, k]) for k in range(3)]
    result: list[Expr] = []
    for i, j in PAIRS:
        edge = corners[j] - corners[i]
        first = at_corner[i] * (edge * at_corner[i]).sum(0, keep=True)
        result.append(first - at_corner[j] * (edge * at_corner[j]).sum(0, keep=True))
    return result


def _segment_sums(g: GraphBuilder, rows: Expr, counts: NDArray[np.intp]) -> Expr:
    """Sums of rows [n, 3] over segments of the given lengths, as [len(counts), 3].

    By sums of eight rows at a time, so that one vertex with many triangles does not widen all the others.
    """
    while True:
        n, parts = int(counts.sum()), np.maximum(-(-counts // _SUMMANDS), 1)
        width = min(int(counts.max()), _SUMMANDS)
        segment = np.repeat(np.arange(len(counts)), parts)
        part = np.arange(len(segment)) - np.repeat(np.cumsum(parts) - parts, parts)
        place = part[:, None] * _SUMMANDS + np.arange(width)
        start = (np.cumsum(counts) - counts)[segment][:, None]
        table = np.where(place < counts[segment][:, None], start + place, n)  # row n: zeros
        padded = g.concat([rows, g.constant(np.zeros((1, 3)))], 0)
        rows = padded.gather(table.reshape(-1), 0).reshape(len(segment), width, 3).sum(1)
        if parts.max() == 1:
            return rows
        counts = parts


def _strands(
    node: Binding, g: GraphBuilder, frame: tuple[Expr, Expr, Expr], corner: Expr
) -> tuple[Expr, Expr]:
    """Means [3, Nh] and covariances [6, Nh]."""
    t = node.strand_triangle
    placing = g.concat([*frame, corner], 0).columns(t)
    columns = [placing.rows(3 * k, 3 * k + 3) for k in range(3)]

    def place(local: NDArray[np.float32]) -> Expr:
        parts = [column * local[None, :, k] for k, column in enumerate(columns)]
        return parts[0] + parts[1] + parts[2]

    axis, width2 = place(node.axis), node.width[None] ** 2
    rows: list[Expr] = []
    for i, j in UPPER:
        product = row(axis, i) * row(axis, j)
        rows.append(product + width2 if i == j else product)
    return placing.rows(9, 12) + place(node.offset), g.stack_rows(rows)


def _rotations(pose: Expr, g: GraphBuilder) -> Expr:
    """Rotation matrices, flat [B, 9]."""
    q = pose / (pose * pose).sum(1, keep=True).sqrt().at_least(1e-30)
    x, y, z, w = (q.rows(k, k + 1, 1) for k in range(4))
    one = g.constant([[1.0]])
    entries = [
        one - (y * y + z * z) * 2.0, (x * y - z * w) * 2.0, (x * z + y * w) * 2.0,
        (x * y + z * w) * 2.0, one - (x * x + z * z) * 2.0, (y * z - x * w) * 2.0,
        (x * z - y * w) * 2.0, (y * z + x * w) * 2.0, one - (x * x + y * y) * 2.0,
    ]  # fmt: skip
    return g.concat(entries, 1)
