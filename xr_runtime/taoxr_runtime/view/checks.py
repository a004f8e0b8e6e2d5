"""Check of the display for ``taoxr doctor``."""

import importlib
import os
import sys
from collections.abc import Iterator
from typing import Any, Final

from taoxr.doctor import Entry, fail, ok, warn

_VARIABLES: Final = ("WAYLAND_DISPLAY", "DISPLAY")
_NAME: Final = "display"


def checks() -> Iterator[Entry]:
    """A window with OpenGL 4.5 can be opened, as ``taoxr view`` needs it."""
    found = [f"{name}={os.environ[name]}" for name in _VARIABLES if os.environ.get(name)]
    if sys.platform == "linux" and not found:
        hint = "taoxr view needs a desktop, or xvfb-run; taoxr demo and taoxr render work without"
        yield warn(_NAME, f"none: neither {' nor '.join(_VARIABLES)} is set", hint)
        return
    where = ", ".join(found) or sys.platform
    try:
        glfw: Any = importlib.import_module("glfw")
    except ImportError as error:
        # The package raises ImportError as well when it finds no library.
        yield warn(_NAME, f"{where}; glfw does not load: {error}", "pip install 'taoxr[xr]'")
        return
    glfw.ERROR_REPORTING = "raise"
    try:
        yield ok(_NAME, f"{where}; {_window(glfw)}")
    except glfw.GLFWError as error:
        hint = "run it in a desktop session, or correct the variable; for drivers see OpenGL in this report"
        text = error.args[0] if error.args else error
        yield fail(_NAME, f"{where}; no window: {text}", hint)


def _window(glfw: Any) -> str:
    """Opens and closes a hidden window; the process's end frees the rest."""
    glfw.init()
    mode = glfw.get_video_mode(glfw.get_primary_monitor())
    for hint, value in (
        (glfw.VISIBLE, glfw.FALSE),
        (glfw.CONTEXT_VERSION_MAJOR, 4),
        (glfw.CONTEXT_VERSION_MINOR, 5),
        (glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE),
    ):
        glfw.window_hint(hint, value)
    window = glfw.create_window(64, 64, "taoxr doctor", None, None)
    major = glfw.get_window_attrib(window, glfw.CONTEXT_VERSION_MAJOR)
    minor = glfw.get_window_attrib(window, glfw.CONTEXT_VERSION_MINOR)
    glfw.destroy_window(window)
    rate = f" at {mode.refresh_rate} Hz" if mode.refresh_rate else ""  # virtual displays tell none
    return f"{mode.size.width}x{mode.size.height}{rate}, windows with OpenGL {major}.{minor}"
