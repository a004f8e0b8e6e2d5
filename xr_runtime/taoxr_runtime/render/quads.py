"""The rasterizer for GPUs: one small instanced primitive per splat, blended by the hardware.

A triangle around each ellipse rather than a quad of two: a third more fragments, but half the set-up
(llvmpipe, 180,000 splats at 720x960: 244 against 313 ms of processor time). Projecting before, in a pass of
its own, saves the three corners from doing it each.
"""

from __future__ import annotations

from typing import Final

from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.canvas import Canvas, Layers
from taoxr_runtime.render.footprints import Footprints

_LAYERS: Final = ("GL_ARB_shader_viewport_layer_array", "GL_AMD_vertex_shader_layer")
"""Either lets a vertex say in which layer it lies."""


def layer_extension() -> str | None:
    """What lets the current context draw both eyes at once; None where nothing does."""
    return next((name for name in _LAYERS if gl.has_extensions(name)), None)


class Quads:
    """The program that draws footprints; needs a current context.

    Args:
        layered: Draw both eyes at once where the driver can and they are layers of one texture.

    Raises:
        GlError: The driver refuses the shader.
    """

    def __init__(self, layered: bool = False) -> None:
        self._program = objects.Program("splat.vert", "splat.frag")
        self._vertices = objects.VertexArray()
        extension = layer_extension() if layered else None
        self._both = (
            None
            if extension is None
            else objects.Program("splat.vert", "splat.frag", defines={"LAYERED": 1}, extensions=(extension,))
        )

    @property
    def layered(self) -> bool:
        """Whether `raster_both` works."""
        return self._both is not None

    def raster(self, footprints: Footprints, eye: int, canvas: Canvas) -> None:
        """Blend splats over what the canvas holds.

        Args:
            footprints: Projected for views of which one has the canvas's size.
            eye: Number of that view.
            canvas: What to draw on.
        """
        canvas.bind()
        footprints.bind(eye)
        self._program.set("size", canvas.width, canvas.height)
        self._program.use()
        gl.blend_premultiplied()
        self._vertices.draw_triangles(footprints.count)

    def raster_both(self, footprints: Footprints, layers: Layers) -> None:
        """Blend the splats of two eyes over what their layers hold, in one draw.

        Args:
            footprints: Projected for two views of the layers' size.
            layers: What to draw on.
        """
        assert self._both is not None, "asked for where the driver can"
        layers.bind()
        footprints.bind_all()
        self._both.set("size", layers.width, layers.height)
        self._both.set_uint("count", footprints.count)
        self._both.set_uint("stride", footprints.stride)
        self._both.use()
        gl.blend_premultiplied()
        self._vertices.draw_triangles(2 * footprints.count)

    def release(self) -> None:
        """Delete everything from the GPU."""
        if self._both is not None:
            self._both.release()
        self._vertices.release()
        self._program.release()
