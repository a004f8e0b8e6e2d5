"""The only door to PyOpenGL: loads it for EGL and gives types to the few calls that the renderer needs.

PyOpenGL decides at import, for the whole process, how it finds a context and whether it asks for an error
after every call; both are settled here, so nothing else may import ``OpenGL``. Set ``TAOXR_GL_DEBUG=1`` to
check every call.

Everything uses direct state access: making or filling an object binds nothing.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from importlib import resources
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import TaoxrError, UnavailableError

PACKAGES = "libegl1 libopengl0 libgl1-mesa-dri"
"""Debian packages that bring EGL, OpenGL and a software driver."""

_FORMATS = {"rgba8": "GL_RGBA8", "rgba16f": "GL_RGBA16F"}
TargetFormat = Literal["rgba8", "rgba16f"]


class GlError(TaoxrError):
    """OpenGL refused a call or a shader: a fault of ours or of the driver's."""


def load(module: str) -> Any:
    """Import a part of PyOpenGL, set up for EGL.

    Args:
        module: Such as ``OpenGL.GL``.

    Returns:
        The module; PyOpenGL has no types.

    Raises:
        UnavailableError: PyOpenGL or libEGL is not installed, or PyOpenGL is loaded for another platform.
    """
    if "OpenGL" not in sys.modules:
        os.environ["PYOPENGL_PLATFORM"] = "egl"
    try:
        platform: Any = importlib.import_module("OpenGL.platform").PLATFORM
        importlib.import_module("OpenGL.EGL")
        # Asking for an error after every GL call costs more than the calls; render() asks once per frame.
        # Cleared earlier, the public flag breaks the import of OpenGL.EGL (PyOpenGL 3.1.10): hence its copy.
        flags: Any = importlib.import_module("OpenGL._configflags")
        flags.ERROR_CHECKING = os.environ.get("TAOXR_GL_DEBUG", "") == "1"
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise UnavailableError("PyOpenGL is not installed: pip install 'taoxr[xr]'") from error
    except (ImportError, OSError, AttributeError) as error:
        # PyOpenGL reports a missing shared library by any of these, depending on which one it is.
        raise UnavailableError(f"OpenGL cannot be loaded ({error}): apt-get install {PACKAGES}") from error
    if type(platform).__name__ != "EGLPlatform":
        raise UnavailableError(
            f"PyOpenGL was loaded for {type(platform).__name__} before the renderer: import "
            "taoxr_runtime.render first, or set PYOPENGL_PLATFORM=egl"
        )
    return loaded


_loaded: Any = None


def gl() -> Any:
    """OpenGL's functions and constants, loaded at the first use."""
    global _loaded
    if _loaded is None:
        _loaded = load("OpenGL.GL")
    return _loaded


def check(what: str) -> None:
    """Raise the error that OpenGL holds, if any.

    Args:
        what: What was being done, for the message.

    Raises:
        GlError: There was one.
    """
    g = gl()
    code = int(g.glGetError())
    if code:
        names = (
            "INVALID_ENUM",
            "INVALID_VALUE",
            "INVALID_OPERATION",
            "OUT_OF_MEMORY",
            "INVALID_FRAMEBUFFER_OPERATION",
        )
        known = {int(getattr(g, f"GL_{name}")): name for name in names}
        raise GlError(f"{what}: OpenGL reports {known.get(code, hex(code))}; TAOXR_GL_DEBUG=1 shows the call")


def describe() -> str:
    """Renderer and version of the current context, such as "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5"."""
    g = gl()
    return f"{g.glGetString(g.GL_RENDERER).decode()}, OpenGL {g.glGetString(g.GL_VERSION).decode()}"


def dispatch(groups: int) -> None:
    """Run the current compute program; what it writes is there for the next command."""
    g = gl()
    if groups:
        g.glDispatchCompute(groups, 1, 1)
        g.glMemoryBarrier(g.GL_ALL_BARRIER_BITS)


def blend_premultiplied() -> None:
    """Draw over what is there with colours already multiplied by their alpha, and leave them as encoded."""
    g = gl()
    g.glEnable(g.GL_BLEND)
    g.glBlendFunc(g.GL_ONE, g.GL_ONE_MINUS_SRC_ALPHA)
    for state in (g.GL_DEPTH_TEST, g.GL_CULL_FACE, g.GL_SCISSOR_TEST, g.GL_DITHER, g.GL_FRAMEBUFFER_SRGB):
        g.glDisable(state)


def finish() -> None:
    """Wait until everything asked for is done."""
    gl().glFinish()


class VertexArray:
    """A vertex array without attributes: the shader finds its data by instance."""

    def __init__(self) -> None:
        name = ctypes.c_uint32()
        gl().glCreateVertexArrays(1, ctypes.byref(name))
        self._name = int(name.value)

    def draw_triangles(self, instances: int) -> None:
        """Draw one triangle for each instance with the current program."""
        g = gl()
        if instances:
            g.glBindVertexArray(self._name)
            g.glDrawArraysInstanced(g.GL_TRIANGLES, 0, 3, instances)

    def release(self) -> None:
        """Delete it."""
        if self._name:
            gl().glDeleteVertexArrays(1, [self._name])
            self._name = 0


class Buffer:
    """A buffer object that grows as needed; its contents are undefined until written."""

    def __init__(self) -> None:
        self._name = 0
        self.size = 0

    def reserve(self, size: int) -> None:
        """Make room for ``size`` bytes; growing loses the contents."""
        if size > self.size:
            self.release()
            g = gl()
            name = ctypes.c_uint32()
            g.glCreateBuffers(1, ctypes.byref(name))
            self._name, self.size = int(name.value), size
            g.glNamedBufferStorage(self._name, size, None, g.GL_DYNAMIC_STORAGE_BIT)

    def write(self, data: NDArray[Any]) -> None:
        """Replace the first ``data.nbytes`` bytes."""
        self.reserve(max(data.nbytes, 16))
        contiguous = np.ascontiguousarray(data)
        gl().glNamedBufferSubData(self._name, 0, contiguous.nbytes, ctypes.c_void_p(contiguous.ctypes.data))

    def read(self, data: NDArray[Any]) -> None:
        """Wait for what was asked for and copy the first ``data.nbytes`` bytes into a contiguous array."""
        gl().glGetNamedBufferSubData(self._name, 0, data.nbytes, ctypes.c_void_p(data.ctypes.data))

    def bind_storage(self, binding: int) -> None:
        """Bind as the shader storage buffer of this number."""
        g = gl()
        g.glBindBufferBase(g.GL_SHADER_STORAGE_BUFFER, binding, self._name)

    def release(self) -> None:
        """Delete the buffer object."""
        if self._name:
            gl().glDeleteBuffers(1, [self._name])
            self._name = self.size = 0


class Program:
    """A linked program, from files in ``render/shaders``.

    Raises:
        GlError: A shader does not compile or link; holds the driver's log.
    """

    def __init__(self, *files: str) -> None:
        g = gl()
        kinds = {
            "vert": g.GL_VERTEX_SHADER,
            "frag": g.GL_FRAGMENT_SHADER,
            "comp": g.GL_COMPUTE_SHADER,
        }
        self._name = int(g.glCreateProgram())
        self._uniforms: dict[str, int] = {}
        shaders: list[int] = []
        folder = resources.files("taoxr_runtime.render") / "shaders"
        for file in files:
            shader = int(g.glCreateShader(kinds[file.rsplit(".", 1)[1]]))
            g.glShaderSource(shader, (folder / file).read_text(encoding="utf-8"))
            g.glCompileShader(shader)
            if not g.glGetShaderiv(shader, g.GL_COMPILE_STATUS):
                raise GlError(f"shader {file}: {_text(g.glGetShaderInfoLog(shader))}")
            g.glAttachShader(self._name, shader)
            shaders.append(shader)
        g.glLinkProgram(self._name)
        if not g.glGetProgramiv(self._name, g.GL_LINK_STATUS):
            raise GlError(f"program {' + '.join(files)}: {_text(g.glGetProgramInfoLog(self._name))}")
        for shader in shaders:
            g.glDetachShader(self._name, shader)
            g.glDeleteShader(shader)

    def use(self) -> None:
        """Make it the current program."""
        gl().glUseProgram(self._name)

    def set(self, uniform: str, *values: float) -> None:
        """Set a float, vec2, vec3 or vec4 by 1 to 4 numbers."""
        function = getattr(gl(), f"glProgramUniform{len(values)}f")
        function(self._name, self._location(uniform), *values)

    def set_uint(self, uniform: str, value: int) -> None:
        """Set an unsigned integer."""
        gl().glProgramUniform1ui(self._name, self._location(uniform), value)

    def set_matrix(self, uniform: str, matrix: NDArray[np.float64]) -> None:
        """Set a mat4 from a row-major array [4, 4]."""
        rows = np.ascontiguousarray(matrix, np.float32)
        g = gl()
        g.glProgramUniformMatrix4fv(self._name, self._location(uniform), 1, g.GL_TRUE, rows)

    def release(self) -> None:
        """Delete the program."""
        if self._name:
            gl().glDeleteProgram(self._name)
            self._name = 0

    def _location(self, uniform: str) -> int:
        if uniform not in self._uniforms:
            self._uniforms[uniform] = int(gl().glGetUniformLocation(self._name, uniform))
        return self._uniforms[uniform]


class Target:
    """A picture that can be drawn on, filled and read back; row 0 in memory is row 0 of the arrays.

    Args:
        width: Pixels.
        height: Pixels.
        format: "rgba8", or "rgba16f" for finer blending.

    Raises:
        GlError: The driver cannot draw on it.
    """

    def __init__(self, width: int, height: int, format: TargetFormat) -> None:
        g = gl()
        self.width, self.height = width, height
        texture, framebuffer = ctypes.c_uint32(), ctypes.c_uint32()
        g.glCreateTextures(g.GL_TEXTURE_2D, 1, ctypes.byref(texture))
        self._format = getattr(g, _FORMATS[format])
        g.glTextureStorage2D(texture.value, 1, self._format, width, height)
        g.glCreateFramebuffers(1, ctypes.byref(framebuffer))
        g.glNamedFramebufferTexture(framebuffer.value, g.GL_COLOR_ATTACHMENT0, texture.value, 0)
        self._texture, self._framebuffer = int(texture.value), int(framebuffer.value)
        if g.glCheckNamedFramebufferStatus(self._framebuffer, g.GL_FRAMEBUFFER) != g.GL_FRAMEBUFFER_COMPLETE:
            raise GlError(f"the driver cannot draw on a {width}x{height} {format} picture")

    def bind(self) -> None:
        """Draw on the whole of it from now on."""
        g = gl()
        g.glBindFramebuffer(g.GL_FRAMEBUFFER, self._framebuffer)
        g.glViewport(0, 0, self.width, self.height)

    def bind_image(self) -> None:
        """Let compute programs read it as texture 0 and write it as image 0."""
        g = gl()
        g.glBindTextureUnit(0, self._texture)
        g.glBindImageTexture(0, self._texture, 0, g.GL_FALSE, 0, g.GL_WRITE_ONLY, self._format)

    def clear(self, rgba: tuple[float, float, float, float]) -> None:
        """Fill it with one colour."""
        g = gl()
        g.glClearNamedFramebufferfv(self._framebuffer, g.GL_COLOR, 0, np.array(rgba, np.float32))

    def fill(self, image: NDArray[np.uint8]) -> None:
        """Fill it with a picture, uint8 [H, W, 4]."""
        g = gl()
        rows = np.ascontiguousarray(image)
        pointer = ctypes.c_void_p(rows.ctypes.data)
        g.glTextureSubImage2D(
            self._texture, 0, 0, 0, self.width, self.height, g.GL_RGBA, g.GL_UNSIGNED_BYTE, pointer
        )

    def read(self) -> NDArray[np.uint8]:
        """Wait for the drawing to end and return the picture, uint8 [H, W, 4]."""
        g = gl()
        image = np.empty((self.height, self.width, 4), np.uint8)
        g.glBindFramebuffer(g.GL_READ_FRAMEBUFFER, self._framebuffer)
        pointer = ctypes.c_void_p(image.ctypes.data)
        g.glReadPixels(0, 0, self.width, self.height, g.GL_RGBA, g.GL_UNSIGNED_BYTE, pointer)
        return image

    def release(self) -> None:
        """Delete texture and framebuffer."""
        if self._framebuffer:
            g = gl()
            g.glDeleteFramebuffers(1, [self._framebuffer])
            g.glDeleteTextures([self._texture])
            self._framebuffer = self._texture = 0


def _text(log: bytes | str) -> str:
    return (log.decode(errors="replace") if isinstance(log, bytes) else log).strip()
