"""Clouds, rasterizers and the measure of how alike pictures are, for the tests of pictures."""

import numpy as np

from taoxr_runtime.splats import Splats, upper

MIN_PSNR = 45.0
"""Decibels that a picture must reach against the float64 reference with the same order of splats."""
MIN_TRUE_PSNR = 35.0
"""Decibels against the reference with each eye's own order."""
RASTERIZERS = {"quads": ("quads", "auto"), "tiles": ("tiles", "cpu"), "compute tiles": ("tiles", "gpu")}


def cloud(
    count: int = 3000,
    sigmas: tuple[float, float] = (0.003, 0.05),
    opacities: tuple[float, float] = (0.05, 1.0),
    thin: float | None = None,
    flat: float | None = None,
    seed: int = 0,
) -> Splats:
    """Random ellipsoids in a box of 1 m; ``thin`` sets the two short axes, ``flat`` the short one."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    sigma = np.exp(rng.uniform(*np.log(sigmas), (count, 3)))
    if thin is not None:
        sigma[:, 1:] = thin
    if flat is not None:
        sigma[:, 2] = flat
    world = (axes * sigma[:, None, :] ** 2) @ axes.transpose(0, 2, 1)
    return Splats(
        rng.uniform(-0.5, 0.5, (count, 3)).astype(np.float32),
        upper(world).astype(np.float32),
        rng.uniform(*opacities, count).astype(np.float32),
        rng.uniform(0, 1, (count, 3)).astype(np.float32),
    )


def psnr(image: np.ndarray, expected: np.ndarray) -> float:
    """Of the worst channel, in dB."""
    squared = np.square(image / 255.0 - expected).mean(axis=(0, 1))
    return float(-10 * np.log10(max(squared.max(), 1e-12)))
