"""How long to wait in silence before the user's turn is over, judged by what was said.

People wait about 200 ms between turns because they foresee the end from the words (Levinson and Torreira,
"Timing in turn-taking and its implications for processing models of language", 2015). A recogniser's text
allows a little of that: a whole sentence is likely the end, one that breaks off is not.
"""

import re
from typing import Final

WHOLE_S: Final = 0.35
"""Silence after a whole sentence, in seconds."""
UNKNOWN_S: Final = 0.5
"""Silence when nothing is known."""
UNFINISHED_S: Final = 0.9
"""Silence after words that cannot be the end."""

# "Wait." and "Well." are often only the beginning.
_WHOLE_WORDS: Final = 3
# These are all of a question; "What?" and "Can you?" are often what the recogniser makes of a beginning.
_WHOLE_QUESTIONS: Final = frozenset(
    ("why", "why not", "really", "how come", "how so", "what for", "like what", "since when", "and you")
)
_IDEOGRAPH: Final = re.compile(r"[\u3040-\u9fff]")
_ENDS: Final = re.compile(r"[.!?。！？][\"'”’)\]]*$")
_BREAKS_OFF: Final = re.compile(r"(?:[,;:–—-]|\.\.\.|…)[\"'”’)\]]*$")
# Words that no sentence ends with, or hardly any ("the one I think of").
_OPEN_WORDS: Final = frozenset(
    (
        *("a", "an", "the", "my", "your", "our", "their", "his", "its", "this", "these", "some", "every"),
        *("and", "or", "but", "because", "if", "when", "while", "although", "unless", "that", "than"),
        *("of", "to", "for", "with", "from", "at", "as", "by", "into", "about", "like", "between"),
        *("is", "are", "was", "were", "am", "i'm", "it's", "and", "can", "could", "would", "should"),
        *("very", "um", "uh", "er", "so", "also", "maybe"),
    )
)


def silence_s(text: str) -> float:
    """Seconds of silence after `text` that end the turn."""
    words = re.findall(r"[\w']+", text.lower())
    if not words:
        return UNKNOWN_S
    if _BREAKS_OFF.search(text):
        return UNFINISHED_S
    question = text.rstrip("\"'”’)]").endswith("?")
    # "What is it like?": a question may end in such a word, and the recogniser hears the tone of it.
    if words[-1] in _OPEN_WORDS and not question:
        return UNFINISHED_S
    if question and " ".join(words) in _WHOLE_QUESTIONS:
        return WHOLE_S
    many = len(words) + len(_IDEOGRAPH.findall(text))
    return WHOLE_S if _ENDS.search(text) and many >= _WHOLE_WORDS else UNKNOWN_S
