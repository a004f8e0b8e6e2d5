"""The textures on which splats are blended: sRGB-encoded, premultiplied, row 0 at the top."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render import gl

CanvasFormat = Literal["rgba8", "rgba16f"]

_FORMATS = {"rgba8": "GL_RGBA8", "rgba16f": "GL_RGBA16F"}


class Layers:
    """Two pictures in one array texture, so that one draw reaches both; see `pair`.

    Args:
        width: Pixels of each.
        height: The same.
        format: As of `Canvas`.

    Raises:
        GlError: The driver cannot draw on it.
    """

    def __init__(self, width: int, height: int, format: CanvasFormat) -> None:
        g = gl.gl()
        self.width, self.height = width, height
        texture = ctypes.c_uint32()
        g.glCreateTextures(g.GL_TEXTURE_2D_ARRAY, 1, ctypes.byref(texture))
        self.texture = int(texture.value)
        g.glTextureStorage3D(self.texture, 1, getattr(g, _FORMATS[format]), width, height, 2)
        self._framebuffer = _framebuffer(self.texture, f"{width}x{height}x2 {format}")

    def bind(self) -> None:
        """Draw on the whole of both from now on; vertices say on which."""
        g = gl.gl()
        g.glBindFramebuffer(g.GL_FRAMEBUFFER, self._framebuffer)
        g.glViewport(0, 0, self.width, self.height)

    def release(self) -> None:
        """Delete texture and framebuffer; canvases that show a layer keep it."""
        if self._framebuffer:
            g = gl.gl()
            g.glDeleteFramebuffers(1, [self._framebuffer])
            g.glDeleteTextures([self.texture])
            self._framebuffer = self.texture = 0


class Canvas:
    """A picture that can be drawn on, filled and read back; row 0 in memory is row 0 of the arrays.

    Args:
        width: Pixels.
        height: Pixels.
        format: "rgba8", or "rgba16f" for finer blending.
        layers: What it is a layer of; None for a texture of its own.
        layer: Which one.

    Raises:
        GlError: The driver cannot draw on it.
    """

    def __init__(
        self, width: int, height: int, format: CanvasFormat, layers: Layers | None = None, layer: int = 0
    ) -> None:
        g = gl.gl()
        self.width, self.height = width, height
        self.layers, self.layer = layers, layer
        self._format = getattr(g, _FORMATS[format])
        texture = ctypes.c_uint32()
        if layers is None:
            g.glCreateTextures(g.GL_TEXTURE_2D, 1, ctypes.byref(texture))
            g.glTextureStorage2D(texture.value, 1, self._format, width, height)
        else:
            g.glGenTextures(1, ctypes.byref(texture))
            g.glTextureView(texture.value, g.GL_TEXTURE_2D, layers.texture, self._format, 0, 1, layer, 1)
        self._texture = int(texture.value)
        self._framebuffer = _framebuffer(self._texture, f"{width}x{height} {format}")

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
            if self.layers is not None:
                self.layers.release()


def pair(width: int, height: int, format: CanvasFormat) -> list[Canvas]:
    """Two canvases that are layers of one texture.

    Raises:
        GlError: The driver cannot draw on it.
    """
    layers = Layers(width, height, format)
    return [Canvas(width, height, format, layers, layer) for layer in range(2)]


class Canvases:
    """A canvas for each view of a frame, kept from frame to frame while the sizes stay.

    Args:
        format: Of all of them.
        paired: Whether two of one size that are asked for at once shall be layers of one texture.
    """

    def __init__(self, format: CanvasFormat, paired: bool = False) -> None:
        self._format: CanvasFormat = format
        self._paired = paired
        self._kept: dict[int, Canvas] = {}

    def get(self, first: int, sizes: Sequence[tuple[int, int]]) -> list[Canvas]:
        """The canvases of views that are drawn at once; their contents are undefined.

        Args:
            first: Which view of the frame the first one is.
            sizes: Width and height of each, in pixels.
        """
        wants_pair = self._paired and len(sizes) == 2 and sizes[0] == sizes[1]
        numbers = range(first, first + len(sizes))
        kept = [self._kept.get(number) for number in numbers]
        if [canvas and (canvas.width, canvas.height) for canvas in kept] != list(sizes) or (
            wants_pair and not one_texture([canvas for canvas in kept if canvas is not None])
        ):
            for canvas in kept:
                if canvas is not None:
                    canvas.release()
            made = (
                pair(*sizes[0], self._format)
                if wants_pair
                else [Canvas(*size, self._format) for size in sizes]
            )
            self._kept.update(zip(numbers, made, strict=True))
        return [self._kept[number] for number in numbers]

    def release(self) -> None:
        """Delete them."""
        for canvas in self._kept.values():
            canvas.release()
        self._kept.clear()


def one_texture(canvases: Sequence[Canvas]) -> Layers | None:
    """The texture of which two canvases are the first and second layer, if they are."""
    if [canvas.layer for canvas in canvases] != [0, 1]:
        return None
    first, second = (canvas.layers for canvas in canvases)
    return first if first is not None and first is second and first.texture else None


def _framebuffer(texture: int, what: str) -> int:
    """Of all layers of a texture."""
    g = gl.gl()
    name = ctypes.c_uint32()
    g.glCreateFramebuffers(1, ctypes.byref(name))
    g.glNamedFramebufferTexture(name.value, g.GL_COLOR_ATTACHMENT0, texture, 0)
    if g.glCheckNamedFramebufferStatus(name.value, g.GL_FRAMEBUFFER) != g.GL_FRAMEBUFFER_COMPLETE:
        raise gl.GlError(f"the driver cannot draw on a {what} picture")
    return int(name.value)
