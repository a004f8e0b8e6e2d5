"""Gaussian splats, as NNR makes them and the renderer draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError

TFloat = TypeVar("TFloat", np.float32, np.float64)

UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
"""Rows and columns of what is stored of a covariance."""
VIEW_MOVED_M = 0.002
"""How far a viewer must have moved since splats were sorted, in metres, for another sort to be worth it."""
_ROWS, _COLUMNS = zip(*UPPER, strict=True)
_FULL = [0, 1, 2, 1, 3, 4, 2, 4, 5]
_FIELDS = {"means": 3, "covariances": 6, "opacities": 0, "colors_srgb": 3}


@dataclass(frozen=True, slots=True, eq=False)
class Splats:
    """N anisotropic Gaussians in one model frame (metres, right-handed, +Y up).

    Making one checks types and shapes only, which costs nothing; ``check_values`` looks at every number.

    Attributes:
        means: float32 [N, 3], centres in metres.
        covariances: float32 [N, 6], upper triangles (xx, xy, xz, yy, yz, zz) in square metres.
        opacities: float32 [N], alpha at the centre, 0 to 1.
        colors_srgb: float32 [N, 3], sRGB-encoded colour, 0 to 1.

    Raises:
        InvalidInputError: A field has another type or shape.
    """

    means: NDArray[np.float32]
    covariances: NDArray[np.float32]
    opacities: NDArray[np.float32]
    colors_srgb: NDArray[np.float32]

    def __post_init__(self) -> None:
        count = self.means.shape[0] if self.means.ndim else 0
        for field, width in _FIELDS.items():
            array: NDArray[np.float32] = getattr(self, field)
            expected = (count, width) if width else (count,)
            if array.dtype != np.float32 or array.shape != expected:
                found = f"{array.dtype} {list(array.shape)}"
                raise InvalidInputError(f"splats.{field}", found, f"float32 {list(expected)}")

    def __len__(self) -> int:
        return self.means.shape[0]

    def check_values(self) -> None:
        """Look for numbers that no splat may have.

        Raises:
            InvalidInputError: A value is not finite, or an opacity or colour is outside 0 to 1.
        """
        for field in _FIELDS:
            array: NDArray[np.float32] = getattr(self, field)
            bounded = field in ("opacities", "colors_srgb")
            low, high = (0.0, 1.0) if bounded else (-np.finfo(np.float32).max, np.finfo(np.float32).max)
            # NaN fails both comparisons with the extremes, so two passes without temporaries suffice.
            if array.size and not (array.min() >= low and array.max() <= high):
                bad = tuple(int(i) for i in np.argwhere(~((array >= low) & (array <= high)))[0])
                expected = "a number from 0 to 1" if bounded else "a finite number"
                raise InvalidInputError(f"splats.{field}{list(bad)}", float(array[bad]), expected)

    @staticmethod
    def isotropic(
        means: NDArray[np.float32], sigma: float, opacity: float, color_srgb: NDArray[np.float32]
    ) -> Splats:
        """Round splats of one size (for tests and markers).

        Args:
            means: float32 [N, 3], metres.
            sigma: Standard deviation in metres.
            opacity: Alpha at every centre.
            color_srgb: float32 [3] or [N, 3].

        Returns:
            N splats.
        """
        count = means.shape[0]
        row = np.array([1, 0, 0, 1, 0, 1], np.float32) * np.float32(sigma**2)
        return Splats(
            means,
            np.tile(row, (count, 1)),
            np.full((count,), opacity, dtype=np.float32),
            np.broadcast_to(color_srgb, (count, 3)).astype(np.float32),
        )


def upper(matrices: NDArray[TFloat]) -> NDArray[TFloat]:
    """Symmetric matrices [N, 3, 3] as `Splats` store them, [N, 6]."""
    return np.ascontiguousarray(matrices[:, _ROWS, _COLUMNS])


def full(covariances: NDArray[TFloat]) -> NDArray[TFloat]:
    """Covariances [N, 6] as matrices [N, 3, 3]."""
    return covariances[:, _FULL].reshape(-1, 3, 3)
