"""The rasterizer for software drivers: a compute program that blends each tile's splats front to back.

It stops where nothing behind shows any more, which for a body is after the front half, and rounds once per
pixel rather than once per splat. The tiles' lists are made here on the CPU, where the software driver runs
anyway; a real GPU would have to wait for that, and has ``quads``.

The idea of tiles sorted once is Kerbl et al.'s (2023); this is a plain form of it for 8-wide vectors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.footprints import Footprints

TILE = (8, 16)
"""Width and height in pixels; the shader has the same. 8x8 and 8x4 were slower by 5 to 15 and 30 %."""

MAX_PAIRS = 1 << 22
"""Entries of all tiles' lists handled at once; more are drawn in several rounds, farthest first."""


class Tiles:
    """The program that blends tiles; needs a current context.

    Args:
        count_visits: For tests: count what is blended.

    Attributes:
        visits: Where that was asked for, of each tile of the last `raster`: how many entries of its list were
            looked at, and how many there were; uint32 [2, tiles].

    Raises:
        GlError: The driver refuses the shader.
    """

    def __init__(self, count_visits: bool = False) -> None:
        self._program = objects.Program("tiles.comp", defines={"VISITS": 1} if count_visits else {})
        self._starts, self._members = objects.Buffer(), objects.Buffer()
        self._visits = objects.Buffer() if count_visits else None
        self.visits = np.zeros((2, 0), np.uint32)

    def raster(self, footprints: Footprints, eye: int, canvas: Canvas) -> None:
        """Blend splats over what the canvas holds.

        Args:
            footprints: Projected for views of which one has the canvas's size.
            eye: Number of that view.
            canvas: What to draw on.
        """
        across, down = -(-canvas.width // TILE[0]), -(-canvas.height // TILE[1])
        canvas.bind_image()
        footprints.bind(eye)
        self._program.set_uint("tiles_across", across)
        self._program.use()
        self.visits = np.zeros((2, across * down), np.uint32)
        for starts, members in tile_lists(footprints.read(eye), across, down):
            self._starts.write(starts)
            self._members.write(members)
            self._starts.bind_storage(6)
            self._members.bind_storage(7)
            if self._visits is None:
                gl.dispatch(across, down)
            else:
                self._counted(self._visits, starts, across, down)

    def _counted(self, visits: objects.Buffer, starts: NDArray[np.uint32], across: int, down: int) -> None:
        visited = np.zeros(across * down, np.uint32)
        visits.write(visited)
        visits.bind_storage(4)
        gl.dispatch(across, down)
        visits.read(visited)
        self.visits += np.stack([visited, np.diff(starts)])

    def release(self) -> None:
        """Delete everything from the GPU."""
        if self._visits is not None:
            self._visits.release()
        self._starts.release()
        self._members.release()
        self._program.release()


def tile_lists(
    footprints: NDArray[np.float32], across: int, down: int, limit: int = MAX_PAIRS
) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.uint32]]]:
    """List for each tile the footprints that touch it.

    Args:
        footprints: float32 [K, 8], in drawing order.
        across: Number of tiles in a row.
        down: Number of rows of tiles.
        limit: Most entries in one round (one footprint's own may exceed it).

    Yields:
        For each round ``starts`` uint32 [tiles + 1] and ``members`` uint32 [P]: tile t has the footprints
        ``members[starts[t]:starts[t + 1]]``, in drawing order.
    """
    seen = np.flatnonzero(footprints[:, 5] > 0)
    x, y, major_x, major_y, minor, reach = footprints[seen, :6].T
    # Half the size of the box around an ellipse: the diagonal of its covariance.
    ratio = minor * minor / (major_x * major_x + major_y * major_y)
    half_x = reach * np.sqrt(major_x * major_x + ratio * major_y * major_y)
    half_y = reach * np.sqrt(major_y * major_y + ratio * major_x * major_x)
    left, right = (
        np.clip(edge / TILE[0], 0, across - 1).astype(np.int32) for edge in (x - half_x, x + half_x)
    )
    top, bottom = (np.clip(edge / TILE[1], 0, down - 1).astype(np.int32) for edge in (y - half_y, y + half_y))
    columns = right - left + 1
    corner = top * across + left
    ends = np.cumsum(columns.astype(np.int64) * (bottom - top + 1))

    first = 0
    while first < len(seen):
        done = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, done + limit, side="right")), first + 1)
        part = slice(first, last)
        sizes = np.diff(ends[part], prepend=done)
        owner = np.repeat(np.arange(last - first, dtype=np.int32), sizes)
        within = np.arange(len(owner), dtype=np.int32) - (ends[part] - sizes - done).astype(np.int32)[owner]
        row, column = np.divmod(within, columns[part][owner])
        # NumPy sorts 16-bit numbers by radix, wider ones several times slower.
        narrow = np.uint16 if across * down <= 1 << 16 else np.uint32
        tiles = (corner[part][owner] + row * across + column).astype(narrow)
        by_tile = np.argsort(tiles, kind="stable")
        starts = np.zeros(across * down + 1, np.uint32)
        np.cumsum(np.bincount(tiles, minlength=across * down), out=starts[1:])
        yield starts, seen[part].astype(np.uint32)[owner[by_tile]]
        first = last
