"""Which syllables of a clause are stressed, and when."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from taoxr_models.a2bs.phonemes import Phoneme, segments

# The last stress of a clause carries its accent more often than not.
_ACCENT: Final = 1.0
_PRIMARY: Final = 0.75
_SECONDARY: Final = 0.4
# Without any stress marks, vowels so much longer than most are taken to be stressed.
_LONG: Final = 1.25


@dataclass(frozen=True, slots=True)
class Stress:
    """A stressed vowel.

    Attributes:
        start: Start in seconds.
        end: End in seconds.
        strength: 0 to 1.
    """

    start: float
    end: float
    strength: float

    @property
    def peak(self) -> float:
        """Where a movement that goes with it is to arrive: the middle of the vowel, in seconds."""
        return 0.5 * (self.start + self.end)


def stresses(phonemes: Sequence[Phoneme]) -> list[Stress]:
    """The stressed vowels of a clause, in order.

    Raises:
        InvalidInputError: A symbol is not IPA, or times run backwards.
    """
    row = segments(phonemes)
    vowels = [s for s in row if s.articulation.vowel]
    marked = [s for s in vowels if s.stress > 0.0]
    if not marked and vowels:
        usual = median(s.end - s.start for s in vowels)
        return [Stress(s.start, s.end, _PRIMARY) for s in vowels if s.end - s.start > _LONG * usual]
    primary = [s for s in marked if s.stress >= 1.0]
    out: list[Stress] = []
    for s in marked:
        strength = _SECONDARY if s.stress < 1.0 else _ACCENT if s is primary[-1] else _PRIMARY
        out.append(Stress(s.start, s.end, strength))
    return out
