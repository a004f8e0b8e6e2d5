"""Spherical harmonics of splats that are turned.

The functions themselves are those of the node ``sh_color``, which draws them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.nodes.sh_color import C0, harmonics

SH0: Final = C0
"""The constant function: a colour c is stored as (c - 0.5) / SH0."""
# More directions than a degree has functions, spread so that these are told apart well.
_DIRECTIONS: Final = np.random.default_rng(0).normal(size=(3, 32))


def count(degree: int) -> int:
    """Coefficients per channel up to a degree: 1, 4, 9, 16."""
    return (degree + 1) ** 2


def turned(coefficients: NDArray[np.float32], rotation: NDArray[np.float64]) -> NDArray[np.float32]:
    """Coefficients of the colours of splats that were turned.

    A rotation maps the functions of one degree to themselves. Its matrix there is found from the
    functions' values in some directions before and after, which is exact up to rounding.

    Args:
        coefficients: float32 [N, K, C], K = 1, 4, 9 or 16.
        rotation: float64 [3, 3], a rotation.

    Returns:
        float32 [N, K, C].
    """
    terms = coefficients.shape[1]
    unit = _DIRECTIONS / np.linalg.norm(_DIRECTIONS, axis=0)
    before, after = harmonics(rotation.T @ unit, terms).T, harmonics(unit, terms).T
    out = coefficients.copy()
    for first, end in ((1, 4), (4, 9), (9, 16)):
        if end <= terms:
            own = slice(first, end)
            matrix = np.linalg.lstsq(after[:, own], before[:, own], rcond=None)[0]
            out[:, own] = np.einsum("ij,njc->nic", matrix, coefficients[:, own].astype(np.float64))
    return out
