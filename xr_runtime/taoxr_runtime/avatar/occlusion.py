"""Ambient occlusion: how much of the hemisphere is open, from rays through an occupancy grid."""

import numpy as np
from numpy.typing import NDArray

from .fields import Floats, unit

_RAYS = 96


def bake(
    points: Floats, normals: Floats, blockers: Floats, cell: float, steps: int, bias: float = 1.6
) -> Floats:
    """Open share of the cosine-weighted hemisphere at each point.

    Args:
        points: where [N,3].
        normals: which way is out [N,3].
        blockers: dense samples of everything that blocks [M,3].
        cell: edge of a grid cell, metres.
        steps: length of a ray in steps of 0.9 cells (1.8 after the eighth).
        bias: start of the rays above the surface, in cells.

    Returns:
        [N], 1 = open. Blockers count less the farther they are.
    """
    low = blockers.min(0) - 3 * cell
    size = np.ceil((blockers.max(0) - low) / cell).astype(np.int64) + 4
    filled = np.zeros(size, bool)
    filled[tuple(((blockers - low) / cell).astype(np.int64).T)] = True
    flat = filled.ravel()
    directions = _sphere(_RAYS)
    strides = np.array([size[1] * size[2], size[2], 1])
    start = (points + normals * cell * bias - low) / cell
    reach = np.cumsum([0.9 if s < 8 else 1.8 for s in range(steps)])
    blocked, total = np.zeros(len(points)), np.zeros(len(points))
    for d in directions:
        cosine = normals @ d
        rays = np.flatnonzero(cosine > 0.08)
        total[rays] += cosine[rays]
        at = start[rays]
        for s, distance in enumerate(reach):
            cells = (at + d * distance).astype(np.int64)
            inside = ((cells >= 0) & (cells < size)).all(1)
            rays, at, cells = rays[inside], at[inside], cells[inside]
            hit = flat[cells @ strides]
            blocked[rays[hit]] += cosine[rays[hit]] * (1 - 0.8 * (s + 1) / steps)
            rays, at = rays[~hit], at[~hit]
    return 1.0 - blocked / np.maximum(total, 1e-9)


def _sphere(n: int) -> NDArray[np.float64]:
    """N even directions (Fibonacci lattice) [n,3]."""
    i = np.arange(n) + 0.5
    y = 1 - 2 * i / n
    a = np.pi * (1 + 5**0.5) * i
    r = np.sqrt(1 - y * y)
    return unit(np.stack([r * np.cos(a), y, r * np.sin(a)], 1))
