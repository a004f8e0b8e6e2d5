"""From tokens with times to words with times."""

from collections.abc import Sequence
from itertools import pairwise

from taoxr.worker.v1.ear_pb2 import Word

# A word lasts to the next token, but not through a pause.
_LONGEST_TOKEN_S = 0.4


def words_of(tokens: Sequence[str], timestamps: Sequence[float], start_us: int) -> list[Word]:
    """Groups tokens: a word begins with a space, or is one character of a script without spaces.

    A transducer tells a token at about the time it is spoken; where it ends is not known, so a word lasts
    to the next token, at most 0.4 s.

    Args:
        tokens: As `OnlineRecognizerResult` has them.
        timestamps: Seconds from the utterance's start to each token.
        start_us: The utterance's start, in microseconds.
    """
    words: list[Word] = []
    following = [*timestamps[1:], float("inf")][: len(tokens)]
    apart = [True, *(_apart(before, token) for before, token in pairwise(tokens))][: len(tokens)]
    for token, at, after, new in zip(tokens, timestamps, following, apart, strict=True):
        end_us = start_us + round(min(after, at + _LONGEST_TOKEN_S) * 1e6)
        if new:
            words.append(Word(text=token.strip(), start_us=start_us + round(at * 1e6), end_us=end_us))
        else:
            words[-1].text += token
            words[-1].end_us = end_us
    return words


def _apart(before: str, token: str) -> bool:
    return token.startswith(" ") or _ideograph(token) or _ideograph(before)


def _ideograph(token: str) -> bool:
    return len(token) == 1 and "\u2e80" <= token <= "\u9fff"
