"""Cuts streaming text into clauses, the units that are spoken.

The first clause comes early, because the user waits for it; later ones are whole sentences, because
they sound better. Nothing is lost: the clauses joined are the text, whatever the pieces it came in.
"""

import re
from collections.abc import Iterator
from typing import Final

# The TTS takes no more at once.
MAX_CHARS: Final = 400
# From this length on a comma is good enough to end a clause.
_LONG_CHARS: Final = 140
# The first clause ends at a comma after this many words, and anywhere after `_FIRST_MOST` words.
_FIRST_LEAST: Final = 4
_FIRST_MOST: Final = 8

_SENTENCE: Final = re.compile(r"[.!?…]+[\"'”’)\]]*$")
_COMMA: Final = re.compile(r"[,;:–—][\"'”’)\]]*$")
# Full-width punctuation ends a clause without a space after it.
_FULL_WIDTH: Final = "。！？"
_ABBREVIATIONS: Final = frozenset(
    (
        *("mr.", "mrs.", "ms.", "dr.", "prof.", "st.", "sr.", "jr.", "vs.", "no.", "fig.", "approx."),
        *("e.g.", "i.e.", "etc.", "cf.", "a.m.", "p.m.", "u.s.", "u.k."),
    )
)
_INITIAL: Final = re.compile(r"[\"'“‘(\[]*[A-Z]\.$")
_LIST_NUMBER: Final = re.compile(r"\d{1,3}\.$")
# A forced cut falls before one of these if it can: the voice may pause there.
_JOINTS: Final = frozenset(
    (
        *("and", "but", "or", "so", "because", "that", "which", "who", "when", "where", "while", "if"),
        *("to", "for", "with", "from", "in", "on", "at", "of", "as", "by", "like"),
    )
)


class Chunker:
    """Collects text and gives it back clause by clause; white space stays with the clause before it."""

    def __init__(self) -> None:
        self._text = ""
        self._first = True

    def feed(self, text: str) -> Iterator[str]:
        """Adds `text` and yields the clauses that are now complete, each at most `MAX_CHARS` long."""
        # Character by character, so that the result does not depend on how the text was cut up.
        for char in text:
            cut = self._cut_before(char)
            if cut:
                yield self._take(cut)
            self._text += char

    def finish(self) -> Iterator[str]:
        """Yields what is left at the end of the text."""
        if self._text:
            yield self._take(len(self._text))

    def _take(self, cut: int) -> str:
        clause, self._text = self._text[:cut], self._text[cut:]
        # White space alone is no clause that anybody hears.
        self._first = self._first and not clause.strip()
        return clause

    def _cut_before(self, char: str) -> int:
        """Where to cut the collected text now that `char` follows it, or 0."""
        text = self._text
        if text and not char.isspace() and (text[-1].isspace() or text[-1] in _FULL_WIDTH):
            cut = self._cut_at_word(text.rstrip())
            if cut:
                return cut
        if len(text) >= MAX_CHARS:
            space = max(text.rfind(" "), text.rfind("\n"))
            return space + 1 or len(text)
        return 0

    def _cut_at_word(self, text: str) -> int:
        """Where to cut, a word having ended: after it, after an earlier word, or 0 for not yet."""
        whole = len(self._text)
        words = text.split()
        if not words:
            return 0
        if "\n" in self._text[len(text) :] or text[-1] in _FULL_WIDTH or _ends_sentence(words):
            return whole
        if _COMMA.search(text) and (len(text) >= _LONG_CHARS or (self._first and len(words) >= _FIRST_LEAST)):
            return whole
        if self._first and len(words) >= _FIRST_MOST:
            return _joint(self._text) or whole
        return 0


def _ends_sentence(words: list[str]) -> bool:
    last = words[-1]
    if not _SENTENCE.search(last):
        return False
    if last.lower().lstrip("\"'“‘([") in _ABBREVIATIONS or _INITIAL.match(last):
        return False
    # "1." at the beginning is the number of a list item, not a sentence.
    return not (len(words) == 1 and _LIST_NUMBER.match(last))


def _joint(text: str) -> int:
    """Start of the last word that a pause may come before, at least `_FIRST_LEAST` words in; or 0."""
    starts = [m.start() for m in re.finditer(r"\S+", text)]
    for start in reversed(starts[_FIRST_LEAST:]):
        if text[start:].split(maxsplit=1)[0].lower() in _JOINTS:
            return start
    return 0
