"""Compressed formats, read by the library gaussforge in a process of its own.

It takes what a file says on trust: some damaged files make it ask for all memory there is. So it runs in a
child with a limit.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import UnavailableError
from taoxr_runtime.splat_files.errors import SplatFileError
from taoxr_runtime.splat_files.rows import Rows, exp, sigmoid

TIMEOUT_S: Final = 300
_CHILD: Final = Path(__file__).with_name("packed_child.py")
_WIDTHS: Final = {"positions": 3, "rotations": 4, "scales": 3, "alphas": 1, "colors": 3}


def read(path: Path, form: str) -> Rows:
    """The splats of a file.

    Args:
        path: The file.
        form: What gaussforge calls its format: ``compressed.ply``, ``spz`` or ``sog``.

    Raises:
        SplatFileError: The library refuses the file, or broke down over it.
        UnavailableError: The library is not installed.
    """
    if find_spec("gaussforge") is None:
        raise UnavailableError(f"reading {form} files needs gaussforge: pip install 'taoxr[splats]'")
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.npz"
        # Not as a module of this package, whose other imports the child has no use for.
        command = [sys.executable, "-P", str(_CHILD), str(path.absolute()), form, str(result)]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise SplatFileError(path.name, f"took gaussforge over {TIMEOUT_S} s to read") from error
        if done.returncode < 0:
            name = signal.Signals(-done.returncode).name
            raise SplatFileError(path.name, f"is damaged: gaussforge crashed over it ({name})")
        if not result.is_file():
            raise SplatFileError(path.name, f"is no sound {form} file: {_reason(done.stdout + done.stderr)}")
        with np.load(result, allow_pickle=False) as arrays:
            return _rows(dict(arrays), path.name)


def _reason(printed: str) -> str:
    """The line in which the library says why; else the last one."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    said = [line for line in lines if "ERROR" in line]
    return [*lines, "it says nothing", *said][-1][:300]


def _rows(arrays: dict[str, NDArray[Any]], name: str) -> Rows:
    count = int(arrays["count"])
    for key, width in _WIDTHS.items():
        if arrays[key].size != count * width:
            raise SplatFileError(name, f"has {arrays[key].size} numbers of {key} for {count} splats")
    if not count or arrays["sh"].size not in [count * 3 * n for n in (0, 3, 8, 15)]:
        found = f"{count} splats with {arrays['sh'].size} numbers of harmonics"
        raise SplatFileError(name, f"has {found}, expected harmonics of degree 0 to 3")
    constant, higher = arrays["colors"].reshape(count, 1, 3), arrays["sh"].reshape(count, -1, 3)
    return Rows(
        arrays["positions"].reshape(count, 3),
        arrays["rotations"].reshape(count, 4),
        exp(arrays["scales"].reshape(count, 3)),
        sigmoid(arrays["alphas"]),
        np.concatenate([constant, higher], axis=1),
    )
