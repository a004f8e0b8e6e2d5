"""``.splat`` files: 32 bytes for each splat and nothing else, as antimatter15's viewer made them known."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.splat_files.errors import SplatFileError
from taoxr_runtime.splat_files.harmonics import SH0
from taoxr_runtime.splat_files.rows import Rows

ROW: Final = np.dtype([("mean", "<f4", 3), ("sigma", "<f4", 3), ("rgba", "u1", 4), ("rotation", "u1", 4)])


def read(data: bytes) -> Rows:
    """The splats of a file; a quaternion's components are (w, x, y, z) times 128, plus 128.

    Raises:
        SplatFileError: It is no whole number of rows.
    """
    if len(data) % ROW.itemsize:
        raise SplatFileError("file", f"is {len(data)} bytes, expected a multiple of {ROW.itemsize}")
    table = np.frombuffer(data, ROW)
    rotation: NDArray[np.float32] = table["rotation"].astype(np.float32) / np.float32(128) - np.float32(1)
    rgba = table["rgba"].astype(np.float32) / np.float32(255)
    return Rows(
        table["mean"].astype(np.float32),
        rotation,
        table["sigma"].astype(np.float32),
        rgba[:, 3],
        (rgba[:, None, :3] - np.float32(0.5)) / np.float32(SH0),
    )
