"""MNN twins of the nodes whose numbers were learned: field, coefficients, deformer and sh_color."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.mnn.builder import Expr, GraphBuilder
from taoxr_runtime.nnr.mnn.planes import cross, frame_columns, norm, row
from taoxr_runtime.nnr.nodes.base import F32
from taoxr_runtime.nnr.nodes.coefficients import Coefficients
from taoxr_runtime.nnr.nodes.color_model import GAMMA
from taoxr_runtime.nnr.nodes.deformer import Deformer
from taoxr_runtime.nnr.nodes.field import Field
from taoxr_runtime.nnr.nodes.sh_color import C0, C1, C2, C20, C30, C31, C32, C33, ShColor
from taoxr_runtime.splats import UPPER


def field(node: Field, g: GraphBuilder) -> list[Expr]:
    """The first layer's two parts, then a matrix product over all vertices for each further layer."""
    pose, latent = g.inputs
    same = g.concat([_pose_features(pose, node.pose_bones), latent.reshape(1, -1)], 1)
    hidden = (same @ node.of_pose.T + node.at_rest).at_least(0)
    return [_layers(node.mlp.layers[1:], hidden).clip(-node.attributes.limit, node.attributes.limit)]


def coefficients(node: Coefficients, g: GraphBuilder) -> list[Expr]:
    """One row through all layers."""
    expression, pose = g.inputs
    values = g.concat([expression.reshape(1, -1), _pose_features(pose, node.pose_bones)], 1)
    limit = node.attributes.limit
    return [_layers(node.mlp.layers, values).clip(-limit, limit).reshape(node.mlp.width)]


def deformer(node: Deformer, g: GraphBuilder) -> list[Expr]:
    """The NumPy kernel's steps on planes."""
    vertices, weights = g.inputs
    count = len(node.triangle)
    coefficients = weights.reshape(1, -1)
    planes = vertices.transpose(1, 0)
    corners = [planes.columns(node.triangles[:, k]) for k in range(3)]
    edges = [corners[(k + 1) % 3] - corners[k] for k in range(3)]
    lengths = [norm(edge) for edge in edges]
    frame = frame_columns(g, edges[0], cross(g, edges[0], corners[2] - corners[0]), lengths[0])
    edge = (lengths[0] + lengths[1] + lengths[2]) * (1 / 3)

    t = g.concat([*frame, edge, *corners], 0).columns(node.triangle)  # [9 + 1 + 9, N]
    columns = [t.rows(3 * k, 3 * k + 3) for k in range(3)]
    # Position blendshapes with the planes [3, N] one after another.
    by_plane = node.position_shapes.reshape(-1, count, 3).transpose(0, 2, 1).reshape(-1, 3 * count)
    moves = (coefficients @ by_plane).reshape(3, count)
    mean = sum_of(t.rows(10 + 3 * k, 13 + 3 * k) * node.corner_weights[k : k + 1] for k in range(3))
    mean = mean + columns[0] * row(moves, 0) + columns[1] * row(moves, 1)
    mean = mean + columns[2] * (row(moves, 2) + node.offset[None])

    scaled = [column * t.rows(9, 10) for column in columns]
    q = node.local_covariance
    full = [[q[0:1], q[1:2], q[2:3]], [q[1:2], q[3:4], q[4:5]], [q[2:3], q[4:5], q[5:6]]]
    half = [sum_of(scaled[k] * full[k][j] for k in range(3)) for j in range(3)]  # columns of R·Q
    terms = [sum_of(row(half[k], i) * row(scaled[k], j) for k in range(3)) for i, j in UPPER]
    compensation = (coefficients @ node.color_shapes).reshape(count, 3)
    frames = g.concat(list(frame), 0).reshape(3, 3, -1).transpose(2, 1, 0)
    return [mean.transpose(1, 0), g.stack_rows(terms).transpose(1, 0), frames, compensation]


def sh_color(node: ShColor, g: GraphBuilder) -> list[Expr]:
    """Harmonics of the direction in the triangle's frame, and of the normal where splats are relit."""
    frames, means, compensation, camera = g.inputs
    frame = frames.reshape(-1, 9).transpose(1, 0).columns(node.triangle).reshape(3, 3, -1)
    away = means.transpose(1, 0) - camera.reshape(3, 1)
    away = away / (away * away).sum(0, keep=True).at_least(1e-12).sqrt()
    local = (frame * away.reshape(3, 1, -1)).sum(0)
    basis = _harmonics(g, local, len(node.sh))
    color = compensation.transpose(1, 0) + sum_of(y * node.sh[k] for k, y in enumerate(basis))
    color = (color + 0.5).clip(0, 1)
    if node.normal is None:
        return [color.transpose(1, 0)]
    world = (frame * node.normal[None]).sum(1)
    light = sum_of(y * node.irradiance[k][:, None] for k, y in enumerate(_harmonics(g, world, 9)))
    lit = color.clip(1e-12, 1) ** GAMMA * light.at_least(0)
    return [(lit.clip(1e-12, 1) ** (1 / GAMMA)).transpose(1, 0)]


def sum_of(parts: Iterable[Expr]) -> Expr:
    """Sum of at least one expression."""
    return reduce(operator.add, parts)


def _layers(layers: list[tuple[F32, F32]], values: Expr) -> Expr:
    for i, (weight, bias) in enumerate(layers):
        if i:
            values = values.at_least(0)
        values = values @ np.ascontiguousarray(weight.T) + bias[None]
    return values


def _pose_features(pose: Expr, bones: NDArray[np.intp]) -> Expr:
    """As `pose_features`, [1, 3 · bones]."""
    q = pose.gather(bones, 0)
    length = (q * q).sum(1, keep=True).sqrt().at_least(1e-30)
    # +1 or −1; a w of 0 counts as positive.
    sign = (q.rows(3, 4, 1) * 1e30 + 1e-30).clip(0, 1) * 2.0 - 1.0
    return (q.rows(0, 3, 1) * sign / length).reshape(1, -1)


def _harmonics(g: GraphBuilder, direction: Expr, count: int) -> list[Expr]:
    """As `harmonics`: rows [1, n]."""
    x, y, z = (row(direction, k) for k in range(3))
    one = g.constant([[1.0]])
    rows = [(x * 0.0 + one) * C0]
    if count > 1:
        rows += [y * -C1, z * C1, x * -C1]
    if count > 4:
        xx, yy, zz = x * x, y * y, z * z
        rows += [
            x * y * C2, y * z * -C2, (zz * 2.0 - xx - yy) * C20, x * z * -C2, (xx - yy) * (C2 / 2),
        ]  # fmt: skip
        if count > 9:
            rows += [
                y * (xx * 3.0 - yy) * -C33, x * y * z * C32, y * (zz * 4.0 - xx - yy) * -C31,
                z * (zz * 2.0 - xx * 3.0 - yy * 3.0) * C30, x * (zz * 4.0 - xx - yy) * -C31,
                z * (xx - yy) * (C32 / 2), x * (xx - yy * 3.0) * -C33,
            ]  # fmt: skip
    return rows
