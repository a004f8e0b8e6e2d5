"""When the GPU sorts, when it does without, and when each eye gets an order of its own."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from tests.runtime.pictures import MIN_PSNR, MIN_TRUE_PSNR, RASTERIZERS, cloud, psnr

from taoxr_runtime.nnr import container, sample
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.render import (
    OffscreenRenderer,
    SplatRenderer,
    View,
    look_at,
    objects,
    perspective,
    reference,
)
from taoxr_runtime.render.camera import centre
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.gl import finish
from taoxr_runtime.render.parallax import MOST, Parallax, largest
from taoxr_runtime.render.renderer import Rasterizer
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.render.stereo import EYE_DISTANCE_M
from taoxr_runtime.splats import VIEW_MOVED_M, Splats

pytestmark = pytest.mark.gl

SIZE = 96
ON_GPU: dict[str, Rasterizer] = {"quads": "quads", "compute tiles": "tiles"}


@pytest.fixture
def context() -> Iterator[None]:
    opened = Context()
    yield
    opened.release()


@pytest.fixture(params=ON_GPU)
def renderer(request: pytest.FixtureRequest, context: None) -> Iterator[SplatRenderer]:
    with SplatRenderer(ON_GPU[request.param], lists="gpu") as opened:
        yield opened


def eye_at(x: float, z: float = 1.5, target: Sequence[float] | None = None, fov: float = 0.9) -> View:
    return View(
        look_at((x, 0, z), (x, 0, 0) if target is None else target), perspective(fov, 1.0), SIZE, SIZE
    )


def uploaded(splats: Splats) -> SplatBuffers:
    buffers = SplatBuffers()
    buffers.upload(splats)
    return buffers


def drawn(renderer: SplatRenderer, splats: SplatBuffers, *views: View) -> list[np.ndarray]:
    canvases = [Canvas(SIZE, SIZE, "rgba8") for _ in views]
    renderer.draw(splats, views, canvases)
    pictures = [canvas.read() for canvas in canvases]
    for canvas in canvases:
        canvas.release()
    return pictures


def test_sorts_again_only_when_splats_or_viewer_moved(renderer: SplatRenderer) -> None:
    splats = cloud(800, (0.003, 0.03))
    buffers = uploaded(splats)
    step = 0.75 * VIEW_MOVED_M
    # The second step is within reach of the first, but not of where the sort was.
    for x, sorts in ((0.0, 1), (0.0, 1), (step, 1), (2 * step, 2), (step, 2), (-step, 3)):
        drawn(renderer, buffers, eye_at(x))
        assert renderer.sorts == sorts
    buffers.moved()
    drawn(renderer, buffers, eye_at(-step))
    assert renderer.sorts == 4
    other = uploaded(splats)
    drawn(renderer, other, eye_at(-step))
    assert renderer.sorts == 5
    other.release()
    buffers.release()


def test_the_picture_of_an_old_order_is_the_references(renderer: SplatRenderer) -> None:
    """Moved by nearly as much as needs no sort, and turned to where other splats are seen."""
    splats = cloud(3000, (0.003, 0.02), seed=2)
    buffers = uploaded(splats)
    drawn(renderer, buffers, eye_at(0.0, target=(0.5, 0.2, 0), fov=0.3))
    view = eye_at(0.99 * VIEW_MOVED_M, target=(-0.4, 0, 0), fov=0.5)
    (picture,) = drawn(renderer, buffers, view)
    assert renderer.sorts == 1
    assert psnr(picture, reference.render(splats, view)) >= MIN_PSNR
    buffers.release()


def test_an_order_given_does_not_stand_for_the_one_by_distance(renderer: SplatRenderer) -> None:
    splats = cloud(500, (0.01, 0.05))
    buffers, canvas = uploaded(splats), Canvas(SIZE, SIZE, "rgba8")
    (before,) = drawn(renderer, buffers, eye_at(0))
    renderer.draw(buffers, [eye_at(0)], [canvas], order=np.arange(len(splats)))
    assert not np.array_equal(canvas.read(), before)
    np.testing.assert_array_equal(drawn(renderer, buffers, eye_at(0))[0], before)
    assert renderer.sorts == 1
    canvas.release()
    buffers.release()


def test_a_scene_tells_when_its_splats_moved(renderer: SplatRenderer) -> None:
    scene = GlScene(container.from_bytes(container.to_bytes(*sample.make())))
    view = View(look_at((0, 1.6, 0.6), (0, 1.6, 0)), perspective(0.6, 1.0), SIZE, SIZE)
    pose = np.zeros(scene.inputs["pose"])
    pose[:, 3] = 1
    bent = pose.copy()
    bent[:, 0] = 0.05
    camera = np.array([0.0, 1.6, 0.6])
    for name, value, sorts in (
        ("pose", pose, 1),
        ("camera", camera, 1),  # other colours, in their places
        ("camera", camera + 0.5 * VIEW_MOVED_M, 1),
        ("pose", bent, 2),
        ("pose", bent, 2),
    ):
        scene.set(name, value)
        drawn(renderer, scene.update(), view)
        assert renderer.sorts == sorts
    scene.set("camera", camera + 0.9 * VIEW_MOVED_M)
    scene.update()
    assert scene.trace == ("color",)
    scene.set("camera", camera + 2 * VIEW_MOVED_M)
    scene.update()
    assert scene.trace == ("color", "sort")
    scene.release()


def eyes_at(z: float) -> list[View]:
    return [eye_at(x, z, fov=1.3) for x in (-EYE_DISTANCE_M / 2, EYE_DISTANCE_M / 2)]


NEAR: dict[str, tuple[Splats, list[View]]] = {
    "opaque, all around the head": (cloud(2000, (0.02, 0.05), (1.0, 1.0), seed=5), eyes_at(0.2)),
    "opaque, before the eyes": (cloud(2000, (0.02, 0.05), (1.0, 1.0), seed=5), eyes_at(0.9)),
    "clear and opaque": (cloud(2000, (0.005, 0.05), seed=4), eyes_at(0.2)),
    "huge": (cloud(400, (0.05, 0.15), (0.5, 1.0), seed=5), eyes_at(0.7)),
    "just far enough to share an order": (cloud(2000, (0.02, 0.05), (1.0, 1.0), seed=5), eyes_at(1.45)),
}


@pytest.mark.parity
@pytest.mark.parametrize("kind", RASTERIZERS)
def test_large_splats_before_the_eyes_are_in_each_eyes_own_order(
    kind: str, record_property: Callable[[str, object], None]
) -> None:
    rasterizer, lists = RASTERIZERS[kind]
    with OffscreenRenderer(rasterizer=rasterizer, lists=lists) as opened:
        for name, (splats, views) in NEAR.items():
            pictures = opened.render(splats, views)
            truth = true_pictures(name)
            worst = min(psnr(a, b) for a, b in zip(pictures, truth, strict=True))
            record_property(f"{name}_db", round(worst, 1))
            assert worst >= (MIN_TRUE_PSNR if name.startswith("just") else MIN_PSNR), name


_TRUTH: dict[str, list[np.ndarray]] = {}


def true_pictures(name: str) -> list[np.ndarray]:
    splats, views = NEAR[name]
    if name not in _TRUTH:
        _TRUTH[name] = [reference.render(splats, view) for view in views]
    return _TRUTH[name]


def test_one_order_would_not_do_for_them() -> None:
    """What the fallback is for: else it could be taken away and nobody would notice."""
    splats, views = NEAR["opaque, all around the head"]
    order = reference.back_to_front(splats.means, centre(views))
    assert (
        psnr(255 * reference.render(splats, views[0], order), true_pictures("opaque, all around the head")[0])
        < 32
    )


def test_the_gpu_finds_what_numpy_finds(context: None) -> None:
    views = eyes_at(1.0)
    reach = EYE_DISTANCE_M / 2
    parallax = Parallax()
    for factor, apart in ((0.99, False), (1.01, True), (0.5, False)):
        # A splat 0.8 m before the middle, of the size that is just at the limit, among small ones.
        sigma = factor * MOST / reach * 0.8**2 / np.sqrt(3)
        means = np.array([[0, 0, 0.2], [0, 0, -3], [0.5, 0, 0]], np.float32)
        covariances = np.zeros((3, 6), np.float32)
        covariances[:, [0, 3, 5]] = np.square([[sigma], [0.03], [0.001]])
        for opacity in (1.0, 0.0):
            splats = Splats(means, covariances, np.full(3, opacity, np.float32), np.ones((3, 3), np.float32))
            expected = apart and opacity > 0
            assert (largest(splats, np.array([0, 0, 1.0]), reach) > MOST) is expected
            buffers = uploaded(splats)
            assert len(parallax.passes(buffers, views)) == (2 if expected else 1)
            assert len(parallax.passes(splats, views)) == (2 if expected else 1)
            assert len(parallax.passes(buffers, views[:1])) == 1
            buffers.release()
    parallax.release()


def test_who_waits_is_told_of_these_splats_though_the_gpu_is_still_at_others(
    context: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive = objects.Mailbox.receive

    def slow(self: objects.Mailbox, wait: bool = False) -> list[int] | None:
        return receive(self, wait) if wait else None

    monkeypatch.setattr(objects.Mailbox, "receive", slow)
    parallax, views = Parallax(), eyes_at(0.9)
    small, large = (uploaded(cloud(500, sizes)) for sizes in ((0.001, 0.004), (0.02, 0.05)))
    assert len(parallax.passes(small, views, wait=False)) == 1
    assert len(parallax.passes(large, views, wait=True)) == 2
    for thing in (small, large, parallax):
        thing.release()


def test_splats_that_are_small_are_looked_at_now_and_then(context: None) -> None:
    parallax, splats, views = Parallax(), uploaded(cloud(500, (0.001, 0.004))), eyes_at(1.5)

    def looks(frames: int, distance: float = 1.5) -> int:
        before = parallax.looks
        for _ in range(frames):
            splats.moved()
            assert len(parallax.passes(splats, eyes_at(distance), wait=False)) == 1
            finish()
        return parallax.looks - before

    assert looks(1) == 1
    assert 1 <= looks(96) <= 4
    assert looks(4, 1.3) == 1  # the viewer came nearer
    assert len(parallax.passes(splats, views, wait=True)) == 1
    large = uploaded(cloud(501, (0.02, 0.05)))
    for _ in range(2):  # other splats; the answer is there a frame later
        passes = parallax.passes(large, eyes_at(0.9), wait=False)
        finish()
    assert len(passes) == 2
    for thing in (splats, large, parallax):
        thing.release()


def test_two_eyes_share_a_sort_where_splats_are_small(renderer: SplatRenderer) -> None:
    small, large = cloud(500, (0.001, 0.004)), cloud(500, (0.02, 0.05))
    for splats, sorts in ((small, 1), (large, 3), (small, 4)):
        buffers = uploaded(splats)
        drawn(renderer, buffers, *eyes_at(0.9))
        assert renderer.sorts == sorts
        buffers.release()
