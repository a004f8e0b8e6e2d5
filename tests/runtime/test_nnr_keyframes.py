"""A scene at 20 animation frames a second shown at 60 to 120: nothing steps, and the expensive nodes rest."""

import itertools
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from taoxr_runtime.nnr import Scene, container, sample, sample_learned
from taoxr_runtime.nnr.cli import app
from taoxr_runtime.nnr.cli_run import animation
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.eyes import eyes_of
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.nnr.keyframes import AHEAD_US, Keyframes
from taoxr_runtime.nnr.rates import PERIOD_US
from taoxr_runtime.nnr.scene import Backend
from taoxr_runtime.nnr.timeline import Timeline, between
from taoxr_runtime.render.egl import Context
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.gl

LEARNED = container.from_bytes(container.to_bytes(*sample_learned.make(rings=5, bones=6)))


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAOXR_HOME", str(tmp_path_factory.mktemp("home")))
        yield


def with_eyes() -> Container:
    """The sample with one triangle's corners given to the left eye."""
    scene, tensors = sample.make(rings=5, subdivision=2, strands=6, bones=6)
    scene["nodes"][3]["attributes"] = {**scene["nodes"][3]["attributes"], "phong": 0.0}  # rigid as it is
    indices, weights = (tensors[f"tensors/bone_{n}.npy"].copy() for n in ("indices", "weights"))
    corners = tensors["tensors/triangles.npy"][3]
    indices[corners], weights[corners] = 5, [1, 0, 0, 0]
    changed = {"tensors/bone_indices.npy": indices, "tensors/bone_weights.npy": weights}
    return container.from_bytes(container.to_bytes(scene, tensors | changed))


def times_at(fps: int, seconds: float = 0.6) -> list[int]:
    return [round(i * 1e6 / fps) for i in range(round(seconds * fps))]


def assert_smooth(shown: list[np.ndarray], fps: int) -> None:
    """No splat stands still and then jumps: its velocity changes by no more than the motion's own bends.

    The motion is a sum of sines below 2 Hz sampled 20 times a second; where it bends most, its velocity
    changes by about a quarter of the largest velocity from one animation frame to the next.
    """
    velocity = np.diff(np.stack(shown[2:]), axis=0) * fps
    speed = np.linalg.norm(velocity, axis=2)
    change = np.linalg.norm(np.diff(velocity, axis=0), axis=2)
    assert speed.max() > 0.01, "nothing moves"
    assert change.max() < 0.5 * speed.max()


@pytest.mark.parametrize("fps", [60, 90, 120])
def test_no_splat_steps_on_the_cpu(fps: int) -> None:
    timeline = animation(LEARNED, 1)
    with Keyframes(Scene(LEARNED), timeline.at, wait=True) as keyframes:
        shown, runs = [], []
        for t in times_at(fps):
            shown.append(keyframes.show(t, np.array([0, 1.6, 1.2])).means.copy())
            runs.append([run.kind for run in keyframes.trace])
        order = keyframes.order
    assert_smooth(shown, fps)
    assert order is not None
    made = sum("field" in kinds for kinds in runs[2:])
    assert made == pytest.approx(0.6 * 20, abs=2)


def test_stepping_would_be_noticed() -> None:
    timeline = animation(LEARNED, 1)
    scene, shown = Scene(LEARNED), []
    for t in times_at(90):
        for name, value in timeline.at(t // PERIOD_US * PERIOD_US).items():
            scene.set(name, value)
        shown.append(scene.update().means.copy())
    with pytest.raises(AssertionError):
        assert_smooth(shown, 90)


@pytest.mark.parametrize("backend", ["numpy", "mnn"])
def test_keyframes_are_exact_and_what_lies_between_is_close(backend: Backend) -> None:
    timeline = animation(LEARNED, 2)
    camera = np.array([0, 1.6, 1.2])
    exact = Scene(LEARNED)
    with Keyframes(Scene(LEARNED, backend), timeline.at, wait=True) as keyframes:
        for t, tolerance in ((0, 2e-6), (25_000, 5e-4), (50_000, 2e-6), (75_000, 5e-4)):
            for name, value in timeline.at(t).items():
                exact.set(name, value)
            exact.set("camera", camera)
            off = np.abs(keyframes.show(t, camera).means - exact.update().means)
            assert off.max() <= tolerance, t


def test_a_late_keyframe_holds_the_last_one_and_nobody_waits() -> None:
    timeline = animation(LEARNED, 1)
    asked: list[int] = []

    def motion(time_us: int) -> dict[str, np.ndarray]:
        asked.append(time_us)
        return dict(timeline.at(time_us))

    with Keyframes(Scene(LEARNED), motion) as keyframes:
        for t in times_at(120, 0.3):
            keyframes.show(t, np.array([0, 1.6, 1.2]))
            assert max(asked) <= t + AHEAD_US
        # A second later than anything asked for: the newest finished keyframe, not an error.
        late = keyframes.show(1_300_000, np.array([0, 1.6, 1.2]))
        assert np.isfinite(late.means).all()
    assert asked == sorted(set(asked))


def test_what_was_late_is_made_up_for_without_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    timeline, camera = animation(LEARNED, 1), np.array([0, 1.6, 1.2])
    scene, gate, updates = Scene(LEARNED), threading.Event(), itertools.count(1)
    update = scene.update

    def gated() -> Splats:
        # The first picture needs two keyframes.
        assert next(updates) <= 2 or gate.wait(30)
        return update()

    monkeypatch.setattr(scene, "update", gated)
    with Keyframes(scene, timeline.at) as keyframes:
        keyframes.show(0, camera)
        keyframes.show(10_000, camera)
        reached = keyframes.show(60_000, camera).means.copy()
        np.testing.assert_array_equal(keyframes.show(80_000, camera).means, reached)
        gate.set()
        assert keyframes._next is not None
        missed = keyframes._next.result().means
        np.testing.assert_allclose(keyframes.show(91_000, camera).means, reached, atol=1e-7)
        half = keyframes.show(91_000 + PERIOD_US // 4, camera).means
        np.testing.assert_allclose(half, (reached + missed) / 2, atol=1e-6)
    assert np.abs(missed - reached).max() > 1e-4


def test_eyes_turn_between_keyframes() -> None:
    file = with_eyes()
    scene = Scene(file)
    (eye,) = eyes_of(scene)
    assert eye.bone == 5
    rest = {name: scene.value(name).astype(float) for name in ("pose", "expression", "root")}
    turned = {**rest, "pose": rest["pose"].copy()}
    turned["pose"][5] = [0, 0.2, 0, np.sqrt(1 - 0.04)]
    timeline = Timeline()
    timeline.add(0, rest)
    exact = Scene(file)
    exact.set("pose", turned["pose"])
    expected = exact.update()
    with Keyframes(scene, timeline.at, wait=True) as keyframes:
        camera = np.array([0, 1.6, 1.2])
        still = keyframes.show(0, camera, rest["pose"]).means.copy()
        shown = keyframes.show(10_000, camera, turned["pose"])
        np.testing.assert_allclose(shown.means[eye.splats], expected.means[eye.splats], atol=2e-4)
        np.testing.assert_allclose(
            shown.covariances[eye.splats], expected.covariances[eye.splats], rtol=0.05, atol=1e-9
        )
        others = np.setdiff1d(np.arange(len(still)), eye.splats)
        np.testing.assert_allclose(shown.means[others], still[others], atol=1e-6)
        assert np.abs(shown.means[eye.splats] - still[eye.splats]).max() > 1e-3


def test_rotations_take_the_shortest_way() -> None:
    a = {"pose": np.array([[0, 0, 0, 1.0]]), "root": np.zeros(3)}
    b = {"pose": -np.array([[0, 0, np.sin(0.5), np.cos(0.5)]]), "root": np.ones(3)}
    middle = between(a, b, 0.5)
    np.testing.assert_allclose(np.abs(middle["pose"][0]), [0, 0, np.sin(0.25), np.cos(0.25)], atol=1e-12)
    np.testing.assert_allclose(middle["root"], 0.5)


def test_networks_run_20_times_a_second_on_the_gpu_and_nothing_steps() -> None:
    context = Context()
    scene, timeline, shown, traces = GlScene(LEARNED), animation(LEARNED, 1), [], []
    for t in times_at(90):
        for name, value in timeline.at(t).items():
            scene.set(name, value)
        scene.update(time_us=t)
        shown.append(scene.value("means"))
        traces.append(scene.trace)
    assert sum("field" in trace for trace in traces) == 12
    assert sum("coefficients" in trace for trace in traces) == 12
    assert all("skinning" in trace and "deformer" in trace for trace in traces[1:])
    assert_smooth(shown, 90)
    # The first picture, in the middle of a period, is right at once.
    fresh, exact = GlScene(LEARNED), Scene(LEARNED)
    for name, value in timeline.at(710_000).items():
        fresh.set(name, value)
        exact.set(name, value)
    fresh.update(time_us=710_000)
    assert np.abs(fresh.value("means") - exact.update().means).max() < 3e-6
    fresh.release()
    # Without a time everything is as of now.
    for name, value in timeline.at(1_000_000).items():
        scene.set(name, value)
    scene.update()
    for name, value in timeline.at(1_000_000).items():
        exact.set(name, value)
    assert np.abs(scene.value("means") - exact.update().means).max() < 3e-6
    scene.release()
    context.release()


def test_sorts_only_when_something_moved() -> None:
    scene = Scene(LEARNED)
    scene.update()
    kinds = []
    for x in (0.0001, 0.0004, 0.0011, 0.0012):
        scene.set("root", np.array([x, 0, 0]))
        scene.update()
        kinds.append("sort" in [run.kind for run in scene.trace])
    assert kinds == [False, False, True, False]
    scene.set("camera", scene.value("camera") + np.float32(0.001))
    scene.update()
    assert "sort" not in [run.kind for run in scene.trace]
    scene.set("camera", scene.value("camera") + np.float32(0.0015))
    scene.update()
    assert "sort" in [run.kind for run in scene.trace]


@pytest.mark.parametrize("backend", ["numpy", "mnn", "gl"])
def test_run_prints_what_ran(tmp_path: Path, backend: str) -> None:
    path = tmp_path / "a.nnr"
    container.write_scene(path, *sample_learned.make(rings=5, bones=6))
    arguments = ["run", str(path), "--frames", "30", "--backend", backend, "--trace"]
    report = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert len(report["frames"]) == 30
    assert report["summary"]["field"]["runs"] < 12
    assert report["frames"][0]["nodes"][0]["kind"] == "splats"
    text = CliRunner().invoke(app, arguments).output
    assert "per second" in text
    assert "Milliseconds of each node" in text
