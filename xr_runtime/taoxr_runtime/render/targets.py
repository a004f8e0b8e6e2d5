"""Where finished pictures go: textures and windows that belong to someone else, such as an XR runtime.

Rows count from the bottom there, as OpenGL, OpenXR and windows have it.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Literal

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.camera import MAX_SIZE
from taoxr_runtime.render.canvas import Canvas

_ATTACHMENT = *[ctypes.c_uint32] * 3, ctypes.c_void_p
Encoding = Literal["srgb", "linear"]
"""What a target's consumer takes its colours for.

"srgb": the stored numbers are sRGB-encoded; right for windows and files.
"linear": they are light. Right for RGBA8 and RGBA16F swapchains, whose numbers XR runtimes take for light,
and for SRGB8_ALPHA8, which the driver encodes as it stores: its bytes are then the sRGB-encoded ones again.
RGBA8 has too few steps for dark light (banding): prefer the other two.

With alpha, the encoding is the colour's own, and the product with alpha is taken after it: an SRGB8_ALPHA8
texture then holds encode(alpha * light), as the hardware that blends it expects.
"""


@dataclass(frozen=True, slots=True)
class TextureTarget:
    """A colour texture, or one layer of an array texture; level 0, without multisampling.

    Attributes:
        texture: OpenGL's name of it; it stays its owner's.
        width: Pixels.
        height: Pixels.
        layer: Of a 2D array texture; None for a 2D texture.
        encoding: See ``Encoding``.
        brightness_floor: What black is raised to, sRGB-encoded, 0 to 1, and all between black and white in
            proportion; for displays that add light, on which black is transparent.

    Raises:
        InvalidInputError: A number is out of range.
    """

    texture: int
    width: int
    height: int
    layer: int | None = None
    encoding: Encoding = "srgb"
    brightness_floor: float = 0.0

    def __post_init__(self) -> None:
        _check("texture", self.texture, 1, 2**32 - 1)
        _check("brightness_floor", self.brightness_floor, 0, 1)
        _check_size(self.width, self.height, self.encoding)
        if self.layer is not None:
            _check("layer", self.layer, 0, 2**16)


@dataclass(frozen=True, slots=True)
class WindowTarget:
    """A rectangle of the current window (framebuffer 0).

    Attributes:
        width: Pixels.
        height: Pixels.
        x: Of the lower left corner, pixels from the left.
        y: The same from the bottom.
        encoding: See ``Encoding``.

    Raises:
        InvalidInputError: A number is out of range.
    """

    width: int
    height: int
    x: int = 0
    y: int = 0
    encoding: Encoding = "srgb"

    def __post_init__(self) -> None:
        _check_size(self.width, self.height, self.encoding)
        _check("x", self.x, 0, MAX_SIZE)
        _check("y", self.y, 0, MAX_SIZE)


Target = TextureTarget | WindowTarget


class Presenter:
    """The pass that puts a canvas on a target, converting its colours; needs a current context.

    Raises:
        GlError: The driver refuses a shader.
    """

    def __init__(self) -> None:
        # One for each way to store: software drivers run what a branch leaves out, too.
        self._programs = {
            way: objects.Program(
                "present.vert",
                "present.frag",
                defines={"TO_LIGHT": int(way == "light"), "ENCODED": int(way == "encoded")},
            )
            for way in ("as it is", "light", "encoded")
        }
        self._vertices = objects.VertexArray()
        name = ctypes.c_uint32()
        gl.gl().glCreateFramebuffers(1, ctypes.byref(name))
        self._framebuffer = int(name.value)

    def present(self, canvas: Canvas, target: Target, over: bool = False, opaque: bool = False) -> None:
        """Draw the whole of a target.

        Args:
            canvas: Of the target's size.
            target: What to draw on.
            over: Blend with what is there instead of overwriting it; in light, not sRGB-encoded, on a linear
                target.
            opaque: Whether nothing is seen through the canvas.

        Raises:
            GlError: The driver cannot draw on it.
        """
        g = gl.gl()
        attached = isinstance(target, TextureTarget)
        x, y = (0, 0) if attached else (target.x, target.y)
        if attached:
            self._attach(target.texture, target.layer)
            state = g.glCheckNamedFramebufferStatus(self._framebuffer, g.GL_DRAW_FRAMEBUFFER)
            if state != g.GL_FRAMEBUFFER_COMPLETE:
                gl.forget_errors()
                raise gl.GlError(f"cannot draw on {target} (state {int(state):#x}): is it a colour texture?")
        g.glBindFramebuffer(g.GL_DRAW_FRAMEBUFFER, self._framebuffer if attached else 0)
        g.glViewport(x, y, target.width, target.height)
        linear = target.encoding == "linear"
        way = "light" if linear else "as it is"
        if linear and attached and not over and self._encodes():
            # That costs less than decoding all for the driver to encode it again. Blending is the driver's.
            way = "as it is" if opaque else "encoded"
        gl.encode_srgb_formats(way == "light")
        program = self._programs[way]
        (gl.blend_premultiplied if over else gl.overwrite)()
        canvas.bind_texture()
        program.set_ints("origin", x, y)
        program.set_ints("height", canvas.height)
        program.set("brightness_floor", target.brightness_floor if attached else 0.0)
        program.use()
        self._vertices.draw_triangles()
        if attached:
            self._attach(0, None)  # kept attached, a texture that its owner deletes would live on

    def release(self) -> None:
        """Delete everything from the GPU."""
        if self._framebuffer:
            gl.gl().glDeleteFramebuffers(1, [self._framebuffer])
            self._framebuffer = 0
        self._vertices.release()
        for program in self._programs.values():
            program.release()

    def _encodes(self) -> bool:
        """Whether what is drawn on is stored sRGB-encoded."""
        g = gl.gl()
        found = ctypes.c_int32()
        ask = gl.direct("glGetNamedFramebufferAttachmentParameteriv", None, *_ATTACHMENT)
        ask(
            self._framebuffer,
            int(g.GL_COLOR_ATTACHMENT0),
            int(g.GL_FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING),
            ctypes.addressof(found),
        )
        return found.value == int(g.GL_SRGB)

    def _attach(self, texture: int, layer: int | None) -> None:
        g = gl.gl()
        if layer is None:
            g.glNamedFramebufferTexture(self._framebuffer, g.GL_COLOR_ATTACHMENT0, texture, 0)
        else:
            g.glNamedFramebufferTextureLayer(self._framebuffer, g.GL_COLOR_ATTACHMENT0, texture, 0, layer)


def _check_size(width: int, height: int, encoding: str) -> None:
    _check("width", width, 1, MAX_SIZE)
    _check("height", height, 1, MAX_SIZE)
    if encoding not in ("srgb", "linear"):
        raise InvalidInputError("target.encoding", encoding, '"srgb" or "linear"')


def _check(field: str, value: float, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InvalidInputError(f"target.{field}", value, f"from {low} to {high}")
