"""Captions under the picture."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

USER_SRGB: Final = (134, 205, 255)
AVATAR_SRGB: Final = (255, 214, 140)
_INK_SRGB: Final = (250, 250, 250)
_NOTE_INK: Final = (40, 48, 62, 190)
_PAPER: Final = (14, 18, 26, 168)


@dataclass(frozen=True)
class Caption:
    """Who says what: a name in a colour (uint8 sRGB), and the words."""

    name: str
    color_srgb: tuple[int, int, int]
    text: str


@lru_cache(maxsize=16)
def font(size: int) -> ImageFont.FreeTypeFont:
    """Pillow's own font, so that none has to be installed."""
    found = ImageFont.load_default(size)
    assert isinstance(found, ImageFont.FreeTypeFont), "Pillow was built without FreeType"
    return found


def draw_caption(picture: NDArray[np.uint8], caption: Caption | None, note: str = "") -> NDArray[np.uint8]:
    """The picture with a caption at its foot and a note in its corner.

    Args:
        picture: uint8 [height, width, 3]; left as it is.
        caption: What to write; None writes nothing.
        note: A few words for the upper left corner.
    """
    if caption is None and not note:
        return picture
    overlay = _overlay(picture.shape[1], picture.shape[0], caption, note)
    image = Image.fromarray(picture).convert("RGBA")
    return np.asarray(Image.alpha_composite(image, overlay).convert("RGB"))


@lru_cache(maxsize=8)
def _overlay(width: int, height: int, caption: Caption | None, note: str) -> Image.Image:
    # Drawn twice as large: at their own size small letters are set a pixel off here and there.
    large = _overlay_at(2 * width, 2 * height, caption, note)
    return large.resize((width, height), Image.Resampling.BOX)


def _overlay_at(width: int, height: int, caption: Caption | None, note: str) -> Image.Image:
    overlay = Image.new("RGBA", (width, height), (*_PAPER[:3], 0))
    draw = ImageDraw.Draw(overlay)
    size = max(round(min(width, height * 0.75) / 24), 10)
    if note:
        draw.text((size, size * 0.8), note, _NOTE_INK, font(max(size * 3 // 4, 9)))
    if caption is None:
        return overlay
    letters, margin = font(size), size
    lines = wrap(caption.text, width - 4 * margin, letters)[-3:]
    leading = round(size * 1.28)
    box_height = leading * (len(lines) + 1) + margin
    top = height - box_height - margin
    draw.rounded_rectangle((margin, top, width - margin, height - margin), size * 0.6, _PAPER)
    y = top + margin * 0.45
    draw.text((2 * margin, y), caption.name, (*caption.color_srgb, 255), letters)
    for line in lines:
        y += leading
        draw.text((2 * margin, y), line, (*_INK_SRGB, 255), letters)
    return overlay


def wrap(text: str, width: float, letters: ImageFont.FreeTypeFont) -> list[str]:
    """Breaks a text into lines of at most ``width`` pixels; a word that is longer stands alone."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and letters.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines or [""]


def plain(text: str) -> str:
    """The text without accents and long dashes, which Pillow's own font lacks."""
    if text.isascii():
        return text
    letters = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return "".join("-" if unicodedata.category(c) == "Pd" else c for c in letters)
