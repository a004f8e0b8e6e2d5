"""Whether words are meant for the avatar: a phrase wakes it, silence lets it go back to rest."""

from __future__ import annotations

import re
import threading
import time
import unicodedata
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Final

from taoxr.errors import InvalidInputError

PATIENCE_S: Final = 20.0
"""After this long without a word the phrase is needed again."""
_SHORTEST: Final = 4
# Of the letters: "Hey Jo" and "Hey Joel" pass, "Hey John" (0.77), "Hey you" and "They know" do not.
_ALIKE: Final = 0.8
_FILLERS: Final = 1
"""Words that may come before the phrase, such as "oh"."""


def calls(phrase: str, text: str) -> bool:
    """Whether a transcript begins with a phrase, or with what a recogniser may make of it.

    Args:
        phrase: Such as "hey joe".
        text: What was understood.

    Returns:
        Whether the first words, be they cut in other places, have nearly the same letters (ratio of Ratcliff
        and Obershelp, "Pattern Matching: The Gestalt Approach", 1988, as in ``difflib``).
    """
    wanted, words = _words(phrase), _words(text)
    name = "".join(wanted)
    for start in range(_FILLERS + 1):
        for count in range(max(len(wanted) - 1, 1), len(wanted) + 2):
            heard = "".join(words[start : start + count])
            if len(words) >= start + count and SequenceMatcher(None, name, heard).ratio() >= _ALIKE:
                return True
    return False


class Attention:
    """Follows who is spoken to; safe to use from any threads.

    Args:
        phrase: Wakes the avatar, at the beginning of what is said; empty: every word is meant for it.
        patience_s: How long it stays awake after the last word.
        clock: Seconds.

    Raises:
        InvalidInputError: A phrase that is too short to be told from other words.
    """

    def __init__(
        self, phrase: str, patience_s: float = PATIENCE_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if phrase and len("".join(_words(phrase))) < _SHORTEST:
            raise InvalidInputError("--wake", phrase, f"at least {_SHORTEST} letters, such as 'hey joe'")
        self.phrase = phrase
        self._patience_s = patience_s
        self._clock = clock
        self._lock = threading.Lock()
        self._until = clock() if phrase else clock() + patience_s

    @property
    def awake(self) -> bool:
        """Whether the avatar takes part; else it is at rest."""
        return self.resting_s < 0

    @property
    def resting_s(self) -> float:
        """For how long it has been at rest, seconds; negative while awake."""
        with self._lock:
            return self._clock() - self._until

    def wake(self) -> None:
        """Somebody speaks with it, or it has something to say."""
        with self._lock:
            self._until = self._clock() + self._patience_s

    def hears(self, text: str, final: bool) -> bool:
        """Whether words are meant for the avatar; if they are, and final, it is awake from now on.

        Args:
            text: The transcript so far.
            final: Whether it is complete; a guess may still turn into something else.
        """
        meant = not self.phrase or self.awake or calls(self.phrase, text)
        if meant and final and (text or not self.phrase):
            self.wake()
        return meant


def _words(text: str) -> list[str]:
    """In small letters without accents and punctuation."""
    letters = unicodedata.normalize("NFKD", text.lower()).replace("'", "")
    return re.findall(r"\w+", "".join(c for c in letters if not unicodedata.combining(c)))
