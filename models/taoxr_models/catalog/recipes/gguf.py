"""Reads GGUF files (llama.cpp's container): metadata, and the quantised blocks of each tensor.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import ModelError

Scalar = int | float | bool | str
Value = Scalar | list[Scalar]

F32: Final = 0
F16: Final = 1
BF16: Final = 30
Q4_0: Final = 2
Q4_1: Final = 3
Q8_0: Final = 8
# Elements and bytes of one block, by tensor type.
BLOCKS: Final[dict[int, tuple[int, int]]] = {
    F32: (1, 4), F16: (1, 2), BF16: (1, 2), Q4_0: (32, 18), Q4_1: (32, 20), Q8_0: (32, 34),
}  # fmt: skip

_SCALARS: Final = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_STRING: Final = 8
_ARRAY: Final = 9


@dataclass(frozen=True)
class Tensor:
    """One tensor as stored.

    Attributes:
        kind: Type number, a key of `BLOCKS`.
        rows: Number of rows (output features); 1 for a vector.
        columns: Elements per row (input features).
        data: uint8 [rows, bytes per row], a view of the mapped file.
    """

    kind: int
    rows: int
    columns: int
    data: NDArray[np.uint8]

    def blocks(self) -> NDArray[np.uint8]:
        """Uint8 [blocks, bytes per block], row after row."""
        return self.data.reshape(-1, BLOCKS[self.kind][1])

    def floats(self) -> NDArray[np.float32]:
        """The values of an F32 tensor: float32 [rows * columns].

        Raises:
            ModelError: The tensor is of another type.
        """
        if self.kind != F32:
            raise ModelError(f"GGUF tensor type {self.kind} where F32 ({F32}) is expected")
        return self.data.reshape(-1).view("<f4")


class Gguf:
    """A GGUF file, mapped into memory.

    Attributes:
        name: Of the file.
        metadata: Key-value pairs of the header.
        tensors: Tensors of the types in `BLOCKS` by name.

    Raises:
        ModelError: Not a GGUF file of version 2 or 3, cut short, or with a tensor type not in `BLOCKS`.
    """

    def __init__(self, path: Path) -> None:
        self.name = self._name = path.name
        self._bytes: NDArray[np.uint8] = np.memmap(path, np.uint8, mode="r")
        self._at = 4
        if self._bytes[:4].tobytes() != b"GGUF":
            raise ModelError(f"{path.name} is not a GGUF file")
        version = self._scalar(4)
        if version not in (2, 3):
            raise ModelError(f"{path.name}: GGUF version {version}, expected 2 or 3")
        tensor_count, pair_count = int(self._scalar(10)), int(self._scalar(10))
        self.metadata: dict[str, Value] = {}
        for _ in range(pair_count):
            key = self._string()
            self.metadata[key] = self._value(int(self._scalar(4)))
        headers = [self._tensor_header() for _ in range(tensor_count)]
        alignment = self.integer("general.alignment", 32)
        start = -(-self._at // alignment) * alignment
        self.tensors: dict[str, Tensor] = {
            name: self._tensor(name, dims, kind, start + offset) for name, dims, kind, offset in headers
        }

    @classmethod
    def of(cls, name: str, metadata: dict[str, Value], tensors: dict[str, Tensor]) -> "Gguf":
        """What a file with this content would be read as."""
        made = cls.__new__(cls)
        made.name = made._name = name
        made.metadata, made.tensors = metadata, tensors
        return made

    def integer(self, key: str, default: int | None = None) -> int:
        """An integer of the metadata."""
        value = self.metadata.get(key, default)
        if not isinstance(value, int):
            raise ModelError(f"{self._name}: metadata {key} is {value!r}, expected an integer")
        return value

    def real(self, key: str, default: float | None = None) -> float:
        """A number of the metadata."""
        value = self.metadata.get(key, default)
        if not isinstance(value, int | float):
            raise ModelError(f"{self._name}: metadata {key} is {value!r}, expected a number")
        return float(value)

    def text(self, key: str, default: str | None = None) -> str:
        """A string of the metadata."""
        value = self.metadata.get(key, default)
        if not isinstance(value, str):
            raise ModelError(f"{self._name}: metadata {key} is {value!r}, expected a string")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of strings of the metadata."""
        value = self.metadata.get(key)
        if not isinstance(value, list):
            raise ModelError(f"{self._name}: metadata {key} is {value!r}, expected a list of strings")
        return [str(v) for v in value]

    def integers(self, key: str) -> list[int]:
        """A list of integers of the metadata."""
        value = self.metadata.get(key)
        if not isinstance(value, list):
            raise ModelError(f"{self._name}: metadata {key} is {value!r}, expected a list of integers")
        return [int(v) for v in value]

    def _take(self, count: int) -> bytes:
        if self._at + count > self._bytes.size:
            raise ModelError(f"{self._name} ends inside its header")
        data = self._bytes[self._at : self._at + count].tobytes()
        self._at += count
        return data

    def _scalar(self, kind: int) -> int | float | bool:
        code = _SCALARS.get(kind)
        if code is None:
            raise ModelError(f"{self._name}: unknown GGUF value type {kind}")
        return struct.unpack(code, self._take(struct.calcsize(code)))[0]

    def _string(self) -> str:
        return self._take(int(self._scalar(10))).decode("utf-8")

    def _value(self, kind: int) -> Value:
        if kind == _ARRAY:
            item, count = int(self._scalar(4)), int(self._scalar(10))
            return [self._string() if item == _STRING else self._scalar(item) for _ in range(count)]
        return self._string() if kind == _STRING else self._scalar(kind)

    def _tensor_header(self) -> tuple[str, list[int], int, int]:
        name = self._string()
        dims = [int(self._scalar(10)) for _ in range(int(self._scalar(4)))]
        return name, dims, int(self._scalar(4)), int(self._scalar(10))

    def _tensor(self, name: str, dims: list[int], kind: int, start: int) -> Tensor:
        if kind not in BLOCKS:
            raise ModelError(f"{self._name}: tensor {name} has type {kind}; can repack {sorted(BLOCKS)}")
        elements, size = BLOCKS[kind]
        columns, rows = dims[0], int(np.prod(dims[1:], dtype=np.int64))
        if columns % elements:
            raise ModelError(f"{self._name}: {name} has {columns} columns, not a multiple of {elements}")
        row_bytes = columns // elements * size
        if start + rows * row_bytes > self._bytes.size:
            raise ModelError(f"{self._name} ends inside tensor {name}")
        data = self._bytes[start : start + rows * row_bytes].reshape(rows, row_bytes)
        return Tensor(kind, rows, columns, data)
