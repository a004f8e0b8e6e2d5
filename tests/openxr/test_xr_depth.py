"""How far the runtime is told that the body is: read back from what it is handed."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import viewing
from monado import Monado, Placed
from scenes import BALL, ball_mesh
from viewing import SYMMETRIC, eyes, looking, turn

from taoxr_runtime.render import View, perspective_from_angles, reference

pytestmark = pytest.mark.gl

SIZE = (176, 160)
TOLERANCE_M = 1e-3
"""The poses come back as float32."""
EDGE_SHARE = 0.002
ASYMMETRIC = eyes((-0.9, 0.6, 0.8, -0.85), (-0.55, 0.8, 0.7, -0.9))
START = viewing.START


@pytest.fixture(scope="module")
def monado() -> Iterator[Monado]:
    with Monado() as running:
        yield running


def expected(head: Placed, settings: list, size: tuple[int, int]) -> list[np.ndarray]:
    """For each eye float64 [H, W], metres along the line of sight, from the poses that the test set."""
    mesh, stands = ball_mesh(), viewing.model(START)
    found = []
    for eye in settings:
        place = viewing.matrix(head) @ viewing.matrix(eye.pose)
        lens = perspective_from_angles(*eye.angles)
        view = View(np.linalg.inv(place) @ stands, lens, *size)
        found.append(reference.distances(np.asarray(mesh.vertices), mesh.triangles, view))
    return found


@pytest.mark.parametrize(
    ("head", "settings", "layers", "scale"),
    [
        (START, eyes(), 1, 1.0),
        (Placed(turn("y", 12), (0.4, 1.4, 0.1)), eyes(), 2, 1.0),
        (Placed(turn("z", 30), START.position), ASYMMETRIC, 1, 1.0),
        (Placed(turn("x", -8), START.position), ASYMMETRIC, 2, 0.5),
    ],
    ids=["start", "moved, layers", "rolled", "smaller, layers"],
)
def test_each_eye_has_the_depth_of_the_mesh(
    monado: Monado, tmp_path: Path, head: Placed, settings: list, layers: int, scale: float
) -> None:
    with looking(monado, tmp_path, scene="ball", size=SIZE, layers=layers) as client:
        shot = client.look(head, settings, scale=scale)
    size = round(SIZE[0] * scale), round(SIZE[1] * scale)
    wanted = expected(head, settings, size)
    assert shot["distances"].shape == (2, size[1], size[0])
    for found, reference_m in zip(shot["distances"], wanted, strict=True):
        on_ball = np.isfinite(found) & np.isfinite(reference_m)
        assert on_ball.mean() > 0.02
        assert (np.isfinite(found) != np.isfinite(reference_m)).mean() <= EDGE_SHARE
        off = np.abs(found[on_ball] - reference_m[on_ball]) > TOLERANCE_M
        assert off.mean() <= EDGE_SHARE
    # The comparison would notice the wrong eye.
    assert (np.isfinite(shot["distances"][0]) != np.isfinite(wanted[1])).mean() > EDGE_SHARE


def test_it_is_in_metres(monado: Monado, tmp_path: Path) -> None:
    """Without any matrix of ours: the ball's nearest point, straight ahead."""
    x, y = BALL[:2]
    ahead = Placed(position=(START.position[0] + x, y, START.position[2]))
    with looking(monado, tmp_path, scene="ball", size=SIZE) as client:
        shot = client.look(ahead, eyes(SYMMETRIC, SYMMETRIC))
    wanted = 1.5 - BALL[2] - 0.25  # a model stands 1.5 m ahead of where the head started
    for distances in shot["distances"]:
        assert distances.min() == pytest.approx(wanted, abs=0.01)


def test_a_figure_without_a_mesh_has_none(monado: Monado, tmp_path: Path) -> None:
    with looking(monado, tmp_path, size=(64, 64)) as client:
        shot = client.look(START, eyes())
    assert shot["distances"].size == 0
