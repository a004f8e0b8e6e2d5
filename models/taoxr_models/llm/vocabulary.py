"""Token ids to text, by bytes.

MNN's own detokeniser fails on tokens that hold part of a character.
"""

import codecs
from dataclasses import dataclass
from pathlib import Path

from taoxr.errors import ModelError


@dataclass(frozen=True)
class Vocabulary:
    """What each token id stands for.

    Attributes:
        pieces: Bytes of every token.
        specials: Ids that are marks and no text.
        stops: Ids that end an answer.
    """

    pieces: tuple[bytes, ...]
    specials: frozenset[int]
    stops: frozenset[int]


def read_vocabulary(folder: Path) -> Vocabulary:
    """Reads ``vocab.bin`` (per id: u16 LE length, bytes) and the marks from ``tokenizer.mtok``.

    The head of ``tokenizer.mtok`` is text: a line with magic and version, a line with the numbers of
    special, stop and prefix ids, a line with those ids one after another.

    Raises:
        ModelError: A file is missing or of another form.
    """
    try:
        data = (folder / "vocab.bin").read_bytes()
        with (folder / "tokenizer.mtok").open("rb") as file:
            _, counts, ids = (file.readline(100_000).split() for _ in range(3))
        specials, stops = int(counts[0]), int(counts[1])
        marks = [int(i) for i in ids]
    except (OSError, ValueError, IndexError) as error:
        raise ModelError(f"cannot read the vocabulary in {folder}: {error}") from error
    pieces: list[bytes] = []
    at = 0
    while at + 2 <= len(data):
        length = int.from_bytes(data[at : at + 2], "little")
        pieces.append(data[at + 2 : at + 2 + length])
        at += 2 + length
    if at != len(data) or len(marks) < specials + stops or not all(0 <= m < len(pieces) for m in marks):
        raise ModelError(f"the vocabulary in {folder} has another form than expected")
    end = specials + stops
    return Vocabulary(tuple(pieces), frozenset(marks[:specials]), frozenset(marks[specials:end]))


class TextDecoder:
    """Joins token bytes to text and holds back the bytes of a character until all are there."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._pieces = vocabulary.pieces
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """The whole characters that the token completes; may be empty."""
        return self._decoder.decode(self._pieces[token])
