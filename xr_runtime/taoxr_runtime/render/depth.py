"""How far a body is, pixel by pixel: its mesh, drawn into the depth textures of someone else.

Splats have no depth of their own; runtimes that reproject a picture want one nevertheless. The mesh that the
splats ride on stands for them; hair, which is no mesh, has the depth of what is behind it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.targets import TextureTarget

_DEPTH: Final = 0x1801  # GL_DEPTH
_NOTHING: Final = (ctypes.c_float * 1)(1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """A surface made of triangles, seen from both sides.

    Attributes:
        vertices: float32 [V, 3], metres, world frame; or a buffer of so many on the GPU.
        triangles: Integers [F, 3], numbers of vertices; not to be changed.
    """

    vertices: NDArray[np.float32] | objects.Buffer
    triangles: NDArray[np.integer]


class DepthPass:
    """Draws meshes into depth textures; needs a current context.

    Raises:
        GlError: The driver refuses a shader.
    """

    def __init__(self) -> None:
        self._program = objects.Program("depth.vert", "depth.frag")
        self._array = objects.VertexArray()
        self._vertices, self._triangles = objects.Buffer(), objects.Buffer()
        self._held: NDArray[np.integer] | None = None
        name = ctypes.c_uint32()
        g = gl.gl()
        g.glCreateFramebuffers(1, ctypes.byref(name))
        self._framebuffer = int(name.value)
        g.glNamedFramebufferDrawBuffer(self._framebuffer, g.GL_NONE)
        g.glNamedFramebufferReadBuffer(self._framebuffer, g.GL_NONE)

    def draw(self, mesh: Mesh, views: Sequence[View], targets: Sequence[TextureTarget]) -> None:
        """Draw a mesh once for each view.

        Args:
            mesh: In world coordinates.
            views: The eyes.
            targets: Their depth textures. All of each is overwritten: with 0 on the near plane of the view's
                projection, 1 on the far one, and 1 where there is nothing.

        Raises:
            GlError: The driver cannot draw on a texture, or failed.
        """
        g = gl.gl()
        types = ctypes.c_uint32, ctypes.c_uint32, ctypes.c_int32, ctypes.c_void_p
        clear = gl.direct("glClearNamedFramebufferfv", None, *types)
        with gl.borrowed(), gl.testing_depth():
            if self._held is not mesh.triangles:
                self._triangles.write(np.ascontiguousarray(mesh.triangles, np.uint32))
                self._held = mesh.triangles
            vertices = mesh.vertices
            if not isinstance(vertices, objects.Buffer):
                self._vertices.write(vertices)
                vertices = self._vertices
            objects.bind_storage(0, vertices)
            self._program.use()
            g.glBindFramebuffer(g.GL_DRAW_FRAMEBUFFER, self._framebuffer)
            for view, target in zip(views, targets, strict=True):
                self._attach(target)
                g.glViewport(0, 0, target.width, target.height)
                clear(self._framebuffer, _DEPTH, 0, ctypes.addressof(_NOTHING))
                self._program.set_matrix("world_to_clip", view.projection @ view.world_to_view)
                self._array.draw_indexed(self._triangles, mesh.triangles.size)
            g.glNamedFramebufferTexture(self._framebuffer, g.GL_DEPTH_ATTACHMENT, 0, 0)
        gl.check("depth")

    def release(self) -> None:
        """Delete everything from the GPU."""
        if self._framebuffer:
            gl.gl().glDeleteFramebuffers(1, [self._framebuffer])
            self._framebuffer = 0
        for part in (self._program, self._array, self._vertices, self._triangles):
            part.release()

    def _attach(self, target: TextureTarget) -> None:
        g = gl.gl()
        place = (self._framebuffer, g.GL_DEPTH_ATTACHMENT, target.texture, 0)
        if target.layer is None:
            g.glNamedFramebufferTexture(*place)
        else:
            g.glNamedFramebufferTextureLayer(*place, target.layer)
        state = g.glCheckNamedFramebufferStatus(self._framebuffer, g.GL_DRAW_FRAMEBUFFER)
        if state != g.GL_FRAMEBUFFER_COMPLETE:
            gl.forget_errors()
            raise gl.GlError(f"cannot draw depth on {target} (state {int(state):#x})")


def read_depth(target: TextureTarget) -> NDArray[np.float32]:
    """Wait for the drawing to end and copy a depth texture, for tests.

    Returns:
        float32 [H, W], 0 to 1, row 0 at the top.
    """
    g = gl.gl()
    found = np.empty((target.height, target.width), np.float32)
    g.glGetTextureSubImage(
        target.texture, 0, 0, 0, target.layer or 0, target.width, target.height, 1, g.GL_DEPTH_COMPONENT,
        g.GL_FLOAT, found.nbytes, ctypes.c_void_p(found.ctypes.data),
    )  # fmt: skip
    return found[::-1]


def distance(depth: NDArray[np.floating], near: float, far: float) -> NDArray[np.float64]:
    """How far along the line of sight what is drawn lies.

    Args:
        depth: As drawn, 0 to 1.
        near: Distance of the near plane, metres.
        far: Of the far plane.

    Returns:
        float64, metres; infinity where nothing is.
    """
    rest = 1 - depth.astype(np.float64) * (1 - near / far)
    return np.divide(near, rest, out=np.full(depth.shape, np.inf), where=depth < 1)
