"""How OpenXR gets at our OpenGL context: EGL without a window, GLX with a hidden window, WGL on Windows."""

from __future__ import annotations

import ctypes
import importlib
import sys
from typing import Any, Literal, Protocol

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime.render import egl, gl
from taoxr_runtime.xr import api

BindingName = Literal["auto", "egl", "glx", "wgl"]

EGL_EXTENSION = "XR_MNDX_egl_enable"


class Binding(Protocol):
    """A current OpenGL context, and what OpenXR must know of it.

    Attributes:
        name: "egl", "glx" or "wgl".
        extensions: OpenXR extensions that it needs.
    """

    name: str
    extensions: tuple[str, ...]

    def structure(self) -> Any:
        """What goes behind ``XrSessionCreateInfo``; the binding outlives the session."""
        ...

    def close(self) -> None:
        """Destroy the context."""
        ...


def open_binding(name: BindingName, runtime_extensions: set[str]) -> Binding:
    """Make a context that the runtime can use and make it current in this thread.

    Args:
        name: "auto" takes WGL on Windows, EGL where the runtime knows it, else GLX.
        runtime_extensions: What the runtime offers.

    Raises:
        InvalidInputError: The binding does not exist on this system.
        UnavailableError: The runtime or the driver lacks what it needs; says what to do.
    """
    windows = sys.platform == "win32"
    if name == "auto":
        name = "wgl" if windows else "egl" if EGL_EXTENSION in runtime_extensions else "glx"
    elif (name == "wgl") != windows:
        raise InvalidInputError("binding", name, "wgl on Windows, egl or glx on Linux, or auto")
    if name == "egl" and EGL_EXTENSION not in runtime_extensions:
        raise UnavailableError(f"the OpenXR runtime lacks {EGL_EXTENSION}: use --binding glx")
    return EglBinding() if name == "egl" else WindowBinding(name)


class EglBinding:
    """EGL without window or display server, for runtimes with XR_MNDX_egl_enable (Monado)."""

    name = "egl"
    extensions: tuple[str, ...] = (EGL_EXTENSION,)

    def __init__(self) -> None:
        # Monado shares objects with the context, and EGL refuses that when only one of two is told of resets.
        self._context = egl.Context(told_of_resets=False)
        self._library = ctypes.CDLL("libEGL.so.1")

    def structure(self) -> Any:
        """An ``XrGraphicsBindingEGLMNDX``."""
        xr = api.xr()
        function = ctypes.cast(self._library.eglGetProcAddress, xr.PFN_xrEglGetProcAddressMNDX)
        context = self._context
        return xr.GraphicsBindingEGLMNDX(
            get_proc_address=function, display=context.display, config=context.config, context=context.context
        )

    def close(self) -> None:
        """Destroy the context."""
        self._context.release()


class WindowBinding:
    """GLX or WGL with the context of a window that is never shown.

    Raises:
        UnavailableError: No display, no driver, or no GLFW.
    """

    extensions: tuple[str, ...] = ()

    def __init__(self, name: Literal["glx", "wgl"]) -> None:
        self.name: str = name
        try:
            glfw: Any = importlib.import_module("glfw")
        except ImportError as error:
            raise UnavailableError(f"GLFW cannot be loaded ({error}): pip install 'taoxr[xr]'") from error
        self._glfw = glfw
        glfw.ERROR_REPORTING = False
        if hasattr(glfw, "PLATFORM") and name == "glx":
            glfw.init_hint(glfw.PLATFORM, glfw.PLATFORM_X11)
        if not glfw.init():
            raise UnavailableError(f"no window can be made ({self._reason()}): set DISPLAY to an X server")
        glfw.window_hint(glfw.VISIBLE, False)
        glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, gl.VERSION[0])
        glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, gl.VERSION[1])
        glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
        self._window = glfw.create_window(64, 64, "taoxr", None, None)
        if not self._window:
            reason = self._reason()
            glfw.terminate()
            raise UnavailableError(
                f"no OpenGL {'.'.join(map(str, gl.VERSION))} ({reason}): update the graphics driver"
            )
        glfw.make_context_current(self._window)

    def structure(self) -> Any:
        """An ``XrGraphicsBindingOpenGLXlibKHR`` or ``XrGraphicsBindingOpenGLWin32KHR``."""
        return _glx(self._glfw, self._window) if self.name == "glx" else _wgl(self._glfw, self._window)

    def close(self) -> None:
        """Destroy context and window."""
        self._glfw.destroy_window(self._window)
        self._glfw.terminate()

    def _reason(self) -> str:
        code, text = self._glfw.get_error()
        return text.decode(errors="replace") if isinstance(text, bytes) else str(text or code)


def _glx(glfw: Any, window: Any) -> Any:
    """The handles of a GLX context.

    Monado takes zero for the visual and the configuration; SteamVR reads both, so they are looked up.
    """
    xr = api.xr()
    x11, glx = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libGL.so.1")
    display = ctypes.cast(glfw.get_x11_display(), ctypes.c_void_p)
    context = ctypes.cast(glfw.get_glx_context(window), ctypes.c_void_p)
    number = ctypes.c_int()
    glx.glXQueryContext(display, context, 0x8013, ctypes.byref(number))  # GLX_FBCONFIG_ID
    glx.glXChooseFBConfig.restype = ctypes.POINTER(ctypes.c_void_p)
    wanted = (ctypes.c_int * 3)(0x8013, number.value, 0)
    count = ctypes.c_int()
    configurations = glx.glXChooseFBConfig(display, x11.XDefaultScreen(display), wanted, ctypes.byref(count))
    if not count.value:
        raise UnavailableError("the driver hides the configuration of its GLX context: use --binding egl")
    configuration = ctypes.c_void_p(configurations[0])
    visual = ctypes.c_int()
    glx.glXGetFBConfigAttrib(display, configuration, 0x800B, ctypes.byref(visual))  # GLX_VISUAL_ID
    x11.XFree(configurations)
    binding = xr.GraphicsBindingOpenGLXlibKHR()
    types = dict(binding._fields_)
    for field, value in {
        "x_display": display,
        "glx_fbconfig": configuration,
        "glx_context": context,
    }.items():
        setattr(binding, field, ctypes.cast(value, types[field]))
    binding.visualid = visual.value
    binding.glx_drawable = glfw.get_glx_window(window)
    return binding


def _wgl(glfw: Any, window: Any) -> Any:
    """The handles of a WGL context; current in this thread."""
    opengl = ctypes.CDLL("opengl32")
    opengl.wglGetCurrentDC.restype = ctypes.c_void_p
    return api.xr().GraphicsBindingOpenGLWin32KHR(
        h_dc=opengl.wglGetCurrentDC(), h_glrc=glfw.get_wgl_context(window)
    )
