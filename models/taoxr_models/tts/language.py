"""Which language a Piper voice speaks, and whether there are phonemes for it.

Piper's voices are trained on the phonemes of espeak-ng (GPL). Ours come from gruut (MIT), whose lexicons
in the style of espeak cover the languages of `GRUUT`. A voice of another language, or with symbols of its
own, is refused when it is added, not when it mumbles.
"""

import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import gruut.utils

from taoxr.errors import ModelError

# By the first part of a tag: gruut's name of the language.
GRUUT: Final = {
    "ar": "ar",
    "cs": "cs-cz",
    "de": "de-de",
    "en": "en-us",
    "es": "es-es",
    "fa": "fa",
    "fr": "fr-fr",
    "it": "it-it",
    "lb": "lb",
    "nl": "nl",
    "pt": "pt",
    "ru": "ru-ru",
    "sv": "sv-se",
    "sw": "sw",
}
STYLE: Final = "espeak"

# A character that fewer words of the lexicon need is a slip of the lexicon.
_RARE: Final = 1e-3


def language_of(config: Mapping[str, Any]) -> str:
    """Language of a voice as a BCP 47 tag.

    Args:
        config: What is in ``voice.onnx.json``.

    Raises:
        ModelError: Its phonemes are not those of a language that gruut has; the text names both.
    """
    language: Mapping[str, str] = config.get("language") or {}
    espeak: Mapping[str, str] = config.get("espeak") or {}
    tag = str(language.get("code") or espeak.get("voice") or "").replace("_", "-")
    kind = config.get("phoneme_type", "espeak")
    if kind != "espeak":
        raise ModelError(
            f"the voice ({tag or 'no language'}) has phonemes of the type {kind!r}; known is espeak"
        )
    if tag.partition("-")[0].lower() not in GRUUT:
        raise ModelError(f"no phonemes for the voice's language {tag!r}; gruut has {', '.join(GRUUT)}")
    return tag


def lexicon(language: str) -> Path:
    """The lexicon that gruut has of a language.

    Args:
        language: BCP 47 tag that `language_of` gave.

    Raises:
        ModelError: It is not installed.
    """
    short = language.partition("-")[0].lower()
    folder: Path | None = gruut.utils.find_lang_dir(GRUUT[short])
    path = None if folder is None else folder / STYLE / "lexicon.db"
    if path is None or not path.is_file():
        raise ModelError(
            f"gruut's lexicon of {language} is missing; install it with: pip install 'gruut[{short}]'"
        )
    return path


def check_symbols(language: str, known: Container[str]) -> None:
    """Checks that a voice knows the phonemes of its language.

    Stress and other marks may be missing: a voice without them leaves them out.

    Args:
        language: BCP 47 tag that `language_of` gave.
        known: The voice's symbols.

    Raises:
        ModelError: It lacks letters that the words of the language need; the text names them.
    """
    database = sqlite3.connect(f"{lexicon(language).as_uri()}?mode=ro", uri=True)
    words, lacking = 0, Counter[str]()
    try:
        for (phonemes,) in database.execute("SELECT phonemes FROM word_phonemes"):
            words += 1
            lacking.update(
                {c for c in unicodedata.normalize("NFD", phonemes) if c not in known and c.isalpha()}
            )
    finally:
        database.close()
    if missing := sorted(c for c, count in lacking.items() if count > words * _RARE and not c.isspace()):
        raise ModelError(
            f"the voice does not know the phonemes {' '.join(missing)} of {language}, as gruut writes it"
        )


def known_parts(symbol: str, known: Container[str]) -> Iterator[str]:
    """The characters of a symbol that a voice knows; composed ones in parts where it knows only these."""
    for character in symbol:
        if character in known:
            yield character
        else:
            yield from (part for part in unicodedata.normalize("NFD", character) if part in known)
