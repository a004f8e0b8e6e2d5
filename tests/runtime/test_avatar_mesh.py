"""Geometry of the avatar's build that needs neither torch nor anny."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoxr_runtime.avatar import fields, mesh, occlusion

pytestmark = pytest.mark.unit


def sheet(n: int = 12, size: float = 0.3) -> mesh.Mesh:
    """A square in the xy plane with its normal along +z."""
    x, y = (g.ravel() for g in np.meshgrid(np.linspace(0, size, n), np.linspace(0, size, n)))
    points = np.stack([x, y, np.zeros_like(x)], 1)
    i, j = (g.ravel() for g in np.meshgrid(np.arange(n - 1), np.arange(n - 1)))
    a = j * n + i
    faces = np.concatenate([np.stack([a, a + 1, a + n + 1], 1), np.stack([a, a + n + 1, a + n], 1)])
    weights = np.stack([x / size, 1 - x / size], 1)
    return mesh.Mesh(mesh.Vertices(points, points.copy(), weights, np.arange(len(points))), faces)


def area(m: mesh.Mesh) -> float:
    return float(mesh.areas(m.vertices.bind, m.faces).sum())


@given(angle=st.floats(0, 2 * np.pi), offset=st.floats(-0.1, 0.1))
@settings(max_examples=60, deadline=None)
def test_cut_keeps_one_side_of_a_line_without_slivers(angle: float, offset: float) -> None:
    whole = sheet()
    normal = np.array([np.cos(angle), np.sin(angle), 0.0])
    values = (whole.vertices.bind - 0.15) @ normal - offset
    left, right = mesh.cut(whole, values), mesh.cut(whole, -values)
    # Vertices that snap to the line move its neighbours a little: the two sides still share the sheet.
    assert area(left) + area(right) == pytest.approx(area(whole), rel=0.01)
    for part, sign in ((left, 1), (right, -1)):
        side = sign * ((part.vertices.bind - 0.15) @ normal - offset)
        assert side.min() > -1e-9
        assert mesh.areas(part.vertices.bind, part.faces).min() > 1e-9
        assert len(np.unique(part.faces)) == len(part.vertices)
        np.testing.assert_allclose(part.vertices.weights.sum(1), 1.0)


def test_cut_leaves_a_smooth_boundary() -> None:
    whole = sheet()
    part = mesh.cut(whole, whole.vertices.bind[:, 1] - 0.1)
    (loop,) = mesh.boundary(part.faces)
    on_cut = part.vertices.bind[loop][:, 1] < 0.11
    np.testing.assert_allclose(part.vertices.bind[loop][on_cut, 1], 0.1, atol=1e-9)


def test_boundary_runs_with_the_triangles() -> None:
    (loop,) = mesh.boundary(sheet(4).faces)
    p = sheet(4).vertices.bind[loop]
    signed = 0.5 * (p[:, 0] * np.roll(p[:, 1], -1) - np.roll(p[:, 0], -1) * p[:, 1]).sum()
    assert signed == pytest.approx(0.09)


def test_refine_quarters_every_triangle() -> None:
    whole = sheet(5)
    fine = mesh.refine(whole)
    assert len(fine.faces) == 4 * len(whole.faces)
    assert area(fine) == pytest.approx(area(whole))
    assert (mesh.normals(fine.vertices.bind, fine.faces)[:, 2] > 0.999).all()


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_cells_tile_a_triangle(n: int) -> None:
    triangle, weights = mesh.cells(np.array([n, 1, n]))
    assert np.bincount(triangle).tolist() == [n * n, 1, n * n]
    np.testing.assert_allclose(weights.sum(1), 1.0)
    assert (weights > 0).all()
    np.testing.assert_allclose(weights[triangle == 0].mean(0), 1 / 3)


def test_phong_leaves_a_flat_surface_flat_and_rounds_a_curved_one() -> None:
    flat = sheet(4)
    triangle, weights = mesh.cells(np.full(len(flat.faces), 3))
    assert np.abs(mesh.phong(flat, triangle, weights, 0.7)[:, 2]).max() < 1e-12
    bent = flat.vertices.bind.copy()
    bent[:, 2] = 0.1 - (bent[:, 0] - 0.15) ** 2
    curved = mesh.Mesh(mesh.Vertices(bent, bent, flat.vertices.weights, flat.vertices.source), flat.faces)
    p = mesh.phong(curved, triangle, weights, 0.7)
    chord = np.einsum("nk,nkd->nd", weights, bent[curved.faces[triangle]])
    inner = (np.abs(p[:, :2] - 0.15) < 0.05).all(1)
    assert (p[inner, 2] >= chord[inner, 2] - 1e-9).all()
    assert p[inner, 2].mean() > chord[inner, 2].mean() + 1e-4


def test_frames_are_right_handed_and_orthonormal() -> None:
    m = sheet(4)
    f = mesh.frames(m.vertices.bind, m.faces)
    np.testing.assert_allclose(
        np.einsum("fji,fjk->fik", f, f), np.tile(np.eye(3), (len(f), 1, 1)), atol=1e-12
    )
    np.testing.assert_allclose(np.linalg.det(f), 1.0)


def test_occlusion_of_open_ground_and_of_a_corner() -> None:
    grid = np.stack(np.meshgrid(np.arange(-0.2, 0.2, 0.004), np.arange(-0.2, 0.2, 0.004)), -1).reshape(-1, 2)
    ground = np.stack([grid[:, 0], np.zeros(len(grid)), grid[:, 1]], 1)
    wall = np.stack([np.zeros(len(grid)), grid[:, 0] + 0.2, grid[:, 1]], 1)
    points = np.array([[0.05, 0.0, 0.0], [0.012, 0.0, 0.0]])
    up = np.tile([0.0, 1.0, 0.0], (2, 1))
    alone = occlusion.bake(points, up, ground, 0.007, 22)
    beside = occlusion.bake(points, up, np.concatenate([ground, wall]), 0.007, 22)
    assert (alone > 0.97).all()
    assert beside[1] < beside[0] < alone[0]
    assert 0.3 < beside[1] < 0.75


@given(st.integers(0, 50), st.floats(0.001, 1.0))
@settings(max_examples=30, deadline=None)
def test_noise_is_bounded_and_repeats(seed: int, scale: float) -> None:
    p = np.random.default_rng(seed).normal(size=(200, 3))
    n = fields.noise(p, scale, seed)
    assert np.abs(n).max() <= 1.0
    np.testing.assert_array_equal(n, fields.noise(p, scale, seed))
