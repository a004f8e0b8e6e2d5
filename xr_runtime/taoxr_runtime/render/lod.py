"""Fewer, larger splats in place of many: for machines too slow for all of them.

Neighbours in a scene's arrays are neighbours on the body, so that every k-th one of them covers it evenly. It
takes over the area of those that are dropped and somewhat more, for else what is under the skin would shine
through the gaps. On the default avatar, half of the splats look right as a whole figure, and somewhat soft
with frayed outlines as a face that fills the picture.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.splats import Splats


def subset(count: int, most: int) -> NDArray[np.int64]:
    """Which splats to keep: the same ones in every frame, so that nothing flickers.

    Args:
        count: How many there are.
        most: How many may stay, at least 1.

    Returns:
        int64 [min(count, most)], ascending.

    Raises:
        InvalidInputError: ``most`` is under 1.
    """
    if most < 1:
        raise InvalidInputError("max_splats", most, "at least 1, or None for all")
    kept = min(count, most)
    return np.arange(kept) * count // max(kept, 1)


def thinned(splats: Splats, kept: NDArray[np.int64]) -> Splats:
    """Splats that stand for all.

    Args:
        splats: N splats.
        kept: int64 [K], as of ``subset``.

    Returns:
        K splats.
    """
    share = len(kept) / max(len(splats), 1)
    growth = np.float32((2 - share) / share) if share else np.float32(1)  # of areas; judged by eye
    return Splats(
        splats.means[kept],
        splats.covariances[kept] * growth,
        splats.opacities[kept],
        splats.colors_srgb[kept],
    )


def renumbered(order: NDArray[np.integer], kept: NDArray[np.int64], count: int) -> NDArray[np.integer]:
    """An order of all splats as an order of the kept ones.

    Args:
        order: int [M], indices into all.
        kept: int64 [K], as of ``subset``.
        count: How many there were.

    Returns:
        int [at most M], indices from 0 to K - 1.
    """
    number = np.full(count, -1)
    number[kept] = np.arange(len(kept))
    renamed = number[order]
    return renamed[renamed >= 0]
