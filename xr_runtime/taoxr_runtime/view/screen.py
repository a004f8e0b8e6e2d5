"""Draws the avatar and the overlay in the window."""

import ctypes
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import SplatRenderer, TextureTarget, View, WindowTarget, gl
from taoxr_runtime.render.backdrop import backdrop, sees_floor
from taoxr_runtime.render.renderer import Rasterizer
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.render.stereo import Anaglyph, Stereo
from taoxr_runtime.splats import Splats
from taoxr_runtime.view.orbit import Orbit

Picture = NDArray[np.uint8]

SMALLEST: Final = 32
"""Pixels of an eye's picture in each direction, at least."""


class Screen:
    """The window's contents; needs its context at every call.

    Args:
        feet: float64 [K, 3], where the shadow lies; None for no shadow.
        stereo: "sbs" draws the left eye's picture in the left half, the right eye's in the right one;
            "anaglyph" both in one, for red-cyan glasses.
        raster: What draws; see `SplatRenderer`.
    """

    def __init__(
        self, feet: NDArray[np.float64] | None, stereo: Stereo = "off", raster: Rasterizer = "auto"
    ) -> None:
        self._renderer = SplatRenderer(raster)
        self._small = _Small()
        self._backdrop = _Backdrop(feet)
        self._stereo: Stereo = stereo
        self._anaglyph = Anaglyph() if stereo == "anaglyph" else None

    @property
    def description(self) -> str:
        """The driver."""
        return self._renderer.description

    def eye_size(self, width: int, height: int) -> tuple[int, int]:
        """Pixels of one eye's part of a window of a size."""
        return max(width // (2 if self._stereo == "sbs" else 1), SMALLEST), max(height, SMALLEST)

    def draw(
        self,
        splats: Splats | SplatBuffers,
        order: NDArray[np.int32] | None,
        orbit: Orbit,
        size: tuple[int, int],
        scale: float,
        most: int,
        overlay: Picture | None,
    ) -> None:
        """Draws a frame.

        Args:
            splats: The avatar.
            order: Blending order; None sorts here.
            orbit: Where the viewer is.
            size: Pixels of the window.
            scale: Width and height to draw at, as a share of the window's.
            most: How many splats to draw at most.
            overlay: Premultiplied, of `eye_size`; None for none.
        """
        width, height = self.eye_size(*size)
        drawn_width, drawn_height = [max(round(pixels * scale), SMALLEST) for pixels in (width, height)]
        views = (
            [orbit.view(drawn_width, drawn_height)]
            if self._stereo == "off"
            else list(orbit.pair(drawn_width, drawn_height))
        )
        halves = len(views) if self._stereo == "sbs" else 1
        places = [WindowTarget(width, height, x=n * width) for n in range(halves)]
        behind = [self._backdrop.picture(view) for view in views]
        if self._anaglyph is not None:
            eyes = self._small.targets(2, drawn_width, drawn_height)
            self._renderer.draw(splats, views, eyes, behind, order, max_splats=most)
            self._anaglyph.present((eyes[0].texture, eyes[1].texture), places[0])
        elif (drawn_width, drawn_height) == (width, height):
            self._renderer.draw(splats, views, places, behind, order, max_splats=most)
        else:
            targets = self._small.targets(len(views), drawn_width, drawn_height)
            self._renderer.draw(splats, views, targets, behind, order, max_splats=most)
            self._small.spread(places)
        if overlay is not None:
            for place in places:
                self._renderer.paint(overlay, place, over=True)

    def save(self, path: Path, size: tuple[int, int]) -> None:
        """Writes what was drawn last, before it is shown, as a PNG or JPEG.

        Raises:
            InvalidInputError: The file cannot be written.
        """
        g = gl.gl()
        pixels = np.empty((size[1], size[0], 3), np.uint8)
        g.glPixelStorei(g.GL_PACK_ALIGNMENT, 1)
        g.glBindFramebuffer(g.GL_READ_FRAMEBUFFER, 0)
        g.glReadPixels(0, 0, *size, g.GL_RGB, g.GL_UNSIGNED_BYTE, ctypes.c_void_p(pixels.ctypes.data))
        try:
            Image.fromarray(pixels[::-1]).save(path)
        except (OSError, ValueError) as error:
            raise InvalidInputError("--screenshot", str(path), f"a picture to write ({error})") from error

    def close(self) -> None:
        """Gives everything back."""
        self._backdrop.close()
        self._small.release()
        if self._anaglyph is not None:
            self._anaglyph.release()
        self._renderer.close()


class _Small:
    """Smaller pictures that are spread over the window, where a frame would take too long at its size."""

    def __init__(self) -> None:
        self._size = (0, 0)
        self._textures: list[int] = []
        name = ctypes.c_uint32()
        gl.gl().glCreateFramebuffers(1, ctypes.byref(name))
        self._framebuffer = int(name.value)

    def targets(self, count: int, width: int, height: int) -> list[TextureTarget]:
        """Textures to draw on."""
        if (len(self._textures), self._size) != (count, (width, height)):
            self._drop()
            self._textures = [_texture(width, height) for _ in range(count)]
            self._size = (width, height)
        return [TextureTarget(name, width, height) for name in self._textures]

    def spread(self, places: list[WindowTarget]) -> None:
        """Puts each picture in its place in the window."""
        g = gl.gl()
        for name, place in zip(self._textures, places, strict=True):
            g.glNamedFramebufferTexture(self._framebuffer, g.GL_COLOR_ATTACHMENT0, name, 0)
            g.glBlitNamedFramebuffer(
                self._framebuffer, 0, 0, 0, *self._size,
                place.x, place.y, place.x + place.width, place.y + place.height,
                g.GL_COLOR_BUFFER_BIT, g.GL_LINEAR,
            )  # fmt: skip
        g.glNamedFramebufferTexture(self._framebuffer, g.GL_COLOR_ATTACHMENT0, 0, 0)

    def release(self) -> None:
        """Deletes everything."""
        self._drop()
        gl.gl().glDeleteFramebuffers(1, [self._framebuffer])

    def _drop(self) -> None:
        if self._textures:
            gl.gl().glDeleteTextures(self._textures)
        self._textures = []


def _texture(width: int, height: int) -> int:
    g: Any = gl.gl()
    name = ctypes.c_uint32()
    g.glCreateTextures(g.GL_TEXTURE_2D, 1, ctypes.byref(name))
    g.glTextureStorage2D(name.value, 1, g.GL_RGBA8, width, height)
    return int(name.value)


class _Backdrop:
    """The studio, painted on a thread of its own: when the camera moves, the shadow follows a bit later."""

    def __init__(self, feet: NDArray[np.float64] | None) -> None:
        self._feet = feet
        self._painter = ThreadPoolExecutor(1, thread_name_prefix="backdrop")
        self._running: Future[tuple[bytes, Picture]] | None = None
        self._done: tuple[bytes, Picture] | None = None

    def picture(self, view: View) -> Picture:
        """The newest backdrop of the view's size, uint8 [H, W, 4]."""
        feet = self._feet if sees_floor(view) else None
        key = _key(view, feet)
        if self._running is not None and self._running.done():
            self._done, self._running = self._running.result(), None
        if self._done is None or self._done[1].shape[:2] != (view.height, view.width):
            self._done = (_key(view, None), backdrop(view))
        if self._done[0] != key and self._running is None:
            self._running = self._painter.submit(lambda: (key, backdrop(view, feet)))
        return self._done[1]

    def close(self) -> None:
        """Ends the thread."""
        self._painter.shutdown()


def _key(view: View, feet: NDArray[np.float64] | None) -> bytes:
    """What the backdrop depends on."""
    size = f"{view.width}x{view.height}".encode()
    return size if feet is None else size + view.world_to_view.tobytes() + view.projection.tobytes()
