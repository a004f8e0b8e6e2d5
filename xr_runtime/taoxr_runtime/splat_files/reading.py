"""Reads a splat file of any kind that we know, by what it holds rather than by its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taoxr.errors import InvalidInputError
from taoxr_runtime.splat_files import dot_splat, packed, ply
from taoxr_runtime.splat_files.cloud import Cloud
from taoxr_runtime.splat_files.errors import SplatFileError
from taoxr_runtime.splat_files.rows import Dropped, Rows, clean

MAX_FILE_BYTES: Final = 2 << 30
_GZIP, _SPZ, _ZIP = b"\x1f\x8b", b"NGSP", b"PK\x03\x04"


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """What a file held.

    Attributes:
        cloud: The splats that can be drawn, in the file's own axes and units.
        form: Its format: ``ply``, ``compressed.ply``, ``splat``, ``spz`` or ``sog``.
        dropped: Rows that were left out.
    """

    cloud: Cloud
    form: str
    dropped: Dropped

    @property
    def up(self) -> str:
        """The axis that usually points up in files of this format.

        Only SPZ states one. The others keep the axes of the cameras that the scene was made from, whose y
        points down.
        """
        return "y" if self.form == "spz" else "-y"


def read(path: Path) -> Imported:
    """Reads a splat file.

    Raises:
        InvalidInputError: There is no such file.
        SplatFileError: It is of no kind that we know, damaged, or holds nothing that can be drawn.
        UnavailableError: A compressed file, and gaussforge is not installed.
        OSError: The file cannot be read.
    """
    if not path.is_file():
        raise InvalidInputError("file", str(path), "a file that exists")
    size = path.stat().st_size
    if not 0 < size <= MAX_FILE_BYTES:
        raise SplatFileError(path.name, f"is {size} bytes, expected 1 to {MAX_FILE_BYTES}")
    form, rows = _rows(path)
    if not len(rows.means):
        raise SplatFileError(path.name, "holds no splats")
    cloud, dropped = clean(rows)
    if not len(cloud):
        raise SplatFileError(path.name, f"holds no splat that can be drawn: {dropped}")
    return Imported(cloud, form, dropped)


def _rows(path: Path) -> tuple[str, Rows]:
    with path.open("rb") as file:
        start = file.read(4)
    if start.startswith(ply.MAGIC):
        data = path.read_bytes()
        header = ply.header(data)
        if not header.packed:
            return "ply", ply.read(data, header)
        ply.check_packed(header)
        return "compressed.ply", packed.read(path, "compressed.ply")
    if start.startswith(_GZIP) or start == _SPZ:
        return "spz", packed.read(path, "spz")
    if start == _ZIP:
        return "sog", packed.read(path, "sog")
    if path.suffix.lower() == ".splat":  # it has no mark of its own
        return "splat", dot_splat.read(path.read_bytes())
    raise SplatFileError(
        path.name, f"begins with {start!r}: expected a .ply, .spz or .sog file, or a name that ends in .splat"
    )
