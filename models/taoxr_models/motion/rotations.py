"""Many rotations at once, as unit quaternions x, y, z, w: float64 [..., 4]."""

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_AXES: Final = {"x": 0, "y": 1, "z": 2}


def _hamilton() -> Array:
    """[16, 4]: takes the products of all components of two quaternions to the components of their product."""
    table = np.zeros((4, 4, 4))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        table[i, j, k], table[j, i, k] = 1.0, -1.0
    for i in range(3):
        table[i, 3, i] = table[3, i, i] = 1.0
        table[i, i, 3] = -1.0
    table[3, 3, 3] = 1.0
    return table.reshape(16, 4)


# Far faster than cross products for the few rows of a piece of motion.
_HAMILTON: Final = _hamilton()


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
    products = a[..., :, None] * b[..., None, :]
    return products.reshape(*products.shape[:-2], 16) @ _HAMILTON


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
    pure = np.zeros((*vector.shape[:-1], 4))
    pure[..., :3] = vector
    return chain(q, pure, inverse(q))[..., :3]


def slerp(a: Array, b: Array, amount: Array) -> Array:
    """Rotations on the way from a [..., 4] to b [..., 4], the shorter one, at an even pace.

    Args:
        a: Where it begins.
        b: Where it ends.
        amount: [...], 0 to 1.
    """
    dot = (a * b).sum(-1)
    b = np.where(dot[..., None] < 0.0, -b, b)
    angle = np.arccos(np.clip(np.abs(dot), 0.0, 1.0))
    near = angle < 1e-6
    sine = np.where(near, 1.0, np.sin(angle))
    first = np.where(near, 1.0 - amount, np.sin((1.0 - amount) * angle) / sine)
    second = np.where(near, amount, np.sin(amount * angle) / sine)
    q = first[..., None] * a + second[..., None] * b
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def mirrored(q: Array) -> Array:
    """The same rotations seen in a mirror that swaps left and right (the plane x = 0)."""
    return q * (1.0, -1.0, -1.0, 1.0)
