"""Reads one compressed file with gaussforge and writes its arrays; run by `packed.read`, imports little.

Arguments: the file, its format, and the ``.npz`` to write. Exit status 1, and why on stderr, if it cannot.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_MEMORY_BYTES: Final = 4 << 30
_ARRAYS: Final = ("positions", "rotations", "scales", "alphas", "colors", "sh")


def main(path: str, form: str, result: str) -> None:
    """See the module."""
    gaussforge: Any = import_module("gaussforge")
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    read: dict[str, Any] = gaussforge.GaussForge().read(Path(path).read_bytes(), form)
    if "error" in read:
        sys.exit(f"\n{read['error']}")
    found: dict[str, Any] = read["data"]
    arrays: dict[str, NDArray[Any]] = {key: np.frombuffer(found[key], np.float32) for key in _ARRAYS}
    arrays["count"] = np.array(found["numPoints"])
    np.savez(result, allow_pickle=False, **arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])
