"""The default avatar as built: what the file holds and how the face behaves (runs without torch and anny)."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import taoxr_runtime
from taoxr import arkit
from taoxr_runtime import nnr
from taoxr_runtime.nnr import Scene

pytestmark = pytest.mark.unit

PATH = Path(taoxr_runtime.__file__).parent / "assets" / "default.nnr"
MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def scene() -> Scene:
    return nnr.load(PATH)


def tensor(scene: Scene, kind: str, key: str) -> np.ndarray:
    node = next(n for n in scene.container.scene.nodes if n.kind == kind)
    return scene.container.tensors[node.tensors[key]]


def materials(scene: Scene) -> dict[str, int]:
    color = next(n for n in scene.container.scene.nodes if n.kind == "color")
    return {m["name"]: i for i, m in enumerate(color.attributes["materials"])}


def show(scene: Scene, **coefficients: float) -> None:
    expression = np.zeros(52, np.float32)
    for name, value in coefficients.items():
        expression[arkit.INDEX[name]] = value
    scene.set("expression", expression)
    scene.update()


def surface_of(scene: Scene, *names: str) -> np.ndarray:
    """Indices of the surface splats with one of the materials."""
    index = materials(scene)
    count = len(tensor(scene, "binding", "surface_triangle"))
    return np.flatnonzero(np.isin(tensor(scene, "color", "material")[:count], [index[n] for n in names]))


def test_size_and_counts(scene: Scene) -> None:
    assert PATH.stat().st_size < 12 * MEGABYTE
    splats = scene.update()
    assert 100_000 <= len(splats.means) <= 200_000
    assert len(scene.rig.bones) == 104
    assert tuple(scene.rig.blendshapes) == arkit.NAMES
    strands = len(tensor(scene, "binding", "strand_triangle"))
    assert strands > 30_000


def test_indices_are_in_range(scene: Scene) -> None:
    vertices = len(tensor(scene, "blendshapes", "rest"))
    triangles = len(tensor(scene, "binding", "triangles"))
    assert tensor(scene, "binding", "triangles").max() < vertices
    assert tensor(scene, "blendshapes", "delta_vertices").max() < vertices
    assert tensor(scene, "color", "splat_triangle").max() < triangles
    assert tensor(scene, "skinning", "bone_indices").max() < 104
    assert tensor(scene, "color", "material").max() < len(materials(scene))


def test_weights_sum_to_one(scene: Scene) -> None:
    weights = tensor(scene, "skinning", "bone_weights")
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(1), 1.0, atol=1e-5)


def test_parents_come_first(scene: Scene) -> None:
    parents = tensor(scene, "skinning", "bone_parents")
    assert parents[0] == -1
    assert (parents[1:] >= 0).all()
    assert (parents < np.arange(len(parents))).all()


def test_stands_on_the_floor_and_faces_forward(scene: Scene) -> None:
    show(scene)
    means = scene.splats.means
    assert -0.002 < means[:, 1].min() < 0.004
    assert 1.6 < scene.landmarks.height < 1.9
    assert scene.landmarks.eye_left[0] > 0 > scene.landmarks.eye_right[0]
    assert scene.landmarks.mouth[2] > scene.landmarks.head_center[2]


def test_every_shape_moves_something(scene: Scene) -> None:
    offsets = tensor(scene, "blendshapes", "delta_offsets")
    deltas = np.linalg.norm(tensor(scene, "blendshapes", "delta_xyz").astype(np.float64), axis=1)
    furthest = [deltas[a:b].max(initial=0.0) for a, b in pairwise(offsets)]
    weak = [n for n, d in zip(arkit.NAMES, furthest, strict=True) if d < 0.001]
    assert not weak
    assert max(furthest) < 0.06


# Every third tells as much of how the avatar was made.
@pytest.mark.parametrize(
    "names", [arkit.NAMES[::3], pytest.param(arkit.NAMES, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_no_shape_tears_the_face(scene: Scene, names: tuple[str, ...]) -> None:
    show(scene)
    low, high = scene.splats.means.min(0), scene.splats.means.max(0)
    widest = scene.splats.covariances[:, [0, 3, 5]].sum(1).max()
    for name in names:
        show(scene, **{name: 1.0, "jawOpen": 1.0})
        splats = scene.splats
        assert np.isfinite(splats.means).all()
        assert (splats.means >= low - 0.03).all(), name
        assert (splats.means <= high + 0.03).all(), name
        assert splats.covariances[:, [0, 3, 5]].sum(1).max() < 1.5 * widest, name


def lip_gap(scene: Scene, pairs: np.ndarray) -> float:
    """Largest distance between upper and lower lip along the seam, metres."""
    points = scene.value("vertices")
    return float(np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1).max())


def lip_seam(scene: Scene) -> np.ndarray:
    """Pairs (upper, lower) of lip vertices that touch at rest and that the jaw parts [K,2]."""
    show(scene)
    rest = scene.value("vertices").copy()
    show(scene, jawOpen=1.0)
    moved = np.linalg.norm(scene.value("vertices") - rest, axis=1)
    skin = tensor(scene, "binding", "surface_triangle")[surface_of(scene, "skin")]
    near = np.unique(tensor(scene, "binding", "triangles")[np.unique(skin)])
    near = near[np.linalg.norm(rest[near] - scene.landmarks.mouth, axis=1) < 0.018]
    upper, lower = near[moved[near] < 0.006], near[moved[near] > 0.020]
    distance = np.linalg.norm(rest[upper][:, None] - rest[lower][None], axis=2)
    partner = distance.argmin(1)
    touching = distance.min(1) < 0.003
    return np.stack([upper[touching], lower[partner[touching]]], 1)


def test_mouth_close_seals_the_lips_of_an_open_jaw(scene: Scene) -> None:
    seam = lip_seam(scene)
    assert len(seam) >= 4
    show(scene)
    at_rest = lip_gap(scene, seam)
    show(scene, jawOpen=0.5)
    assert lip_gap(scene, seam) > at_rest + 0.006
    show(scene, jawOpen=0.5, mouthClose=0.5)
    assert lip_gap(scene, seam) < at_rest + 0.0025


def test_mouth_close_alone_does_nothing(scene: Scene) -> None:
    show(scene)
    rest = scene.value("vertices").copy()
    show(scene, mouthClose=1.0)
    np.testing.assert_allclose(scene.value("vertices"), rest, atol=1e-6)


def iris_covered(scene: Scene, eye: tuple[float, float, float]) -> float:
    """Share of points on the iris that have skin in front of them, seen from ahead."""
    means = scene.splats.means
    skin = means[surface_of(scene, "skin")]
    centre = np.array(eye)
    front = skin[(np.abs(skin[:, :2] - centre[:2]) < 0.02).all(1) & (skin[:, 2] > centre[2] + 0.010)]
    grid = np.array([(x, y) for x in (-0.004, 0, 0.004) for y in (-0.004, -0.002, 0, 0.002)]) + centre[:2]
    distance = np.linalg.norm(front[None, :, :2] - grid[:, None], axis=2).min(1)
    return float((distance < 0.0012).mean())


@pytest.mark.parametrize("side", ["Left", "Right"])
def test_lids_close(scene: Scene, side: str) -> None:
    eye = scene.landmarks.eye_left if side == "Left" else scene.landmarks.eye_right
    other = scene.landmarks.eye_right if side == "Left" else scene.landmarks.eye_left
    show(scene)
    assert iris_covered(scene, eye) < 0.2
    show(scene, **{f"eyeBlink{side}": 1.0})
    assert iris_covered(scene, eye) == 1.0
    assert iris_covered(scene, other) < 0.2


def test_eyes_follow_their_bones(scene: Scene) -> None:
    show(scene)
    eyes = surface_of(scene, "eye")
    before = scene.splats.means[eyes].astype(np.float64)
    left = before[:, 0] > 0
    bone = list(scene.rig.bones).index(scene.rig.eye_bones.left)
    head = tensor(scene, "skinning", "bone_heads")[bone].astype(np.float64)
    angle = np.deg2rad(15.0)
    pose = np.tile(np.array([0, 0, 0, 1], np.float32), (104, 1))
    pose[bone] = [0, np.sin(angle / 2), 0, np.cos(angle / 2)]
    scene.set("pose", pose)
    scene.update()
    after = scene.splats.means[eyes].astype(np.float64)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    expected = (before[left] - head) @ turn.T + head
    np.testing.assert_allclose(after[left], expected, atol=2e-4)
    np.testing.assert_allclose(after[~left], before[~left], atol=1e-6)
    pose[bone] = [0, 0, 0, 1]
    scene.set("pose", pose)


def test_eyes_have_a_catch_light(scene: Scene) -> None:
    show(scene)
    eyes = surface_of(scene, "eye")
    scene.set("camera", np.array([0.0, scene.landmarks.eye_left[1], 1.5], np.float32))
    scene.update()
    iris = scene.splats.means[eyes]
    for eye in (scene.landmarks.eye_left, scene.landmarks.eye_right):
        near = np.linalg.norm(iris[:, :2] - np.array(eye)[:2], axis=1) < 0.005
        assert scene.splats.colors_srgb[eyes][near].min(1).max() > 0.8
