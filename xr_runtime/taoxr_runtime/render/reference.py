"""The splat pipeline in NumPy and float64: what the OpenGL renderer must agree with.

Sources: EWA splatting (Zwicker et al., "EWA Splatting", 2001); 3D Gaussian splatting (Kerbl et al., 2023) for
the clamped Jacobian and the 1/255 cut-off; Mip-Splatting (Yu et al., 2024) for the opacity that makes up for
the low-pass filter. Written for clearness; 20,000 splats at 256x256 take about a second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render.camera import View
from taoxr_runtime.splats import Splats, full

LOW_PASS = 0.3
"""Variance in square pixels that the pixel's own extent adds to every footprint."""
MIN_ALPHA = 1.0 / 255.0
"""Fainter than this, a splat leaves the pixel as it is."""
JACOBIAN_MARGIN = 0.15
"""How far outside the picture, in widths, a footprint is linearised: farther out it would explode."""


@dataclass(frozen=True, slots=True, eq=False)
class Projected:
    """Footprints of the splats that one view may see, in the order in which they were given.

    Attributes:
        index: int64 [M], number of the splat.
        centers: float64 [M, 2], pixels from the top left.
        covariances: float64 [M, 3], (xx, xy, yy) in square pixels, low-pass included.
        opacities: float64 [M], alpha at the centre after compensation.
    """

    index: NDArray[np.int64]
    centers: NDArray[np.float64]
    covariances: NDArray[np.float64]
    opacities: NDArray[np.float64]


def back_to_front(means: NDArray[np.float32], viewpoint: NDArray[np.float64]) -> NDArray[np.int64]:
    """Order splats by their distance from a point, farthest first; equal ones keep their order.

    Args:
        means: float32 [N, 3], metres.
        viewpoint: float64 [3], the eye, or midway between the eyes.

    Returns:
        int64 [N].
    """
    offset = means.astype(np.float64) - viewpoint
    return np.argsort(-np.einsum("ni,ni->n", offset, offset), kind="stable")


def project(splats: Splats, view: View) -> Projected:
    """Project every splat and drop those that are too near, too faint or outside the picture.

    Args:
        splats: N splats in world coordinates.
        view: The eye.

    Returns:
        Their footprints.
    """
    rotation, translation = view.world_to_view[:3, :3], view.world_to_view[:3, 3]
    x, y, z = (splats.means.astype(np.float64) @ rotation.T + translation).T
    index = np.flatnonzero(-z >= view.near)
    x, y, depth = x[index], y[index], -z[index]

    (fx, fy), (px, py) = view.focal, view.principal
    tan_x, tan_y = x / depth, y / depth
    centers = np.stack([px + fx * tan_x, py - fy * tan_y], axis=1)

    left, right, down, up = view.tangents
    margin_x, margin_y = JACOBIAN_MARGIN * (right - left), JACOBIAN_MARGIN * (up - down)
    jacobian = np.zeros((len(index), 2, 3))
    jacobian[:, 0, 0] = fx / depth
    jacobian[:, 0, 2] = fx / depth * np.clip(tan_x, left - margin_x, right + margin_x)
    jacobian[:, 1, 1] = -fy / depth
    jacobian[:, 1, 2] = -fy / depth * np.clip(tan_y, down - margin_y, up + margin_y)

    world = full(splats.covariances[index].astype(np.float64))
    to_pixels = jacobian @ rotation
    footprint = to_pixels @ world @ to_pixels.transpose(0, 2, 1)
    a, b, c = footprint[:, 0, 0], footprint[:, 0, 1], footprint[:, 1, 1]
    before = np.maximum(a * c - b * b, 0)
    a, c = a + LOW_PASS, c + LOW_PASS
    after = np.maximum(a * c - b * b, LOW_PASS**2)
    opacities = splats.opacities[index].astype(np.float64) * np.sqrt(before / after)

    # Alpha falls to MIN_ALPHA where the squared Mahalanobis distance is 2 ln(opacity / MIN_ALPHA).
    reach = 2 * np.log(np.maximum(opacities, MIN_ALPHA) / MIN_ALPHA)
    half = np.sqrt(reach[:, None] * np.maximum(np.stack([a, c], axis=1), 0))
    inside = ((centers + half > 0) & (centers - half < (view.width, view.height))).all(axis=1)
    regular = (a >= LOW_PASS) & (c >= LOW_PASS)  # else it was no covariance
    kept = regular & inside & (opacities > MIN_ALPHA)
    return Projected(index[kept], centers[kept], np.stack([a, b, c], axis=1)[kept], opacities[kept])


def render(
    splats: Splats,
    view: View,
    order: NDArray[np.integer] | None = None,
    background: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Draw splats.

    Args:
        splats: N splats in world coordinates.
        view: The eye.
        order: int [N], the order of drawing; by default farthest from the eye first.
        background: float64 [H, W, 4], premultiplied, sRGB-encoded, what to draw on; by default transparent.

    Returns:
        float64 [H, W, 4], premultiplied, sRGB-encoded (blended as encoded), row 0 at the top.
    """
    splats.check_values()
    order = back_to_front(splats.means, view.position) if order is None else order
    footprints = project(splats, view)
    row = np.full(len(splats), -1)
    row[footprints.index] = np.arange(len(footprints.index))
    image = np.zeros((view.height, view.width, 4)) if background is None else background.copy()
    for number in order:
        if row[number] >= 0:
            _draw(image, footprints, int(row[number]), splats.colors_srgb[number])
    return image


def distances(
    vertices: NDArray[np.floating], triangles: NDArray[np.integer], view: View
) -> NDArray[np.float64]:
    """How far a mesh is, at the centre of each pixel: twin of ``render.depth``.

    Args:
        vertices: [V, 3], metres, world frame; all between the near and the far plane.
        triangles: Integers [F, 3].
        view: The eye.

    Returns:
        float64 [H, W], metres along the line of sight; infinity where nothing is.
    """
    picture = np.full((view.height, view.width), np.inf)
    homogeneous = np.concatenate([vertices, np.ones((len(vertices), 1))], axis=1)
    clip = homogeneous @ (view.projection @ view.world_to_view).T
    x = (clip[:, 0] / clip[:, 3] + 1) * view.width / 2
    y = (1 - clip[:, 1] / clip[:, 3]) * view.height / 2
    for corners in triangles:
        (x0, x1, x2), (y0, y1, y2) = x[corners], y[corners]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if area == 0:
            continue
        left, right = (int(edge) for edge in np.clip((min(x0, x1, x2), max(x0, x1, x2) + 1), 0, view.width))
        top, bottom = (int(edge) for edge in np.clip((min(y0, y1, y2), max(y0, y1, y2) + 1), 0, view.height))
        py, px = np.mgrid[top:bottom, left:right] + 0.5
        second = ((px - x0) * (y2 - y0) - (x2 - x0) * (py - y0)) / area
        third = ((x1 - x0) * (py - y0) - (px - x0) * (y1 - y0)) / area
        shares = np.stack([1 - second - third, second, third])
        # What is linear on the screen is not the distance but its inverse.
        inverse = np.tensordot(1 / clip[corners, 3], shares, 1)
        inside = (shares >= 0).all(axis=0)
        place = picture[top:bottom, left:right]
        nearer = inside & (1 / np.where(inside, inverse, np.inf) < place)
        place[nearer] = 1 / inverse[nearer]
    return picture


def _draw(image: NDArray[np.float64], footprints: Projected, row: int, color: NDArray[np.float32]) -> None:
    """Blend one footprint over the picture, within the box that its ellipse fills."""
    a, b, c = footprints.covariances[row]
    x, y = footprints.centers[row]
    opacity = footprints.opacities[row]
    reach = 2 * np.log(opacity / MIN_ALPHA)
    half_x, half_y = np.sqrt(reach * a), np.sqrt(reach * c)
    height, width = image.shape[:2]
    x0, x1 = max(int(x - half_x), 0), min(int(x + half_x) + 1, width)
    y0, y1 = max(int(y - half_y), 0), min(int(y + half_y) + 1, height)
    if x0 >= x1 or y0 >= y1:
        return
    dx = np.arange(x0, x1) + (0.5 - x)
    dy = np.arange(y0, y1)[:, None] + (0.5 - y)
    alpha = opacity * np.exp(-0.5 * (c * dx * dx - 2 * b * dx * dy + a * dy * dy) / (a * c - b * b))
    alpha[alpha < MIN_ALPHA] = 0
    box = image[y0:y1, x0:x1]
    box *= 1 - alpha[:, :, None]
    box += alpha[:, :, None] * np.append(color.astype(np.float64), 1.0)
