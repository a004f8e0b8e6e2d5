"""Small scalar fields that the parts share: smooth steps, value noise, colours. All arrays are float64."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


def smooth(low: float, high: float, x: ArrayLike) -> Floats:
    """Cubic step from 0 at ``low`` to 1 at ``high``; falls when ``low > high``."""
    t = np.clip((np.asarray(x, np.float64) - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def bump(points: Floats, centre: ArrayLike, radii: ArrayLike) -> Floats:
    """Gaussian hill, 1 at ``centre``; ``radii`` are one standard deviation per axis. [N,3] → [N]."""
    return np.exp(-0.5 * np.square((points - np.asarray(centre)) / np.asarray(radii)).sum(1))


def hill(x: Floats, centre: float, width: float) -> Floats:
    """Gaussian of one variable, 1 at ``centre``."""
    return np.exp(-0.5 * np.square((x - centre) / width))


def noise(points: Floats, scale: float, seed: int = 0) -> Floats:
    """Value noise (Perlin 1985's lattice, random values at the nodes), about −1 to 1. [N,3] → [N]."""
    p = points / scale + seed * 17.31
    cell = np.floor(p).astype(np.int64)
    f = p - cell
    f = f * f * (3.0 - 2.0 * f)
    total = np.zeros(len(p))
    for corner in range(8):
        d = np.array([corner & 1, corner >> 1 & 1, corner >> 2 & 1])
        weight = np.where(d, f, 1.0 - f).prod(1)
        total += weight * _hash(cell + d, seed)
    return total


def _hash(cell: Ints, seed: int) -> Floats:
    h = (cell[:, 0] * 73856093) ^ (cell[:, 1] * 19349663) ^ (cell[:, 2] * 83492791) ^ (seed * 2654435761)
    h = ((h ^ (h >> 13)) * 1274126177) & 0x7FFFFFFF
    h = ((h ^ (h >> 11)) * 1103515245) & 0x7FFFFFFF
    return h / 0x7FFFFFFF * 2.0 - 1.0


def linear(*colour_srgb: float) -> Floats:
    """A display colour (0 to 1) in linear light, with the exponent of docs/nnr-format.md."""
    return np.asarray(colour_srgb, np.float64) ** 2.2


def mix(colours: Floats, other: ArrayLike, amount: Floats) -> Floats:
    """``colours`` [N,3] moved towards ``other`` by ``amount`` [N]."""
    w = amount[:, None]
    return colours * (1.0 - w) + np.asarray(other) * w


def unit(vectors: Floats) -> Floats:
    """Rows of length 1; a zero row stays zero."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
