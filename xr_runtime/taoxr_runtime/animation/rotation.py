"""Rotations as unit quaternions ``xyzw`` (float64 [4]) and matrices (float64 [3, 3]); right-hand rule.

Plain floats where NumPy's overhead per call would be larger than the work: these run hundreds of
times per display frame.
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

IDENTITY: Final[tuple[float, float, float, float]] = (0.0, 0.0, 0.0, 1.0)


def from_euler_deg(x: float, y: float, z: float) -> Array:
    """Quaternion of turns about X, then Y, then Z, in degrees (extrinsic)."""
    hx, hy, hz = math.radians(x) / 2, math.radians(y) / 2, math.radians(z) / 2
    sx, cx, sy, cy, sz, cz = (
        math.sin(hx), math.cos(hx), math.sin(hy), math.cos(hy), math.sin(hz), math.cos(hz)
    )  # fmt: skip
    return np.array(
        [
            sx * cy * cz - cx * sy * sz,
            cx * sy * cz + sx * cy * sz,
            cx * cy * sz - sx * sy * cz,
            cx * cy * cz + sx * sy * sz,
        ]
    )


def multiply(a: Array, b: Array) -> Array:
    """Hamilton product: the rotation that applies ``b`` first, then ``a``."""
    ax, ay, az, aw = a.tolist()
    bx, by, bz, bw = b.tolist()
    return np.array(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


def inverse(q: Array) -> Array:
    """The rotation back."""
    return q * (-1.0, -1.0, -1.0, 1.0)


def share(q: Array, amount: float) -> Array:
    """A part of a rotation, about the same axis: 0 is none of it, 1 all of it."""
    return q if amount == 1.0 else slerp(np.array(IDENTITY), q, amount)


def slerp(a: Array, b: Array, amount: float) -> Array:
    """Rotations [..., 4] on the shortest way from ``a`` (0) to ``b`` (1), at even speed."""
    dot = (a * b).sum(-1, keepdims=True)
    b = np.where(dot < 0.0, -b, b)
    angle = np.arccos(np.clip(np.abs(dot), 0.0, 1.0))
    sine = np.sin(angle)
    near = sine < 1e-6
    sine = np.where(near, 1.0, sine)
    from_a = np.where(near, 1.0 - amount, np.sin((1.0 - amount) * angle) / sine)
    from_b = np.where(near, amount, np.sin(amount * angle) / sine)
    out = from_a * a + from_b * b
    return out / np.linalg.norm(out, axis=-1, keepdims=True)


def from_matrix(m: Array) -> Array:
    """Unit quaternion of a rotation matrix [3, 3] (Shepperd 1978)."""
    trace = float(np.trace(m))
    diagonal = (*np.diag(m).tolist(), trace)
    k = int(np.argmax(diagonal))
    if k == 3:
        q = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], 1.0 + trace])
    else:
        i, j = (k + 1) % 3, (k + 2) % 3
        q = np.empty(4)
        q[k] = 1.0 + 2.0 * m[k, k] - trace
        q[i], q[j] = m[i, k] + m[k, i], m[j, k] + m[k, j]
        q[3] = m[j, i] - m[i, j]
    return q / np.linalg.norm(q)


def to_matrix(q: Array) -> Array:
    """Rotation matrix [3, 3] of a unit quaternion."""
    x, y, z, w = q.tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def angles_deg(a: npt.NDArray[np.floating], b: npt.NDArray[np.floating]) -> Array:
    """Angles between rotations [..., 4], in degrees, 0 to 180."""
    # The chord keeps its precision for small angles, where the cosine loses it.
    a, b = a.astype(np.float64), b.astype(np.float64)
    chord = np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return np.rad2deg(4.0 * np.arcsin(np.clip(chord / 2.0, 0.0, 1.0)))


def look_angles_deg(direction: Array) -> tuple[float, float]:
    """Yaw (towards +X is positive) and pitch (up is positive) of a direction seen from +Z, in degrees."""
    x, y, z = direction.tolist()
    return math.degrees(math.atan2(x, z)), math.degrees(math.atan2(y, math.hypot(x, z)))


def from_look_deg(yaw: float, pitch: float) -> Array:
    """Rotation that takes +Z to the direction with these angles, without roll."""
    return from_euler_deg(-pitch, yaw, 0.0)
