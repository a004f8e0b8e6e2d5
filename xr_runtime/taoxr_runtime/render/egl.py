"""An OpenGL 4.5 context without window or display server, through EGL.

Real GPUs first (EGL_EXT_device_enumeration), then Mesa's software driver (EGL_MESA_platform_surfaceless).
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator
from typing import Any

from taoxr.errors import UnavailableError
from taoxr_runtime.render import gl

_SURFACELESS_MESA = 0x31DD
_DEVICE_EXT = 0x313F

# EGL gives every caller the same display for the same device, and terminating it takes all contexts on it
# along: so the last context of a display terminates it.
_lock = threading.Lock()
_users: dict[int, int] = {}


class Context:
    """An OpenGL context, current in the thread that made it; other threads need their own.

    Args:
        told_of_resets: Ask the driver to tell when the GPU is reset (``gl.ContextLostError``), if it can.

    Raises:
        UnavailableError: No driver here gives OpenGL 4.5; says what was tried and what to install.
    """

    def __init__(self, told_of_resets: bool = True) -> None:
        self._egl = gl.load("OpenGL.EGL")
        self._thread = threading.get_ident()
        self._display, self._context = _open(self._egl, told_of_resets)
        self.make_current()

    @property
    def open(self) -> bool:
        """True until ``release``."""
        return self._context is not None

    @property
    def display(self) -> Any:
        """PyOpenGL's ``EGLDisplay``, for XR bindings."""
        return self._display

    @property
    def context(self) -> Any:
        """PyOpenGL's ``EGLContext``; None after ``release``."""
        return self._context

    @property
    def config(self) -> Any:
        """An ``EGLConfig`` for OpenGL: XR bindings ask for one, though the context was made without.

        Raises:
            UnavailableError: The driver lists none.
        """
        egl = self._egl
        wanted = (egl.EGL_RENDERABLE_TYPE, egl.EGL_OPENGL_BIT, egl.EGL_SURFACE_TYPE, egl.EGL_PBUFFER_BIT)
        attributes = (ctypes.c_int * 5)(*(int(number) for number in (*wanted, egl.EGL_NONE)))
        configs, count = (egl.EGLConfig * 1)(), ctypes.c_int()
        if not egl.eglChooseConfig(self._display, attributes, configs, 1, count) or not count.value:
            raise UnavailableError("the EGL driver lists no configuration for OpenGL")
        return configs[0]

    def make_current(self) -> None:
        """Make this the thread's current context.

        Raises:
            RuntimeError: Called from another thread than the context's own, or after ``release``.
        """
        if threading.get_ident() != self._thread:
            raise RuntimeError("a renderer belongs to the thread that made it: make one in each thread")
        if self._context is None:
            raise RuntimeError("the renderer has been closed")
        egl = self._egl
        # Mesa flushes the old context when told to switch, even to the same one: so ask first.
        if _address(egl.eglGetCurrentContext()) != _address(self._context) and not egl.eglMakeCurrent(
            self._display, egl.EGL_NO_SURFACE, egl.EGL_NO_SURFACE, self._context
        ):
            raise gl.GlError(f"eglMakeCurrent failed with {egl.eglGetError():#x}")

    def release(self) -> None:
        """Destroy the context; objects made in it go with it."""
        if self._context is None:
            return
        egl = self._egl
        if _address(egl.eglGetCurrentContext()) == _address(self._context):
            egl.eglMakeCurrent(self._display, egl.EGL_NO_SURFACE, egl.EGL_NO_SURFACE, egl.EGL_NO_CONTEXT)
        egl.eglDestroyContext(self._display, self._context)
        self._context = None
        _close_display(egl, self._display)


def _open(egl: Any, told_of_resets: bool) -> tuple[Any, Any]:
    """Display and context of the first driver that serves."""
    tried: list[str] = []
    for name, platform, native in _candidates(egl):
        # PyOpenGL raises for most refusals of EGL, and returns nothing for a few.
        try:
            display = egl.eglGetPlatformDisplay(platform, native, None)
            if not _open_display(egl, display):
                tried.append(f"{name}: cannot be initialised")
                continue
        except egl.EGLError as error:
            tried.append(f"{name}: {error}")
            continue
        try:
            return display, _create_context(egl, display, told_of_resets)
        except (egl.EGLError, _RefusedError) as error:
            tried.append(f"{name}: {error}")
        _close_display(egl, display)
    raise UnavailableError(
        f"no OpenGL {gl.VERSION[0]}.{gl.VERSION[1]} driver: {'; '.join(tried) or 'EGL lists no device'}; "
        f"install a GPU driver or Mesa's software one: apt-get install {gl.PACKAGES}"
    )


def _candidates(egl: Any) -> Iterator[tuple[str, int, Any]]:
    """Name, platform and native display of each way to a driver, best first."""
    listed: bytes | None = egl.eglQueryString(egl.EGL_NO_DISPLAY, egl.EGL_EXTENSIONS)
    client = (listed or b"").decode().split()
    if "EGL_EXT_device_enumeration" in client or "EGL_EXT_device_base" in client:
        base = gl.load("OpenGL.EGL.EXT.device_base")
        for number, device in enumerate(base.egl_get_devices()):
            about: bytes | None = base.eglQueryDeviceStringEXT(device, egl.EGL_EXTENSIONS)
            if b"EGL_MESA_device_software" not in (about or b""):
                yield f"device {number}", _DEVICE_EXT, device
    if "EGL_MESA_platform_surfaceless" in client:
        yield "Mesa surfaceless", _SURFACELESS_MESA, egl.EGL_DEFAULT_DISPLAY


class _RefusedError(Exception):
    """This driver cannot do it; the next one may."""


def _create_context(egl: Any, display: Any, told_of_resets: bool) -> Any:
    extensions: bytes | None = egl.eglQueryString(display, egl.EGL_EXTENSIONS)
    needed = (b"EGL_KHR_no_config_context", b"EGL_KHR_surfaceless_context")
    if not all(name in (extensions or b"").split() for name in needed):
        raise _RefusedError("cannot draw without a window")
    if not egl.eglBindAPI(egl.EGL_OPENGL_API):
        raise _RefusedError("has OpenGL ES only")
    wanted = {
        egl.EGL_CONTEXT_MAJOR_VERSION: gl.VERSION[0],
        egl.EGL_CONTEXT_MINOR_VERSION: gl.VERSION[1],
        egl.EGL_CONTEXT_OPENGL_PROFILE_MASK: egl.EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
    }
    if told_of_resets:
        told = {egl.EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY: egl.EGL_LOSE_CONTEXT_ON_RESET}
        # A driver that cannot tell may refuse.
        with contextlib.suppress(egl.EGLError, _RefusedError):
            return _create(egl, display, wanted | told)
    return _create(egl, display, wanted)


def _create(egl: Any, display: Any, wanted: dict[Any, Any]) -> Any:
    flat = [int(number) for pair in wanted.items() for number in pair]
    attributes = (ctypes.c_int * (len(flat) + 1))(*flat, int(egl.EGL_NONE))
    context = egl.eglCreateContext(display, None, egl.EGL_NO_CONTEXT, attributes)
    if not _address(context):
        raise _RefusedError(
            f"has no OpenGL {gl.VERSION[0]}.{gl.VERSION[1]} core profile (EGL error {egl.eglGetError():#x})"
        )
    return context


def _open_display(egl: Any, display: Any) -> bool:
    with _lock:
        if not egl.eglInitialize(display, None, None):
            return False
        _users[_address(display)] = _users.get(_address(display), 0) + 1
        return True


def _close_display(egl: Any, display: Any) -> None:
    with _lock:
        address = _address(display)
        _users[address] -= 1
        if not _users[address]:
            del _users[address]
            egl.eglTerminate(display)


def _address(handle: Any) -> int:
    """PyOpenGL's handles are ctypes pointers, which compare by identity: compare addresses instead."""
    if handle is None:
        return 0
    return ctypes.cast(handle, ctypes.c_void_p).value or 0
