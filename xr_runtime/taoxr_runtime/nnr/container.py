"""The `.nnr` container: a zip of stored entries, ``scene.json`` and ``tensors/*.npy``.

Reading trusts nothing: every size is checked before it is used, the zip may hold only what
``scene.json`` lists, headers of ``.npy`` are matched against the one form this format allows
(numpy's own reader evaluates text), and no path leaves the container because none is ever opened.
"""

import hashlib
import io
import json
import re
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.errors import NnrFormatError
from taoxr_runtime.nnr.schema import SceneSpec, TensorSpec, parse

MAX_FILE_BYTES: Final = 256 << 20
MAX_SCENE_JSON_BYTES: Final = 4 << 20
MAX_ENTRIES: Final = 10_000
SCENE_ENTRY: Final = "scene.json"

Tensor = NDArray[Any]

_ENTRY_NAME: Final = re.compile(
    r"scene\.json|(?:tensors/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.npy|models/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.mnn)"
)
_NPY_MAGIC: Final = b"\x93NUMPY\x01\x00"
_NPY_HEADER: Final = re.compile(
    rb"\{'descr': '([<|][fiu][1248])', 'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n"
)
_NPY_MAX_HEADER: Final = 512
_ALIGNMENT: Final = 64
_CENTRAL_HEADER: Final = b"PK\x01\x02"
# Fixed, so that the same scene gives the same bytes.
_ZIP_TIME: Final = (1980, 1, 1, 0, 0, 0)
# What zipfile raises on damaged input besides BadZipFile (CPython 3.11 to 3.13).
_ZIP_ERRORS: Final = (
    zipfile.BadZipFile, struct.error, EOFError, ValueError, OverflowError, NotImplementedError,
    RuntimeError, OSError, LookupError,
)  # fmt: skip


@dataclass(frozen=True)
class Container:
    """A file's contents, checked up to what a tensor means to its node.

    Attributes:
        scene: ``scene.json``.
        tensors: Read-only arrays by entry name (``tensors/x.npy``).
        models: Bytes by entry name (``models/x.mnn``).
        sizes: Bytes of every entry.
        sha256: Hash of the whole file.
    """

    scene: SceneSpec
    tensors: dict[str, Tensor]
    models: dict[str, bytes]
    sizes: dict[str, int]
    sha256: str


def read(path: Path) -> Container:
    """Reads and checks a container.

    Raises:
        NnrFormatError: The file breaks the format.
        OSError: The file cannot be read.
    """
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise NnrFormatError(str(path), f"is {size} bytes, at most {MAX_FILE_BYTES} are allowed")
    return from_bytes(path.read_bytes())


def from_bytes(data: bytes) -> Container:
    """As `read`, of the file's bytes."""
    if len(data) > MAX_FILE_BYTES:
        raise NnrFormatError("file", f"is {len(data)} bytes, at most {MAX_FILE_BYTES} are allowed")
    entries = _unzip(data)
    if SCENE_ENTRY not in entries:
        raise NnrFormatError(SCENE_ENTRY, "is missing")
    if len(entries[SCENE_ENTRY]) > MAX_SCENE_JSON_BYTES:
        raise NnrFormatError(SCENE_ENTRY, f"is over {MAX_SCENE_JSON_BYTES} bytes")
    scene = parse(SceneSpec, entries[SCENE_ENTRY], "scene")
    for field, listed in (("tensors", set(scene.tensors)), ("models", set(scene.models))):
        present = {name for name in entries if name.startswith(f"{field}/")}
        if listed != present:
            raise NnrFormatError(
                f"scene.{field}",
                f"lists {_some(listed - present)} without an entry; not listed: {_some(present - listed)}",
            )
    if scene.importance is not None and scene.importance not in scene.tensors:
        raise NnrFormatError("scene.importance", f"{scene.importance!r} is not in scene.tensors")
    for i, node in enumerate(scene.nodes):
        for key, entry in node.tensors.items():
            if entry not in scene.tensors:
                raise NnrFormatError(f"scene.nodes[{i}].tensors.{key}", f"{entry!r} is not in scene.tensors")
        if node.model is not None and node.model not in scene.models:
            raise NnrFormatError(f"scene.nodes[{i}].model", f"{node.model!r} is not in scene.models")
    for name, spec in scene.models.items():
        if hashlib.sha256(entries[name]).hexdigest() != spec.sha256:
            raise NnrFormatError(name, "its sha256 is not the one in scene.json: the file is damaged")
    models = {name: entries[name] for name in sorted(scene.models)}
    tensors = {name: _tensor(name, entries[name], spec) for name, spec in sorted(scene.tensors.items())}
    sizes = {name: len(raw) for name, raw in sorted(entries.items())}
    return Container(scene, tensors, models, sizes, hashlib.sha256(data).hexdigest())


def write_scene(
    path: Path,
    scene: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    models: Mapping[str, bytes] | None = None,
) -> None:
    """Writes a container; the same arguments give the same bytes, and only a valid file appears.

    Args:
        path: Target; replaced only when the new file is complete.
        scene: ``scene.json`` without ``tensors``, which is computed here (given, it is ignored).
        tensors: Arrays by entry name, ``tensors/x.npy``, in the dtypes of the format.
        models: Bytes by entry name, ``models/x.mnn``.

    Raises:
        NnrFormatError: The scene breaks the format.
    """
    write(path, to_bytes(scene, tensors, models))


def write(path: Path, data: bytes) -> None:
    """Checks a file's bytes and writes them; the file appears only when it is complete.

    Raises:
        NnrFormatError: They break the format.
    """
    from_bytes(data)
    partial = path.with_name(path.name + ".part")
    partial.write_bytes(data)
    partial.replace(path)


def to_bytes(
    scene: Mapping[str, Any], tensors: Mapping[str, Tensor], models: Mapping[str, bytes] | None = None
) -> bytes:
    """As `write_scene`, into bytes and without the check of the result."""
    raw = {name: _npy(array) for name, array in tensors.items()}
    listing = {
        name: {
            "dtype": array.dtype.name,
            "shape": list(array.shape),
            "sha256": hashlib.sha256(raw[name]).hexdigest(),
        }
        for name, array in tensors.items()
    }
    document = {**scene, "tensors": listing}
    if models:
        document["models"] = {n: {"sha256": hashlib.sha256(m).hexdigest()} for n, m in models.items()}
    entries = {**raw, **(models or {}), SCENE_ENTRY: json.dumps(document, indent=1, sort_keys=True).encode()}
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(entries):
            info = zipfile.ZipInfo(name, _ZIP_TIME)
            info.create_system = 3  # as on Unix, wherever it is written
            archive.writestr(info, entries[name])
    return target.getvalue()


def _unzip(data: bytes) -> dict[str, bytes]:
    # Counted before zipfile makes an object of each: a directory of empty entries costs 46 bytes per entry.
    if data.count(_CENTRAL_HEADER) > 2 * MAX_ENTRIES:
        raise NnrFormatError("file", f"holds more than {MAX_ENTRIES} entries")
    entries: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            _check_entries(infos, len(data))
            for info in infos:
                entries[info.filename] = archive.read(info)
    except _ZIP_ERRORS as error:
        raise NnrFormatError("file", f"is not an intact zip: {error}") from error
    return entries


def _check_entries(infos: list[zipfile.ZipInfo], file_bytes: int) -> None:
    if len(infos) > MAX_ENTRIES:
        raise NnrFormatError("file", f"holds {len(infos)} entries, at most {MAX_ENTRIES} are allowed")
    seen: set[str] = set()
    total = 0
    for info in infos:
        name = info.orig_filename  # before zipfile tidies it up
        if not _ENTRY_NAME.fullmatch(name) or name != info.filename:
            raise NnrFormatError(
                f"entry {name[:100]!r}", "is not scene.json, tensors/<name>.npy or models/<name>.mnn"
            )
        if name in seen:
            raise NnrFormatError(f"entry {name}", "occurs twice")
        seen.add(name)
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise NnrFormatError(f"entry {name}", "is compressed; entries must be stored")
        if info.flag_bits & 0x1:
            raise NnrFormatError(f"entry {name}", "is encrypted")
        total += info.file_size
    # Entries that overlap could be read many times over.
    if total > file_bytes:
        raise NnrFormatError("file", f"declares {total} bytes of entries in {file_bytes} bytes")


def _tensor(name: str, raw: bytes, spec: TensorSpec) -> Tensor:
    if hashlib.sha256(raw).hexdigest() != spec.sha256:
        raise NnrFormatError(name, "its sha256 is not the one in scene.json: the file is damaged")
    dtype, shape, offset = _npy_header(name, raw)
    if dtype.name != spec.dtype or shape != spec.shape:
        raise NnrFormatError(
            name, f"holds {dtype.name} {list(shape)}, scene.json says {spec.dtype} {list(spec.shape)}"
        )
    count = int(np.prod([int(n) for n in shape], dtype=object))
    if offset % _ALIGNMENT:
        raise NnrFormatError(name, f"its data start at byte {offset}, not at a multiple of {_ALIGNMENT}")
    if len(raw) - offset != count * dtype.itemsize:
        raise NnrFormatError(name, f"has {len(raw) - offset} bytes of data for {spec.dtype} {list(shape)}")
    array = np.frombuffer(raw, dtype, count, offset).reshape(shape)
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise NnrFormatError(name, "holds values that are not finite")
    return array


def _npy_header(name: str, raw: bytes) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    """Reads the header of ``.npy`` version 1.0 without evaluating it: dtype, shape, offset of the data."""
    if not raw.startswith(_NPY_MAGIC) or len(raw) < 10:
        raise NnrFormatError(name, "is not an .npy file of version 1.0")
    length = int.from_bytes(raw[8:10], "little")
    match = _NPY_HEADER.fullmatch(raw[10 : 10 + length]) if length <= _NPY_MAX_HEADER else None
    if match is None:
        raise NnrFormatError(name, "has an .npy header that is not plain, little-endian and C-ordered")
    try:
        shape = tuple(int(n) for n in match[2].replace(b" ", b"").split(b",") if n)
        return np.dtype(match[1].decode()), shape, 10 + length
    except (TypeError, ValueError) as error:
        raise NnrFormatError(name, f"has an .npy header of an unknown type: {error}") from error


def _npy(array: Tensor) -> bytes:
    target = io.BytesIO()
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    np.lib.format.write_array(target, little, version=(1, 0), allow_pickle=False)
    return target.getvalue()


def _some(names: set[str]) -> str:
    return ", ".join(sorted(names)[:5]) or "none"
