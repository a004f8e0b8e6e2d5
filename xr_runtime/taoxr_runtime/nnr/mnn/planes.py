"""Vector algebra on planes [3, n] of expressions."""

import numpy as np

from taoxr_runtime.nnr.mnn.builder import Expr, GraphBuilder
from taoxr_runtime.nnr.nodes.binding import DEGENERATE


def row(planes: Expr, k: int) -> Expr:
    """One plane, [1, n]."""
    return planes.rows(k, k + 1)


def norm(planes: Expr) -> Expr:
    """Lengths, [1, n]."""
    return (planes * planes).sum(0, keep=True).sqrt()


def cross(g: GraphBuilder, a: Expr, b: Expr) -> Expr:
    """Cross products."""
    pairs = ((1, 2), (2, 0), (0, 1))
    return g.stack_rows([row(a, i) * row(b, j) - row(a, j) * row(b, i) for i, j in pairs])


def frame_columns(g: GraphBuilder, edge: Expr, normal: Expr, length: Expr) -> tuple[Expr, Expr, Expr]:
    """Columns of triangles' frames: along the first edge, across it, along the normal.

    Args:
        g: The graph.
        edge: First edges [3, F].
        normal: Cross products of the edges.
        length: Lengths of the first edges [1, F].
    """
    double_area = norm(normal)
    ok = ((double_area - DEGENERATE) * 1e30).clip(0, 1)
    flat = g.constant([[1.0]]) - ok

    def column(value: Expr, axis: int) -> Expr:
        return value * ok + g.constant(np.eye(3)[:, axis : axis + 1]) * flat

    z = column(normal / double_area.at_least(DEGENERATE), 2)
    x = column(edge / length.at_least(1e-9), 0)
    return x, column(cross(g, z, x), 1), z
