"""Words over the picture: state, latency, captions and the line being typed."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from taoxr_runtime.demo.captions import AVATAR_SRGB, USER_SRGB, font, plain, wrap

Picture = NDArray[np.uint8]

_INK: Final = (250, 250, 250, 255)
_FAINT: Final = (40, 48, 62, 200)
_ALARM: Final = (255, 190, 150, 255)
_PAPER: Final = (14, 18, 26, 176)
_HEARD: Final = (46, 125, 80, 255)
_CLIPPED: Final = (200, 40, 30, 255)
_LOUD: Final = 0.97
_METER_SIZES: Final = 6
_CAPTION_LINES: Final = 3


class Words(NamedTuple):
    """What is written over the picture.

    Attributes:
        state: What the avatar is doing, top left.
        figures: Lines of figures, top right.
        user: What the user said.
        avatar: The answer as far as it was heard.
        line: The foot: what is being typed, or how to begin.
        typing: Whether ``line`` was typed.
        notice: Something the user should know.
        level: How loud the microphone is, 0 to 1, where 1 is full scale; None: it is not open.
    """

    state: str = ""
    figures: tuple[str, ...] = ()
    user: str = ""
    avatar: str = ""
    line: str = ""
    typing: bool = False
    notice: str = ""
    level: float | None = None


class Overlay:
    """Paints words on a thread of its own, as setting type takes longer than a frame may."""

    def __init__(self) -> None:
        self._painter = ThreadPoolExecutor(1, thread_name_prefix="overlay")
        self._running: Future[Picture] | None = None
        self._wanted: tuple[Words, int, int] | None = None
        self._done: tuple[Words, int, int] | None = None
        self._picture: Picture | None = None

    def picture(self, words: Words, width: int, height: int, *, wait: bool = False) -> Picture | None:
        """The newest picture of this size: of these words, or (without ``wait``) of those before.

        Returns:
            uint8 [height, width, 4], premultiplied; None when there is none yet.
        """
        wanted = (words, width, height)
        self._collect(wait)
        if self._running is None and wanted != self._done:
            self._wanted = wanted
            self._running = self._painter.submit(paint, *wanted)
            self._collect(wait)
        if self._picture is not None and self._picture.shape[:2] == (height, width):
            return self._picture
        return None

    def close(self) -> None:
        """Ends the thread."""
        self._painter.shutdown()

    def _collect(self, wait: bool) -> None:
        if self._running is not None and (wait or self._running.done()):
            self._picture, self._done, self._running = self._running.result(), self._wanted, None


def paint(words: Words, width: int, height: int) -> Picture:
    """The overlay, uint8 [height, width, 4], sRGB, premultiplied."""
    words = words._replace(
        user=plain(words.user),
        avatar=plain(words.avatar),
        line=plain(words.line),
        notice=plain(words.notice),
    )
    image = Image.new("RGBA", (width, height), (*_PAPER[:3], 0))
    draw = ImageDraw.Draw(image)
    size = max(round(min(width, height * 0.8) / 30), 11)
    small = max(round(size * 0.7), 10)
    draw.text((size, size * 0.7), words.state, _FAINT, font(small))
    if words.level is not None:
        _meter(draw, words.level, (size, size * 0.9 + small * 1.3), size)
    for number, text in enumerate(words.figures):
        letters = font(small)
        x = width - size - letters.getlength(text)
        draw.text((x, size * 0.7 + number * small * 1.3), text, _FAINT, letters)
    _foot(draw, words, width, height, size)
    colors = np.asarray(image).astype(np.uint16)
    colors[..., :3] = (colors[..., :3] * colors[..., 3:] + 127) // 255
    return colors.astype(np.uint8)


def _meter(draw: ImageDraw.ImageDraw, level: float, corner: tuple[float, float], size: int) -> None:
    x, y = corner
    full, high = _METER_SIZES * size, max(size * 0.3, 4)
    draw.rounded_rectangle((x, y, x + full, y + high), high / 2, (*_FAINT[:3], 60))
    if level > 0:
        color = _CLIPPED if level > _LOUD else _HEARD
        draw.rounded_rectangle((x, y, x + max(full * level, high), y + high), high / 2, color)


def _foot(draw: ImageDraw.ImageDraw, words: Words, width: int, height: int, size: int) -> None:
    letters, room = font(size), width - 4 * size
    lines: list[tuple[str, tuple[int, int, int, int]]] = []
    if words.notice:
        lines += [(text, _ALARM) for text in wrap(words.notice, room, letters)[:_CAPTION_LINES]]
    if words.user:
        lines.append((wrap(words.user, room, letters)[-1], (*USER_SRGB, 255)))
    if words.avatar:
        # The newest words stay in sight.
        lines += [(text, (*AVATAR_SRGB, 255)) for text in wrap(words.avatar, room, letters)[-_CAPTION_LINES:]]
    if words.typing:
        lines.append((wrap(words.line, room, letters)[-1] + "|", _INK))
    elif words.line:
        lines.append((words.line, (*_INK[:3], 150)))
    if not lines:
        return
    leading = round(size * 1.3)
    top = height - size - leading * len(lines) - round(size * 0.8)
    draw.rounded_rectangle((size, top, width - size, height - size), size * 0.6, _PAPER)
    for number, (text, color) in enumerate(lines):
        draw.text((2 * size, top + size * 0.3 + number * leading), text, color, letters)
