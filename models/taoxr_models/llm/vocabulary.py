"""Token ids to text, by bytes.

MNN's own detokeniser fails on tokens that hold part of a character.
"""

import codecs
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taoxr.errors import ModelError

_BYTE: Final = re.compile(rb"<0x([0-9A-Fa-f]{2})>")


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


def read_vocabulary(folder: Path, size: int, piece: Callable[[int], bytes]) -> Vocabulary:
    """Reads what the tokens of a model stand for.

    Our own recipes write ``vocab.bin`` (per id: u16 LE length, bytes); without it the engine is asked. The
    head of the tokenizer's file is text in every version of it: a line with magic and version, a line with
    the numbers of special, stop and prefix ids, a line with those ids one after another.

    Args:
        folder: The model's folder.
        size: How many ids the model knows.
        piece: What the engine says that an id stands for.

    Raises:
        ModelError: A file is missing or of another form.
    """
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        with (folder / config.get("tokenizer_file", "tokenizer.txt")).open("rb") as file:
            _, counts, ids = (file.readline(1_000_000).split() for _ in range(3))
        specials, stops = int(counts[0]), int(counts[1])
        marks = [int(i) for i in ids]
        own = folder / "vocab.bin"
        pieces = _pieces(folder, own.read_bytes()) if own.exists() else _asked(size, piece)
    except (OSError, ValueError, IndexError) as error:
        raise ModelError(f"cannot read the vocabulary in {folder}: {error}") from error
    if len(marks) < specials + stops or not all(0 <= m < len(pieces) for m in marks):
        raise ModelError(f"the vocabulary in {folder} has another form than expected")
    end = specials + stops
    return Vocabulary(tuple(pieces), frozenset(marks[:specials]), frozenset(marks[specials:end]))


def _asked(size: int, piece: Callable[[int], bytes]) -> list[bytes]:
    pieces = [piece(i) for i in range(size)]
    # SentencePiece writes a byte that it has no other token for like this.
    return [bytes([int(m[1], 16)]) if (m := _BYTE.fullmatch(p)) else p for p in pieces]


def _pieces(folder: Path, data: bytes) -> list[bytes]:
    pieces: list[bytes] = []
    at = 0
    while at + 2 <= len(data):
        length = int.from_bytes(data[at : at + 2], "little")
        pieces.append(data[at + 2 : at + 2 + length])
        at += 2 + length
    if at != len(data):
        raise ModelError(f"the vocabulary in {folder} has another form than expected")
    return pieces


class TextDecoder:
    """Joins token bytes to text and holds back the bytes of a character until all are there."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._pieces = vocabulary.pieces
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """The whole characters that the token completes; may be empty."""
        return self._decoder.decode(self._pieces[token])
