"""Text to phonemes with gruut (MIT; lexicon and letter-to-sound rules, in the style of espeak).

An utterance is a row of symbols: a phone with its marks (``"ˈɑː"``), `WORD_GAP` between words, or a
punctuation mark after a word.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from gruut.phonemize import SqlitePhonemizer
from gruut.text_processor import TextProcessor
from gruut.utils import remove_non_word_chars as plain

from taoxr.errors import InvalidInputError
from taoxr_models.tts.language import GRUUT, STYLE, lexicon

WORD_GAP: Final = " "
PUNCTUATION: Final = ".,;:!?"
# About six seconds of speech: what one call of the voice makes while it holds the GIL (0.4 s).
MAX_SYMBOLS: Final = 100

# gruut spells every word in capitals. Those in the lexicon are words (NASA, WOW); of two letters, these.
_CAPITALS: Final = re.compile(r"\b[A-Z]{2,}(?:'[A-Z]+)?\b")
_TWO_LETTER_WORDS: Final = " am an as at be by do go he hi if in is it me my no of oh on or so to up we "
_DIGIT: Final = re.compile(r"\d")
_LETTER_A: Final = ("ˈe", "ɪ")


class Phonemizer:
    """Text to symbols; for the thread that made it.

    gruut's own lexicon file has no index, which costs 8 ms for every new word; so it is copied into
    memory with one (English: 0.3 s, 15 MB).

    Args:
        language: BCP 47 tag; see `taoxr_models.tts.language`.

    Raises:
        ModelError: gruut's data of the language is not installed.
    """

    def __init__(self, language: str = "en-US") -> None:
        short = language.partition("-")[0].lower()
        self.english = short == "en"
        self._language: str = GRUUT[short]
        database = sqlite3.connect("file::memory:", uri=True)
        database.execute("ATTACH ? AS file", (f"{lexicon(language).as_uri()}?mode=ro",))
        database.execute(
            "CREATE TABLE word_phonemes AS SELECT word, pron_order, role, phonemes FROM file.word_phonemes"
        )
        database.execute("CREATE INDEX by_word ON word_phonemes (word)")
        self._lookup = SqlitePhonemizer(
            database, word_transform_funcs=(str.lower, plain, lambda word: plain(word.lower()))
        )
        # Without tags of parts of speech: they take 60 ms a sentence, and this lexicon has no use for them.
        self._processor: Any = TextProcessor(
            self._language, model_prefix=STYLE, lookup_phonemes=self._lookup, load_pos_tagger=False
        )

    def __call__(self, text: str) -> list[list[str]]:
        """Symbols of every sentence of a text, long sentences cut where it is heard least.

        Args:
            text: See `taoxr_models.tts.text.readable`.

        Returns:
            One list of symbols per piece, each of at most `MAX_SYMBOLS`; sentences without a phone are
            left out.

        Raises:
            InvalidInputError: A single word is longer than a piece may be.
        """
        text = _CAPITALS.sub(self._word_or_letters, text)
        try:
            pieces = self._pieces(text)
        except InvalidInputError:
            raise
        except (ArithmeticError, ValueError, NotImplementedError):
            pieces = []
        # gruut fails on numbers that have no name (1E100, 12:99); people read them digit by digit, too.
        return pieces or self._pieces(_DIGIT.sub(r" \g<0> ", text))

    def _pieces(self, text: str) -> list[list[str]]:
        pieces: list[list[str]] = []
        graph, root = self._processor(text, lang=self._language)
        for sentence in self._processor.sentences(graph, root, pos=False):
            symbols = _symbols(sentence, self.english)
            if any(s not in PUNCTUATION + WORD_GAP for s in symbols):
                pieces.extend(_cut(symbols))
        return pieces

    def _word_or_letters(self, match: re.Match[str]) -> str:
        word = match[0].lower()
        is_word = (
            f" {word} " in _TWO_LETTER_WORDS
            if self.english and len(word) == 2
            else self._lookup(word) is not None
        )
        return word if is_word else match[0]


def _symbols(sentence: Iterable[Any], english: bool) -> list[str]:
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
        symbols.extend(_LETTER_A if english and text == "A" and word in spelled else phones)
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
