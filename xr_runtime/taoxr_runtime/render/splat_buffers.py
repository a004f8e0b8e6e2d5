"""Splats on the GPU: uploaded, or written there by a scene's kernels."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import gl, objects
from taoxr_runtime.splats import Splats

_GROUP: Final = 128
"""Splats of a workgroup, of whatever takes one invocation for each splat at least."""
_FOOTPRINT_BYTES: Final = 2 * 32
"""What a splat takes up in the largest buffer: its footprints in two eyes."""

_places = itertools.count()


def most_splats() -> int:
    """How many splats the current context can draw: 2,097,152 with llvmpipe, whose buffers hold 128 MiB."""
    return min(gl.storage_block_bytes() // _FOOTPRINT_BYTES, gl.most_groups() * _GROUP)


class SplatBuffers:
    """N splats in world coordinates as float32 buffers; needs a current context.

    Attributes:
        count: N.
        eye_stride: Words from one eye's colours to the next one's; 0 when all eyes see the same.
        place_number: Another one whenever splats have moved, unlike that of any other buffers.
        means: [N, 3], metres.
        covariances: [N, 6], as in `Splats`.
        opacities: [N].
        colors: [N, 3], sRGB-encoded; or [eyes, N, 3].
    """

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.eye_stride = 0
        self.place_number = next(_places)
        self.means, self.covariances = objects.Buffer(), objects.Buffer()
        self.opacities, self.colors = objects.Buffer(), objects.Buffer()
        if count:
            self._check(count)
            for buffer, words in zip(self.all, (3, 6, 1, 3), strict=True):
                buffer.reserve(4 * words * count)

    def __len__(self) -> int:
        return self.count

    @property
    def all(self) -> tuple[objects.Buffer, ...]:
        """Means, covariances, opacities and colours."""
        return self.means, self.covariances, self.opacities, self.colors

    def moved(self) -> None:
        """Tell that means have been written."""
        self.place_number = next(_places)

    def upload(self, splats: Splats) -> None:
        """Take over all of them, as float32: packing them costs the CPU more than the copy does.

        Raises:
            InvalidInputError: There are too many.
        """
        self._check(len(splats))
        self.count, self.eye_stride = len(splats), 0
        self.moved()
        self.means.write(splats.means)
        self.covariances.write(splats.covariances)
        self.opacities.write(splats.opacities)
        self.colors.write(splats.colors_srgb)

    def place(self, splats: Splats, first: int) -> None:
        """Put splats into room that there is, from splat number ``first`` on."""
        self.moved()
        arrays = (splats.means, splats.covariances, splats.opacities, splats.colors_srgb)
        for buffer, array, words in zip(self.all, arrays, (3, 6, 1, 3), strict=True):
            buffer.write(array, 4 * words * first)

    def upload_colors(self, colors_srgb: Sequence[NDArray[np.float32]]) -> None:
        """Replace the colours only: for eyes that see different ones, float32 [N, 3] each."""
        self.colors.write(np.stack(colors_srgb))
        self.eye_stride = colors_srgb[0].size

    def read(self) -> Splats:
        """Wait for what was asked for, and fetch them; of the first eye, where eyes see different ones."""
        n = self.count
        shapes = ((n, 3), (n, 6), (n,), (n, 3))
        arrays = [np.empty(shape, np.float32) for shape in shapes]
        for buffer, array in zip(self.all, arrays, strict=True):
            if array.size:
                buffer.read(array)
        return Splats(*arrays)

    def release(self) -> None:
        """Delete them."""
        for buffer in self.all:
            buffer.release()

    @staticmethod
    def _check(count: int) -> None:
        if count > most_splats():
            raise InvalidInputError("splats", count, f"at most {most_splats()} with this driver")
