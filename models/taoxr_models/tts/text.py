"""From what a language model writes to what a person would read aloud."""

import re
import unicodedata
from typing import Final

from taoxr_models.tts.spoken import spoken

_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_URL: Final = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_LIST_MARK: Final = re.compile(r"(?m)^[ \t]*(?:[-+•>]|#{1,6})[ \t]+")
_MARKS: Final = re.compile(r"[*`~#\\{}\[\]<>^]+")
_LINE_END: Final = re.compile(r"(?<![.!?,;:\s])[ \t]*[\r\n]+\s*")
_RANGE: Final = re.compile(r"(?<=\d)\s*[–—]\s*(?=\d)")
_DASH: Final = re.compile(r"\s*[–—―]\s*|\s+-{1,3}\s+|--+")
_OK: Final = re.compile(r"\bok\b", re.IGNORECASE)
_END_RUN: Final = re.compile(r"[!?]{2,}")
_SPACES: Final = re.compile(r"\s+")
_BEFORE_PAUSE: Final = re.compile(r"\s+(?=[,;:])")

_QUOTES: Final = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
)
# In this order, with spaces around what is read.
_WORDS: Final = {
    "°C": " degrees Celsius ",
    "°F": " degrees Fahrenheit ",
    "°": " degrees ",
    "×": " times ",
    "÷": " divided by ",
    "=": " equals ",
    "+": " plus ",
    "@": " at ",
    "_": " ",
    "|": ", ",
    "/": " ",
}
# Letters without a decomposition.
_LETTERS: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l"}
)
_KEPT_SYMBOLS: Final = "£€¥"


def readable(text: str, *, english: bool = True) -> str:
    """The words of a text.

    Markdown, links and emoji go; numbers, dates and money stay for the phonemiser, which knows them. For an
    English voice letters of other scripts go, too, and what `taoxr_models.tts.spoken` knows and signs that
    have an English word become words.

    Args:
        text: What was written.
        english: The voice is English.

    Returns:
        One line; for English of ASCII and currency signs. Empty when there is nothing to pronounce.
    """
    text = _URL.sub(" a link " if english else " ", _LINK.sub(r"\1", text.translate(_QUOTES)))
    text = _RANGE.sub(" to " if english else "-", _LIST_MARK.sub("", text))
    text = _LINE_END.sub(", ", _DASH.sub(", ", text))
    if english:
        text = spoken(text)
        for sign, word in _WORDS.items():
            text = text.replace(sign, word)
        text = unicodedata.normalize("NFKD", _MARKS.sub("", text).translate(_LETTERS))
        text = _OK.sub("okay", "".join(_plain(c) for c in text))
    else:
        text = "".join(_letter(c) for c in unicodedata.normalize("NFC", _MARKS.sub("", text)))
    text = _END_RUN.sub(lambda run: "?" if "?" in run[0] else "!", text)
    text = _SPACES.sub(" ", _BEFORE_PAUSE.sub("", text)).strip(" ,;:")
    return text if any(c.isalnum() for c in text) else ""


def _letter(c: str) -> str:
    if unicodedata.category(c)[0] in "LMN" or " " <= c <= "~" or c in _KEPT_SYMBOLS:
        return c
    return "" if unicodedata.category(c) == "Cf" else " "


def _plain(c: str) -> str:
    if " " <= c <= "~" or c in _KEPT_SYMBOLS:
        return c
    # A combining mark belongs to the letter before it; anything else parted words.
    return "" if unicodedata.category(c) in ("Mn", "Cf") else " "
