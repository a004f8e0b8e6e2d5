"""MNN twin of the sort: the same keys, and the very order that NumPy's stable sort gives them."""

from typing import Final

import numpy as np

from taoxr_runtime.nnr.mnn.builder import Expr, GraphBuilder
from taoxr_runtime.nnr.nodes.sort import KEYS, Sort

_DIGIT: Final = 256
_PLACES: Final = 1 << 20
"""More than a scene has splats."""


def sort(node: Sort, g: GraphBuilder) -> list[Expr]:
    """A radix sort in two digits, least significant first.

    MNN sorts by TopK alone, which leaves equal keys in any order. So every digit is joined with the place at
    which it stands: then no two are equal, and each pass is stable. Indices come out as float32, exact up to
    2^24.
    """
    means, camera = g.inputs
    (count,) = node.output_shapes[0]
    offset = camera - means
    distance = (offset * offset).sum(1).sqrt()
    near = g.op("ReduceMin", distance, axes=[0], keepdims=1)
    far = g.op("ReduceMax", distance, axes=[0], keepdims=1)
    keys = ((far - distance) * (g.constant([KEYS]) / (far - near).at_least(1e-9))).clip(0, KEYS).floor()
    high = (keys * (1 / _DIGIT)).floor()
    low = keys - high * _DIGIT
    last_first = g.integers(np.arange(count)[::-1])

    def by_digit(digit: Expr) -> Expr:
        ascending = (g.constant([_DIGIT - 1]) - digit).to_integers()
        return g.largest_first(g.op("Mul", ascending, g.integers([_PLACES])) + last_first, count)

    by_low = by_digit(low)
    return [by_low.pick(by_digit(high.pick(by_low))).to_floats()]
