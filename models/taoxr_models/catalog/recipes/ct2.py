"""Reads CTranslate2's ``model.bin`` (binary version 6).

Format: https://github.com/OpenNMT/CTranslate2, ``python/ctranslate2/specs/model_spec.py``.
"""

import struct
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import ModelError

_VERSION: Final = 6
_DTYPES: Final = ("<f4", "<i1", "<i2", "<i4", "<f2")


def read(path: Path, spec: str) -> dict[str, NDArray[Any]]:
    """Reads all variables by name; they are views of the mapped file.

    Args:
        path: The ``model.bin``.
        spec: Model specification expected, such as ``"WhisperSpec"``.

    Raises:
        ModelError: Another version or specification, a type not known here, or a file cut short.
    """
    reader = _Reader(path)
    (version,) = reader.numbers("I")
    if version != _VERSION:
        raise ModelError(f"{path.name}: CTranslate2 binary version {version}, expected {_VERSION}")
    name = reader.string()
    if name != spec:
        raise ModelError(f"{path.name} holds a {name}, expected a {spec}")
    _revision, count = reader.numbers("II")
    variables: dict[str, NDArray[Any]] = {}
    for _ in range(count):
        key = reader.string()
        (rank,) = reader.numbers("B")
        shape = reader.numbers("I" * rank)
        dtype, size = reader.numbers("BI")
        if dtype >= len(_DTYPES):
            raise ModelError(
                f"{path.name}: variable {key} has type {dtype}, expected one below {len(_DTYPES)}"
            )
        variables[key] = reader.take(size).view(_DTYPES[dtype]).reshape(shape)
    return variables


class _Reader:
    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._bytes: NDArray[np.uint8] = np.memmap(path, np.uint8, mode="r")
        self._at = 0

    def take(self, size: int) -> NDArray[np.uint8]:
        if self._at + size > self._bytes.size:
            raise ModelError(f"{self._name} is cut short at byte {self._bytes.size}")
        self._at += size
        return self._bytes[self._at - size : self._at]

    def numbers(self, code: str) -> tuple[int, ...]:
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)).tobytes())

    def string(self) -> str:
        (size,) = self.numbers("H")
        return self.take(size).tobytes().rstrip(b"\0").decode("utf-8")
