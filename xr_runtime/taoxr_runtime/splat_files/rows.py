"""Rows of a file as they are, and the cloud of those that can be drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.splat_files.cloud import Cloud

MAX_LENGTH_M: Final = 1000.0
"""Farthest a splat may be from the origin, and the largest it may be, as in `.nnr` files."""
_ZERO: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What a file holds, float32, not checked.

    Attributes:
        means: [N, 3], in the file's units.
        quaternions: [N, 4], (w, x, y, z) of any length.
        sigmas: [N, 3].
        opacities: [N].
        harmonics: [N, K, 3], the constant term first.
    """

    means: NDArray[np.float32]
    quaternions: NDArray[np.float32]
    sigmas: NDArray[np.float32]
    opacities: NDArray[np.float32]
    harmonics: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Dropped:
    """How many rows were left out, and why; each counts once.

    Attributes:
        not_finite: A number is not finite.
        no_rotation: The quaternion has no length.
        out_of_range: The place or size is over `MAX_LENGTH_M`, or the size is negative.
    """

    not_finite: int = 0
    no_rotation: int = 0
    out_of_range: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.not_finite + self.no_rotation + self.out_of_range


def clean(rows: Rows) -> tuple[Cloud, Dropped]:
    """Leaves out what cannot be drawn, and makes the quaternions unit ones."""
    count = len(rows.means)
    flat = (rows.means, rows.quaternions, rows.sigmas, rows.opacities, rows.harmonics)
    finite = np.logical_and.reduce([np.isfinite(array.reshape(count, -1)).all(axis=1) for array in flat])
    length = np.linalg.norm(rows.quaternions.astype(np.float64), axis=1)
    turned = length > _ZERO
    inside = (np.abs(rows.means) <= MAX_LENGTH_M).all(axis=1)
    inside &= ((rows.sigmas >= 0) & (rows.sigmas <= MAX_LENGTH_M)).all(axis=1)
    kept = finite & turned & inside
    unit = rows.quaternions[kept] / length[kept, None]
    cloud = Cloud(
        rows.means[kept],
        unit[:, [1, 2, 3, 0]].astype(np.float32),
        rows.sigmas[kept],
        np.clip(rows.opacities[kept], 0, 1),
        rows.harmonics[kept],
    )
    dropped = Dropped(
        int(np.count_nonzero(~finite)),
        int(np.count_nonzero(finite & ~turned)),
        int(np.count_nonzero(finite & turned & ~inside)),
    )
    return cloud, dropped


def sigmoid(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Opacities of what files store; of infinite ones 0 and 1."""
    return (0.5 + 0.5 * np.tanh(0.5 * logits.astype(np.float64))).astype(np.float32)


def exp(logarithms: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sizes of what files store; what is too large becomes infinite, so that `clean` finds it."""
    with np.errstate(over="ignore"):
        return np.exp(logarithms)
