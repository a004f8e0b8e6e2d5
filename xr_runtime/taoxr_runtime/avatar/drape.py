"""Lets a garment hang on the body: position-based dynamics (Müller et al. 2007), Jacobi style, in NumPy.

Cloth that is longer than the way around the body in the relaxed stance folds where a person's does: under the
arms, at the waist, over the shoe. Only the shape at rest is simulated; at run time the cloth is skinned.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from .fields import Floats, Ints
from .mesh import Mesh, smoothed


@dataclass(frozen=True)
class Body:
    """What the cloth lies on, in the relaxed stance: points, normals [M,3], share of the arm [M]."""

    points: Floats
    normals: Floats
    arm: Floats


@dataclass(frozen=True)
class Fabric:
    """Behaviour of one cloth.

    Attributes:
        gravity: pull per step, metres.
        bend: stiffness against folding, 0 to 1.
        steps, rounds: simulated steps, and constraint rounds in each.
    """

    gravity: float = 0.00007
    bend: float = 0.04
    steps: int = 120
    rounds: int = 8


def hang(
    mesh: Mesh, body: Body, arm: Floats, pinned: Floats, lengths: Floats, gap: Floats, fabric: Fabric
) -> Mesh:
    """Simulates from the present ``rest`` positions.

    Args:
        mesh: the garment.
        body: what it lies on.
        arm: how much each vertex belongs to a sleeve [V]; sleeves touch arms only, the trunk only the trunk.
        pinned: vertices that stay where they are [V], bool.
        lengths: natural shape of the cloth [V,3]: its edges give the rest lengths.
        gap: distance that each vertex keeps from the body [V], metres.
        fabric: see there.
    """
    edges, wings = _constraints(mesh.faces)
    pairs = np.concatenate([edges, wings])
    stiffness = np.concatenate([np.full(len(edges), 1.0), np.full(len(wings), fabric.bend)])
    natural = np.linalg.norm(lengths[pairs[:, 0]] - lengths[pairs[:, 1]], axis=1)
    free = (~pinned).astype(np.float64)
    mobility = free[pairs[:, 0]] + free[pairs[:, 1]]
    share = np.where(mobility > 0, stiffness / np.maximum(mobility, 1.0), 0.0)
    count = np.bincount(pairs.ravel(), np.repeat(stiffness, 2), minlength=len(free))
    relax = (free / np.maximum(count, 1e-9) * 1.6)[:, None]
    x = mesh.vertices.rest.copy()
    before = x.copy()
    trees = [(np.flatnonzero(pick), cKDTree(body.points[pick])) for pick in (body.arm < 0.6, body.arm > 0.4)]
    for _ in range(fabric.steps):
        velocity = 0.92 * (x - before)
        before = x.copy()
        x = x + free[:, None] * (velocity + np.array([0.0, -fabric.gravity, 0.0]))
        touch = _touching(x, arm, trees)
        for _ in range(fabric.rounds):
            d = x[pairs[:, 1]] - x[pairs[:, 0]]
            length = np.linalg.norm(d, axis=1)
            # Edges resist stretch fully and compression a little, as woven cloth does.
            error = length - natural
            error = np.where(error < 0, 0.9 * error, error)
            push = d * (share * error / np.maximum(length, 1e-9))[:, None]
            x = x + relax * (_gather(pairs[:, 0], push, len(x)) - _gather(pairs[:, 1], push, len(x)))
            for near, some in touch:
                depth = gap[some] - ((x[some] - body.points[near]) * body.normals[near]).sum(1)
                move = np.clip(depth, 0, 0.02)[:, None] * body.normals[near] * free[some, None]
                x[some] += move
                # Friction: what touches gives up most of its motion.
                held = (depth > 0)[:, None] * 0.3
                before[some] += held * (x[some] - before[some])
    amount = np.repeat((0.35 * free)[:, None], 3, 1)
    return Mesh(replace(mesh.vertices, rest=smoothed(x, mesh.faces, amount, 1)), mesh.faces)


def _gather(index: Ints, values: Floats, size: int) -> Floats:
    """Sums rows of ``values`` [E,3] that share an index → [size,3]."""
    return np.stack([np.bincount(index, values[:, k], size) for k in range(3)], 1)


def _touching(x: Floats, arm: Floats, trees: list[tuple[Ints, cKDTree]]) -> list[tuple[Ints, Ints]]:
    """(body vertex, cloth vertex) of the nearest contact of trunk cloth and of sleeve cloth."""
    found: list[tuple[Ints, Ints]] = []
    for (index, tree), some in zip(
        trees, (np.flatnonzero(arm < 0.7), np.flatnonzero(arm > 0.3)), strict=True
    ):
        if len(index) and len(some):
            found.append((index[tree.query(x[some])[1]], some))
    return found


def _constraints(faces: Ints) -> tuple[Ints, Ints]:
    """Edges [E,2], and for every inner edge the two corners across it [W,2]."""
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    across = np.concatenate([faces[:, 2], faces[:, 0], faces[:, 1]])
    edges, where, count = np.unique(np.sort(sides, 1), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(where, kind="stable")
    start = np.concatenate([[0], np.cumsum(count)[:-1]])
    inner = start[count == 2]
    return edges, np.stack([across[order[inner]], across[order[inner + 1]]], 1)
