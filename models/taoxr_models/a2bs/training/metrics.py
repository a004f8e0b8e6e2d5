"""How good lips are, against phoneme times.

Frames are 20 ms. Reference curves come from the same teacher that phoneme tracks use, so that the question is
only whether the network found the sounds and their times.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.a2bs.articulation import CONTROL_INDEX, TABLE
from taoxr_models.a2bs.coarticulation import control_curves
from taoxr_models.a2bs.phonemes import Segment
from taoxr_models.a2bs.training.targets import FRAME_S, classes_at

# The 15 visemes of Oculus Lipsync, which other tools speak.
VISEMES: Final = ("sil", "PP", "FF", "TH", "DD", "kk", "CH", "SS", "nn", "RR", "aa", "E", "ih", "oh", "ou")
_OF_SOUND: Final = {
    "silence": "sil", "p": "PP", "f": "FF", "θ": "TH", "t": "DD", "k": "kk", "h": "kk", "ʃ": "CH",
    "s": "SS", "l": "nn", "ɹ": "RR", "ɚ": "RR", "ɑ": "aa", "æ": "aa", "ʌ": "aa", "ə": "aa", "ɛ": "E",
    "i": "ih", "ɪ": "ih", "j": "ih", "ɔ": "oh", "o": "oh", "ʊ": "ou", "u": "ou", "w": "ou",
}  # fmt: skip
TO_VISEME: Final = np.array([VISEMES.index(_OF_SOUND[row.name]) for row in TABLE])
"""Row of the table to viseme. n is heard as n but sits in the row of t: both count as right for it."""

_JAW: Final = CONTROL_INDEX["jawOpen"]
_SCHWA: Final = [row.name for row in TABLE].index("ə")
_TONGUE: Final = [row.name for row in TABLE].index("t")
# What else is right: a reduced vowel has no one shape, and the row of t holds n.
_ALSO: Final = {_SCHWA: ("E", "ih"), _TONGUE: ("nn",)}


def viseme_right(visemes: NDArray[np.int64], reference: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which frames are right.

    Args:
        visemes: [n] indices into `VISEMES`, what was said.
        reference: [n] rows of the table.
    """
    right = visemes == TO_VISEME[reference]
    for row, others in _ALSO.items():
        for other in others:
            right |= (reference == row) & (visemes == VISEMES.index(other))
    return right


@dataclass(frozen=True)
class Reference:
    """One clip's truth.

    Attributes:
        row: Its segments.
        classes: [n] rows of the table.
        jaw: [n] the teacher's jaw.
    """

    row: list[Segment]
    classes: NDArray[np.uint8]
    jaw: NDArray[np.float64]

    @classmethod
    def of(cls, row: list[Segment], count: int) -> "Reference":
        """Truth of ``count`` frames."""
        times = np.arange(count) * FRAME_S
        return cls(row, classes_at(row, times), control_curves(row, times)[:, _JAW])


def spoken_correlation(
    curves: Sequence[NDArray[np.float64]], references: Sequence[Reference], shift: int = 0
) -> float:
    """Correlation of curves with the teacher's jaw over frames with speech, mean over clips by length.

    Args:
        curves: [n] per clip.
        references: The truth.
        shift: Frames by which the curves are read later.
    """
    total, weight = 0.0, 0
    for curve, reference in zip(curves, references, strict=True):
        n = min(len(curve), len(reference.jaw))
        k = np.arange(max(0, -shift), n - max(0, shift))
        k = k[reference.classes[k] != 0]
        a, b = curve[k + shift], reference.jaw[k]
        if len(k) > 10 and a.std() > 1e-6 and b.std() > 1e-6:
            total += float(np.corrcoef(a, b)[0, 1]) * len(k)
            weight += len(k)
    return total / max(weight, 1)


def lag_ms(curves: Sequence[NDArray[np.float64]], references: Sequence[Reference]) -> float:
    """How much later than the truth the curves are: the peak of the correlation, by a parabola."""
    shifts = range(-6, 7)
    values = [spoken_correlation(curves, references, s) for s in shifts]
    best = int(np.argmax(values))
    if not 0 < best < len(values) - 1:
        return shifts[best] * FRAME_S * 1e3
    a, b, c = values[best - 1 : best + 2]
    return (shifts[best] + 0.5 * (a - c) / (a - 2 * b + c)) * FRAME_S * 1e3


@dataclass(frozen=True)
class Closures:
    """Bilabials and closed lips.

    Attributes:
        wanted: Bilabials in the truth.
        closed: Of these, how many closed the lips.
        made: Closures made while speech goes on.
        false: Of these, how many are at no bilabial.
    """

    wanted: int
    closed: int
    made: int
    false: int

    def __add__(self, other: "Closures") -> "Closures":
        return Closures(
            self.wanted + other.wanted,
            self.closed + other.closed,
            self.made + other.made,
            self.false + other.false,
        )


def closures(shut: NDArray[np.bool_], reference: Reference, name: str = "p", slack: int = 2) -> Closures:
    """Compares runs of closed frames with the truth, with ``slack`` frames of tolerance.

    Args:
        shut: [n] where the lips are closed.
        reference: The truth.
        name: Row of the table that asks for it.
        slack: Tolerance in frames.
    """
    n = min(len(shut), len(reference.classes))
    wanted = reference.classes[:n] == [row.name for row in TABLE].index(name)
    silent = reference.classes[:n] == 0
    closed = sum(bool(shut[max(0, a - slack) : b + slack].any()) for a, b in _runs(wanted))
    near = [slice(max(0, a - slack), b + slack) for a, b in _runs(shut[:n])]
    right = sum(bool(wanted[k].any()) for k in near)
    # In pauses lips may close.
    false = sum(not wanted[k].any() and not silent[k].any() for k in near)
    return Closures(len(_runs(wanted)), closed, right + false, false)


def _runs(mask: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
