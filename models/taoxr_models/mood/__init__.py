"""The mood of what is said, from its words: small, transparent, English.

`mood_of` counts words of a lexicon of our own (`taoxr_models.mood.lexicon`); `taoxr_models.mood.expression`
is what a face makes of it.
"""

from taoxr_models.mood.mood import NAMES, Mood, mood_of

__all__ = ["NAMES", "Mood", "mood_of"]
