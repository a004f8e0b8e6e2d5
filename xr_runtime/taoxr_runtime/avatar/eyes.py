"""Eyes (sclera, iris, pupil; the cornea's bulge gives the catch light its place), teeth and tongue."""

import numpy as np

from .anatomy import Anatomy
from .character import Character
from .face import Eye, Face
from .fields import Floats, linear, mix, noise, smooth, unit
from .mesh import at, from_anatomy
from .parts import Surface, tile
from .stance import Stance

_IRIS, _PUPIL = 0.0063, 0.0025  # radii at scale 1; Anny's eyeball is 16.7 mm, larger than life
_CORNEA = 0.0068  # radius of the cornea's sphere: bulges out of the eyeball's


def make(body: Anatomy, stance: Stance, face: Face, who: Character, detail: float) -> list[Surface]:
    """Both eyeballs; the hidden back halves are left out."""
    return [
        _one(body, stance, face, who, eye, group, detail)
        for eye, group in ((face.left, "helper-l-eye"), (face.right, "helper-r-eye"))
    ]


def _one(
    body: Anatomy, stance: Stance, face: Face, who: Character, eye: Eye, group: str, detail: float
) -> Surface:
    faces = body.groups[group].faces
    front = (body.bind[faces].mean(1) - eye.centre) @ eye.axis > 0.05 * eye.radius
    mesh = from_anatomy(body, stance, faces[front])
    k = face.scale
    pole = (mesh.vertices.bind[mesh.faces].mean(1) - eye.centre) @ eye.axis > 0.88 * eye.radius
    cell = np.where(pole, 0.12e-6, 0.26e-6) * min(detail, 2.6)
    s = tile(f"eye.{'L' if eye.side > 0 else 'R'}", mesh, cell, "eye")
    d = unit(s.bind - eye.centre)
    toward = d @ eye.axis
    up = unit(np.cross(eye.axis, [1.0, 0, 0]))
    up = up if up[1] > 0 else -up
    aside = np.cross(up, eye.axis)
    r = np.sqrt(np.clip(1 - toward**2, 0, 1)) * eye.radius / k
    angle = np.arctan2(d @ up, d @ aside)
    p = eye.centre + d * eye.radius

    colour = np.tile(linear(0.82, 0.79, 0.775), (len(p), 1))
    colour = mix(
        colour, linear(0.76, 0.50, 0.46), 0.5 * smooth(0.0088, 0.0135, r) * (1 + 0.5 * noise(p, 0.0012, 3))
    )
    around = np.stack([np.cos(angle) * 0.02, np.sin(angle) * 0.02, r * 0.15], 1)
    fibres = 0.5 + 0.5 * noise(around, 0.0011, 4)
    ring = smooth(_PUPIL, _PUPIL + 0.0012, r) * (1 - smooth(_PUPIL + 0.0012, _PUPIL + 0.0027, r))
    iris = mix(np.tile(who.iris, (len(p), 1)), who.iris_inner, 0.75 * ring) * (0.72 + 0.75 * fibres)[:, None]
    # Light that enters the cornea from above lands on the far, lower side of the iris.
    iris *= (1.0 + 0.35 * np.clip(-(d @ up) * eye.radius / k / _IRIS, -1, 1))[:, None]
    colour = mix(colour, iris, 1 - smooth(_IRIS - 0.0005, _IRIS + 0.0003, r))
    colour *= (1 - 0.72 * np.exp(-0.5 * ((r - _IRIS + 0.0003) / 0.0006) ** 2))[:, None]
    colour = mix(colour, linear(0.03, 0.027, 0.027), 1 - smooth(_PUPIL - 0.0003, _PUPIL + 0.0003, r))
    # The upper lid and its lashes throw a soft shadow on the ball.
    colour *= (1 - 0.40 * smooth(0.0028, 0.0080, (p - eye.centre)[:, 1] / k))[:, None]
    s.albedo = np.clip(colour, 0, 1)

    inside = np.clip(r / _CORNEA, 0, 0.95)
    bulge = unit(
        eye.axis * np.sqrt(1 - inside**2)[:, None] + unit(d - toward[:, None] * eye.axis) * inside[:, None]
    )
    s.shading_normal = unit(bulge + (d - bulge) * smooth(_IRIS - 0.0004, _IRIS + 0.0014, r)[:, None])
    return s


def teeth_and_tongue(body: Anatomy, stance: Stance, face: Face, detail: float) -> list[Surface]:
    """Teeth with gaps and gums, and the tongue; both darken towards the throat."""
    looks = (
        ("helper-upper-teeth", linear(0.89, 0.855, 0.78), 1.0e-6),
        ("helper-lower-teeth", linear(0.85, 0.81, 0.73), 1.0e-6),
        ("helper-tongue", linear(0.70, 0.36, 0.35), 1.3e-6),
    )
    return [_inside(body, stance, face, group, colour, cell * detail) for group, colour, cell in looks]


def _inside(body: Anatomy, stance: Stance, face: Face, group: str, base: Floats, cell: float) -> Surface:
    mesh = from_anatomy(body, stance, body.groups[group].faces)
    is_tongue = group == "helper-tongue"
    front = mesh.vertices.bind[:, 2].max() - mesh.vertices.bind[mesh.faces].mean(1)[:, 2] < 0.010
    # The gaps between the front teeth are half a millimetre wide.
    cells = np.where(front & (not is_tongue), 0.28 * cell, cell)
    s = tile(group.removeprefix("helper-"), mesh, cells, "mouth" if is_tongue else "teeth")
    p = at(mesh.vertices.bind, mesh.faces, s.triangle, s.bary)
    v = mesh.vertices.bind
    depth = np.clip((v[:, 2].max() - p[:, 2]) / 0.023, 0, 1) ** (0.7 if is_tongue else 0.9)
    colour = (
        np.tile(base, (len(p), 1)) * (1 - 0.93 * depth)[:, None] * (1 + 0.06 * noise(p, 0.002, 6))[:, None]
    )
    if is_tongue:
        groove = np.exp(-0.5 * (p[:, 0] / 0.0012) ** 2) * smooth(-0.2, 0.4, s.value(v)[:, 1] - v[:, 1].mean())
        colour *= (1 - 0.25 * groove + 0.10 * noise(p, 0.0011, 7))[:, None]
    else:
        width = 0.0082 * face.scale
        gap = np.abs(p[:, 0] / width - np.round(p[:, 0] / width)) * width
        colour *= (1 - 0.60 * np.exp(-0.5 * (gap / 0.00042) ** 2))[:, None]
        height = (p[:, 1] - v[:, 1].min()) / np.ptp(v[:, 1])
        gum = smooth(0.45, 0.75, height if "upper" in group else 1 - height)
        colour = mix(colour, linear(0.64, 0.33, 0.32), gum * 0.9 * (1 - depth))
        s.gloss *= 1 - 0.6 * depth
    s.albedo = np.clip(colour, 0, 1)
    return s
