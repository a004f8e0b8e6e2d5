"""The actor on the GPU: the same body as on the CPU, made where it is drawn."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from taoxr_runtime import nnr
from taoxr_runtime.animation import Activity, Motion
from taoxr_runtime.live import Actor, actor
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.render import gl
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.splat_buffers import SplatBuffers
from taoxr_runtime.splats import Splats
from taoxr_runtime.xr.floor import OnFloor, floor

pytestmark = pytest.mark.gl

AVATAR = Path(str(files("taoxr_runtime"))) / "assets" / "default.nnr"
CAMERA = np.array([0.1, 1.6, 1.5])


class Nobody:
    """Smiles, and says nothing."""

    activity = Activity.IDLE

    def face(self, now_us: int, ahead_us: int = 0) -> NDArray[np.float32]:
        face = np.zeros(52, np.float32)
        face[40:44] = 0.5
        return face

    def body(self, now_us: int, ahead_us: int = 0) -> None:
        return None


@pytest.fixture(autouse=True)
def context(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(actor, "clock_us", lambda: 5_000_000)  # both see the same moment
    opened = Context()
    yield
    opened.release()


def test_is_the_same_body_as_on_the_cpu_with_the_floor_beside_it() -> None:
    scene = nnr.load(AVATAR)
    ground = floor(np.zeros((1, 3)))
    with (
        Actor(scene, Nobody(), device="gpu", beside=ground) as on_gpu,
        Actor(scene, Nobody(), device="cpu") as on_cpu,
    ):
        expected = on_cpu.update(CAMERA)
        assert isinstance(expected, Splats)
        figure = OnFloor(on_gpu, ground)
        splats = figure.update(CAMERA)
        assert isinstance(splats, SplatBuffers)
        assert figure.order is None
        got = splats.read()
    scene.close()
    count = len(expected)
    assert len(got) == count + len(ground)
    assert np.abs(got.means[:count] - expected.means).max() < 1e-5
    np.testing.assert_array_equal(got.opacities[:count], expected.opacities)
    np.testing.assert_array_equal(got.means[count:], ground.means)
    np.testing.assert_array_equal(got.colors_srgb[count:], ground.colors_srgb)


def shown(scene: GlScene, motion: Motion, camera: NDArray[np.float64]) -> Splats:
    """A scene as this motion has it, seen from there."""
    for name, value in (("expression", motion.expression), ("pose", motion.pose), ("root", motion.root)):
        scene.set(name, value)
    scene.set("camera", camera)
    return scene.update().read()


@pytest.mark.parametrize("late_us", [0, 400, 11_111])
def test_a_foreseen_body_is_shown_in_its_frame_and_no_other(
    late_us: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In time, a little off, and a picture late: then it is made anew. The viewer walks on meanwhile."""
    now_us, ahead_us, period_us = 5_000_000, 30_000, 11_111
    monkeypatch.setattr(actor, "clock_us", lambda: now_us)
    scene = nnr.load(AVATAR)
    plain = GlScene(scene.container)
    with Actor(scene, Nobody(), device="gpu") as figure, Actor(scene, Nobody()) as twin:
        for step in range(1, 5):
            figure.update(CAMERA * step, ahead_us)
            twin.motion(CAMERA * step, ahead_us)
            figure.foresee(ahead_us + period_us)
            assert figure._on_gpu is not None
            assert "skinning" in figure._on_gpu.trace
            motion = twin.motion(CAMERA * step, ahead_us + period_us)
            now_us += period_us + late_us
            there = CAMERA * (step + 1)
            if late_us > period_us / 2:
                motion = twin.motion(there, ahead_us)
            splats = figure.update(there, ahead_us)
            assert isinstance(splats, SplatBuffers)
            got, expected = splats.read(), shown(plain, motion, there)
            assert ("skinning" in figure._on_gpu.trace) == (late_us > period_us / 2)
            np.testing.assert_array_equal(got.means, expected.means)
            np.testing.assert_array_equal(got.colors_srgb, expected.colors_srgb)
            now_us += 200_000
    scene.close()


def test_a_cpu_beside_a_fast_display_interpolates() -> None:
    avatar = nnr.load(AVATAR)
    with Actor(avatar, Nobody(), device="keyframes") as figure:
        first = figure.update(CAMERA)
        assert isinstance(first, Splats)
        means = first.means.copy()
        later = figure.update(CAMERA)
        assert figure.order is not None
        assert sorted(figure.order) == list(range(len(first)))
    assert isinstance(later, Splats)
    # A few milliseconds of breathing and swaying: no jump.
    assert np.abs(later.means - means).max() < 0.02
    avatar.close()


def test_a_software_driver_leaves_it_to_the_cpu_and_a_gpu_does_not() -> None:
    avatar = nnr.load(AVATAR)
    with Actor(avatar, Nobody()) as figure:
        assert isinstance(figure.update(CAMERA), Splats if gl.is_software() else SplatBuffers)
    avatar.close()


def test_what_a_software_driver_begins_is_for_when_the_next_frame_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Updates take less than a frame of 100 ms here; each is drawn in the frame after."""
    now_us, ahead_us, asked = 5_000_000, 40_000, []

    class Listening(Nobody):
        def face(self, now_us: int, ahead_us: int = 0) -> NDArray[np.float32]:
            asked.append(now_us)
            return super().face(now_us, ahead_us)

    monkeypatch.setattr(actor, "clock_us", lambda: now_us)
    avatar = nnr.load(AVATAR)
    with Actor(avatar, Listening(), device="cpu") as figure:
        seen: list[int] = []
        for _ in range(12):
            asked.clear()
            figure.update(CAMERA, ahead_us)
            assert figure._background._running is not None
            figure._background._running[1].result(30)
            figure._background.update_ms = 60.0
            seen.append(asked[-1])
            now_us += 100_000
    avatar.close()
    begun = 5_000_000 + 100_000 * np.arange(12)
    late = np.array(seen) - (begun + 100_000 + ahead_us)
    assert np.abs(late[3:]).max() <= 1
