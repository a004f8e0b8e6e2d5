"""Counting the words that tell a mood.

The rules are the usual ones of lexicon methods (Taboada et al., "Lexicon-based methods for sentiment
analysis", Computational Linguistics, 2011): words count, intensifiers count more, negations turn around what
follows.
"""

import math
import re
from dataclasses import astuple, dataclass
from typing import Final

from taoxr_models.mood.lexicon import JOY, NEGATIONS, SADNESS, STRONGER, SURPRISE, TURNS, WEAKER, WORRY

NAMES: Final = ("joy", "sadness", "surprise", "worry")
"""The moods, in the order of a `Mood`."""
_LEXICONS: Final = (JOY, SADNESS, SURPRISE, WORRY)
# How far before a word the words are that change it.
_REACH: Final = 3
# What is left of a word in front of "but".
_CONCEDED: Final = 0.4
# "Not good" is less sad than "bad" is, and "not bad" less joyful than "good".
_TURNED: Final = 0.5
_STRONGER: Final = 1.5
_WEAKER: Final = 0.6
_NOTICEABLE: Final = 0.25
_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?")


@dataclass(frozen=True, slots=True)
class Mood:
    """How much of each mood, 0 to 1."""

    joy: float = 0.0
    sadness: float = 0.0
    surprise: float = 0.0
    worry: float = 0.0

    @property
    def name(self) -> str:
        """The strongest one, or "neutral" when none can be noticed."""
        return NAMES[astuple(self).index(self.strength)] if self.strength >= _NOTICEABLE else "neutral"

    @property
    def strength(self) -> float:
        """How strong the strongest one is, 0 to 1."""
        return max(astuple(self))


def mood_of(text: str) -> Mood:
    """The mood of a clause."""
    words = _WORD.findall(text.lower().replace("’", "'"))
    turn = max((i for i, word in enumerate(words) if word in TURNS), default=-1)
    sums = dict.fromkeys(NAMES, 0.0)
    for i, word in enumerate(words):
        before = words[max(0, i - _REACH) : i]
        weight = _CONCEDED if i < turn else 1.0
        for other in before:
            weight *= _STRONGER if other in STRONGER else _WEAKER if other in WEAKER else 1.0
        negated = sum(other in NEGATIONS for other in before) % 2 == 1
        for name, lexicon in zip(NAMES, _LEXICONS, strict=True):
            told = lexicon.get(word, 0.0) * weight
            if not negated:
                sums[name] += told
            elif name in ("joy", "sadness", "worry"):
                sums["sadness" if name == "joy" else "joy"] += _TURNED * told
    # Joy and sorrow in one clause take from each other.
    gloom = sums["sadness"] + sums["worry"]
    if gloom > 0.0:
        share = max(0.0, 1.0 - sums["joy"] / gloom)
        sums["joy"] = max(0.0, sums["joy"] - gloom)
        sums["sadness"] *= share
        sums["worry"] *= share
    louder = 1.25 if text.rstrip().endswith("!") else 1.0
    return Mood(**{name: 1.0 - math.exp(-0.9 * louder * value) for name, value in sums.items()})
