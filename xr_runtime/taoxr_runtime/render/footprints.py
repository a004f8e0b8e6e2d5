"""Splats on the GPU, and the pass that both rasterizers share: projecting them for the eyes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.reference import JACOBIAN_MARGIN
from taoxr_runtime.render.splat_buffers import SplatBuffers

MAX_EYES = 2
"""Views that one pass over the splats serves; the shader has the same. More views take more passes."""

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

    Attributes:
        count: How many there are for each eye.
        stride: From one eye's to the next one's.

    Raises:
        GlError: The driver refuses the shader.
    """

    def __init__(self) -> None:
        self._program = objects.Program("project.comp")
        self._footprints = objects.Buffer()
        self.stride = 0
        self.count = 0

    def project(self, splats: SplatBuffers, order: objects.Buffer, count: int, views: Sequence[View]) -> None:
        """Make the footprints for the eyes, reading each splat once; those not seen get a reach of 0.

        Args:
            splats: N splats.
            order: uint32 [count], the splats to draw, in drawing order.
            count: How many these are.
            views: 1 to ``MAX_EYES`` eyes.
        """
        self.count = count
        self.stride = max(-(-count // _ALIGNMENT), 1) * _ALIGNMENT
        program = self._program
        program.set_uint("count", count)
        program.set_uint("stride", self.stride)
        program.set_uint("eye_colors", splats.eye_stride)
        set_eyes(program, views)
        self._footprints.reserve(len(views) * self._bytes)
        objects.bind_storage(0, *splats.all, order, self._footprints)
        program.use()
        gl.dispatch(-(-count // _GROUP))

    def bind(self, eye: int) -> None:
        """Give those of one eye to the shaders of a rasterizer."""
        self._footprints.bind_storage(BINDING, eye * self._bytes, self._bytes)

    def bind_all(self) -> None:
        """Give those of all eyes to the shaders of a rasterizer."""
        self._footprints.bind_storage(BINDING)

    def read(self, eye: int) -> NDArray[np.float32]:
        """Fetch those of one eye, float32 [K, 8]; the last two words of each are packed colour, no floats."""
        rows = np.empty((self.count, WORDS), np.float32)
        if self.count:
            self._footprints.read(rows, eye * self._bytes)
        return rows

    def release(self) -> None:
        """Delete everything from the GPU."""
        self._footprints.release()
        self._program.release()

    @property
    def _bytes(self) -> int:
        """From one eye's footprints to the next one's."""
        return self.stride * WORDS * 4
