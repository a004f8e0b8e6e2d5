"""The relaxed stance that is baked into the file's rest pose, and linear blend skinning to get there."""

from dataclasses import dataclass

import numpy as np

from .anatomy import Anatomy
from .fields import Floats, unit


def rotation(axis: Floats, degrees: float) -> Floats:
    """Rotation matrix about ``axis`` (Rodrigues)."""
    x, y, z = unit(np.asarray(axis, np.float64))
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    a = np.deg2rad(degrees)
    return np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * k @ k


@dataclass(frozen=True)
class Stance:
    """Transforms [B,3,4] from the bind pose to the relaxed stance, and its joint positions [B,3]."""

    transforms: Floats
    heads: Floats

    def blend(self, weights: Floats) -> Floats:
        """Blended transform of each vertex. [V,B] → [V,3,4]."""
        return np.einsum("vb,bij->vij", weights, self.transforms)

    def apply(self, points: Floats, weights: Floats) -> Floats:
        """Skins ``points`` [V,3]."""
        t = self.blend(weights)
        return np.einsum("vij,vj->vi", t[:, :, :3], points) + t[:, :, 3]


def relaxed(body: Anatomy) -> Stance:
    """Arms down with bent elbows and half-curled fingers, legs closed."""
    turns: dict[str, Floats] = {}
    forward, right = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    for side, sign in (("L", 1.0), ("R", -1.0)):
        elbow, wrist = body.head(f"lowerarm01.{side}"), body.head(f"wrist.{side}")
        along = unit(wrist - elbow)
        hinge = np.cross(elbow - body.head(f"upperarm01.{side}"), along)  # of the elbow; positive bends
        knuckles = body.head(f"finger2-1.{side}") - body.head(f"finger5-1.{side}")
        across = np.cross(along, knuckles)  # out of the back of the hand
        turns[f"clavicle.{side}"] = rotation(forward, -4 * sign)
        turns[f"upperarm01.{side}"] = rotation(forward, -33 * sign) @ rotation(right, 7)
        turns[f"upperarm02.{side}"] = rotation(along, sign * -2)
        turns[f"lowerarm01.{side}"] = rotation(hinge, -26) @ rotation(along, sign * -4)
        turns[f"lowerarm02.{side}"] = rotation(along, sign * -4)
        turns[f"wrist.{side}"] = rotation(along, sign * -3)
        turns[f"upperleg01.{side}"] = rotation(forward, -5 * sign)
        turns[f"foot.{side}"] = rotation(forward, 3 * sign)
        turns[f"finger1-1.{side}"] = rotation(across, -18 * sign) @ rotation(knuckles, 22 * sign)
        turns[f"finger1-2.{side}"] = rotation(knuckles, 10 * sign)
        for finger in range(2, 6):
            more = 1.0 + 0.10 * (finger - 2)
            together = rotation(across, -7.0 * (3.5 - finger) * sign)
            for joint, degrees in ((1, 17), (2, 27), (3, 18)):
                bend = rotation(knuckles, sign * degrees * more)
                turns[f"finger{finger}-{joint}.{side}"] = bend @ together if joint == 1 else bend
    return _forward(body, turns)


def _forward(body: Anatomy, turns: dict[str, Floats]) -> Stance:
    """Forward kinematics as in docs/nnr-format.md: turns in model axes about each bone's head."""
    transforms = np.zeros((len(body.bones), 3, 4))
    for b, name in enumerate(body.bones):
        turn = turns.get(name, np.eye(3))
        local = np.concatenate([turn, (body.heads[b] - turn @ body.heads[b])[:, None]], 1)
        parent = body.parents[b]
        if parent < 0:
            transforms[b] = local
        else:
            p = transforms[parent]
            transforms[b, :, :3] = p[:, :3] @ local[:, :3]
            transforms[b, :, 3] = p[:, :3] @ local[:, 3] + p[:, 3]
    heads = np.einsum("bij,bj->bi", transforms[:, :, :3], body.heads) + transforms[:, :, 3]
    return Stance(transforms, heads)
