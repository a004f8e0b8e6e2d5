"""By how much splats grow that stand for others, which are left out."""

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.nodes.base import F64

# Less than what they stand for, as splats overlap. Measured on the default avatar: more blurs outlines, less
# lets what lies below shine through.
_SURFACE, _STRANDS = 0.9, 0.8


def areas(share: F64) -> F64:
    """By what splats' areas grow where this share of them stays, over 0 and up to 1."""
    return share**-_SURFACE


def widths(share: F64) -> F64:
    """By what strands grow across."""
    return share**-_STRANDS


def shares(triangles: NDArray[np.intp], of: NDArray[np.intp], kept: NDArray[np.intp]) -> F64:
    """What share of the splats stays around each triangle.

    Args:
        triangles: Vertices of each triangle [F, 3].
        of: Triangle of each splat [n].
        kept: Numbers of the splats that stay.

    Returns:
        Shares [F] of the splats on a triangle and on those that touch it; 1 where none stays.
    """
    vertices = int(triangles.max()) + 1

    def around(splats: NDArray[np.intp]) -> F64:
        own = np.bincount(splats, minlength=len(triangles))
        return np.bincount(triangles.reshape(-1), np.repeat(own, 3), vertices)[triangles].sum(1)

    before, after = around(of), around(of[kept])
    return np.divide(after, before, out=np.ones(len(triangles)), where=after > 0)
