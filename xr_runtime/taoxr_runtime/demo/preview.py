"""Shows the film in a window while it is made, where there is a display."""

import os
import sys
from types import TracebackType
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from taoxr_runtime.render import WindowTarget
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.targets import Presenter
from taoxr_runtime.view.window import Window

_TITLE: Final = "taoxr demo (filming; close this window and the film is made all the same)"


def has_display() -> bool:
    """Whether the user looks at a desktop."""
    if sys.platform != "linux":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class Preview:
    """A window for pictures; a context manager, for the thread that made it.

    Args:
        width: Pixels.
        height: Pixels.

    Raises:
        UnavailableError: There is no display, or the driver is too old.
    """

    def __init__(self, width: int, height: int) -> None:
        self._window = Window(width, height, _TITLE)
        self._size = self._window.size
        self._canvas = Canvas(*self._size, "rgba8")
        self._presenter = Presenter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._window.make_current()
        self._presenter.release()
        self._canvas.release()
        self._window.__exit__(kind, error, trace)

    def show(self, picture: NDArray[np.uint8]) -> bool:
        """Shows uint8 [H, W, 3 or 4], row 0 at the top.

        Returns:
            False once the user has closed the window.
        """
        self._window.make_current()
        self._window.poll()
        if self._window.closed:
            return False
        image = Image.fromarray(picture).convert("RGBA")
        if image.size != self._size:
            image = image.resize(self._size)
        self._canvas.fill(np.asarray(image))
        self._presenter.present(self._canvas, WindowTarget(*self._size))
        self._window.swap()
        return True
