"""The textures on which splats are blended: sRGB-encoded, premultiplied, row 0 at the top."""

from __future__ import annotations

import ctypes
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render import gl

CanvasFormat = Literal["rgba8", "rgba16f"]

_FORMATS = {"rgba8": "GL_RGBA8", "rgba16f": "GL_RGBA16F"}


class Canvas:
    """A picture that can be drawn on, filled and read back; row 0 in memory is row 0 of the arrays.

    Args:
        width: Pixels.
        height: Pixels.
        format: "rgba8", or "rgba16f" for finer blending.

    Raises:
        GlError: The driver cannot draw on it.
    """

    def __init__(self, width: int, height: int, format: CanvasFormat) -> None:
        g = gl.gl()
        self.width, self.height = width, height
        texture, framebuffer = ctypes.c_uint32(), ctypes.c_uint32()
        g.glCreateTextures(g.GL_TEXTURE_2D, 1, ctypes.byref(texture))
        self._format = getattr(g, _FORMATS[format])
        g.glTextureStorage2D(texture.value, 1, self._format, width, height)
        g.glCreateFramebuffers(1, ctypes.byref(framebuffer))
        g.glNamedFramebufferTexture(framebuffer.value, g.GL_COLOR_ATTACHMENT0, texture.value, 0)
        self._texture, self._framebuffer = int(texture.value), int(framebuffer.value)
        if g.glCheckNamedFramebufferStatus(self._framebuffer, g.GL_FRAMEBUFFER) != g.GL_FRAMEBUFFER_COMPLETE:
            raise gl.GlError(f"the driver cannot draw on a {width}x{height} {format} picture")

    def bind(self) -> None:
        """Draw on the whole of it from now on."""
        g = gl.gl()
        g.glBindFramebuffer(g.GL_FRAMEBUFFER, self._framebuffer)
        g.glViewport(0, 0, self.width, self.height)

    def bind_image(self, unit: int = 0) -> None:
        """Let compute programs read it as a texture and write it as an image of this number."""
        g = gl.gl()
        self.bind_texture(unit)
        g.glBindImageTexture(unit, self._texture, 0, g.GL_FALSE, 0, g.GL_WRITE_ONLY, self._format)

    def bind_texture(self, unit: int = 0) -> None:
        """Let shaders read it as the texture of this number."""
        gl.gl().glBindTextureUnit(unit, self._texture)

    def clear(self, rgba: tuple[float, float, float, float]) -> None:
        """Fill it with one colour."""
        g = gl.gl()
        g.glClearNamedFramebufferfv(self._framebuffer, g.GL_COLOR, 0, np.array(rgba, np.float32))

    def fill(self, image: NDArray[np.uint8]) -> None:
        """Fill it with a picture, uint8 [H, W, 4]."""
        g = gl.gl()
        rows = np.ascontiguousarray(image)
        pointer = ctypes.c_void_p(rows.ctypes.data)
        g.glTextureSubImage2D(
            self._texture, 0, 0, 0, self.width, self.height, g.GL_RGBA, g.GL_UNSIGNED_BYTE, pointer
        )

    def read(self) -> NDArray[np.uint8]:
        """Wait for the drawing to end and return the picture, uint8 [H, W, 4]."""
        g = gl.gl()
        image = np.empty((self.height, self.width, 4), np.uint8)
        g.glBindFramebuffer(g.GL_READ_FRAMEBUFFER, self._framebuffer)
        pointer = ctypes.c_void_p(image.ctypes.data)
        g.glReadPixels(0, 0, self.width, self.height, g.GL_RGBA, g.GL_UNSIGNED_BYTE, pointer)
        return image

    def release(self) -> None:
        """Delete texture and framebuffer."""
        if self._framebuffer:
            g = gl.gl()
            g.glDeleteFramebuffers(1, [self._framebuffer])
            g.glDeleteTextures([self._texture])
            self._framebuffer = self._texture = 0


class Canvases:
    """A canvas for each view of a frame, kept from frame to frame while the sizes stay.

    Args:
        format: Of all of them.
    """

    def __init__(self, format: CanvasFormat) -> None:
        self._format: CanvasFormat = format
        self._kept: list[Canvas] = []

    def get(self, number: int, width: int, height: int) -> Canvas:
        """The canvas of a view; its contents are undefined.

        Args:
            number: Which view of the frame, from 0 without gaps.
            width: Pixels.
            height: Pixels.
        """
        if number == len(self._kept):
            self._kept.append(Canvas(width, height, self._format))
        kept = self._kept[number]
        if (kept.width, kept.height) != (width, height):
            self._kept[number] = Canvas(width, height, self._format)
            kept.release()
        return self._kept[number]

    def release(self) -> None:
        """Delete them."""
        for canvas in self._kept:
            canvas.release()
        self._kept.clear()
