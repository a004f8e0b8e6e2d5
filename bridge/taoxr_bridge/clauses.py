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
# Words of the first clause: at least so many before a comma, before a joint, and anywhere.
_COMMA_WORDS: Final = 3
_FIRST_LEAST: Final = 4
_FIRST_MOST: Final = 8

_SENTENCE: Final = re.compile(r"[.!?…]+[\"'”’)\]]*$")
_COMMA: Final = re.compile(r"[,;:–—，；：、][\"'”’)\]]*$")
# Full-width punctuation ends a clause without a space after it.
_FULL_WIDTH: Final = "。！？"
_FULL_WIDTH_COMMAS: Final = "，；：、"
# Writing without spaces: about two of these make a word.
_IDEOGRAPH: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_ABBREVIATIONS: Final = frozenset(
    (
        *("mr.", "mrs.", "ms.", "dr.", "prof.", "st.", "sr.", "jr.", "vs.", "no.", "fig.", "approx."),
        *("e.g.", "i.e.", "etc.", "cf.", "a.m.", "p.m.", "u.s.", "u.k."),
    )
)
_INITIAL: Final = re.compile(r"[\"'“‘(\[]*[A-Z]\.$")
_LIST_NUMBER: Final = re.compile(r"\d{1,3}\.$")
# The voice may pause before one of these.
_JOINTS: Final = frozenset(
    (
        *("but", "so", "because", "that", "which", "who", "when", "where", "while", "if", "although"),
        *("to", "for", "with", "from", "in", "on", "at", "as", "by", "into", "through", "during"),
    )
)
# Before these only if much follows: "joy | and relaxation" is torn apart.
_WEAK_JOINTS: Final = frozenset(("and", "or"))
_MUCH: Final = 4
# No pause before these: they belong to the word before.
_ENCLITICS: Final = frozenset((*_WEAK_JOINTS, "of", "like", "than", "too", "also"))
# No pause after these: the next word belongs to them.
_BINDERS: Final = frozenset(
    (
        *("a", "an", "the", "my", "your", "our", "their", "his", "her", "its", "this", "these", "some"),
        *("every", "each", "any", "all"),
        *("very", "more", "most", "is", "are", "was", "were", "can", "will", "not", "no", "i", "you", "we"),
        *("he", "she", "it", "they", "dr.", "mr.", "mrs.", "ms.", *_JOINTS, *_ENCLITICS),
    )
)
# A link or a tag that is still open: cut in two, its parts would be read aloud.
_OPEN: Final = re.compile(r"\[[^\]\n]{0,80}$|\]\([^()\s]{0,300}$|<[A-Za-z/][^<>\n]{0,80}$")


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
        full_width = _FULL_WIDTH + _FULL_WIDTH_COMMAS
        if text and not char.isspace() and (text[-1].isspace() or text[-1] in full_width):
            cut = self._cut_at_word(text.rstrip())
            if cut and not _OPEN.search(text[:cut]):
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
        many = len(words) + len(_IDEOGRAPH.findall(text)) // 2
        if _COMMA.search(text) and (len(text) >= _LONG_CHARS or (self._first and many >= _COMMA_WORDS)):
            return whole
        return _early_cut(self._text) if self._first else 0


def _ends_sentence(words: list[str]) -> bool:
    last = words[-1]
    if not _SENTENCE.search(last):
        return False
    if last.lower().lstrip("\"'“‘([") in _ABBREVIATIONS or _INITIAL.match(last):
        return False
    # "1." at the beginning is the number of a list item, not a sentence.
    return not (len(words) == 1 and _LIST_NUMBER.match(last))


def _early_cut(text: str) -> int:
    """Where a first clause may end that nothing else ends, one word later at the latest; or 0."""
    starts = [m.start() for m in re.finditer(r"\S+", text)]
    words = [word.lower() for word in text.split()]
    if len(words) > _FIRST_LEAST and words[-1] in _JOINTS and words[-2] not in _BINDERS:
        return starts[-1]
    if len(words) <= _FIRST_MOST:
        return 0
    places = range(_FIRST_MOST, _FIRST_LEAST - 1, -1)
    for i in places:
        if words[i] in _WEAK_JOINTS and len(words) - i >= _MUCH:
            return starts[i]
    unbound = (i for i in places if words[i] not in _ENCLITICS and words[i - 1] not in _BINDERS)
    return starts[next(unbound, _FIRST_MOST)]
