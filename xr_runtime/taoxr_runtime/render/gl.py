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
import functools
import importlib
import os
import sys
from collections.abc import Callable, Generator
from typing import Any

from taoxr.errors import TaoxrError, UnavailableError

PACKAGES = "libegl1 libopengl0 libgl1-mesa-dri"
"""Debian packages that bring EGL, OpenGL and a software driver."""

VERSION = (4, 5)
"""Of OpenGL, the least that will do."""

_CONTEXT_LOST = 0x0507

MOST_GROUPS = 65_535
"""Workgroups of a dispatch in one row that every driver takes."""

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


class ContextLostError(GlError):
    """The GPU was reset, and everything on it is gone: make a new context, and everything in it anew."""

    def __init__(self) -> None:
        super().__init__("the GPU was reset, by a fault or an update of its driver")


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


@functools.cache
def direct(name: str, result: Any, *types: Any) -> Callable[..., Any]:
    """An OpenGL function without PyOpenGL's conversions, for what a frame calls.

    They cost more than the call, and where a pointer is given PyOpenGL 3.1.10 keeps two objects for good.

    Args:
        name: Of the function.
        result: Of what it returns, as ctypes has it; None for nothing.
        types: Of its arguments.

    Raises:
        UnavailableError: Neither driver nor library has it.
    """
    platform = load("OpenGL.platform").PLATFORM
    address: Any = platform.getExtensionProcedure(name.encode())
    if not address:
        # wglGetProcAddress knows nothing of what OpenGL 1.1 had: that the library has.
        function = getattr(platform.GL, name, None)
        if function is None:
            raise UnavailableError(f"the driver has no {name}: update the graphics driver")
        address = ctypes.cast(function, ctypes.c_void_p).value
    return ctypes.CFUNCTYPE(result, *types)(address)


def check(what: str) -> None:
    """Raise the error that OpenGL holds, if any.

    Args:
        what: What was being done, for the message.

    Raises:
        ContextLostError: The GPU was reset.
        GlError: There was one.
    """
    g = gl()
    code = int(g.glGetError())
    if code:
        if code == _CONTEXT_LOST or _was_reset():
            raise ContextLostError
        names = (
            "INVALID_ENUM",
            "INVALID_VALUE",
            "INVALID_OPERATION",
            "OUT_OF_MEMORY",
            "INVALID_FRAMEBUFFER_OPERATION",
        )
        known = {int(getattr(g, f"GL_{name}")): name for name in names}
        raise GlError(f"{what}: OpenGL reports {known.get(code, hex(code))}; TAOXR_GL_DEBUG=1 shows the call")


def _was_reset() -> bool:
    """Whether the current context's GPU was; False forever where a context was made without being told."""
    return bool(direct("glGetGraphicsResetStatus", ctypes.c_uint32)())


@contextlib.contextmanager
def naming_loss() -> Generator[None]:
    """Turn failures within the block that are due to a reset of the GPU into ``ContextLostError``."""
    try:
        yield
    except ContextLostError:
        raise
    except TaoxrError as error:  # also others, to which the driver no longer answers
        if _was_reset() or int(gl().glGetError()) == _CONTEXT_LOST:
            raise ContextLostError from error
        raise


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


_SOFTWARE = ("llvmpipe", "softpipe", "swiftshader")


def is_software() -> bool:
    """Whether the current context draws on the CPU.

    Raises:
        UnavailableError: As of `describe`.
    """
    about = describe().lower()
    return any(name in about for name in _SOFTWARE)


def dispatch(groups: int, rows: int = 1) -> None:
    """Run the current compute program; what it writes is there for the next command.

    Args:
        groups: Workgroups side by side; no driver has to take more than `MOST_GROUPS`.
        rows: Of so many workgroups.
    """
    g = gl()
    if groups and rows:
        g.glDispatchCompute(groups, rows, 1)
        g.glMemoryBarrier(g.GL_ALL_BARRIER_BITS)


def in_rows(groups: int) -> tuple[int, int]:
    """Groups and rows of a dispatch of at least so many, for shaders that count through all rows."""
    return min(groups, MOST_GROUPS), -(-groups // MOST_GROUPS)


def has_extensions(*names: str) -> bool:
    """Whether the driver has all of these."""
    g = gl()
    present = {g.glGetStringi(g.GL_EXTENSIONS, i).decode() for i in range(_integer(g.GL_NUM_EXTENSIONS))}
    return present.issuperset(names)


def integer(what: int) -> int:
    """A number that the driver holds, by the constant that OpenGL's registry has for it."""
    return _integer(what)


def shared_memory() -> int:
    """Bytes that the invocations of a workgroup can share."""
    return _integer(gl().GL_MAX_COMPUTE_SHARED_MEMORY_SIZE)


def storage_block_bytes() -> int:
    """Bytes of a storage buffer that a shader can see."""
    return _integer(gl().GL_MAX_SHADER_STORAGE_BLOCK_SIZE) & 0xFFFFFFFF


def most_groups() -> int:
    """Workgroups of a dispatch in one row that this driver takes: llvmpipe no more than it must."""
    value = ctypes.c_uint32()  # a limit of 2^32 − 1 has no other place in 32 bits
    ask = direct("glGetIntegeri_v", None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)
    ask(int(gl().GL_MAX_COMPUTE_WORK_GROUP_COUNT), 0, ctypes.addressof(value))
    return value.value


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
    texture and image units 0 and 1 and the indexed storage buffers 0 to 7 are not: nobody counts on these.
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


@contextlib.contextmanager
def testing_depth() -> Generator[None]:
    """Keep what is nearest within the block, which lies in one of `borrowed`."""
    g = gl()
    mask, function = _integer(g.GL_DEPTH_WRITEMASK), _integer(g.GL_DEPTH_FUNC)
    g.glEnable(g.GL_DEPTH_TEST)
    g.glDepthMask(True)
    g.glDepthFunc(g.GL_LESS)
    try:
        yield
    finally:
        g.glDepthMask(bool(mask))
        g.glDepthFunc(function)


@contextlib.contextmanager
def borrowed_for_compute() -> Generator[None]:
    """As `borrowed`, where only compute programs run, which look at nothing but the current program."""
    g = gl()
    program = _integer(g.GL_CURRENT_PROGRAM)
    try:
        yield
    finally:
        g.glUseProgram(program)


def _integer(what: int) -> int:
    return _integers(what, 1)[0]


def _integers(what: int, count: int) -> list[int]:
    values = (ctypes.c_int32 * count)()
    direct("glGetIntegerv", None, ctypes.c_uint32, ctypes.c_void_p)(int(what), ctypes.addressof(values))
    return list(values)


@functools.cache
def writes_overtake() -> bool:
    """Whether writes to buffers may overtake commands, see `objects.Buffer`; asked once per process."""
    return not is_software()


def flush() -> None:
    """See to it that what was asked for begins."""
    gl().glFlush()


def finish() -> None:
    """Wait until everything asked for is done."""
    gl().glFinish()
