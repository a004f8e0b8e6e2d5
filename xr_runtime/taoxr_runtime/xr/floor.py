"""A soft round floor with the avatar's shadow, made of splats so that both eyes see it in its place."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render.depth import Mesh
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats
from taoxr_runtime.xr.app import Figure

_COUNT: Final = 3000
_RADIUS_M: Final = 1.2
_RIM_M: Final = 0.7
"""Within this from its edge the floor fades away."""
_THICKNESS_M: Final = 0.001
_COLOR_SRGB: Final = (0.71, 0.74, 0.78)
# Radius in metres and strength of the dark spot under a foot, and of the wide shadow around it.
_SHADOWS: Final = ((0.09, 0.26), (0.30, 0.08))


def floor(feet: NDArray[np.float64]) -> Splats:
    """The floor at y = 0 around the origin.

    Args:
        feet: float64 [K, 3], metres; their shadows lie on the floor.

    Returns:
        Flat splats along a sunflower's spiral, which covers a disc evenly (H. Vogel, "A better way to
        construct the sunflower head", 1979).
    """
    number = np.arange(_COUNT) + 0.5
    radius = _RADIUS_M * np.sqrt(number / _COUNT)
    angle = number * np.pi * (3 - np.sqrt(5))
    means = np.stack([radius * np.cos(angle), np.zeros(_COUNT), radius * np.sin(angle)], axis=1)
    spacing = _RADIUS_M * np.sqrt(np.pi / _COUNT)
    covariances = np.zeros((_COUNT, 6))
    covariances[:, [0, 5]] = spacing**2
    covariances[:, 3] = _THICKNESS_M**2
    fade = np.clip((_RADIUS_M - radius) / _RIM_M, 0, 1)
    light = np.ones(_COUNT)
    for foot in feet:
        squared = np.square(means[:, [0, 2]] - foot[[0, 2]]).sum(axis=1)
        for size, strength in _SHADOWS:
            light *= 1 - strength * np.exp(-0.5 * squared / size**2)
    colors = light[:, None] * _COLOR_SRGB
    arrays = (means, covariances, 0.6 * fade * fade * (3 - 2 * fade), colors)
    return Splats(*(np.ascontiguousarray(array, np.float32) for array in arrays))


def shadow(feet: NDArray[np.float64]) -> Splats:
    """Only the feet's shadows at y = 0, where the user sees a floor of his own; see ``floor``.

    Returns:
        A black splat for each spot: they darken what is behind them as ``floor`` is darkened.
    """
    spots = [(foot, size, strength) for foot in feet for size, strength in _SHADOWS]
    means = np.array([foot for foot, _, _ in spots]) * (1, 0, 1)
    covariances = np.zeros((len(spots), 6))
    covariances[:, [0, 5]] = np.square([[size] * 2 for _, size, _ in spots])
    covariances[:, 3] = _THICKNESS_M**2
    opacities = np.array([strength for _, _, strength in spots])
    arrays = (means, covariances, opacities, np.zeros((len(spots), 3)))
    return Splats(*(np.ascontiguousarray(array, np.float32) for array in arrays))


class OnFloor:
    """A figure on a floor, which is drawn first, for nobody looks from below.

    Args:
        figure: Who stands there.
        ground: The floor.
    """

    def __init__(self, figure: Figure, ground: Splats) -> None:
        self._figure, self._ground = figure, ground
        self._seen: Splats | None = None
        self._together: Splats | None = None
        self._order: NDArray[np.int32] | None = None

    @property
    def order(self) -> NDArray[np.int32] | None:
        """The floor, then the figure in its own order; None if it does not say."""
        return self._order

    @property
    def mesh(self) -> Mesh | None:
        """The figure's."""
        return self._figure.mesh

    def update(self, camera_in_model: NDArray[np.float64], ahead_us: int = 0) -> Splats | SplatBuffers:
        """The splats of this frame; valid until the next call."""
        above = self._figure.update(camera_in_model, ahead_us)
        if isinstance(above, SplatBuffers):
            # On the GPU, where the floor lies beside the figure and is sorted with it.
            self._order = None
            return above
        if above is not self._seen or self._together is None:
            self._together = self._join(above)
            self._seen = above
            order, below = self._figure.order, np.arange(len(self._ground), dtype=np.int32)
            self._order = None if order is None else np.concatenate([below, order + np.int32(len(below))])
        return self._together

    def foresee(self, ahead_us: int) -> None:
        """See ``Figure``."""
        self._figure.foresee(ahead_us)

    def context_lost(self) -> None:
        """See ``Figure``."""
        self._figure.context_lost()

    def _join(self, above: Splats) -> Splats:
        below, together = self._ground, self._together
        if together is None or len(together) != len(below) + len(above):
            pairs = (
                (below.means, above.means),
                (below.covariances, above.covariances),
                (below.opacities, above.opacities),
                (below.colors_srgb, above.colors_srgb),
            )
            return Splats(*(np.concatenate(pair) for pair in pairs))
        # In place: fresh memory for 10 MB costs more than the copy.
        start = len(below)
        together.means[start:] = above.means
        together.covariances[start:] = above.covariances
        together.opacities[start:] = above.opacities
        together.colors_srgb[start:] = above.colors_srgb
        return together
