"""The only door to PyOpenGL: loads it and gives types to the few calls that the renderer needs.

PyOpenGL decides at import, for the whole process, how it finds a context and whether it asks for an error
after every call; both are settled here, so nothing else may import ``OpenGL``. On Linux it is loaded for EGL;
its functions then serve GLX contexts too, for both get them from libglvnd. Set ``TAOXR_GL_DEBUG=1`` to check
every call.

Everything uses direct state access: making or filling an object binds nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import sys
from collections.abc import Generator
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import TaoxrError, UnavailableError

PACKAGES = "libegl1 libopengl0 libgl1-mesa-dri"
"""Debian packages that bring EGL, OpenGL and a software driver."""

VERSION = (4, 5)
"""Of OpenGL, the least that will do."""

_ONCE_EXTENSIONS = {
    f"GL_ARB_{name}" for name in ("compute_shader", "separate_shader_objects", "shader_image_load_store")
}
_SWITCHES = (
    "GL_BLEND",
    "GL_COLOR_LOGIC_OP",
    "GL_CULL_FACE",
    "GL_DEPTH_TEST",
    "GL_DITHER",
    "GL_FRAMEBUFFER_SRGB",
    "GL_RASTERIZER_DISCARD",
    "GL_SAMPLE_ALPHA_TO_COVERAGE",
    "GL_SCISSOR_TEST",
    "GL_STENCIL_TEST",
)


class GlError(TaoxrError):
    """OpenGL refused a call or a shader: a fault of ours or of the driver's."""


def load(module: str) -> Any:
    """Import a part of PyOpenGL.

    Args:
        module: Such as ``OpenGL.GL``; with ``OpenGL.EGL`` PyOpenGL must work through EGL.

    Returns:
        The module; PyOpenGL has no types.

    Raises:
        UnavailableError: PyOpenGL or a library is not installed, or PyOpenGL is loaded for another platform.
    """
    if "OpenGL" not in sys.modules and sys.platform == "linux":
        os.environ["PYOPENGL_PLATFORM"] = "egl"
    try:
        platform: Any = importlib.import_module("OpenGL.platform").PLATFORM
        through_egl = type(platform).__name__ == "EGLPlatform"
        if through_egl:
            importlib.import_module("OpenGL.EGL")
            _know_extensions(platform)
        elif module.startswith("OpenGL.EGL"):
            raise UnavailableError(
                f"PyOpenGL was loaded for {type(platform).__name__} before the renderer: import "
                "taoxr_runtime.render first, or set PYOPENGL_PLATFORM=egl"
            )
        # Asking for an error after every GL call costs more than the calls; draw() asks once per frame.
        # Cleared earlier, the public flag breaks the import of OpenGL.EGL (PyOpenGL 3.1.10): hence its copy.
        flags: Any = importlib.import_module("OpenGL._configflags")
        flags.ERROR_CHECKING = os.environ.get("TAOXR_GL_DEBUG", "") == "1"
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise UnavailableError("PyOpenGL is not installed: pip install 'taoxr[xr]'") from error
    except (ImportError, OSError, AttributeError) as error:
        # PyOpenGL reports a missing shared library by any of these, depending on which one it is.
        raise UnavailableError(f"OpenGL cannot be loaded ({error}): apt-get install {PACKAGES}") from error


def _know_extensions(platform: Any) -> None:
    """Let PyOpenGL find functions that were extensions once, which it asks the EGL context for.

    Where GLX made the context there is no EGL context to ask; but every OpenGL 4.5 has these.
    """
    kind = platform.__class__

    def check_extension(name: str) -> bool:
        return name in _ONCE_EXTENSIONS or bool(kind.checkExtension(platform, name))

    platform.checkExtension = check_extension


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


def forget_errors() -> None:
    """Clear the errors that OpenGL holds, when they have been reported otherwise."""
    for _ in range(16):  # a lost context reports without end
        if not gl().glGetError():
            return


def describe() -> str:
    """Renderer and version of the current context, such as "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5".

    Raises:
        UnavailableError: No context is current in this thread, or it is older than OpenGL 4.5.
    """
    g = gl()
    name: bytes | None = g.glGetString(g.GL_RENDERER)
    if not name:
        raise UnavailableError("no OpenGL context is current in this thread: make one current before")
    about = f"{name.decode()}, OpenGL {g.glGetString(g.GL_VERSION).decode()}"
    if (_integer(g.GL_MAJOR_VERSION), _integer(g.GL_MINOR_VERSION)) < VERSION:
        needed = ".".join(map(str, VERSION))
        raise UnavailableError(f"{about} is too old: make a context of OpenGL {needed} or later")
    return about


def dispatch(groups: int) -> None:
    """Run the current compute program; what it writes is there for the next command."""
    g = gl()
    if groups:
        g.glDispatchCompute(groups, 1, 1)
        g.glMemoryBarrier(g.GL_ALL_BARRIER_BITS)


def blend_premultiplied() -> None:
    """Draw over what is there with colours already multiplied by their alpha."""
    g = gl()
    g.glEnable(g.GL_BLEND)
    g.glBlendFunc(g.GL_ONE, g.GL_ONE_MINUS_SRC_ALPHA)
    g.glBlendEquation(g.GL_FUNC_ADD)


def overwrite() -> None:
    """Draw without blending."""
    g = gl()
    g.glDisable(g.GL_BLEND)


def encode_srgb_formats(on: bool) -> None:
    """Whether the driver encodes what goes to an sRGB format; others take the values as they are anyway."""
    g = gl()
    (g.glEnable if on else g.glDisable)(g.GL_FRAMEBUFFER_SRGB)


@contextlib.contextmanager
def borrowed() -> Generator[None]:
    """Give someone else's context known state within the block, and its own state back after.

    Kept are framebuffers, viewport, program, vertex array, blending, colour mask and the switches below;
    texture unit 0, image unit 0 and the indexed storage buffers 0 to 7 are not, for nobody counts on these.
    """
    g = gl()
    switches = [(switch, bool(g.glIsEnabled(switch))) for switch in (getattr(g, name) for name in _SWITCHES)]
    draw, read = _integer(g.GL_DRAW_FRAMEBUFFER_BINDING), _integer(g.GL_READ_FRAMEBUFFER_BINDING)
    program, vertices = _integer(g.GL_CURRENT_PROGRAM), _integer(g.GL_VERTEX_ARRAY_BINDING)
    viewport, mask = _integers(g.GL_VIEWPORT, 4), _integers(g.GL_COLOR_WRITEMASK, 4)
    factors = [
        _integer(factor)
        for factor in (g.GL_BLEND_SRC_RGB, g.GL_BLEND_DST_RGB, g.GL_BLEND_SRC_ALPHA, g.GL_BLEND_DST_ALPHA)
    ]
    equations = _integer(g.GL_BLEND_EQUATION_RGB), _integer(g.GL_BLEND_EQUATION_ALPHA)
    for switch, on in switches:
        if on:
            g.glDisable(switch)
    g.glColorMask(True, True, True, True)
    try:
        yield
    finally:
        for switch, on in switches:
            (g.glEnable if on else g.glDisable)(switch)
        g.glBindFramebuffer(g.GL_DRAW_FRAMEBUFFER, draw)
        g.glBindFramebuffer(g.GL_READ_FRAMEBUFFER, read)
        g.glUseProgram(program)
        g.glBindVertexArray(vertices)
        g.glViewport(*viewport)
        g.glColorMask(*map(bool, mask))
        g.glBlendFuncSeparate(*factors)
        g.glBlendEquationSeparate(*equations)


def _integer(what: int) -> int:
    return _integers(what, 1)[0]


def _integers(what: int, count: int) -> list[int]:
    values = (ctypes.c_int32 * count)()
    gl().glGetIntegerv(what, values)
    return list(values)


def finish() -> None:
    """Wait until everything asked for is done."""
    gl().glFinish()


class VertexArray:
    """A vertex array without attributes: the shader finds its data by instance."""

    def __init__(self) -> None:
        name = ctypes.c_uint32()
        gl().glCreateVertexArrays(1, ctypes.byref(name))
        self._name = int(name.value)

    def draw_triangles(self, instances: int = 1) -> None:
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

    def read(self, data: NDArray[Any], offset: int = 0) -> None:
        """Wait for what was asked for and fill a contiguous array with what lies from byte ``offset`` on."""
        gl().glGetNamedBufferSubData(self._name, offset, data.nbytes, ctypes.c_void_p(data.ctypes.data))

    def bind_storage(self, binding: int, offset: int = 0, size: int | None = None) -> None:
        """Bind as the shader storage buffer of this number: ``size`` bytes from a multiple of 256 on."""
        g = gl()
        size = self.size - offset if size is None else size
        g.glBindBufferRange(g.GL_SHADER_STORAGE_BUFFER, binding, self._name, offset, size)

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

    def set_ints(self, uniform: str, *values: int) -> None:
        """Set an int or ivec2."""
        function = getattr(gl(), f"glProgramUniform{len(values)}i")
        function(self._name, self._location(uniform), *values)

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


def _text(log: bytes | str) -> str:
    return (log.decode(errors="replace") if isinstance(log, bytes) else log).strip()
