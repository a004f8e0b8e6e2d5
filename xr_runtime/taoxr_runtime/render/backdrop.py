"""A studio behind the avatar: a soft vertical gradient, and shadows on a floor not seen otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.render.camera import View

_SHADOW_REACH: Final = 1.0
"""Metres from the origin beyond which a shadow of feet that stand there does not show."""


@dataclass(frozen=True, slots=True)
class Studio:
    """Looks of the backdrop.

    Attributes:
        top_srgb: Colour at the upper edge, sRGB-encoded, 0 to 1.
        bottom_srgb: Colour at the lower edge.
        contact_radius: Standard deviation in metres of the dark spot right under each foot.
        contact_strength: How much of the light it takes in its middle, 0 to 1.
        ambient_radius: The same for the wide, faint shadow around.
        ambient_strength: The same.
    """

    top_srgb: tuple[float, float, float] = (0.86, 0.89, 0.93)
    bottom_srgb: tuple[float, float, float] = (0.68, 0.71, 0.75)
    contact_radius: float = 0.09
    contact_strength: float = 0.36
    ambient_radius: float = 0.30
    ambient_strength: float = 0.13


def backdrop(view: View, feet: ArrayLike | None = None, studio: Studio | None = None) -> NDArray[np.uint8]:
    """Paint the backdrop of one view; once is enough while view and feet stay.

    Args:
        view: The eye.
        feet: [K, 3], points on the floor under which the shadow lies, metres, world frame; all on the floor's
            height, which is that of the first. None for no shadow.
        studio: Looks; a light grey-blue by default.

    Returns:
        uint8 [H, W, 4], opaque, sRGB-encoded, row 0 at the top. Dithered by less than one step, so that the
        gradient has no bands.

    Raises:
        InvalidInputError: ``feet`` has another shape or is not finite.
    """
    studio = studio or Studio()
    down = (np.arange(view.height) + 0.5) / view.height
    ease = down * down * (3 - 2 * down)
    top, bottom = np.array(studio.top_srgb), np.array(studio.bottom_srgb)
    rows = top + ease[:, None] * (bottom - top)
    image = np.repeat(rows[:, None, :], view.width, axis=1)
    if feet is not None:
        image *= _light(view, _points(feet), studio)[:, :, None]
    noise = np.random.default_rng(0).random((view.height, view.width, 1))
    pixels = np.empty((view.height, view.width, 4), np.uint8)
    pixels[:, :, :3] = np.clip(image * 255 + noise, 0, 255)
    pixels[:, :, 3] = 255
    return pixels


def sees_floor(view: View) -> bool:
    """Whether a view shows the floor near the origin, so that painting shadows there is worth it.

    Args:
        view: The eye; the floor is at height 0.
    """
    lowest = view.world_to_view[:3, :3].T @ np.array([0.0, view.tangents[2], -1.0])
    away, across = (float(np.linalg.norm(vector[[0, 2]])) for vector in (view.position, lowest))
    # How high the lower edge passes behind the feet, times what may be 0 looking straight down.
    return bool(across * view.position[1] + (away + _SHADOW_REACH) * lowest[1] < 0.0)


def _points(feet: ArrayLike) -> NDArray[np.float64]:
    points = np.asarray(feet, np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise InvalidInputError("feet", points.tolist(), "finite points [K, 3]")
    return points


def _light(view: View, feet: NDArray[np.float64], studio: Studio) -> NDArray[np.float64]:
    """Share of the encoded light that the floor seen in each pixel keeps, float64 [H, W]."""
    (fx, fy), (px, py) = view.focal, view.principal
    across = (np.arange(view.width) + 0.5 - px) / fx
    up = (py - np.arange(view.height) - 0.5) / fy
    right, upward, back = view.world_to_view[:3, :3]
    # Direction of the ray through each pixel, one unit deep; the floor is where it has gone down far enough.
    rays = across[None, :, None] * right + up[:, None, None] * upward - back
    drop = view.position[1] - feet[0, 1]
    falling = -rays[:, :, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(falling * drop > 0, drop / falling, np.inf)
        ground = view.position[[0, 2]] + steps[:, :, None] * rays[:, :, [0, 2]]
    light = np.ones((view.height, view.width))
    seen = np.isfinite(ground).all(axis=2)
    spots = (
        (studio.contact_radius, studio.contact_strength),
        (studio.ambient_radius, studio.ambient_strength),
    )
    for foot in feet:
        squared = np.where(seen, np.square(ground - foot[[0, 2]]).sum(axis=2), np.inf)
        for radius, strength in spots:
            light *= 1 - strength * np.exp(-0.5 * squared / radius**2)
    return light
