"""Clouds: colours by direction, turning, placing, and the node that holds them; against float64."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr import NnrFormatError, container
from taoxr_runtime.nnr.graph import build
from taoxr_runtime.nnr.nodes.skinning import rotations
from taoxr_runtime.splat_files import Cloud, placing, scene
from taoxr_runtime.splat_files.cloud import quaternion
from taoxr_runtime.splat_files.viewpoint import Viewpoint

pytestmark = pytest.mark.unit


def cloud(count: int = 20, degree: int = 3, seed: int = 0) -> Cloud:
    rng = np.random.default_rng(seed)
    quaternions = rng.normal(size=(count, 4))
    return Cloud(
        rng.uniform(-1, 1, (count, 3)).astype(np.float32),
        (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).astype(np.float32),
        rng.uniform(0.01, 0.1, (count, 3)).astype(np.float32),
        rng.uniform(0, 1, count).astype(np.float32),
        rng.normal(0, 0.2, (count, (degree + 1) ** 2, 3)).astype(np.float32),
    )


def legendre(degree: int, order: int, z: np.ndarray) -> np.ndarray:
    """Associated Legendre functions without the sign (-1)^m, divided by sin(theta)^m: a polynomial in z."""
    polynomial = np.polynomial.Legendre.basis(degree).convert(kind=np.polynomial.Polynomial)
    return polynomial.deriv(order)(z)


def harmonic(degree: int, order: int, d: np.ndarray) -> np.ndarray:
    """Real spherical harmonic by its definition, with the Condon-Shortley sign; unit directions [N, 3]."""
    m = abs(order)
    norm = (2 * degree + 1) / (4 * np.pi) * math.factorial(degree - m) / math.factorial(degree + m)
    around = (d[:, 0] + 1j * d[:, 1]) ** m
    wave = around.real if order >= 0 else around.imag
    return (-1) ** m * np.sqrt(norm * (1 if m == 0 else 2)) * legendre(degree, m, d[:, 2]) * wave


def colors(of: Cloud, directions: np.ndarray) -> np.ndarray:
    """Colours before clipping, of each splat seen along a direction, in float64."""
    pairs = [(n, m) for n in range(of.degree + 1) for m in range(-n, n + 1)]
    basis = np.stack([harmonic(n, m, directions) for n, m in pairs], axis=1)
    return np.einsum("nk,nkc->nc", basis, of.harmonics.astype(np.float64)) + 0.5


@pytest.mark.parametrize("degree", range(4))
def test_colours_are_those_of_the_definition(degree: int) -> None:
    of, camera = cloud(50, degree), np.array([0.2, 3.0, 1.0])
    away = of.means - camera
    expected = np.clip(colors(of, away / np.linalg.norm(away, axis=1, keepdims=True)), 0, 1)
    np.testing.assert_allclose(of.colors_srgb(camera), expected, atol=2e-7)


angles = st.tuples(*[st.floats(-180, 180)] * 3)


@settings(max_examples=40)
@given(st.sampled_from(sorted(placing.UP)), angles, st.integers(0, 3))
def test_colours_turn_with_the_cloud(up: str, degrees: tuple[float, float, float], degree: int) -> None:
    of, rotation = cloud(degree=degree), placing.turning(up, degrees)
    directions = np.random.default_rng(1).normal(size=(len(of), 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    turned = of.moved(rotation)
    np.testing.assert_allclose(colors(turned, directions @ rotation.T), colors(of, directions), atol=3e-6)


@settings(max_examples=40)
@given(st.sampled_from(sorted(placing.UP)), angles)
def test_shapes_turn_with_the_cloud(up: str, degrees: tuple[float, float, float]) -> None:
    of, rotation = cloud(), placing.turning(up, degrees)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(rotation) == pytest.approx(1)
    np.testing.assert_allclose(rotations(quaternion(rotation)[None])[0], rotation, atol=1e-9)
    moved = of.moved(rotation, 2.0, (1, 2, 3))
    np.testing.assert_allclose(moved.means, 2 * of.means @ rotation.T + (1, 2, 3), atol=1e-5)
    full = of.covariances[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    expected = 4 * (rotation @ full @ rotation.T)
    found = moved.covariances[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("axis", sorted(placing.UP))
def test_the_axis_named_points_up(axis: str) -> None:
    named = np.eye(3)["xyz".index(axis[-1])] * (-1 if axis.startswith("-") else 1)
    np.testing.assert_allclose(placing.turning(axis) @ named, (0, 1, 0), atol=1e-15)


def test_the_most_seen_are_the_largest_and_most_opaque() -> None:
    of = cloud(3)
    of.sigmas[:] = [[0.1, 0.1, 0.001], [0.2, 0.001, 0.001], [0.05, 0.05, 0.05]]
    of.opacities[:] = [0.5, 1.0, 0.1]
    np.testing.assert_array_equal(placing.most_seen(of, 1).means, of.means[:1])
    np.testing.assert_array_equal(placing.most_seen(of, 2).means, of.means[[0, 2]])
    assert placing.most_seen(of, 3) is of


def test_stray_splats_do_not_move_the_ground() -> None:
    of = cloud(1000)
    of.means[:, 1] += 5
    of.means[0] = (500, -500, 0)
    stood = placing.stood(of)
    assert 0 <= np.sort(stood.means[:, 1])[20] < 0.1
    assert placing.box(stood.means).radius < 3


@pytest.mark.parametrize("field", ["mean", "rotation", "sigma", "opacity"])
def test_a_node_with_wrong_rows_is_refused_by_name(field: str, tmp_path) -> None:
    file = tmp_path / "a.nnr"
    scene.write(file, cloud(), "a", "CC0-1.0", "nobody")
    whole = container.read(file)
    tensors = dict(whole.tensors)
    entry = f"tensors/{field}.npy"
    wrong = {
        "mean": tensors[entry] * np.float32(2000),
        "rotation": tensors[entry] // 3,
        "sigma": -tensors[entry],
        "opacity": tensors[entry][1:],
    }[field]
    document = whole.scene.model_dump(mode="json")
    container.write_scene(file, document, {**tensors, entry: wrong})
    with pytest.raises(NnrFormatError, match=rf"scene.nodes\[0\].tensors.{field}"):
        build(container.read(file))


def test_more_than_a_scene_may_hold_is_refused_with_what_to_do(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(scene, "MAX_SPLATS", 10)
    with pytest.raises(InvalidInputError, match="--max-splats"):
        scene.write(tmp_path / "a.nnr", cloud(11), "a", "CC0-1.0", "nobody")
    assert not list(tmp_path.iterdir())


def test_an_eye_pair_is_beside_the_viewpoint_and_meets_at_the_target() -> None:
    point = Viewpoint(target=np.array([0.1, 1.0, 0.2]), distance=1.5, yaw=40, pitch=20, roll=30)
    left, right = point.pair(320, 240)
    np.testing.assert_allclose((left.position + right.position) / 2, point.position, atol=1e-12)
    assert np.linalg.norm(right.position - left.position) == pytest.approx(0.063)
    across = right.world_to_view[:3, :3] @ (right.position - left.position)
    np.testing.assert_allclose(across, (0.063, 0, 0), atol=1e-12)
    for view in (left, right):
        clip = view.projection @ view.world_to_view @ np.append(point.target, 1)
        np.testing.assert_allclose(clip[:2] / clip[3], 0, atol=1e-9)


@pytest.mark.parametrize(
    ("field", "value"), [("distance", 0.0), ("pitch", 90.0), ("fov", 180.0), ("near", math.nan)]
)
def test_wrong_viewpoints_are_refused_by_name(field: str, value: float) -> None:
    with pytest.raises(InvalidInputError, match=f"--{field}"):
        Viewpoint(**{"target": np.zeros(3), "distance": 1.0, field: value})
