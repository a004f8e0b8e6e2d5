"""What a renderer's caller may put behind the splats."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.render.camera import View

Background = tuple[float, float, float] | NDArray[np.uint8] | list[NDArray[np.uint8]] | None
"""Nothing, one sRGB-encoded colour, one picture uint8 [H, W, 3 or 4], or a picture for each view."""

Fill = tuple[float, float, float, float] | NDArray[np.uint8]
"""RGBA, or a picture uint8 [H, W, 4]; premultiplied, sRGB-encoded."""


def fills(given: Background, views: Sequence[View]) -> Sequence[Fill]:
    """What to fill each view's canvas with.

    Raises:
        InvalidInputError: It is none of what ``Background`` allows.
    """
    if given is None:
        return [(0.0, 0.0, 0.0, 0.0)] * len(views)
    if isinstance(given, tuple):
        if len(given) != 3 or not all(0 <= part <= 1 for part in given):
            raise InvalidInputError("background_srgb", given, "(red, green, blue), each from 0 to 1")
        return [(float(given[0]), float(given[1]), float(given[2]), 1.0)] * len(views)
    pictures = given if isinstance(given, list) else [given] * len(views)
    if len(pictures) != len(views):
        raise InvalidInputError(
            "background_srgb", f"{len(pictures)} pictures", f"one for each of {len(views)} views"
        )
    return [_picture(picture, view) for picture, view in zip(pictures, views, strict=True)]


def _picture(given: object, view: View) -> NDArray[np.uint8]:
    picture = np.asarray(given)
    shapes = [(view.height, view.width, channels) for channels in (3, 4)]
    if picture.dtype != np.uint8 or picture.shape not in shapes:
        raise InvalidInputError(
            "background_srgb",
            f"{picture.dtype} {list(picture.shape)}",
            f"None, (red, green, blue) or uint8 [{view.height}, {view.width}, 3 or 4]",
        )
    if picture.shape[2] == 4:
        return picture
    opaque = np.full((view.height, view.width, 1), 255, np.uint8)
    return np.concatenate([picture, opaque], axis=2)
