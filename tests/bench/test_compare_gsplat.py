"""What is given to gsplat is what our renderer draws: the same places, shapes, colours and eyes."""

from collections.abc import Iterator

import numpy as np
import pytest
from tests.bench.compare_gsplat import cameras, exported

from taoxr_runtime.bench.body import motion, moving_body
from taoxr_runtime.bench.clouds import eyes
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.nnr.nodes.sh_color import harmonics
from taoxr_runtime.render.egl import Context

pytestmark = pytest.mark.parity


@pytest.fixture
def scene() -> Iterator[GlScene]:
    context = Context()
    made = GlScene(moving_body(2000))
    for name, value in motion(dict(made.inputs))(1).items():
        made.set(name, value)
    yield made
    made.release()
    context.release()


def test_exported_splats_are_the_scenes(scene: GlScene) -> None:
    camera = np.array([0.4, 1.5, 1.2], np.float32)
    scene.set("camera", camera)
    splats = scene.update().read()
    given = exported(scene)
    w, x, y, z = given["quats"].astype(np.float64).T
    axes = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    ).transpose(2, 0, 1)
    turned = axes * given["scales"][:, None]
    world = turned @ turned.transpose(0, 2, 1)
    np.testing.assert_allclose(
        world[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]], splats.covariances, atol=1e-9
    )
    away = splats.means - camera
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    colors = np.einsum("kn,nkc->nc", harmonics(away.T, 16), given["sh"]) + 0.5
    np.testing.assert_allclose(np.clip(colors, 0, 1), splats.colors_srgb, atol=2e-3)


def test_cameras_put_points_on_the_same_pixels() -> None:
    views = eyes(320, 240, turn=0.3)
    point = np.array([0.1, 1.2, 0.05, 1.0])
    for view, to_eye, to_pixels in zip(views, *cameras(views), strict=True):
        seen = to_eye @ point
        assert seen[2] > 0
        pixel = (to_pixels @ seen[:3])[:2] / seen[2]
        clip = view.projection @ view.world_to_view @ point
        x, y = clip[:2] / clip[3]
        np.testing.assert_allclose(pixel, [(x + 1) / 2 * view.width, (1 - y) / 2 * view.height], atol=1e-3)
