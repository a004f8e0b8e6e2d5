"""Many rotations at once, as unit quaternions x, y, z, w: float64 [..., 4]."""

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_AXES: Final = {"x": 0, "y": 1, "z": 2}


def about(axis: Literal["x", "y", "z"], degrees: Array) -> Array:
    """Rotations about one axis, [...] degrees to [..., 4]."""
    half = np.deg2rad(degrees) / 2.0
    q = np.zeros((*np.shape(degrees), 4))
    q[..., _AXES[axis]] = np.sin(half)
    q[..., 3] = np.cos(half)
    return q


def about_vector(vector: Array) -> Array:
    """Rotations about a vector by its length in degrees, [..., 3] to [..., 4]."""
    half = np.deg2rad(vector) / 2.0
    # sinc(x / pi) = sin(x) / x, and 1 at 0.
    size = np.linalg.norm(half, axis=-1, keepdims=True)
    return np.concatenate([half * np.sinc(size / np.pi), np.cos(size)], axis=-1)


def multiply(a: Array, b: Array) -> Array:
    """The rotations that apply ``b`` first, then ``a``."""
    av, aw, bv, bw = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = aw * bv + bw * av + np.cross(av, bv)
    return np.concatenate([vector, aw * bw - (av * bv).sum(-1, keepdims=True)], axis=-1)


def chain(*rotations: Array) -> Array:
    """The product of all: the last one is applied first."""
    out = rotations[0]
    for rotation in rotations[1:]:
        out = multiply(out, rotation)
    return out


def inverse(q: Array) -> Array:
    """The rotations back."""
    return q * (-1.0, -1.0, -1.0, 1.0)


def rotate(q: Array, vector: Array) -> Array:
    """Turned vectors, [..., 3]."""
    v, w = q[..., :3], q[..., 3:]
    t = 2.0 * np.cross(v, vector)
    return vector + w * t + np.cross(v, t)


def mirrored(q: Array) -> Array:
    """The same rotations seen in a mirror that swaps left and right (the plane x = 0)."""
    return q * (1.0, -1.0, -1.0, 1.0)
