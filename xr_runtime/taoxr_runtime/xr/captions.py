"""Captions in front of the avatar, as a layer that the runtime composes at full sharpness."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from taoxr_runtime.demo.captions import AVATAR_SRGB, USER_SRGB, font, plain, wrap
from taoxr_runtime.render import SplatRenderer
from taoxr_runtime.xr.poses import Matrix, Pose, facing
from taoxr_runtime.xr.runtime import Size
from taoxr_runtime.xr.session import Session
from taoxr_runtime.xr.swapchain import Swapchain

_SIZE: Final = Size(1024, 288)
_WIDTH_M: Final = 0.72
_LETTERS: Final = 40
_BELOW_EYES_M: Final = 0.52
_BEFORE_MODEL_M: Final = 0.35
_PAPER: Final = (14, 18, 26, 176)
_INK: Final = (250, 250, 250, 255)


class Words(NamedTuple):
    """What the panel shows.

    Attributes:
        user: What the user said.
        avatar: What the avatar answers.
        note: Shown alone when nobody said anything, such as how to begin.
    """

    user: str = ""
    avatar: str = ""
    note: str = ""


class CaptionPanel:
    """The panel of one session.

    Args:
        session: Its owner.
        format: Of the pictures, as ``choose_format`` gives it.
        eye_height: Of the model, metres; the panel hangs below.
    """

    def __init__(self, session: Session, format: str, eye_height: float) -> None:
        self._session = session
        self._chain = Swapchain(session, format, _SIZE)
        self._height = eye_height - _BELOW_EYES_M
        # Setting type takes longer than a frame may.
        self._painter = ThreadPoolExecutor(1, thread_name_prefix="captions")
        self._painting: Future[NDArray[np.uint8]] | None = None
        self._wanted = self._shown = Words()

    def show(self, words: Words, renderer: SplatRenderer) -> None:
        """Show words as soon as they are painted."""
        if self._painting is not None and self._painting.done():
            with self._chain.image() as target:
                renderer.paint(self._painting.result(), target)
            self._painting, self._shown = None, self._wanted
        if self._painting is None and words != self._shown:
            self._wanted = words
            self._painting = self._painter.submit(paint, words)

    def layer(self, model: Pose, head: Matrix) -> Any:
        """``XrCompositionLayerQuad`` between the model and the user, or None when there is nothing to read.

        Args:
            model: Where the model stands.
            head: float64 [4, 4], pose of the user's head in the same space.
        """
        if not any(self._shown):
            return None
        pose = facing(model, head).offset(0.0, self._height, _BEFORE_MODEL_M)
        size = (_WIDTH_M, _WIDTH_M * _SIZE.height / _SIZE.width)
        return self._session.quad_layer(pose, size, self._chain.part())

    def close(self) -> None:
        """Give the pictures back."""
        self._painter.shutdown(cancel_futures=True)
        self._chain.close()


def paint(words: Words) -> NDArray[np.uint8]:
    """The panel's picture, uint8 [H, W, 4], premultiplied, sRGB, row 0 at the top."""
    image = Image.new("RGBA", (_SIZE.width, _SIZE.height), (*_PAPER[:3], 0))
    draw = ImageDraw.Draw(image)
    letters = font(_LETTERS)
    leading, margin = round(_LETTERS * 1.3), _LETTERS
    room = _SIZE.width - 2 * margin
    lines: list[tuple[str, tuple[int, int, int, int]]] = []
    if words.user:
        lines.append((wrap(plain(words.user), room, letters)[-1], (*USER_SRGB, 255)))
    if words.avatar:
        # The newest words stay in sight.
        fitting = (_SIZE.height - margin) // leading - len(lines)
        lines += [(line, (*AVATAR_SRGB, 255)) for line in wrap(plain(words.avatar), room, letters)[-fitting:]]
    if not lines and words.note:
        lines = [(words.note, _INK)]
    if lines:
        half = max(letters.getlength(line) for line, _ in lines) / 2 + margin
        box = (_SIZE.width / 2 - half, 0, _SIZE.width / 2 + half, leading * len(lines) + margin)
        draw.rounded_rectangle(box, _LETTERS * 0.6, _PAPER)
    for number, (line, color) in enumerate(lines):
        across = (_SIZE.width - letters.getlength(line)) / 2
        draw.text((across, margin * 0.4 + number * leading), line, color, letters)
    return np.asarray(image.convert("RGBa"))  # Pillow's name for premultiplied
