"""Splats on the GPU, and the pass that both rasterizers share: projecting them for one view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import gl
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.reference import JACOBIAN_MARGIN
from taoxr_runtime.splats import Splats

MAX_SPLATS = 1 << 22
"""What fits the smallest storage buffer that OpenGL 4.5 drivers offer in practice, 128 MiB."""

WORDS = 8
"""Size of a footprint: centre (2), long axis (2), short axis, reach, two words of colour and opacity."""

BINDING = 5
"""Storage binding at which the rasterizers' shaders find the footprints."""

_GROUP = 128


class Footprints:
    """Ellipses in pixels of one frame's splats, in drawing order; needs a current context.

    Raises:
        GlError: The driver refuses the shader.
    """

    def __init__(self) -> None:
        self._program = gl.Program("project.comp")
        self._buffers = {
            name: gl.Buffer()
            for name in ("means", "covariances", "opacities", "colors", "order", "footprints")
        }
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
        self._buffers["means"].write(splats.means)
        self._buffers["covariances"].write(splats.covariances)
        self._buffers["opacities"].write(splats.opacities)
        self._buffers["order"].write(order)
        self.upload_colors(splats.colors_srgb)

    def upload_colors(self, colors_srgb: NDArray[np.float32]) -> None:
        """Replace the colours only, float32 [N, 3]: for views that see other ones."""
        self._buffers["colors"].write(colors_srgb)

    def project(self, view: View) -> None:
        """Make the footprints for one view; those that it does not see get a reach of 0.

        Args:
            view: The eye.
        """
        left, right, down, up = view.tangents
        margin_x, margin_y = JACOBIAN_MARGIN * (right - left), JACOBIAN_MARGIN * (up - down)
        program = self._program
        program.set_uint("count", self.count)
        program.set_matrix("world_to_view", view.world_to_view)
        program.set("focal", *view.focal)
        program.set("principal", *view.principal)
        program.set("size", view.width, view.height)
        program.set("tangent_limits", left - margin_x, right + margin_x, down - margin_y, up + margin_y)
        program.set("near", view.near)
        self._buffers["footprints"].reserve(max(self.count, 1) * WORDS * 4)
        for binding, buffer in enumerate(self._buffers.values()):
            buffer.bind_storage(binding)
        program.use()
        gl.dispatch(-(-self.count // _GROUP))

    def bind(self) -> None:
        """Give them to the shaders of a rasterizer."""
        self._buffers["footprints"].bind_storage(BINDING)

    def read(self) -> NDArray[np.float32]:
        """Fetch them, float32 [K, 8]; the last two words of each are no floats but packed colour."""
        rows = np.empty((self.count, WORDS), np.float32)
        if self.count:
            self._buffers["footprints"].read(rows)
        return rows

    def release(self) -> None:
        """Delete everything from the GPU."""
        for buffer in self._buffers.values():
            buffer.release()
        self._program.release()
