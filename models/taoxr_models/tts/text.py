"""From what a language model writes to what a person would read aloud."""

import html
import re
import unicodedata
from typing import Final

from taoxr_models.tts.spoken import spoken

_LINK: Final = re.compile(r"!?\[([^\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\])")
_LINK_TARGET: Final = re.compile(r"(?m)^[ \t]*\[[^\]]+\]:[ \t]*\S.*$|\[\^[^\]]+\]")
# Its end: punctuation belongs to the sentence.
_URL: Final = re.compile(r"(?:https?://|www\.)[!-~]*[A-Za-z0-9/]", re.IGNORECASE)
_CODE: Final = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<!--.*?-->")
# Lines that only draw: under headings, between parts, in tables.
_RULE: Final = re.compile(r"(?m)^[ \t]*(?:={2,}|[-*_](?:[ \t]*[-*_]){2,}|[ \t|:-]*--[ \t|:-]*)[ \t]*$")
_LIST_MARK: Final = re.compile(r"(?m)^[ \t]*(?:(?:[-+*•>]|#{1,6})[ \t]+)+(?:\[[ xX]\][ \t]+)?")
_TIMES: Final = re.compile(r"(?<=\d) ?\* ?(?=\d)")
_EMPHASIS: Final = re.compile(r"(?<!\w)_+|_+(?!\w)")
_MARKS: Final = re.compile(r"[*`~#\\{}\[\]<>^]+|\${2,}")
# ":smile:", ":-)", "<3", and characters that are shown as pictures.
_SMILEY: Final = re.compile(
    r"(?<![\w:]):[a-z][a-z0-9_+-]*:(?!\w)|(?<!\S)(?:[:;]['’-]?[()\[\]DPpOo|/\\*3]+|<3+)(?=\s|$|[.,!?])"
    r"|[^\d#*\s]\ufe0f"
)
_LINE_END: Final = re.compile(r"(?<![.!?,;:\s])[ \t]*[\r\n]+\s*")
_RANGE: Final = re.compile(r"(?<=\d)\s*[–—]\s*(?=\d)")
_DASH: Final = re.compile(r"\s*[–—―]\s*|\s+-{1,3}\s+|--+")
_OK: Final = re.compile(r"\bok\b", re.IGNORECASE)
_END_RUN: Final = re.compile(r"[!?]{2,}")
_SPACES: Final = re.compile(r"\s+")
_PAUSES: Final = re.compile(r"([,;:])(?: ?,)+")
_BEFORE_PAUSE: Final = re.compile(r"\s+(?=[,;:]|[.!?]+(?:\s|$))")

_PUNCTUATION: Final = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "（": " (", "）": ") "}
    | {
        "。": ". ",
        "，": ", ",
        "、": ", ",
        "！": "! ",
        "？": "? ",
        "；": "; ",
        "：": ": ",
        "℃": "°C",
        "℉": "°F",
    }
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
_READ_PICTURES: Final = "°№"
# By their category a letter and a mark: the sign of an information desk, and the frame of a key.
_OTHER_PICTURES: Final = "\u2139\u20e3"
_VARIANTS: Final = ("\ufe00", "\ufe0f")  # the first and last mark that chooses how a character is drawn


def readable(text: str, *, english: bool = True) -> str:
    """The words of a text.

    Markdown, HTML, addresses and emoji go; numbers, dates and money stay for the phonemiser, which knows
    them. For an English voice letters of other scripts go, too, and what `taoxr_models.tts.spoken` knows and
    signs that have an English word become words.

    Args:
        text: What was written.
        english: The voice is English.

    Returns:
        One line; for English of ASCII and currency signs. Empty when there is nothing to pronounce.
    """
    text = _without_marks(text.translate(_PUNCTUATION), " a link " if english else " ")
    text = _TIMES.sub(" times " if english else " ", _RANGE.sub(" to " if english else "-", text))
    text = _LINE_END.sub(", ", _DASH.sub(", ", text))
    if english:
        text = spoken(text)
        for sign, word in _WORDS.items():
            text = text.replace(sign, word)
        text = unicodedata.normalize("NFKD", _MARKS.sub("", text).translate(_LETTERS))
        text = _OK.sub("okay", "".join(_plain(c) for c in text))
    else:
        text = _MARKS.sub("", text.replace("|", ", "))
        text = "".join(_letter(c) for c in unicodedata.normalize("NFC", text))
    text = _END_RUN.sub(lambda run: "?" if "?" in run[0] else "!", text)
    text = _PAUSES.sub(r"\1", _SPACES.sub(" ", _BEFORE_PAUSE.sub("", text))).strip(" ,;:")
    return text if any(c.isalnum() for c in text) else ""


def _without_marks(text: str, link: str) -> str:
    """The text without what Markdown and HTML mark it up with, and without pictures.

    Args:
        text: What was written.
        link: What to say for an address.
    """
    text = _LINK_TARGET.sub("", _LINK.sub(r"\1", _CODE.sub(" ", text)))
    text = html.unescape(_TAG.sub(" ", _URL.sub(link, text)))
    text = _EMPHASIS.sub("", _LIST_MARK.sub("", _RULE.sub("", text)))
    return "".join(" " if _is_picture(c) else c for c in _SMILEY.sub(" ", text))


def _is_picture(c: str) -> bool:
    return (unicodedata.category(c) == "So" and c not in _READ_PICTURES) or c in _OTHER_PICTURES


def _letter(c: str) -> str:
    if _VARIANTS[0] <= c <= _VARIANTS[1]:
        return ""
    if unicodedata.category(c)[0] in "LMN" or " " <= c <= "~" or c in _KEPT_SYMBOLS:
        return c
    return "" if unicodedata.category(c) == "Cf" else " "


def _plain(c: str) -> str:
    if " " <= c <= "~" or c in _KEPT_SYMBOLS:
        return c
    # A combining mark belongs to the letter before it; anything else parted words.
    return "" if unicodedata.category(c) in ("Mn", "Cf") else " "
