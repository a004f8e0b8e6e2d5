"""Skin: which triangles show, and their colour (undertones, flush, stubble, lips, lids, mouth cavity)."""

import numpy as np

from .anatomy import Anatomy
from .character import Character
from .face import Face
from .fields import Floats, bump, linear, mix, noise, smooth
from .mesh import from_anatomy
from .parts import Surface, tile
from .stance import Stance

_MOUTH_CAVITY = (112, 172, 255)
_EYE_CAVITY = ((253, 249, 16), (249, 108, 136))


def make(body: Anatomy, stance: Stance, face: Face, who: Character, hidden: Floats, detail: float) -> Surface:
    """Tiles the visible skin.

    Args:
        body: the person.
        stance: of the rest pose.
        face: landmarks.
        who: colours.
        hidden: depth of every Anny vertex under clothes [V], metres; deep ones are left out.
        detail: factor on the area of every splat.
    """
    group = body.groups["body"]
    show = hidden[group.faces].min(1) < 0.0
    faces, uv = group.faces[show], group.uv[show]
    mesh = from_anatomy(body, stance, faces)
    s = tile("skin", mesh, _cell(body, face, faces) * detail, "skin")
    p = s.bind
    st = np.einsum("nk,nkd->nd", s.bary, uv[s.triangle])
    head = s.value(body.weight_of("head")[mesh.vertices.source])
    _paint(s, p, st, head, body, face, who)
    return s


def _cell(body: Anatomy, face: Face, faces: Floats) -> Floats:
    """Area of one splat on each triangle: finest around eyes and lips."""
    centre = body.bind[faces].mean(1)
    head = body.weight_of("head")[faces].mean(1)
    hand = body.weight_of("wrist", "finger", "metacarpal")[faces].mean(1)
    cell = np.full(len(faces), 1.2e-5)
    cell[hand > 0.5] = 4e-6
    cell[head > 0.5] = 3e-6
    front = (head > 0.5) & (centre[:, 2] > face.ear_z + 0.03) & (centre[:, 1] < face.eyes[1] + 0.06)
    ears = np.linalg.norm(centre - face.ear.mean(0) * [0, 1, 1], axis=1) > 0.07 * face.scale
    cell[(head > 0.5) & ears & (centre[:, 1] < face.ear_high)] = 1.6e-6
    cell[front] = 0.85e-6
    eye = np.minimum(*(np.linalg.norm(centre - e.centre, axis=1) for e in (face.left, face.right))) < 0.030
    lips = np.linalg.norm(centre - face.lips, axis=1) < 0.034
    cell[front & (eye | lips)] = 0.50e-6
    for e in (face.left, face.right):
        t, above, _ = face.brow(centre, e)
        cell[front & (t > -0.1) & (t < 1.1) & (np.abs(above) < 0.006)] = 0.50e-6
    return cell


def _paint(
    s: Surface, p: Floats, st: Floats, head: Floats, body: Anatomy, face: Face, who: Character
) -> None:
    k = face.scale
    patches, blotch, pore, grain = (
        noise(p, 0.035, 1),
        noise(p, 0.010, 2),
        noise(p, 0.0028, 3),
        noise(p, 0.0012, 4),
    )
    colour = np.tile(who.skin, (len(p), 1))
    nose, lips, eyes = face.nose, face.lips, face.eyes
    ears = body.mask("ears", st)

    flush = 0.03 * np.clip(patches, 0, 1) + 0.03 * blotch + 0.38 * ears
    flush += 0.30 * bump(p, nose, [0.014 * k, 0.014 * k, 0.016 * k])
    flush += 0.10 * bump(p, [0, lips[1] - 0.035 * k, nose[2] - 0.02], [0.018, 0.012, 0.02])
    for side in (1, -1):
        flush += 0.26 * bump(p, [side * 0.041 * k, nose[1] + 0.006, nose[2] - 0.035], [0.022, 0.018, 0.03])
        flush += 0.20 * bump(p, [side * 0.012 * k, nose[1] - 0.002, nose[2] - 0.012], [0.007, 0.006, 0.01])
    for name, position in zip(body.bones, body.heads, strict=True):
        if name.startswith(("finger2", "finger3", "finger4", "finger5")):
            flush += 0.24 * bump(p, position, [0.008] * 3)
        elif name.startswith("lowerarm01"):
            flush += 0.18 * bump(p, position, [0.03] * 3)
    colour = mix(colour, who.flush, np.clip(flush, 0, 0.8))
    colour *= (1 + 0.025 * patches + 0.03 * blotch + 0.055 * pore + 0.06 * grain)[:, None]
    # The forehead and the bridge of the nose are thin over bone: a little yellower and lighter.
    colour = mix(
        colour,
        linear(0.86, 0.70, 0.56),
        0.30 * bump(p, [0, eyes[1] + 0.045, nose[2] - 0.03], [0.05, 0.02, 0.05]),
    )
    colour = mix(
        colour,
        linear(0.84, 0.67, 0.55),
        0.25 * bump(p, [0, nose[1] + 0.022, nose[2] - 0.012], [0.006, 0.014, 0.02]),
    )

    grows = face.hair(p)
    beard = bump(p, [0, lips[1] - 0.020, nose[2] - 0.030], [0.052, 0.032, 0.07])
    beard *= 1 - bump(p, [0, nose[1] + 0.01, nose[2]], [0.020, 0.012, 0.03])
    lip = smooth(0.15, 0.85, body.mask("lips", st))
    stubble = np.clip(who.stubble * beard * (1 + 0.4 * pore + 0.5 * grain) * (grows < 0) * (1 - lip), 0, 0.6)
    colour = mix(colour, linear(0.47, 0.37, 0.33), stubble)

    lid = body.mask("eyelids", st)
    colour = mix(colour, linear(0.66, 0.43, 0.37), 0.40 * lid)
    for eye in (face.left, face.right):
        under = bump(p, eye.centre + np.array([0, -0.017 * k, 0.012 * k]), [0.012, 0.0045, 0.02])
        colour = mix(colour, linear(0.60, 0.41, 0.38), 0.34 * under)
        inner = eye.centre + np.array([-eye.side * 0.016 * k, 0.006 * k, 0.012 * k])
        socket = bump(p, inner, [0.006, 0.008, 0.02])
        colour = mix(colour, linear(0.60, 0.41, 0.36), 0.28 * socket)
    colour = mix(colour, who.lips, 0.66 * lip)
    lines = np.clip(noise(p * [1, 0.2, 0.25], 0.0016, 9), -1, 1)
    colour *= (1 - 0.11 * lip * lines)[:, None]

    cavity = np.maximum(smooth(0.3, 0.8, body.mask("inside-mouth", st)), body.segment(st, _MOUTH_CAVITY))
    depth = np.clip((lips[2] - 0.004 - p[:, 2]) / 0.022, 0, 1)
    inside = linear(0.52, 0.21, 0.20)[None] * (1 - 0.90 * depth)[:, None]
    colour = colour * (1 - cavity[:, None]) + cavity[:, None] * inside
    colour[body.segment(st, *_EYE_CAVITY) > 0] = linear(0.48, 0.23, 0.21)
    nail = body.mask("fingernails", st)
    colour = mix(colour, linear(0.86, 0.67, 0.61), 0.6 * nail)

    for eye in (face.left, face.right):
        t, above, half = face.brow(p, eye)
        brow = (
            smooth(-0.04, 0.10, t)
            * smooth(1.02, 0.8, t)
            * smooth(1.25, 0.5, np.abs(above) / half)
            * (p[:, 2] > face.ear_z)
        )
        colour = mix(colour, who.hair, 0.55 * brow)

    # Scalp under the hair takes its colour, so that no bald spot shows between strands.
    scalp = smooth(0.003, 0.013, grows + 0.0035 * noise(p, 0.004, 5)) * (ears < 0.4) * (head > 0.3)
    colour = mix(colour, who.hair * 0.65, np.clip(scalp, 0, 1))

    oil = 0.25 * bump(p, nose, [0.012] * 3) + 0.25 * bump(
        p, [0, nose[1] + 0.02, nose[2] - 0.01], [0.006, 0.02, 0.02]
    )
    oil += 0.14 * bump(p, [0, eyes[1] + 0.045, nose[2] - 0.03], [0.04, 0.02, 0.05])
    for side in (1, -1):
        oil += 0.14 * bump(p, [side * 0.042 * k, eyes[1] - 0.018, nose[2] - 0.035], [0.014, 0.008, 0.03])
    gloss = 0.30 + oil + 0.38 * lip + 0.5 * nail + 0.10 * pore - 0.12 * stubble
    s.gloss = np.clip(gloss * (1 - cavity) * (1 - 0.9 * scalp) + 0.5 * cavity * (1 - depth), 0, 1)
    s.albedo = np.clip(colour, 0, 1)
    s.materials = {"mouth": cavity > 0.5, "scalp": (scalp > 0.5) & (cavity < 0.5)}
    # Pores and fine wrinkles bend the normal a little; lips have vertical lines.
    s.tilt = _relief(p, head * (1 - cavity) * (1 - scalp), lip)


def _relief(p: Floats, face: Floats, lip: Floats) -> Floats:
    """Gradient of the skin's fine relief [N,3] by finite differences."""

    def height(q: Floats) -> Floats:
        skin = 0.00007 * noise(q, 0.0024, 61) + 0.00005 * noise(q, 0.0014, 62)
        return skin * face * (1 - lip) + 0.00008 * noise(q * [1, 0.25, 0.3], 0.0016, 9) * lip

    step = 0.0004
    h = height(p)
    return np.stack([(height(p + step * np.eye(3)[a]) - h) / step for a in range(3)], 1)
