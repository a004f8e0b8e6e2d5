"""FLAME coefficients (``flame53``): what they are, between frames, and as ARKit weights.

A row holds 50 expression coefficients and the jaw's rotation vector (axis-angle, radians; FLAME's axes: +X
to the face's left, +Y up, +Z forward), as UniTalker-MNN gives them. FLAME: Li et al. 2017, "Learning a
model of facial shape and expression from 4D scans".
"""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.arkit import INDEX, NAMES
from taoxr.errors import ModelError

SPACE: Final = "flame53"
EXPRESSIONS: Final = 50
FLAME_NAMES: Final = (*(f"expression{i}" for i in range(EXPRESSIONS)), "jawX", "jawY", "jawZ")

# ARKit's weights at 1, as angles of the jaw. Open: parts the lips by 34 mm, what jawOpen does on the default
# avatar, with FLAME's 95 mm from the jaw's joint to the lower lip. Aside: 10 mm at the same distance.
JAW_OPEN_RAD: Final = 0.36
JAW_ASIDE_RAD: Final = 0.105

Rows = NDArray[np.float32]


def between(rows: Rows, at: NDArray[np.float64]) -> Rows:
    """Rows at fractional places; expressions linearly, the jaw as a rotation.

    Args:
        rows: [n, 53], at least one.
        at: [m] places; those outside of 0 to n - 1 take the end's row.

    Returns:
        [m, 53].
    """
    place = np.clip(at, 0.0, len(rows) - 1)
    low = np.minimum(place.astype(np.int64), max(0, len(rows) - 2))
    high = np.minimum(low + 1, len(rows) - 1)
    share = (place - low)[:, None]
    mixed = rows[low] + share * (rows[high] - rows[low])
    mixed[:, EXPRESSIONS:] = _rotation_vectors(
        _slerp(_quaternions(rows[low, EXPRESSIONS:]), _quaternions(rows[high, EXPRESSIONS:]), share)
    )
    return mixed.astype(np.float32)


def jaw_weights(jaw: NDArray[np.floating]) -> dict[str, NDArray[np.float64]]:
    """ARKit's weights for rotations of the jaw.

    The chin's direction says how far it has turned down and aside; ``jawForward`` is a shift, which a
    rotation does not have, and the roll about the forward axis has no ARKit weight.

    Args:
        jaw: [n, 3] rotation vectors.

    Returns:
        [n] in [0, 1] for ``jawOpen``, ``jawLeft`` and ``jawRight``.
    """
    w, x, y, z = _quaternions(jaw).T
    # The forward axis, rotated.
    left, up, forward = 2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)
    down = np.arctan2(-up, forward)
    aside = np.arctan2(left, np.hypot(up, forward))
    return {
        "jawOpen": np.clip(down / JAW_OPEN_RAD, 0.0, 1.0),
        "jawLeft": np.clip(aside / JAW_ASIDE_RAD, 0.0, 1.0),
        "jawRight": np.clip(-aside / JAW_ASIDE_RAD, 0.0, 1.0),
    }


class ToArkit:
    """Maps rows to the 52 ARKit weights.

    Args:
        matrix: [50, 52]: what each expression coefficient adds to each weight; or [51, 52] with the weights
            of the neutral face as the last row. FLAME's expressions are a statistical basis whose data may
            not be passed on, so the user makes the matrix, say by fitting FLAME to the avatar's
            blendshapes. The columns of ``jawOpen``, ``jawLeft`` and ``jawRight`` are not used: the jaw's
            rotation gives these.

    Raises:
        ModelError: It has another shape, or values that are no finite numbers.
    """

    def __init__(self, matrix: NDArray[np.floating]) -> None:
        if (
            matrix.ndim != 2
            or matrix.shape[0] not in (EXPRESSIONS, EXPRESSIONS + 1)
            or matrix.shape[1] != len(NAMES)
        ):
            raise ModelError(
                f"the matrix from FLAME to ARKit has shape {matrix.shape}, expected (50, 52) or (51, 52)"
            )
        if not np.isfinite(matrix).all():
            raise ModelError("the matrix from FLAME to ARKit holds values that are no finite numbers")
        self._matrix = np.asarray(matrix[:EXPRESSIONS], np.float64)
        self._neutral = np.asarray(matrix[EXPRESSIONS:].sum(axis=0), np.float64)

    @classmethod
    def load(cls, path: Path) -> "ToArkit":
        """Reads a matrix from an ``.npy`` file.

        Raises:
            ModelError: The file is missing or no such matrix.
        """
        if not path.is_file():
            raise ModelError(
                f"{path} is missing: avatars that take arkit52 need a matrix from the model's FLAME "
                "expressions to ARKit's weights, 50 x 52 numbers saved with numpy (see docs/unitalker.md)"
            )
        try:
            matrix = np.load(path, allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            raise ModelError(f"{path} is no numpy array: {error}") from error
        return cls(matrix)

    def __call__(self, rows: Rows) -> NDArray[np.float32]:
        """[n, 53] to [n, 52] in [0, 1]."""
        weights = rows[:, :EXPRESSIONS] @ self._matrix + self._neutral
        for name, values in jaw_weights(rows[:, EXPRESSIONS:]).items():
            weights[:, INDEX[name]] = values
        return np.clip(weights, 0.0, 1.0).astype(np.float32)


def _quaternions(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """[n, 3] rotation vectors to [n, 4] (w, x, y, z)."""
    angle = np.linalg.norm(vectors, axis=1, keepdims=True)
    # np.sinc(x) is sin(pi x) / (pi x): no division by a zero angle.
    return np.hstack([np.cos(angle / 2), vectors * 0.5 * np.sinc(angle / (2 * np.pi))]).astype(np.float64)


def _slerp(a: NDArray[np.float64], b: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shoemake 1985, "Animating rotation with quaternion curves"; the short way round."""
    dot = (a * b).sum(axis=1, keepdims=True)
    b, dot = np.where(dot < 0, -b, b), np.abs(dot)
    angle = np.arccos(np.clip(dot, 0.0, 1.0))
    near = angle < 1e-4
    safe = np.where(near, 1.0, np.sin(angle))
    first = np.where(near, 1.0 - share, np.sin((1.0 - share) * angle) / safe)
    second = np.where(near, share, np.sin(share * angle) / safe)
    return first * a + second * b


def _rotation_vectors(quaternions: NDArray[np.float64]) -> NDArray[np.float64]:
    """[n, 4] (w, x, y, z) to [n, 3]."""
    axis = quaternions[:, 1:]
    sine = np.linalg.norm(axis, axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, quaternions[:, :1])
    return axis * np.where(sine < 1e-9, 2.0, angle / np.where(sine < 1e-9, 1.0, sine))
