"""Makes MNN's extension modules loadable where the C library refuses executable stacks.

MNN 3.6.1's wheel marks its shared objects as needing an executable stack (its assembly files lack the
``.note.GNU-stack`` section; the code does not need one). From glibc 2.41 on (Debian 13) ``dlopen`` refuses
such files. A copy with that one flag cleared, kept in taoxr's cache, loads everywhere and keeps the stack
protected.
"""

import hashlib
import importlib.util
import os
import struct
import sys
from pathlib import Path
from typing import Final

from taoxr.paths import cache_dir

# ELF-64: System V ABI, "Program Header".
_PT_GNU_STACK: Final = 0x6474E551
_PF_X: Final = 1
_REFUSED_SINCE: Final = (2, 41)


def flags_offset(head: bytes) -> int | None:
    """Where the stack's flags stand in a little-endian ELF-64 file that asks for an executable stack.

    Args:
        head: The file's beginning, program headers included.

    Returns:
        Offset of the 32-bit ``p_flags``, or None when the file is no such ELF or asks for nothing.
    """
    if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
        return None
    (table,) = struct.unpack_from("<Q", head, 0x20)
    size, count = struct.unpack_from("<HH", head, 0x36)
    for offset in range(table, min(table + size * count, len(head) - 8), size):
        kind, flags = struct.unpack_from("<II", head, offset)
        if kind == _PT_GNU_STACK and flags & _PF_X:
            return offset + 4
    return None


def make_importable(*modules: str) -> None:
    """Puts patched copies of extension modules in front of the import path, if this system needs them."""
    if _glibc() < _REFUSED_SINCE:
        return
    for module in modules:
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None:
            continue
        patched = patched_copy(Path(spec.origin), cache_dir() / "mnn")
        if patched is not None and str(patched.parent) not in sys.path:
            sys.path.insert(0, str(patched.parent))


def patched_copy(source: Path, folder: Path) -> Path | None:
    """A copy of a shared object that asks for no executable stack; made once.

    Args:
        source: The shared object.
        folder: Where copies live, in one folder per origin and version of the file.

    Returns:
        The copy, or None when the file asks for no executable stack.
    """
    with source.open("rb") as file:
        head = file.read(4096)
    offset = flags_offset(head)
    if offset is None:
        return None
    status = source.stat()
    key = hashlib.sha256(f"{source.parent}:{status.st_size}:{status.st_mtime_ns}".encode()).hexdigest()[:16]
    target = folder / key / source.name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        data = bytearray(source.read_bytes())
        (flags,) = struct.unpack_from("<I", data, offset)
        struct.pack_into("<I", data, offset, flags & ~_PF_X)
        partial = target.with_name(f"{target.name}.{os.getpid()}.part")
        partial.write_bytes(data)
        # Libraries that the wheel ships are found relative to the shared object.
        for libraries in source.parent.glob("[mM][nN][nN].libs"):
            link = target.parent / libraries.name
            if not link.is_symlink():
                link.symlink_to(libraries)
        partial.replace(target)
    return target


def _glibc() -> tuple[int, int]:
    try:
        version = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        return (0, 0)
    numbers = (version or "").removeprefix("glibc ").split(".")
    return (int(numbers[0]), int(numbers[1])) if len(numbers) >= 2 else (0, 0)
