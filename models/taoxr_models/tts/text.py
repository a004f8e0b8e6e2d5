"""From what a language model writes to what a person would read aloud."""

import re
import unicodedata
from typing import Final

_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_URL: Final = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_LIST_MARK: Final = re.compile(r"(?m)^[ \t]*(?:[-+•>]|#{1,6})[ \t]+")
_MARKS: Final = re.compile(r"[*`~#\\{}\[\]<>^]+")
_LINE_END: Final = re.compile(r"(?<![.!?,;:\s])[ \t]*[\r\n]+\s*")
_RANGE: Final = re.compile(r"(?<=\d)\s*[–—]\s*(?=\d)")
_DASH: Final = re.compile(r"\s*[–—―]\s*|\s+-{1,3}\s+|--+")
_UNIT: Final = re.compile(r"(?<=\d)\s?(km/h|km|cm|mm|kg|mg|mph|lbs?|GB|MB)\b")
_UNITS: Final = {
    "km/h": "kilometers per hour",
    "km": "kilometers",
    "cm": "centimeters",
    "mm": "millimeters",
    "kg": "kilograms",
    "mg": "milligrams",
    "mph": "miles per hour",
    "lb": "pounds",
    "lbs": "pounds",
    "GB": "gigabytes",
    "MB": "megabytes",
}
_OK: Final = re.compile(r"\bok\b", re.IGNORECASE)
_END_RUN: Final = re.compile(r"[!?]{2,}")
_SPACES: Final = re.compile(r"\s+")

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


def readable(text: str) -> str:
    """The words of a text, for an English voice.

    Markdown, links, emoji and letters of other scripts go; signs that have an English word become it;
    numbers, dates, money and abbreviations stay for the phonemiser, which knows them.

    Returns:
        One line of ASCII and currency signs; empty when there is nothing to pronounce.
    """
    text = _URL.sub(" a link ", _LINK.sub(r"\1", text.translate(_QUOTES)))
    text = _RANGE.sub(" to ", _LIST_MARK.sub("", text))
    text = _LINE_END.sub(", ", _DASH.sub(", ", text))
    text = _UNIT.sub(lambda unit: f" {_UNITS[unit[1]]}", text)
    for sign, word in _WORDS.items():
        text = text.replace(sign, word)
    text = unicodedata.normalize("NFKD", _MARKS.sub("", text).translate(_LETTERS))
    text = "".join(_plain(c) for c in text)
    text = _END_RUN.sub(lambda run: "?" if "?" in run[0] else "!", _OK.sub("okay", text))
    text = _SPACES.sub(" ", text).strip(" ,;:")
    return text if any(c.isalnum() for c in text) else ""


def _plain(c: str) -> str:
    if " " <= c <= "~" or c in _KEPT_SYMBOLS:
        return c
    # A combining mark belongs to the letter before it; anything else parted words.
    return "" if unicodedata.category(c) in ("Mn", "Cf") else " "
