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
_WORD: Final = re.compile(r"[\w'’]+")
# Of the letters: "Hey Jo" and "Hey Joel" pass, "Hey John" (0.77), "Hey you" and "They know" do not.
_ALIKE: Final = 0.8
_FILLERS: Final = 1
"""Words that may come before the phrase, such as "oh"."""


def after(phrase: str, text: str) -> str | None:
    """What follows a phrase at the beginning of a transcript.

    Args:
        phrase: Such as "hey joe".
        text: What was understood.

    Returns:
        The rest, without the comma; None when the text does not begin with the phrase or with what a
        recogniser may make of it: first words, be they cut in other places, of nearly the same letters (ratio
        of Ratcliff and Obershelp, "Pattern Matching: The Gestalt Approach", 1988, as in ``difflib``).
    """
    wanted, words = _letters(phrase), list(_WORD.finditer(text))
    length = len(_WORD.findall(phrase))
    best, end = 0.0, 0
    for start in range(_FILLERS + 1):
        for count in range(max(length - 1, 1), length + 2):
            taken = words[start : start + count]
            heard = "".join(_letters(word.group()) for word in taken)
            alike = SequenceMatcher(None, wanted, heard).ratio()
            if len(taken) == count and alike > best:
                best, end = alike, taken[-1].end()
    return text[end:].lstrip(" ,.;:!?…-–—") if best >= _ALIKE else None


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
        if phrase and len(_letters(phrase)) < _SHORTEST:
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

    def hears(self, text: str, final: bool) -> str | None:
        """What of some words is meant for the avatar; if some is, and final, it is awake from now on.

        Args:
            text: The transcript so far.
            final: Whether it is complete; a guess may still turn into something else.

        Returns:
            None: nothing. Else the words without the phrase, which would only confuse a small language model;
            see ``live.overheard``.
        """
        rest = after(self.phrase, text) if self.phrase else None
        if rest is None and self.phrase and not self.awake:
            return None
        if final and text:
            self.wake()
        return text if rest is None else rest


def _letters(text: str) -> str:
    """In small letters without accents, spaces and punctuation."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if c.isalnum())
