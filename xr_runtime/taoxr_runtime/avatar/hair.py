"""Head hair as strands: roots on the scalp, combed along a flow field, each strand a chain of long splats."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from .anatomy import Anatomy
from .character import Character
from .face import Face
from .fields import Floats, Ints, noise, smooth, unit
from .mesh import areas, at, cells, normals, subdivisions
from .parts import SEGMENTS, Strands, Surface, strands_joined

_PARTING = 0.026  # where the hair parts, metres to the left of the middle


@dataclass(frozen=True)
class Scalp:
    """Roots on the skin: triangle [N] of the skin part, position and normal [N,3]; and the skull around."""

    triangle: Ints
    root: Floats
    points: Floats
    normals: Floats

    @property
    def tree(self) -> cKDTree:
        """Nearest points of the head."""
        return cKDTree(self.points)


def make(
    body: Anatomy, face: Face, who: Character, skin: Surface, strands: int, rng: np.random.Generator
) -> Strands:
    """Grows ``strands`` strands on the skin part."""
    scalp = _roots(body, face, skin, strands, rng)
    root = scalp.root
    k = face.scale
    n = len(root)
    height = (root[:, 1] - face.eyes[1]) / k
    ahead = smooth(0.035, 0.060, (root[:, 2] - face.ear_z) / k)
    top = smooth(0.0, 0.033, height - 0.062 + 0.030 * ahead)
    flow, lift, length = _style(face, root, top, rng)
    ear = cKDTree(face.ear).query(root)[0]
    length = (
        length
        * (0.55 + 0.45 * smooth(0.0, 0.014, face.hair(root)))
        * (0.35 + 0.65 * smooth(0.004, 0.022, ear))
    )
    step = length / SEGMENTS
    clump = noise(root, 0.008, 41)
    tone = 1 + 0.12 * rng.normal(size=n) + 0.22 * clump
    width = 0.00050 * k * np.sqrt(11000 / max(n, 1))
    tree = scalp.tree
    here = root.copy()
    chain: list[Strands] = []
    for segment in range(SEGMENTS):
        s = segment / (SEGMENTS - 1)
        near = tree.query(here, k=4)[1]
        normal = unit(scalp.normals[near].mean(1))
        above = ((here - scalp.points[near[:, 0]]) * normal).sum(1)
        push = np.where(above < 0.0022 + 0.007 * top, 0.25, 0.0)
        along = unit(flow - (flow * normal).sum(1, keepdims=True) * normal)
        angle = lift * (1 - s) - 0.25 * s * top
        drop = np.array([0.0, -0.22 * s, 0.0])
        direction = unit(along * np.cos(angle)[:, None] + normal * (np.sin(angle) + push)[:, None] + drop)
        after = here + direction * step[:, None]
        colour = who.hair * (tone * (0.62 + 0.55 * s))[:, None]
        chain.append(
            Strands(
                "hair", skin.name, "hair", scalp.triangle,
                (here + after) / 2, direction * (step * 0.42)[:, None],
                np.full(n, width * (1.15 - 0.55 * s)), normal, np.clip(colour, 0, 1), np.full(n, 0.88),
            )
        )  # fmt: skip
        here = after
    return strands_joined(chain)


def _roots(body: Anatomy, face: Face, skin: Surface, strands: int, rng: np.random.Generator) -> Scalp:
    v, faces = skin.mesh.vertices, skin.mesh.faces
    head = body.weight_of("head")[v.source]
    candidates = np.flatnonzero(
        (head[faces].mean(1) > 0.3) & (v.bind[faces].mean(1)[:, 1] > face.ear_low - 0.03)
    )
    triangle, bary = cells(subdivisions(areas(v.bind, faces[candidates]), 1.2e-6))
    triangle = candidates[triangle]
    bary = bary + 0.0
    bary = 0.6 * bary + 0.4 * rng.dirichlet([1, 1, 1], len(bary))
    p = at(v.bind, faces, triangle, bary)
    edge = face.hair(p) + 0.0045 * noise(p, 0.005, 5) + 0.003 * np.clip(rng.normal(size=len(p)), -1.2, 1.0)
    ear = cKDTree(face.ear).query(p)[0]
    grows = np.flatnonzero((edge > 0.001) & (ear > 0.0065))
    chosen = rng.permutation(grows)[:strands]
    on_head = np.flatnonzero(head > 0.3)
    return Scalp(triangle[chosen], p[chosen], v.bind[on_head], normals(v.bind, faces)[on_head])


def _style(face: Face, root: Floats, top: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Comb direction [N,3], lift (radians) [N] and length (m) [N].

    A short cut with a parting: sides and back lie close, the top is combed aside and back.
    """
    k = face.scale
    forward = (root[:, 2] - face.ear_z) / k
    height = (root[:, 1] - face.eyes[1]) / k
    crown = np.array([0.014, face.top, face.ear_z - 0.055])
    away = root - crown
    away[:, 1] = 0.0
    away = unit(away)
    down = np.array([0.0, -1.0, 0.0])
    fall = away * 0.5 + down * 0.9 + np.array([0.0, 0.0, -0.55]) * smooth(-0.06, 0.03, forward)[:, None]
    side = np.where(root[:, 0] / k < _PARTING, -1.0, 0.8)
    comb = np.stack([0.75 * side, np.full(len(root), 0.1), -0.35 - 0.5 * smooth(0.03, 0.07, forward)], 1)
    back = away * smooth(0.01, -0.05, forward)[:, None] + comb * smooth(-0.05, 0.01, forward)[:, None]
    flow = fall * (1 - top)[:, None] + back * top[:, None]
    flow = flow + 0.28 * np.stack([noise(root, 0.016, 31 + i) for i in range(3)], 1)
    flow = unit(flow + 0.13 * rng.normal(size=flow.shape))
    front = top * smooth(0.035, 0.075, forward)
    length = 0.0085 + 0.030 * top + 0.008 * front + 0.008 * smooth(0.01, 0.05, height)
    length = length * k * (0.75 + 0.5 * rng.random(len(root)))
    return flow, 0.08 + 0.48 * top + 0.10 * front, length
