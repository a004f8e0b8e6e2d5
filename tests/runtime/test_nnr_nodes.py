"""What the nodes compute, against independent brute force."""

import math

import numpy as np
import pytest

from taoxr import arkit
from taoxr_runtime.nnr import Scene, container, sample
from taoxr_runtime.nnr.nodes.binding import Binding
from taoxr_runtime.nnr.nodes.blendshapes import Blendshapes
from taoxr_runtime.nnr.nodes.skinning import rotations

pytestmark = pytest.mark.unit

SCENE, TENSORS = sample.make(rings=5, subdivision=2, strands=20, bones=6)
PHONG = SCENE["nodes"][3]["attributes"]


def make(attributes: dict[str, float] | None = None, **arrays: np.ndarray) -> Scene:
    scene = {**SCENE, "nodes": [dict(node) for node in SCENE["nodes"]]}
    if attributes:
        scene["nodes"][3]["attributes"] = {**PHONG, **attributes}
    named = {f"tensors/{key}.npy": array for key, array in arrays.items()}
    return Scene(container.from_bytes(container.to_bytes(scene, TENSORS | named)))


def tensor(key: str) -> np.ndarray:
    return TENSORS[f"tensors/{key}.npy"]


def expression(**values: float) -> np.ndarray:
    e = np.zeros(len(arkit.NAMES))
    for name, value in values.items():
        e[arkit.INDEX[name]] = value
    return e


def coefficients(**values: float) -> dict[str, float]:
    node = make().graph.steps[1].node
    assert isinstance(node, Blendshapes)
    return dict(zip(arkit.NAMES, node.coefficients(expression(**values)), strict=True))


def test_neutral_is_added_and_clipped() -> None:
    assert coefficients()["eyeWideLeft"] == pytest.approx(0.2)
    assert coefficients(eyeWideLeft=0.9)["eyeWideLeft"] == 1.0
    assert coefficients(jawOpen=-0.5)["jawOpen"] == 0.0


def test_remap_bounds_raises_and_fades() -> None:
    e = coefficients(mouthClose=0.9, jawOpen=0.4, eyeBlinkLeft=0.25, eyeSquintLeft=0.5)
    assert e["mouthClose"] == pytest.approx(0.4)
    assert e["eyeBlinkLeft"] == pytest.approx(0.25**1.5)
    assert e["eyeWideLeft"] == pytest.approx(0.2 * (1 - 0.125))
    assert e["eyeSquintLeft"] == pytest.approx(0.5 * (1 - 0.125))


def test_shapes_move_their_vertices_by_their_deltas() -> None:
    scene = make()
    rest = scene.value("shaped").copy()
    for name in ("jawOpen", "tongueOut", "cheekPuff"):
        scene.set("expression", expression(**{name: 0.5}))
        scene.update()
        offsets, i = tensor("delta_offsets"), arkit.INDEX[name]
        part = slice(offsets[i], offsets[i + 1])
        expected = np.zeros_like(rest)
        expected[tensor("delta_vertices")[part]] = 0.5 * tensor("delta_xyz")[part].astype(np.float32)
        np.testing.assert_allclose(scene.value("shaped") - rest, expected, atol=3e-7)


def test_rotations_of_known_quaternions() -> None:
    h = math.sqrt(0.5)
    quaternions = np.array([[0, 0, 0, 1], [0, 0, h, h], [0, 3, 0, 0], [0, 0, 0, 0]], float)
    R = rotations(quaternions)
    np.testing.assert_allclose(R[0], np.eye(3))
    np.testing.assert_allclose(R[1] @ [1, 0, 0], [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(R[2], np.diag([-1, 1, -1]), atol=1e-12)
    np.testing.assert_allclose(R[3], np.eye(3))


def test_skinning_against_matrices_one_vertex_at_a_time() -> None:
    scene = make()
    rng = np.random.default_rng(5)
    pose = rng.normal(size=(6, 4))
    root = np.array([0.1, -0.2, 0.3])
    scene.set("pose", pose)
    scene.set("root", root)
    scene.update()

    def translate(v: np.ndarray) -> np.ndarray:
        return np.block([[np.eye(3), v[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])

    heads, parents = tensor("bone_heads").astype(float), tensor("bone_parents")
    turns = rotations(pose.astype(np.float32).astype(float))
    transforms: list[np.ndarray] = []
    for b in range(6):
        R = np.eye(4)
        R[:3, :3] = turns[b]
        base = translate(root) if parents[b] < 0 else transforms[parents[b]]
        transforms.append(base @ translate(heads[b]) @ R @ translate(-heads[b]))
    np.testing.assert_allclose(scene.value("bones"), np.array(transforms)[:, :3], atol=1e-6)
    shaped = scene.value("shaped")
    for v in range(0, len(shaped), 7):
        point = np.append(shaped[v], 1.0)
        expected = sum(
            w * (transforms[b] @ point)
            for b, w in zip(tensor("bone_indices")[v], tensor("bone_weights")[v], strict=True)
        )
        np.testing.assert_allclose(scene.value("vertices")[v], expected[:3], atol=1e-6)


def test_a_bone_turns_about_its_head() -> None:
    scene = make()
    pose = np.tile([0.0, 0, 0, 1], (6, 1))
    pose[0] = [0, 1, 0, 1]
    scene.set("pose", pose)
    head = tensor("bone_heads")[0]
    T = (scene.update(), scene.value("bones")[0])[1]
    np.testing.assert_allclose(T[:, :3] @ head + T[:, 3], head, atol=1e-6)


def sub_triangles(n: int) -> np.ndarray:
    """Barycentric corners [n², 3 corners, 3 weights] of an even cut of a triangle."""

    def at(i: int, j: int) -> list[float]:
        return [1 - (i + j) / n, i / n, j / n]

    cells = [[at(i, j), at(i + 1, j), at(i, j + 1)] for i in range(n) for j in range(n - i)]
    cells += [[at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)] for i in range(n) for j in range(n - i - 1)]
    return np.array(cells)


def full(covariance: np.ndarray) -> np.ndarray:
    return covariance[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_surface_covariance_is_that_of_an_even_sub_triangle(n: int) -> None:
    _, tensors = sample.make(rings=5, subdivision=n, strands=20, bones=6)
    scene = Scene(container.from_bytes(container.to_bytes(SCENE, tensors)))
    vertices = scene.value("vertices").astype(float)
    cut = sub_triangles(n)
    splats = scene.splats
    for face in (0, 11, 57):
        corners = vertices[tensors["tensors/triangles.npy"][face]]
        cross = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        normal = cross / np.linalg.norm(cross)
        here = np.flatnonzero(tensors["tensors/surface_triangle.npy"] == face)
        centers = cut.mean(1)
        # The sample stores the upward cells first too, so splat i lies in cell i.
        stored = tensors["tensors/surface_barycentric.npy"][here].astype(float)
        np.testing.assert_allclose(stored, centers[:, 1:], atol=1e-3)
        for i, cell in zip(here, cut, strict=True):
            p = cell @ corners
            d = p - p.mean(0)
            area = np.linalg.norm(np.cross(p[1] - p[0], p[2] - p[0])) / 2
            thickness = PHONG["thin"] * math.sqrt(area / math.pi)
            expected = PHONG["spread"] / 12 * d.T @ d + thickness**2 * np.outer(normal, normal)
            scale = np.abs(expected).max()
            np.testing.assert_allclose(full(splats.covariances[i : i + 1])[0], expected, atol=2e-5 * scale)


def test_one_twelfth_is_the_covariance_of_points_spread_over_a_triangle() -> None:
    rng = np.random.default_rng(2)
    corners = rng.normal(size=(3, 3))
    b = rng.dirichlet([1, 1, 1], 200_000)
    d = corners - corners.mean(0)
    np.testing.assert_allclose(np.cov((b @ corners).T), d.T @ d / 12, atol=0.01)


def test_without_phong_means_are_barycentric() -> None:
    scene = make({"phong": 0.0})
    corners = scene.value("vertices")[tensor("triangles")[tensor("surface_triangle")]]
    b = tensor("surface_barycentric").astype(float)
    weights = np.column_stack([1 - b.sum(1), b])
    expected = np.einsum("nc,ncx->nx", weights, corners)
    np.testing.assert_allclose(scene.splats.means[: len(b)], expected, atol=1e-6)


def test_phong_moves_means_towards_the_round_ball() -> None:
    center, radius = np.array(SCENE["landmarks"]["head_center"]), 0.12
    surface = slice(0, len(tensor("surface_triangle")))

    def error(alpha: float) -> float:
        offset = (
            make({"phong": alpha}, delta_xyz=np.zeros_like(tensor("delta_xyz"))).splats.means[surface]
            - center
        )
        return float(np.abs(np.linalg.norm(offset, axis=1) - radius).mean())

    assert error(0.75) < 0.5 * error(0.0)


def test_frames_are_right_handed_and_along_the_first_edge() -> None:
    scene = make()
    frames = scene.value("frames").astype(float)
    np.testing.assert_allclose(
        np.einsum("fij,fik->fjk", frames, frames), np.tile(np.eye(3), (len(frames), 1, 1)), atol=1e-5
    )
    np.testing.assert_allclose(np.linalg.det(frames), 1, atol=1e-5)
    corners = scene.value("vertices")[tensor("triangles")]
    edge = corners[:, 1] - corners[:, 0]
    np.testing.assert_allclose(
        np.einsum("fi,fi->f", frames[:, :, 0], edge), np.linalg.norm(edge, axis=1), rtol=1e-4
    )


def test_a_degenerate_triangle_has_the_identity_as_frame() -> None:
    triangles = tensor("triangles").copy()
    triangles[4] = triangles[4, 0]
    scene = make(triangles=triangles)
    scene.splats.check_values()
    np.testing.assert_array_equal(scene.value("frames")[4], np.eye(3))


def test_strands_turn_with_their_triangle() -> None:
    scene = make()
    first = len(tensor("surface_triangle"))
    frames = scene.value("frames")[tensor("strand_triangle")].astype(float)
    corner = scene.value("vertices")[tensor("triangles")[tensor("strand_triangle"), 0]]
    offset = np.einsum("nij,nj->ni", frames, tensor("strand_offset").astype(float))
    np.testing.assert_allclose(scene.splats.means[first:], corner + offset, atol=1e-6)
    values, vectors = np.linalg.eigh(full(scene.splats.covariances[first:]).astype(float))
    axis, width = tensor("strand_axis").astype(float), tensor("strand_width").astype(float)
    length = np.linalg.norm(axis, axis=1)
    np.testing.assert_allclose(values[:, 0], width**2, rtol=1e-2)
    np.testing.assert_allclose(values[:, 2], width**2 + length**2, rtol=1e-3)
    along = np.abs(np.einsum("nij,nj,ni->n", frames, axis / length[:, None], vectors[:, :, 2]))
    np.testing.assert_allclose(along, 1, atol=1e-4)


@pytest.mark.parametrize("empty", ["surface", "strand"])
def test_either_kind_of_splat_may_be_absent(empty: str) -> None:
    surface, strands = len(tensor("surface_triangle")), len(tensor("strand_triangle"))
    keep = slice(surface, None) if empty == "surface" else slice(0, surface)
    arrays = {
        k: tensor(k)[keep]
        for k in ("albedo_srgb", "occlusion", "gloss", "material", "normal", "splat_triangle", "opacity")
    }
    keys = (
        ("surface_triangle", "surface_barycentric")
        if empty == "surface"
        else ("strand_triangle", "strand_offset", "strand_axis", "strand_width", "tangent")
    )
    arrays |= {key: tensor(key)[:0] for key in keys}
    scene = make(None, **arrays)
    assert len(scene.splats) == (strands if empty == "surface" else surface)
    scene.splats.check_values()
    np.testing.assert_array_equal(scene.splats.means, make().splats.means[keep])


def test_rigid_motion_carries_means_and_covariances() -> None:
    scene = make(bone_parents=np.array([-1, 0, 0, 0, 0, 0], np.int16))
    rest = scene.splats
    means, covariances = rest.means.astype(float), full(rest.covariances).astype(float)
    pose = np.tile([0.0, 0, 0, 1], (6, 1))
    pose[0] = [0.3, -0.2, 0.5, 0.7]
    scene.set("pose", pose)
    scene.set("root", np.array([1.0, 0.5, -2.0]))
    moved = scene.update()
    T = scene.value("bones")[0].astype(float)
    np.testing.assert_allclose(moved.means, means @ T[:, :3].T + T[:, 3], atol=2e-6)
    expected = T[:, :3] @ covariances @ T[:, :3].T
    np.testing.assert_allclose(full(moved.covariances), expected, atol=1e-4 * np.abs(expected).max())


def test_order_is_farthest_first() -> None:
    scene = make()
    scene.set("camera", np.array([0.3, 1.7, 0.9]))
    distance = np.linalg.norm(scene.update().means - scene.value("camera"), axis=1)
    order = scene.order
    assert order is not None
    assert sorted(order) == list(range(len(distance)))
    step = np.ptp(distance) / 65_535
    assert np.diff(distance[order]).max() <= 1.01 * step


def test_light_falls_where_it_should() -> None:
    scene = make()
    color = scene.splats.colors_srgb.astype(float)
    surface = len(tensor("surface_triangle"))
    normal = np.einsum(
        "nij,nj->ni",
        scene.value("frames")[tensor("splat_triangle")].astype(float),
        tensor("normal").astype(float) / 127,
    )[:surface]
    key = np.array([0.48, 0.64, 0.6])
    ratio = (color[:surface] / (tensor("albedo_srgb")[:surface] / 255)).mean(1)
    lit, dark = normal @ key > 0.7, normal @ key < -0.3
    assert ratio[lit].mean() > 1.3 * ratio[dark].mean()


def test_highlights_follow_the_viewer() -> None:
    scene = make()
    before = scene.splats.colors_srgb.copy()
    scene.set("camera", np.array([2.0, 1.6, 0.0]))
    after = scene.update().colors_srgb
    assert not np.array_equal(before, after)
    assert isinstance(scene.graph.steps[3].node, Binding)
