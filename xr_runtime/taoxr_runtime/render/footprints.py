"""Splats on the GPU, and the pass that both rasterizers share: projecting them for the eyes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.reference import JACOBIAN_MARGIN
from taoxr_runtime.splats import Splats

MAX_EYES = 2
"""Views that one pass over the splats serves; the shader has the same. More views take more passes."""

MAX_SPLATS = 1 << 21
"""Footprints of this many for two eyes fit 128 MiB, the smallest storage buffer that drivers offer in
practice."""

WORDS = 8
"""Size of a footprint: centre (2), long axis (2), short axis, reach, two words of colour and opacity."""

BINDING = 5
"""Storage binding at which the rasterizers' shaders find the footprints."""

_GROUP = 128
_ALIGNMENT = 8
"""Footprints: a buffer may be bound from multiples of 256 bytes on."""


def set_eyes(program: objects.Program, views: Sequence[View]) -> None:
    """Tell a program of ``shaders/projection.glsl`` for which 1 to ``MAX_EYES`` views to project."""
    program.set_uint("eye_count", len(views))
    for number, view in enumerate(views):
        left, right, down, up = view.tangents
        margin_x, margin_y = JACOBIAN_MARGIN * (right - left), JACOBIAN_MARGIN * (up - down)
        limits = (left - margin_x, right + margin_x, down - margin_y, up + margin_y)
        program.set_matrix(f"eyes[{number}].world_to_view", view.world_to_view)
        program.set(f"eyes[{number}].focal", *view.focal)
        program.set(f"eyes[{number}].principal", *view.principal)
        program.set(f"eyes[{number}].size", view.width, view.height)
        program.set(f"eyes[{number}].tangent_limits", *limits)
        program.set(f"eyes[{number}].near", view.near)


class Footprints:
    """Ellipses in pixels of one frame's splats, in drawing order; needs a current context.

    Raises:
        GlError: The driver refuses the shader.
    """

    def __init__(self) -> None:
        self._program = objects.Program("project.comp")
        self._buffers = {
            name: objects.Buffer()
            for name in ("means", "covariances", "opacities", "colors", "order", "footprints")
        }
        self._stride = 0
        self.count = 0

    def upload(self, splats: Splats, order: NDArray[np.uint32]) -> None:
        """Put this frame's splats on the GPU, as float32: packing them costs the CPU more than the copy does.

        Args:
            splats: N splats in world coordinates.
            order: uint32 [K], the splats to draw, in drawing order.

        Raises:
            InvalidInputError: There are too many.
        """
        if max(len(splats), len(order)) > MAX_SPLATS:
            raise InvalidInputError("splats", len(splats), f"at most {MAX_SPLATS}")
        self.count = len(order)
        self._stride = max(-(-self.count // _ALIGNMENT), 1) * _ALIGNMENT
        self._buffers["means"].write(splats.means)
        self._buffers["covariances"].write(splats.covariances)
        self._buffers["opacities"].write(splats.opacities)
        self._buffers["order"].write(order)
        self._buffers["colors"].write(splats.colors_srgb)
        self._program.set_uint("eye_colors", 0)

    def upload_colors(self, colors_srgb: Sequence[NDArray[np.float32]]) -> None:
        """Replace the colours only: for eyes that see different ones, float32 [N, 3] each."""
        self._buffers["colors"].write(np.stack(colors_srgb))
        self._program.set_uint("eye_colors", colors_srgb[0].size)

    def project(self, views: Sequence[View]) -> None:
        """Make the footprints for the eyes, reading each splat once; those not seen get a reach of 0.

        Args:
            views: 1 to ``MAX_EYES`` eyes.
        """
        program = self._program
        program.set_uint("count", self.count)
        program.set_uint("stride", self._stride)
        set_eyes(program, views)
        self._buffers["footprints"].reserve(len(views) * self._bytes)
        for binding, buffer in enumerate(self._buffers.values()):
            buffer.bind_storage(binding)
        program.use()
        gl.dispatch(-(-self.count // _GROUP))

    def bind(self, eye: int) -> None:
        """Give those of one eye to the shaders of a rasterizer."""
        self._buffers["footprints"].bind_storage(BINDING, eye * self._bytes, self._bytes)

    def read(self, eye: int) -> NDArray[np.float32]:
        """Fetch those of one eye, float32 [K, 8]; the last two words of each are packed colour, no floats."""
        rows = np.empty((self.count, WORDS), np.float32)
        if self.count:
            self._buffers["footprints"].read(rows, eye * self._bytes)
        return rows

    def release(self) -> None:
        """Delete everything from the GPU."""
        for buffer in self._buffers.values():
            buffer.release()
        self._program.release()

    @property
    def _bytes(self) -> int:
        """From one eye's footprints to the next one's."""
        return self._stride * WORDS * 4
