"""What the tests look at, for the client and for the test alike."""

from __future__ import annotations

import numpy as np

from taoxr_runtime.render.depth import Mesh
from taoxr_runtime.splats import Splats, upper

BALL = (0.05, 1.5, 0.1)


def person(count: int = 1200) -> Splats:
    """A crowd of splats in the shape of a person, different on every side."""
    rng = np.random.default_rng(3)
    means = rng.normal(0, 1, (count, 3)) * (0.16, 0.42, 0.12) + (0, 1.05, 0)
    sigmas = rng.uniform(0.008, 0.04, (count, 3))
    turns, _ = np.linalg.qr(rng.normal(0, 1, (count, 3, 3)))
    full = turns @ (sigmas[:, :, None] ** 2 * turns.transpose(0, 2, 1))
    covariances = upper(full)
    colors = rng.uniform(0.15, 1.0, (count, 3))
    opacities = rng.uniform(0.2, 1.0, count)
    arrays = (means, covariances, opacities, colors)
    return Splats(*(np.ascontiguousarray(array, np.float32) for array in arrays))


def ball() -> Splats:
    """One white ball."""
    return Splats.isotropic(np.array([BALL], np.float32), 0.02, 1.0, np.ones(3, np.float32))


def ball_mesh(radius: float = 0.25, around: int = 24) -> Mesh:
    """A larger ball there, of triangles: circles of latitude from pole to pole."""
    down, turn = np.meshgrid(np.linspace(0, np.pi, around // 2 + 1), np.arange(around) * 2 * np.pi / around)
    unit = np.stack([np.sin(down) * np.cos(turn), np.cos(down), np.sin(down) * np.sin(turn)], axis=-1)
    column, row = np.meshgrid(np.arange(around), np.arange(around // 2), indexing="ij")
    rows = around // 2 + 1
    here, beside = column * rows + row, (column + 1) % around * rows + row
    squares = np.stack([here, beside, beside + 1, here, beside + 1, here + 1], axis=-1)
    vertices = np.array(BALL) + radius * unit.reshape(-1, 3)
    return Mesh(vertices.astype(np.float32), squares.reshape(-1, 3))


SCENES = {"person": person, "ball": ball}
