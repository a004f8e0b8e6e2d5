"""Fixed, seeded splats to measure with, and the eyes that look at them."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render.camera import View, look_at, perspective_from_angles
from taoxr_runtime.splats import Splats, upper

# Two ends (metres), radius, and share of the splats, of the parts of a standing person.
_PARTS: Final = (
    ((0.0, 1.15, 0.0), (0.0, 1.45, 0.0), 0.15, 0.30),
    ((0.0, 1.65, 0.0), (0.0, 1.75, 0.0), 0.09, 0.15),
    ((-0.1, 0.9, 0.0), (-0.12, 0.05, 0.0), 0.07, 0.175),
    ((0.1, 0.9, 0.0), (0.12, 0.05, 0.0), 0.07, 0.175),
    ((-0.2, 1.4, 0.0), (-0.35, 0.85, 0.05), 0.045, 0.10),
    ((0.2, 1.4, 0.0), (0.35, 0.85, 0.05), 0.045, 0.10),
)
_SIGMA: Final = 0.003
_FLATNESS: Final = 0.3
_HALF_EYES: Final = 0.0315


def person(count: int, seed: int = 7) -> Splats:
    """Splats on the surface of a person made of capsules: flat, about 3 mm wide.

    Args:
        count: How many.
        seed: Of everything random.
    """
    rng = np.random.default_rng(seed)
    counts = [int(count * part[3]) for part in _PARTS]
    counts[0] += count - sum(counts)
    points: list[NDArray[np.float64]] = []
    normals: list[NDArray[np.float64]] = []
    for (start, end, radius, _), own in zip(_PARTS, counts, strict=True):
        a, b = np.array(start), np.array(end)
        axis: NDArray[np.float64] = (b - a) / np.linalg.norm(b - a)
        u: NDArray[np.float64] = np.cross(axis, [0.3, 0.1, 1.0])
        u /= np.linalg.norm(u)
        angle = rng.uniform(0, 2 * np.pi, own)[:, None]
        normal = np.cos(angle) * u + np.sin(angle) * np.cross(axis, u)
        points.append(a + (b - a) * rng.uniform(0, 1, own)[:, None] + radius * normal)
        normals.append(normal)
    n = np.concatenate(normals)
    across: NDArray[np.float64] = np.cross(n, [0.2, 0.9, 0.3])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    axes = np.stack([across, np.cross(n, across), n], axis=2)
    sigma = np.exp(rng.normal(np.log(_SIGMA), 0.3, (count, 3)))
    sigma[:, 2] *= _FLATNESS
    world = (axes * sigma[:, None] ** 2) @ axes.transpose(0, 2, 1)
    return Splats(
        np.concatenate(points).astype(np.float32),
        upper(world).astype(np.float32),
        rng.uniform(0.5, 1.0, count).astype(np.float32),
        rng.uniform(0, 1, (count, 3)).astype(np.float32),
    )


def eyes(width: int, height: int, count: int = 2, distance: float = 1.5, turn: float = 0.0) -> list[View]:
    """Views of someone in front of the person, each 100 degrees wide.

    Args:
        width: Pixels of each.
        height: The same.
        count: 1 in the middle, 2 as of a headset; more stand side by side.
        distance: Metres from the person's middle.
        turn: Radians that the head has gone around the person.
    """
    angles = (-0.87, 0.87, 0.85, -0.85)
    right = np.array([np.cos(turn), 0.0, -np.sin(turn)])
    front = np.array([np.sin(turn), 0.0, np.cos(turn)])
    made: list[View] = []
    for i in range(count):
        aside = (2 * i - (count - 1)) * _HALF_EYES * right
        x, y, z = (float(v) for v in distance * front + aside)
        pose = look_at((x, y + 1.5, z), (float(aside[0]), 1.0, float(aside[2])))
        made.append(View(pose, perspective_from_angles(*angles), width, height))
    return made
