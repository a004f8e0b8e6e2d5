"""A window with OpenGL 4.5: the only importer of ``glfw``."""

import importlib
import os
import re
import sys
from collections import deque
from types import TracebackType
from typing import Any, Final, Self

from taoxr.errors import UnavailableError
from taoxr_runtime.render import gl
from taoxr_runtime.view.events import Dragged, Event, Key, Pressed, Released, Typed, Wheeled

_VERSION: Final = (4, 5)
_NO_DISPLAY: Final = (
    "start it in a desktop session, or set DISPLAY or WAYLAND_DISPLAY; without a display use "
    "`xvfb-run taoxr view`, `taoxr demo` or `taoxr render`"
)


def window_library() -> Any:
    """The module ``glfw``, started; it has no types.

    Raises:
        UnavailableError: It is not installed, or there is no display; says what to do.
    """
    try:
        glfw: Any = importlib.import_module("glfw")
    except ImportError as error:  # also when it finds no library of its own
        raise UnavailableError(
            f"windows need the package `glfw` ({error}): pip install 'taoxr[xr]'"
        ) from error
    glfw.ERROR_REPORTING = "raise"
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise UnavailableError(f"there is no display: {_NO_DISPLAY}")
    try:
        glfw.init()
    except glfw.GLFWError as error:
        raise UnavailableError(f"the display cannot be used ({_text(error)}): {_NO_DISPLAY}") from error
    return glfw


class Window:
    """A window whose OpenGL context is current in the thread that made it; a context manager.

    Args:
        width: Pixels.
        height: Pixels.
        title: Shown above it.
        fullscreen: Whether it covers the screen at first.

    Raises:
        UnavailableError: There is no display, or the driver is too old; says what to do.
    """

    def __init__(self, width: int, height: int, title: str, *, fullscreen: bool = False) -> None:
        # Loads PyOpenGL for the kind of context that is made below.
        gl.gl()
        self._glfw = glfw = window_library()
        self._events: deque[Event] = deque()
        self._pointer: tuple[float, float] | None = None
        self._secondary = False
        for hint, value in (
            (glfw.CONTEXT_VERSION_MAJOR, _VERSION[0]),
            (glfw.CONTEXT_VERSION_MINOR, _VERSION[1]),
            (glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE),
            (glfw.OPENGL_FORWARD_COMPAT, glfw.TRUE),
            (glfw.DEPTH_BITS, 0),
            # So that a reset of the GPU is told; left out by GLFW where the driver cannot.
            (glfw.CONTEXT_ROBUSTNESS, glfw.LOSE_CONTEXT_ON_RESET),
        ):
            glfw.window_hint(hint, value)
        if sys.platform == "linux":
            glfw.window_hint(glfw.CONTEXT_CREATION_API, glfw.EGL_CONTEXT_API)
        try:
            self._window = glfw.create_window(width, height, title, None, None)
        except glfw.GLFWError as error:
            glfw.terminate()
            raise UnavailableError(
                f"no window with OpenGL {_VERSION[0]}.{_VERSION[1]} ({_text(error)}): update the graphics "
                "driver, or draw in software with LIBGL_ALWAYS_SOFTWARE=1 (apt install libgl1-mesa-dri)"
            ) from error
        self._windowed = (*glfw.get_window_pos(self._window), width, height) if _has_position(glfw) else None
        glfw.make_context_current(self._window)
        self._connect()
        if fullscreen:
            self.toggle_fullscreen()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._glfw.destroy_window(self._window)
        self._glfw.terminate()

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels; (0, 0) while it is minimised."""
        width, height = self._glfw.get_framebuffer_size(self._window)
        return int(width), int(height)

    @property
    def closed(self) -> bool:
        """Whether the user closed it."""
        return bool(self._glfw.window_should_close(self._window))

    def poll(self) -> list[Event]:
        """What the user did since the last call."""
        self._glfw.poll_events()
        events = list(self._events)
        self._events.clear()
        return events

    def make_current(self) -> None:
        """Makes its OpenGL context the thread's, after another one was."""
        self._glfw.make_context_current(self._window)

    def swap(self) -> None:
        """Shows what was drawn."""
        self._glfw.swap_buffers(self._window)

    def clipboard(self) -> str:
        """The text in the clipboard; empty when there is none."""
        try:
            return (self._glfw.get_clipboard_string(None) or b"").decode("utf-8", "replace")
        except self._glfw.GLFWError:  # something other than text
            return ""

    def toggle_fullscreen(self) -> None:
        """Covers the screen, or goes back to its size before."""
        glfw, window = self._glfw, self._window
        if glfw.get_window_monitor(window):
            x, y, width, height = self._windowed or (0, 0, 960, 720)
            glfw.set_window_monitor(window, None, x, y, width, height, glfw.DONT_CARE)
            return
        monitor = glfw.get_primary_monitor()
        if not monitor:
            return
        if _has_position(glfw):
            self._windowed = (*glfw.get_window_pos(window), *glfw.get_window_size(window))
        mode = glfw.get_video_mode(monitor)
        glfw.set_window_monitor(window, monitor, 0, 0, mode.size.width, mode.size.height, mode.refresh_rate)

    def _connect(self) -> None:
        glfw, window = self._glfw, self._window
        keys = {
            glfw.KEY_ENTER: Key.ENTER,
            glfw.KEY_KP_ENTER: Key.ENTER,
            glfw.KEY_BACKSPACE: Key.BACKSPACE,
            glfw.KEY_ESCAPE: Key.ESCAPE,
            glfw.KEY_SPACE: Key.SPACE,
            glfw.KEY_TAB: Key.TAB,
            glfw.KEY_HOME: Key.HOME,
            glfw.KEY_F1: Key.F1,
            glfw.KEY_F2: Key.F2,
            glfw.KEY_F3: Key.F3,
            glfw.KEY_F11: Key.F11,
        }

        def on_key(_: Any, code: int, scan: int, action: int, modifiers: int) -> None:
            key = keys.get(code)
            if code == glfw.KEY_V and modifiers & glfw.MOD_CONTROL:
                key = Key.PASTE
            if key is None:
                return
            released = action == glfw.RELEASE
            self._events.append(Released(key) if released else Pressed(key, action == glfw.REPEAT))

        def on_letter(_: Any, code: int) -> None:
            self._events.append(Typed(chr(code)))

        def on_button(_: Any, button: int, action: int, modifiers: int) -> None:
            if action == glfw.PRESS:
                self._secondary = button != glfw.MOUSE_BUTTON_LEFT or bool(modifiers & glfw.MOD_SHIFT)
                self._pointer = glfw.get_cursor_pos(window)
            else:
                self._pointer = None

        def on_move(_: Any, x: float, y: float) -> None:
            if self._pointer is not None:
                height = max(glfw.get_window_size(window)[1], 1)
                right, up = (x - self._pointer[0]) / height, (self._pointer[1] - y) / height
                self._events.append(Dragged(right, up, self._secondary))
                self._pointer = (x, y)

        def on_wheel(_: Any, x: float, y: float) -> None:
            self._events.append(Wheeled(y))

        def on_focus(_: Any, focused: int) -> None:
            # The key that goes up elsewhere is never seen.
            if not focused:
                self._events.append(Released(Key.SPACE))

        glfw.set_key_callback(window, on_key)
        glfw.set_char_callback(window, on_letter)
        glfw.set_mouse_button_callback(window, on_button)
        glfw.set_cursor_pos_callback(window, on_move)
        glfw.set_scroll_callback(window, on_wheel)
        glfw.set_window_focus_callback(window, on_focus)


def _has_position(glfw: Any) -> bool:
    """Whether windows know where they are (on Wayland they do not)."""
    return glfw.get_platform() != glfw.PLATFORM_WAYLAND


def _text(error: Exception) -> str:
    """GLFW's own words, which its package wraps as ``(65550) b'...'``."""
    wrapped = re.fullmatch(r"\(\d+\) b(['\"])(.*)\1", str(error))
    return wrapped[2] if wrapped else str(error)
