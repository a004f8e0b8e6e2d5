"""Writes a byte-level BPE tokenizer of a GGUF file for MNN (``tokenizer.mtok``), and its bytes.

``tokenizer.mtok`` (MNN 3.6.1, binary): a text header with counts and special ids, then normaliser,
pre-tokenizer, model, decoder, added tokens, and template strings. Strings are u16 length + UTF-8.
"""

import struct
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from taoxr.errors import ModelError
from taoxr_models.catalog.recipes.gguf import Gguf

_MAGIC: Final = b"430 4\n"
_CONTROL: Final = 3  # GGUF token types
_USER_DEFINED: Final = 4
# Special tokens that end a turn, besides the declared end-of-sequence token.
_STOPS: Final = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>")

_SEQUENCE: Final = b"\x06"
_BYTE_LEVEL: Final = b"\x01\x01"  # with GPT-2's splitting pattern


def _string(text: str) -> bytes:
    data = text.encode("utf-8")
    return struct.pack("<H", len(data)) + data


def _split(pattern: str) -> bytes:
    return b"\x04" + _string(pattern) + b"\x00\x00"  # not inverted, matches isolated


_QWEN2: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# Pre-tokenizers of llama.cpp by name. MNN's own rule for digits knows ASCII only, hence the pattern.
_PRE_TOKENIZERS: Final = {
    "smollm": _SEQUENCE + struct.pack("<I", 2) + _split(r"\p{N}") + _BYTE_LEVEL,
    "qwen2": _SEQUENCE + struct.pack("<I", 2) + _split(_QWEN2) + b"\x01\x00",
    "gpt-2": _BYTE_LEVEL,
    "default": _BYTE_LEVEL,
}


class Vocabulary:
    """The tokens of a GGUF file.

    Raises:
        ModelError: Not a byte-level BPE, or a pre-tokenizer without a rule here.
    """

    def __init__(self, gguf: Gguf) -> None:
        kind = gguf.text("tokenizer.ggml.model")
        if kind != "gpt2":
            raise ModelError(f"GGUF tokenizer {kind!r}: only byte-level BPE ('gpt2') can be repacked")
        rule = gguf.text("tokenizer.ggml.pre", "default")
        if rule not in _PRE_TOKENIZERS:
            raise ModelError(f"pre-tokenizer {rule!r} has no rule; known: {sorted(_PRE_TOKENIZERS)}")
        self.pre_tokenizer = _PRE_TOKENIZERS[rule]
        self.tokens = gguf.texts("tokenizer.ggml.tokens")
        self.merges = gguf.texts("tokenizer.ggml.merges")
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        kinds = gguf.integers("tokenizer.ggml.token_type")
        self.control = {i for i, k in enumerate(kinds) if k == _CONTROL}
        self.special = [i for i, k in enumerate(kinds) if k in (_CONTROL, _USER_DEFINED)]
        self.begin = gguf.integer("tokenizer.ggml.bos_token_id")
        self.end = gguf.integer("tokenizer.ggml.eos_token_id")
        self.prefix = [self.begin] if gguf.metadata.get("tokenizer.ggml.add_bos_token") else []
        stops = {self.ids[t] for t in _STOPS if self.ids.get(t) in self.control}
        self.stops = sorted(stops | {self.end})


def write_tokenizer(vocabulary: Vocabulary, target: Path) -> None:
    """Writes ``tokenizer.mtok``."""
    v = vocabulary
    marked = v.special + v.stops + v.prefix
    parts = [
        _MAGIC,
        f"{len(v.special)} {len(v.stops)} {len(v.prefix)}\n".encode(),
        (" ".join(map(str, marked)) + "\n").encode(),
        b"\x00",  # no normaliser
        v.pre_tokenizer,
        b"\x00" + struct.pack("<IBBI", len(v.tokens), 0, 0, len(v.merges)),  # BPE
    ]
    # MNN searches this table by bytes; order by code points is order by UTF-8.
    parts += [_string(token) + struct.pack("<I", i) for token, i in sorted(v.ids.items())]
    pairs = sorted(
        (*(v.ids[part] for part in merge.split(" ", 1)), rank) for rank, merge in enumerate(v.merges)
    )
    parts += [np.array(pairs, "<u4").tobytes(), b"\x00", struct.pack("<I", len(v.special))]
    parts += [struct.pack("<IBBB", i, i in v.control, 0, 0) + _string(v.tokens[i]) for i in v.special]
    # No template here: llm_config.json carries it.
    parts += [struct.pack("<I", 0), _string(v.tokens[v.end]), b"\x00", _string(v.tokens[v.begin])]
    target.write_bytes(b"".join(parts))


def write_bytes(vocabulary: Vocabulary, target: Path) -> None:
    """Writes ``vocab.bin``: for each id a u16 length and the token's bytes (a special one's text).

    Raises:
        ModelError: A token is not of a byte-level vocabulary.
    """
    special, table = set(vocabulary.special), _byte_of_character()
    with target.open("wb") as file:
        for i, token in enumerate(vocabulary.tokens):
            if i not in special and not table.keys() >= set(token):
                raise ModelError(f"token {i}, {token!r}, is not made of byte-level characters")
            data = token.encode("utf-8") if i in special else bytes(table[c] for c in token)
            file.write(struct.pack("<H", len(data)) + data)


@cache
def _byte_of_character() -> dict[str, int]:
    """GPT-2's printable stand-ins for bytes: printable Latin-1 for itself, the rest from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in printable]
    return {chr(b): b for b in printable} | {chr(0x100 + n): b for n, b in enumerate(others)}
