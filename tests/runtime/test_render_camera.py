"""Views, projections and splats: geometry and what they refuse."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import View, look_at, perspective, perspective_from_angles
from taoxr_runtime.render.camera import centre, pose_to_view
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.unit

angles = st.floats(0.1, 1.2)


def pixel_of(view: View, point: np.ndarray) -> np.ndarray:
    """Pixel by the matrices alone, as OpenGL defines them."""
    clip = view.projection @ view.world_to_view @ np.append(point, 1.0)
    ndc = clip[:2] / clip[3]
    return np.array([(ndc[0] + 1) / 2 * view.width, (1 - ndc[1]) / 2 * view.height])


def test_target_is_in_the_middle_and_eye_where_it_was_put() -> None:
    view = View(look_at((1, 2, 3), (0, 1, 0)), perspective(0.8, 4 / 3), 640, 480)
    np.testing.assert_allclose(view.position, (1, 2, 3), atol=1e-12)
    np.testing.assert_allclose(pixel_of(view, np.array([0, 1, 0])), (320, 240), atol=1e-9)


def test_up_is_up_and_right_is_right() -> None:
    view = View(look_at((0, 0, 2), (0, 0, 0)), perspective(0.8, 1), 100, 100)
    assert pixel_of(view, np.array([0, 0.1, 0]))[1] < 50
    assert pixel_of(view, np.array([0.1, 0, 0]))[0] > 50


def test_head_tipped_to_its_left_sees_the_world_turn_right() -> None:
    view = View(look_at((0, 0, 2), (0, 0, 0), roll=0.3), perspective(0.8, 1), 100, 100)
    assert pixel_of(view, np.array([0, 0.1, 0]))[0] > 50


@given(angles, angles, angles, angles)
def test_asymmetric_edges_fall_on_the_picture_edges(
    left: float, right: float, up: float, down: float
) -> None:
    view = View(np.eye(4), perspective_from_angles(-left, right, up, -down), 320, 200)
    corner = np.array([-math.tan(left), math.tan(up), -1.0]) * 2
    np.testing.assert_allclose(pixel_of(view, corner), (0, 0), atol=1e-6)
    corner = np.array([math.tan(right), -math.tan(down), -1.0]) * 3
    np.testing.assert_allclose(pixel_of(view, corner), (320, 200), atol=1e-6)
    np.testing.assert_allclose(
        view.tangents, (-math.tan(left), math.tan(right), -math.tan(down), math.tan(up)), atol=1e-9
    )


@pytest.mark.parametrize("far", [5.0, 100.0, math.inf])
def test_near_plane_is_read_back_from_the_matrix(far: float) -> None:
    view = View(np.eye(4), perspective(1.0, 1.0, near=0.07, far=far), 8, 8)
    assert view.near == pytest.approx(0.07)


def test_focal_and_principal_agree_with_the_matrices() -> None:
    view = View(np.eye(4), perspective_from_angles(-0.9, 0.6, 0.8, -0.85), 300, 200)
    (fx, fy), (px, py) = view.focal, view.principal
    point = np.array([0.3, -0.2, -1.5])
    by_focal = (px + fx * point[0] / 1.5, py - fy * point[1] / 1.5)
    np.testing.assert_allclose(pixel_of(view, point), by_focal, atol=1e-9)


def test_centre_is_midway_between_the_eyes() -> None:
    eyes = [View(look_at((x, 1.6, 2), (x, 1.6, 0)), perspective(1, 1), 8, 8) for x in (-0.03, 0.03)]
    np.testing.assert_allclose(centre(eyes), (0, 1.6, 2), atol=1e-12)


def turned(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Vector turned by a unit quaternion (x, y, z, w)."""
    axis, w = quaternion[:3], quaternion[3]
    return vector + 2 * np.cross(axis, np.cross(axis, vector) + w * vector)


def about(axis: tuple[float, float, float], degrees: float) -> np.ndarray:
    half = math.radians(degrees) / 2
    return np.array([*(math.sin(half) * np.array(axis)), math.cos(half)])


ASYMMETRIC = (-0.9, 0.6, 0.8, -0.85)
HEADS = {
    "straight": ((0, 0, 0), about((0, 1, 0), 0)),
    "moved": ((0.3, 1.6, -2.0), about((0, 1, 0), 0)),
    "turned": ((0, 1.6, 0), about((0, 1, 0), 40)),
    "rolled": ((0, 1.6, 0), about((0, 0, 1), 30)),
    "upside down": ((0, 1.6, 0), about((0, 0, 1), 180)),
    "everything": ((-0.4, 1.2, 3.0), np.array([0.1, -0.5, 0.3, 0.8]) / math.sqrt(0.99)),
}


@pytest.mark.parametrize("name", HEADS)
def test_corners_of_an_openxr_view_are_where_its_angles_and_pose_put_them(name: str) -> None:
    position, quaternion = HEADS[name]
    left, right, up, down = ASYMMETRIC
    view = View.from_pose(position, quaternion, ASYMMETRIC, (320, 200))
    np.testing.assert_allclose(view.position, position, atol=1e-12)
    corners = {(left, up): (0, 0), (right, up): (320, 0), (left, down): (0, 200), (right, down): (320, 200)}
    for (across, upward), pixel in corners.items():
        ray = np.array([math.tan(across), math.tan(upward), -1.0]) * 1.7
        np.testing.assert_allclose(
            pixel_of(view, np.array(position) + turned(quaternion, ray)), pixel, atol=1e-9
        )


def test_a_pose_is_the_same_eye_as_look_at_makes() -> None:
    # A head rolled by +30 degrees about its back axis is tipped to its left shoulder.
    posed = View.from_pose((0, 1.6, 2), about((0, 0, 1), 30), (-0.4, 0.4, 0.4, -0.4), (64, 64))
    looking = View(look_at((0, 1.6, 2), (0, 1.6, 0), roll=math.radians(30)), perspective(0.8, 1.0), 64, 64)
    np.testing.assert_allclose(posed.world_to_view, looking.world_to_view, atol=1e-12)
    np.testing.assert_allclose(posed.projection, looking.projection, atol=1e-12)


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: math.hypot(*q) > 0.01))
def test_the_length_and_sign_of_a_quaternion_do_not_matter(numbers: list[float]) -> None:
    quaternion = np.array(numbers)
    unit = quaternion / np.linalg.norm(quaternion)
    matrix = pose_to_view((0, 0, 0), quaternion)
    for vector in np.eye(3):
        np.testing.assert_allclose(matrix[:3, :3] @ turned(unit, vector), vector, atol=1e-9)
    np.testing.assert_allclose(pose_to_view((0, 0, 0), -3 * quaternion), matrix, atol=1e-9)


ORTHOGRAPHIC = np.diag([1.0, 1.0, -0.1, 1.0])
SCALED = np.diag([2.0, 2.0, 2.0, 1.0])
MIRRORED = np.diag([-1.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("world_to_view", {"world_to_view": np.eye(3)}),
        ("world_to_view", {"world_to_view": np.full((4, 4), np.nan)}),
        ("world_to_view", {"world_to_view": SCALED}),
        ("world_to_view", {"world_to_view": MIRRORED}),
        ("projection", {"projection": ORTHOGRAPHIC}),
        ("projection", {"projection": perspective(1, 1).T}),
        ("width", {"width": 0}),
        ("height", {"height": 100_000}),
        ("height", {"height": 10.5}),
    ],
)
def test_wrong_views_are_refused_by_name(field: str, changes: dict) -> None:
    right = {"world_to_view": np.eye(4), "projection": perspective(1, 1), "width": 8, "height": 8}
    with pytest.raises(InvalidInputError, match=f"view.{field}"):
        View(**{**right, **changes})


@pytest.mark.parametrize(
    "call",
    [
        lambda: perspective(0, 1),
        lambda: perspective(math.pi, 1),
        lambda: perspective(1, 0),
        lambda: perspective(1, 1, near=0),
        lambda: perspective(1, 1, near=2, far=1),
        lambda: perspective_from_angles(0.5, -0.5, 0.5, -0.5),
        lambda: perspective_from_angles(-2, 0.5, 0.5, -0.5),
        lambda: look_at((0, 0, 0), (0, 0, 0)),
        lambda: look_at((0, 0, 0), (0, 1, 0)),
        lambda: look_at((0, 0), (0, 1, 0)),
        lambda: look_at((0, 0, math.nan), (0, 1, 0)),
        lambda: pose_to_view((0, 0), (0, 0, 0, 1)),
        lambda: pose_to_view((0, 0, math.inf), (0, 0, 0, 1)),
        lambda: pose_to_view((0, 0, 0), (0, 0, 0, 0)),
        lambda: pose_to_view((0, 0, 0), (0, 0, 0, math.nan)),
        lambda: pose_to_view((0, 0, 0), (0, 0, 1)),
        lambda: View.from_pose((0, 0, 0), (0, 0, 0, 1), (0.5, -0.5, 0.5, -0.5), (8, 8)),
    ],
)
def test_impossible_cameras_are_refused(call) -> None:
    with pytest.raises(InvalidInputError):
        call()


def arrays(count: int = 3) -> dict[str, np.ndarray]:
    splats = Splats.isotropic(np.zeros((count, 3), np.float32), 0.01, 0.5, np.ones(3, np.float32))
    return {name: getattr(splats, name) for name in ("means", "covariances", "opacities", "colors_srgb")}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("means", np.zeros((3, 2), np.float32)),
        ("means", np.zeros((3, 3), np.float64)),
        ("means", np.float32(1)),
        ("covariances", np.zeros((3, 3, 3), np.float32)),
        ("opacities", np.zeros((3, 1), np.float32)),
        ("colors_srgb", np.zeros((2, 3), np.float32)),
    ],
)
def test_splats_of_wrong_shape_or_type_are_refused_by_name(field: str, value: np.ndarray) -> None:
    # A wrong number of means shows as a wrong number of something else.
    with pytest.raises(InvalidInputError, match=r"splats\."):
        Splats(**{**arrays(), field: value})


@pytest.mark.parametrize(
    ("field", "index", "bad"),
    [
        ("means", (1, 2), np.nan),
        ("means", (0, 0), np.inf),
        ("covariances", (2, 5), -np.inf),
        ("opacities", (1,), 1.01),
        ("opacities", (2,), np.nan),
        ("colors_srgb", (1, 1), -0.1),
    ],
)
def test_bad_numbers_are_found_and_placed(field: str, index: tuple, bad: float) -> None:
    given = arrays()
    given[field][index] = bad
    with pytest.raises(InvalidInputError) as error:
        Splats(**given).check_values()
    assert error.value.field == f"splats.{field}{list(index)}"


def test_no_splats_are_fine() -> None:
    Splats(**arrays(0)).check_values()
