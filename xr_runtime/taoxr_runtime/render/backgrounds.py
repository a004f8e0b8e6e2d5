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
    return [
        picture("background_srgb", image, view.width, view.height)
        for image, view in zip(pictures, views, strict=True)
    ]


def picture(field: str, given: object, width: int, height: int) -> NDArray[np.uint8]:
    """An image with alpha, uint8 [height, width, 4].

    Raises:
        InvalidInputError: It is no uint8 [height, width, 3 or 4].
    """
    image = np.asarray(given)
    if image.dtype != np.uint8 or image.shape not in [(height, width, channels) for channels in (3, 4)]:
        expected = f"uint8 [{height}, {width}, 3 or 4]"
        raise InvalidInputError(field, f"{image.dtype} {list(image.shape)}", expected)
    if image.shape[2] == 4:
        return image
    opaque = np.full((height, width, 1), 255, np.uint8)
    return np.concatenate([image, opaque], axis=2)
