"""``tokens.txt``: the symbols of a transducer."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from taoxr.errors import ModelError

BLANK: Final = 0
_WORD_START: Final = "▁"
_BYTE: Final = re.compile(r"<0x([0-9A-F]{2})>")
# With byte fallback, ids 3 to 258 are the bytes.
_FIRST_BYTE_ID: Final = 3


class Tokens:
    """Symbols by id.

    Args:
        path: One ``symbol id`` per line.

    Raises:
        ModelError: The file is missing, or a line is not of this form.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise ModelError(f"model file {path} is missing")
        self._symbols: dict[int, bytes] = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            fields = line.split()
            if not fields:
                continue
            if len(fields) != 2 or not fields[1].isdecimal() or int(fields[1]) in self._symbols:
                raise ModelError(f"{path}:{number}: got {line!r}, expected a symbol and an id of its own")
            self._symbols[int(fields[1])] = _bytes(fields[0], int(fields[1]))
        self._ids = {symbol: i for i, symbol in self._symbols.items() if not _is_byte(symbol, i)}
        self.unknown = self._ids.get(b"<unk>", -1)
        """Id of ``<unk>``, which is never told; -1 without one."""

    def __len__(self) -> int:
        return max(self._symbols, default=-1) + 1

    def id_of(self, symbol: str) -> int | None:
        """Id of a symbol, or None. A word begins with a space or ``▁``."""
        plain = symbol.replace(_WORD_START, " ", 1) if symbol.startswith(_WORD_START) else symbol
        return self._ids.get(plain.encode())

    def text(self, ids: Iterable[int]) -> str:
        """The text of tokens; bytes that make no UTF-8 (yet) become U+FFFD."""
        return b"".join(self._symbols[i] for i in ids).decode(errors="replace")

    def names(self, ids: Sequence[int]) -> list[str]:
        """Tokens as sherpa-onnx tells them: ``" WORD"`` for ``▁WORD``, ``<0xE4>`` for a byte."""
        return [_name(self._symbols[i]) for i in ids]


def _is_byte(symbol: bytes, token: int) -> bool:
    return symbol == bytes([(token - _FIRST_BYTE_ID) % 256])


def _bytes(symbol: str, token: int) -> bytes:
    byte = _BYTE.fullmatch(symbol)
    if byte and int(byte[1], 16) == token - _FIRST_BYTE_ID:
        return bytes([token - _FIRST_BYTE_ID])
    return (f" {symbol[1:]}" if symbol.startswith(_WORD_START) else symbol).encode()


def _name(symbol: bytes) -> str:
    if len(symbol) == 1 and not 0x20 <= symbol[0] <= 0x7E:
        return f"<0x{symbol[0]:02X}>"
    return symbol.decode()
