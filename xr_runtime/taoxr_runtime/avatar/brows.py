"""Eyebrows as short strands on the skin, lashes along Anny's lash cards."""

import numpy as np

from .anatomy import Anatomy
from .character import Character
from .face import Eye, Face
from .fields import linear, unit
from .mesh import PHONG, at, cells, from_anatomy, normals, phong, subdivisions
from .parts import Strands, Surface, strands_joined, tile
from .stance import Stance

_PER_BROW = 1300


def make(face: Face, who: Character, skin: Surface, rng: np.random.Generator) -> Strands:
    """Both eyebrows."""
    return strands_joined([_brow(face, eye, who, skin, rng) for eye in (face.left, face.right)])


def _brow(face: Face, eye: Eye, who: Character, skin: Surface, rng: np.random.Generator) -> Strands:
    k = face.scale
    v, faces = skin.mesh.vertices, skin.mesh.faces
    centre = v.bind[faces].mean(1)
    near = (centre[:, 1] > eye.centre[1] + 0.005) & (centre[:, 1] < eye.centre[1] + 0.05 * k)
    near &= (centre[:, 2] > face.ear_z + 0.02) & (centre[:, 0] * eye.side > -0.005)
    candidates = np.flatnonzero(near)
    a, b, c = (v.bind[faces[candidates, i]] for i in range(3))
    triangle, bary = cells(subdivisions(np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2, 0.25e-6))
    triangle = candidates[triangle]
    bary = 0.5 * bary + 0.5 * rng.dirichlet([1, 1, 1], len(bary))
    p = at(v.bind, faces, triangle, bary)
    t, above, half = face.brow(p, eye)
    inside = (t > 0) & (t < 1) & (np.abs(above) < half * (1 + 0.22 * rng.normal(size=len(p))))
    inside &= rng.random(len(p)) < np.interp(t, [0, 0.12, 0.7, 1], [0.25, 0.85, 0.95, 0.6])
    pick = rng.permutation(np.flatnonzero(inside))[:_PER_BROW]
    triangle, bary, t, above = triangle[pick], bary[pick], t[pick], above[pick]
    n = unit(at(normals(v.bind, faces), faces, triangle, bary))
    p = phong(skin.mesh, triangle, bary, PHONG)
    rise = np.interp(t, [0, 0.25, 0.6, 1], [1, 0.5, 0.0, -0.45]) - 0.15 * np.sign(-above)
    rise = rise + 0.15 * rng.normal(size=len(p))
    d = np.stack([eye.side * np.interp(t, [0, 0.25, 1], [0.35, 0.9, 1]), rise, np.zeros(len(p))], 1)
    d = unit(d - (d * n).sum(1, keepdims=True) * n + 0.18 * n)
    length = 0.0046 * k * (0.8 + 0.4 * rng.random(len(p)))
    tone = 0.85 * (1 + 0.2 * rng.normal(size=(len(p), 1)))
    return Strands(
        "brows", skin.name, "brow", triangle,
        p + 0.0009 * n + d * (length * 0.5)[:, None], d * (length * 0.36)[:, None],
        np.full(len(p), 0.00017 * k), n, np.clip(who.hair * tone, 0, 1), np.full(len(p), 0.40),
    )  # fmt: skip


def lash_cards(body: Anatomy, stance: Stance) -> Surface:
    """The mesh that carries the lashes; its own splats are invisible and dropped."""
    names = [f"helper-{side}-eyelashes-{row}" for side in "lr" for row in (1, 2)]
    faces = np.concatenate([body.groups[name].faces for name in names])
    cards = tile("lash cards", from_anatomy(body, stance, faces), 1.0, "lash")
    cards.keep(np.zeros(len(cards.triangle), bool))
    return cards


def lashes(body: Anatomy, face: Face, cards: Surface) -> Strands:
    """Single hairs along the cards: thick at the lid, fading to the tip; the lower row is faint."""
    v, faces = cards.mesh.vertices, cards.mesh.faces
    upper_vertices = np.concatenate([body.groups[f"helper-{s}-eyelashes-2"].faces.ravel() for s in "lr"])
    upper_face = np.isin(v.source[faces[:, 0]], upper_vertices)
    a, b, c = (v.bind[faces[:, i]] for i in range(3))
    triangle, bary = cells(subdivisions(np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2, 0.10e-6))
    p = at(v.bind, faces, triangle, bary)
    parts: list[Strands] = []
    for eye in (face.left, face.right):
        here = np.flatnonzero(p[:, 0] * eye.side > 0)
        q, upper = p[here], upper_face[triangle[here]]
        distance = np.linalg.norm(q - eye.centre, axis=1)
        out = np.zeros(len(q))
        for row in (False, True):
            d = distance[upper == row]
            out[upper == row] = (d - d.min()) / max(np.ptp(d), 1e-6)
        hair = np.floor((q[:, 0] - eye.centre[0]) / (0.00042 * face.scale))
        reach = 0.55 + 0.45 * np.abs(np.sin(hair * 12.9898) * 43758.5453 % 1)  # every hair has its length
        fade = np.clip(1 - 1.15 * out / reach, 0, 1) ** 1.2 * (0.55 + 0.45 * np.sin(hair * 2.1))
        opacity = np.where(upper, 0.36, 0.07) * fade
        direction = unit(
            np.stack([(q[:, 0] - eye.centre[0]) * 22, np.where(upper, 0.75, -0.5), np.full(len(q), 0.8)], 1)
        )
        seen = opacity > 0.012
        k = int(seen.sum())
        parts.append(
            Strands(
                "lashes", cards.name, "lash", triangle[here][seen], q[seen], direction[seen] * 0.0006,
                np.full(k, 0.00018), unit(q - eye.centre)[seen],
                np.tile(linear(0.10, 0.07, 0.06), (k, 1)), opacity[seen],
            )
        )  # fmt: skip
    return strands_joined(parts)
