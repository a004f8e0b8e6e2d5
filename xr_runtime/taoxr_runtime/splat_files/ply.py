"""PLY files of 3D Gaussian splatting, as Inria's trainer (Kerbl et al., 2023) and many others write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.splat_files.errors import SplatFileError
from taoxr_runtime.splat_files.rows import Rows, exp, sigmoid

MAGIC: Final = b"ply"
_MAX_HEADER: Final = 1 << 16
_END: Final = re.compile(rb"(?:^|\n)end_header\r?\n")
_ORDERS: Final = {"binary_little_endian": "<", "binary_big_endian": ">"}
_TYPES: Final = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip
_REST: Final = {0: 1, 9: 4, 24: 9, 45: 16}
"""Number of ``f_rest_*`` properties to coefficients per channel."""


@dataclass(frozen=True, slots=True)
class Element:
    """A table of the file: its name, how many rows, and numpy's type of a row."""

    name: str
    count: int
    row: np.dtype[Any]

    @property
    def size(self) -> int:
        """Bytes of all rows."""
        return self.count * self.row.itemsize


@dataclass(frozen=True, slots=True)
class Header:
    """What the text at the start says: the tables in order, and where the first one begins."""

    elements: tuple[Element, ...]
    start: int

    @property
    def packed(self) -> bool:
        """Whether these are the chunks of PlayCanvas's compressed form."""
        return any(element.name == "chunk" for element in self.elements)


def header(data: bytes) -> Header:
    """Reads and checks the header, and that the file is long enough for what it announces.

    Raises:
        SplatFileError: It is no binary PLY, uses lists, or is cut off.
    """
    end = _END.search(data, 0, _MAX_HEADER)
    if end is None or not data.startswith(MAGIC):
        raise SplatFileError("header", f"is no PLY header, or has no end within {_MAX_HEADER} bytes")
    lines = [line.split() for line in data[: end.start()].decode("ascii", "replace").splitlines()]
    order, elements = "", list[tuple[str, int, list[tuple[str, str]]]]()
    for words in lines[1:]:
        match words:
            case ["format", form, "1.0"] if form in _ORDERS:
                order = _ORDERS[form]
            case ["format", *form]:
                raise SplatFileError("format", f"is {' '.join(form)!r}, expected binary PLY 1.0")
            case ["element", name, number] if re.fullmatch(r"\d{1,15}", number):
                elements.append((name, int(number), []))
            case ["property", kind, name] if kind in _TYPES and elements:
                elements[-1][2].append((name, _TYPES[kind]))
            case [] | ["comment" | "obj_info", *_]:
                pass
            case _:
                line = " ".join(words)[:80]
                raise SplatFileError("header", f"has a line that splat files do not have: {line!r}")
    if not order:
        raise SplatFileError("format", "is missing, expected binary PLY 1.0")
    tables = tuple(Element(name, count, _row(name, order, fields)) for name, count, fields in elements)
    _check_length(tables, len(data) - end.end())
    return Header(tables, end.end())


def read(data: bytes, head: Header) -> Rows:
    """The splats of a file that is not packed.

    Raises:
        SplatFileError: A property is missing or there are too many.
    """
    offset = head.start
    for element in head.elements:
        if element.name == "vertex":
            break
        offset += element.size
    else:
        raise SplatFileError("vertex", "is missing: the file has no such element")
    if not element.count:
        raise SplatFileError("vertex", "has no rows: the file holds no splats")
    table = np.frombuffer(data, element.row, element.count, offset)
    names = element.row.names or ()
    rest = [name for name in names if name.startswith("f_rest_")]
    if len(rest) not in _REST or any(f"f_rest_{i}" not in names for i in range(len(rest))):
        wanted = ", ".join(str(number) for number in _REST)
        raise SplatFileError(
            "vertex.f_rest", f"has {len(rest)} numbers, expected f_rest_0 and on, {wanted} of them"
        )
    # One channel after the other: all of red, all of green, all of blue.
    higher = _columns(table, [f"f_rest_{i}" for i in range(len(rest))]).reshape(len(table), 3, -1)
    constant = _columns(table, ["f_dc_0", "f_dc_1", "f_dc_2"])
    return Rows(
        _columns(table, ["x", "y", "z"]),
        _columns(table, ["rot_0", "rot_1", "rot_2", "rot_3"]),
        exp(_columns(table, ["scale_0", "scale_1", "scale_2"])),
        sigmoid(_columns(table, ["opacity"])[:, 0]),
        np.concatenate([constant[:, None], higher.transpose(0, 2, 1)], axis=1),
    )


def check_packed(head: Header) -> None:
    """That the tables of a compressed file belong together, which the library that reads them takes on trust.

    Raises:
        SplatFileError: They do not.
    """
    counts = {element.name: element.count for element in head.elements}
    names = [element.name for element in head.elements]
    if names not in (["chunk", "vertex"], ["chunk", "vertex", "sh"]):
        raise SplatFileError(
            "header", f"has elements {', '.join(names)}, expected chunk, vertex and at most sh"
        )
    chunk, vertex = head.elements[0].row, head.elements[1].row
    if counts["chunk"] != -(-counts["vertex"] // 256):
        raise SplatFileError(
            "chunk", f"has {counts['chunk']} rows for {counts['vertex']} splats, one for each 256"
        )
    if chunk.itemsize != 18 * 4 or len(chunk.names or ()) != 18:
        raise SplatFileError("chunk", "has other properties than the 18 floats of its bounds")
    packed = ("packed_position", "packed_rotation", "packed_scale", "packed_color")
    if vertex.names != packed or vertex.itemsize != 4 * 4:
        raise SplatFileError("vertex", f"has other properties than {', '.join(packed)}")
    if len(names) == 3:
        row = head.elements[2].row
        if counts["sh"] != counts["vertex"] or row.itemsize not in (9, 24, 45):
            found = f"{counts['sh']} rows of {row.itemsize} bytes"
            raise SplatFileError("sh", f"has {found}, expected 9, 24 or 45 bytes for each of the splats")


def _row(name: str, order: str, fields: Sequence[tuple[str, str]]) -> np.dtype[Any]:
    names = [field for field, _ in fields]
    if len(set(names)) != len(names):
        raise SplatFileError(name, "has a property twice")
    return np.dtype([(field, order + kind) for field, kind in fields])


def _check_length(tables: Sequence[Element], available: int) -> None:
    needed = sum(table.size for table in tables)
    if needed > available:
        counts = ", ".join(f"{table.count} of {table.name}" for table in tables)
        raise SplatFileError("file", f"is cut off: {counts} take {needed} bytes, {available} are there")


def _columns(table: NDArray[Any], names: Sequence[str]) -> NDArray[np.float32]:
    """Properties side by side, float32 [N, number of names]."""
    missing = [name for name in names if name not in (table.dtype.names or ())]
    if missing:
        raise SplatFileError(f"vertex.{missing[0]}", "is missing: this is no PLY of Gaussian splats")
    out = np.empty((len(table), len(names)), np.float32)
    for column, name in enumerate(names):
        out[:, column] = table[name]
    return out
