"""Text to phonemes with gruut (MIT; lexicon and letter-to-sound rules, in the style of espeak).

An utterance is a row of symbols: a phone with its marks (``"ˈɑː"``), `WORD_GAP` between words, or a
punctuation mark after a word.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import gruut

from taoxr.errors import InvalidInputError

WORD_GAP: Final = " "
PUNCTUATION: Final = ".,;:!?"
# About six seconds of speech: what one call of the voice makes while it holds the GIL (0.4 s).
MAX_SYMBOLS: Final = 100

_LETTER_A: Final = ("ˈe", "ɪ")


def phonemes(text: str) -> list[list[str]]:
    """Symbols of every sentence of a text, long sentences cut where it is heard least.

    Args:
        text: See `taoxr_models.tts.text.readable`.

    Returns:
        One list of symbols per piece, each of at most `MAX_SYMBOLS` where a word ends in time; sentences
        without a phone are left out.
    """
    pieces: list[list[str]] = []
    # pos=False: telling "read" from "read" by part of speech takes 60 ms a sentence.
    sentences: Callable[..., Iterable[Iterable[Any]]] = gruut.sentences  # pyright: ignore[reportUnknownMemberType]
    for sentence in sentences(text, lang="en-us", espeak=True, pos=False):
        symbols = _symbols(sentence)
        if any(s not in PUNCTUATION + WORD_GAP for s in symbols):
            pieces.extend(_cut(symbols))
    return pieces


def _symbols(sentence: Iterable[Any]) -> list[str]:
    words = [(str(w.text), tuple(str(p) for p in w.phonemes or ()), bool(w.is_break)) for w in sentence]
    spoken = [text for text, _, is_break in words if not is_break]
    spelled = {i for a, b in pairwise(range(len(spoken))) for i in (a, b) if _is_letter(spoken[a], spoken[b])}
    symbols: list[str] = []
    word = -1
    for text, phones, is_break in words:
        if is_break:
            # "..." is a break too; its first character says enough.
            if symbols and symbols[-1] not in PUNCTUATION and text[:1] in PUNCTUATION:
                symbols.append(text[0])
            continue
        word += 1
        if not phones:
            continue
        if symbols:
            symbols.append(WORD_GAP)
        # The lexicon's "A" is the article, also in abbreviations.
        symbols.extend(_LETTER_A if text == "A" and word in spelled else phones)
    return symbols


def _is_letter(*texts: str) -> bool:
    return all(len(t) == 1 and t.isupper() for t in texts)


def _cut(symbols: Sequence[str]) -> Iterator[list[str]]:
    while len(symbols) > MAX_SYMBOLS:
        gaps = [i for i in range(MAX_SYMBOLS // 4, MAX_SYMBOLS) if symbols[i] == WORD_GAP]
        if not gaps:
            raise InvalidInputError(
                "text", "a word that is very long", f"words of at most {MAX_SYMBOLS} phonemes"
            )
        after_pause = [i for i in gaps if symbols[i - 1] in PUNCTUATION]
        at = (after_pause or gaps)[-1]
        yield list(symbols[:at])
        symbols = symbols[at + 1 :]
    yield list(symbols)
