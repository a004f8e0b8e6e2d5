"""From a voice's phoneme symbols with times to a gapless row of sounds.

Voices differ in how they cut IPA: one writes ``ˈaɪ`` as one symbol, another ``ˈ``, ``a``, ``ɪ``. Both
come out the same here: one `Segment` per visible articulation.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from taoxr.errors import InvalidInputError
from taoxr_models.a2bs.articulation import BY_SYMBOL, SILENCE, Articulation

_STRESS: Final = {"ˈ": 1.0, "ˌ": 0.5}
# What voices write for pauses, clause marks and the edges of a text.
_PAUSES: Final = frozenset("_^$|‖.,;:!?¡¿…—–-\"“”«»()'’#↑↓")
_WORD_GAP: Final = " "
# A gap between words shorter than this is no pause: the mouth goes straight to the next sound.
_GAP_IS_PAUSE_S: Final = 0.08


@dataclass(frozen=True, slots=True)
class Phoneme:
    """A symbol of the voice with its time in seconds."""

    symbol: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Segment:
    """One articulation in time.

    Attributes:
        articulation: Row of the table.
        start: Start in seconds.
        end: End in seconds, not before the start.
        stress: 1 for primary, 0.5 for secondary stress, else 0; only vowels have it.
    """

    articulation: Articulation
    start: float
    end: float
    stress: float = 0.0

    @property
    def silent(self) -> bool:
        """True for a pause."""
        return self.articulation is SILENCE

    @property
    def middle(self) -> float:
        """Time half way, in seconds."""
        return 0.5 * (self.start + self.end)


def segments(phonemes: Sequence[Phoneme], field: str = "phonemes") -> list[Segment]:
    """Splits symbols into articulations.

    Diphthongs and affricates become two segments. Marks that stand alone join a neighbour: stress and
    short gaps between words the next sound, length marks the one before. Neighbouring pauses are merged.

    Args:
        phonemes: In order of time.
        field: Name for error texts.

    Raises:
        InvalidInputError: A symbol is not IPA, or times run backwards.
    """
    out: list[Segment] = []
    carried: float | None = None  # start of marks waiting for their sound
    stress = 0.0
    previous_end = float("-inf")
    for i, p in enumerate(phonemes):
        if p.end < p.start or p.start < previous_end - 1e-6:
            expected = "phonemes in order of time, each ending after it starts"
            raise InvalidInputError(f"{field}[{i}].start_us", round(p.start * 1e6), expected)
        previous_end = p.end
        rows, marked, lengthens = _parse(p.symbol, f"{field}[{i}].symbol")
        stress = max(stress, marked)
        start = p.start if carried is None else carried
        if rows:
            out += _share(rows, start, p.end)
            carried = None
            out, stress = _place_stress(out, len(rows), stress)
        elif p.symbol == _WORD_GAP and p.end - start >= _GAP_IS_PAUSE_S:
            out.append(Segment(SILENCE, start, p.end))
            carried = None
        elif lengthens and out and carried is None:
            out[-1] = replace(out[-1], end=p.end)
        else:
            carried = start
    if carried is not None:
        out.append(Segment(SILENCE, carried, previous_end))
    return _merge_pauses(out)


def _parse(symbol: str, field: str) -> tuple[list[Articulation], float, bool]:
    """Rows of a symbol, its stress, and whether it is a mark that belongs to the sound before."""
    rows: list[Articulation] = []
    stress = 0.0
    lengthens = False
    if symbol == "":
        return [SILENCE], 0.0, False
    for c in unicodedata.normalize("NFD", symbol):
        if c in BY_SYMBOL:
            rows.append(BY_SYMBOL[c])
        elif c in _STRESS:
            stress = max(stress, _STRESS[c])
        elif c in _PAUSES:
            rows.append(SILENCE)
        elif unicodedata.category(c) in ("Mn", "Lm", "Sk", "Nd"):
            lengthens = True  # length, diacritics, tones: nothing to see on the face
        elif c != _WORD_GAP:
            raise InvalidInputError(field, symbol, "an IPA symbol, '' or '_'")
    return rows, stress, lengthens


def _share(rows: Sequence[Articulation], start: float, end: float) -> list[Segment]:
    """Divides a symbol's time: a diphthong dwells on its first vowel, an affricate on its release."""
    shares = [1.0 / len(rows)] * len(rows)
    if len(rows) == 2 and rows[0].vowel == rows[1].vowel:
        shares = [0.6, 0.4] if rows[0].vowel else [0.4, 0.6]
    out: list[Segment] = []
    at = start
    for row, share in zip(rows, shares, strict=True):
        until = at + share * (end - start)
        out.append(Segment(row, at, until))
        at = until
    out[-1] = replace(out[-1], end=end)
    return out


def _place_stress(row: list[Segment], new: int, stress: float) -> tuple[list[Segment], float]:
    """Gives stress to the first new vowel; without one it waits for the next symbol."""
    if stress == 0.0:
        return row, 0.0
    for j in range(len(row) - new, len(row)):
        if row[j].articulation.vowel:
            row[j] = replace(row[j], stress=stress)
            return row, 0.0
    return row, 0.0 if row[-1].silent else stress


def _merge_pauses(row: list[Segment]) -> list[Segment]:
    out: list[Segment] = []
    for s in row:
        if out and s.silent and out[-1].silent:
            out[-1] = replace(out[-1], end=s.end)
        else:
            out.append(s)
    return out
