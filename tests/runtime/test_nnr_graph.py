"""The graph at run time: setting inputs, running what is dirty, buffers, the worker thread."""

import threading
from pathlib import Path

import numpy as np
import pytest

from taoxr.errors import InvalidInputError
from taoxr_runtime import nnr
from taoxr_runtime.nnr import Scene, container, sample

pytestmark = pytest.mark.unit

CONTAINER = container.from_bytes(container.to_bytes(*sample.make(rings=4, subdivision=2, strands=10)))
ALL = ["splats", "blendshapes", "skinning", "binding", "color", "sort"]


@pytest.fixture
def scene() -> Scene:
    return Scene(CONTAINER)


def ran(scene: Scene) -> list[str]:
    scene.update()
    return [run.kind for run in scene.trace]


def half(shape: tuple[int, ...], value: float = 0.5) -> np.ndarray:
    return np.full(shape, value, np.float32)


def test_the_first_update_runs_everything_in_order_and_the_next_nothing(scene: Scene) -> None:
    assert ran(scene) == ALL
    assert all(run.ms > 0 and run.backend == "numpy" for run in scene.trace)
    first = scene.splats
    assert ran(scene) == []
    assert scene.splats is first


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("expression", ["blendshapes", "skinning", "binding", "color", "sort"]),
        ("pose", ["skinning", "binding", "color", "sort"]),
        ("root", ["skinning", "binding", "color", "sort"]),
        ("camera", ["color", "sort"]),
    ],
)
def test_only_what_depends_on_an_input_runs(scene: Scene, name: str, kinds: list[str]) -> None:
    scene.update()
    scene.set(name, half(scene.inputs[name]))
    assert ran(scene) == kinds
    assert ran(scene) == []


def test_an_equal_value_changes_nothing(scene: Scene) -> None:
    scene.set("root", np.zeros(3, np.float32))
    scene.update()
    scene.set("root", np.zeros(3))
    assert ran(scene) == []


def test_the_result_does_not_depend_on_the_way_there(scene: Scene) -> None:
    rng = np.random.default_rng(3)
    values = {name: rng.random(shape).astype(np.float32) for name, shape in scene.inputs.items()}
    for name, value in values.items():
        scene.set(name, value)
        scene.update()
    fresh = Scene(CONTAINER)
    for name, value in reversed(values.items()):
        fresh.set(name, value)
    for field in ("means", "covariances", "opacities", "colors_srgb"):
        np.testing.assert_array_equal(getattr(scene.splats, field), getattr(fresh.splats, field))
    np.testing.assert_array_equal(scene.order, fresh.order)


def test_an_input_is_copied(scene: Scene) -> None:
    root = half((3,))
    scene.set("root", root)
    root[:] = 9
    scene.update()
    np.testing.assert_array_equal(scene.value("root"), half((3,)))


@pytest.mark.parametrize(
    ("name", "array", "text"),
    [
        ("expresion", half((52,)), "expected one of expression, pose, root, camera"),
        ("expression", half((51,)), r"float32 \[51\].*expected float32 \[52\]"),
        ("pose", half((6, 3)), r"expected float32 \[6, 4\]"),
        ("root", np.zeros(3, np.int32), r"int32 \[3\].*expected float32 \[3\]"),
        ("camera", np.array([0, np.nan, 0], np.float32), r"camera\[1\].*finite"),
    ],
)
def test_wrong_inputs_say_what_was_expected(scene: Scene, name: str, array: np.ndarray, text: str) -> None:
    with pytest.raises(InvalidInputError, match=text):
        scene.set(name, array)
    scene.update()


def test_unknown_values_and_backends_are_refused(scene: Scene) -> None:
    with pytest.raises(InvalidInputError, match="vertices"):
        scene.value("mesh")
    with pytest.raises(InvalidInputError, match="one of numpy, mnn"):
        Scene(CONTAINER, "cuda")  # type: ignore[arg-type]


def test_splats_stay_as_they_are_during_the_next_update(scene: Scene) -> None:
    first = scene.update()
    means = first.means.copy()
    scene.set("root", half((3,)))
    second = scene.update()
    np.testing.assert_array_equal(first.means, means)
    np.testing.assert_allclose(second.means, means + 0.5, atol=1e-6)
    assert second.opacities is first.opacities


def test_inputs_start_at_rest_before_the_viewer(scene: Scene) -> None:
    x, y, z = scene.landmarks.head_center
    np.testing.assert_allclose(scene.value("camera"), [x, y, z + 1.5], atol=1e-6)
    np.testing.assert_array_equal(scene.value("pose"), np.tile([0, 0, 0, 1], (len(scene.rig.bones), 1)))


def test_update_async_runs_on_another_thread_and_leaves_the_caller_free(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, release, threads = threading.Event(), threading.Event(), []
    node = scene.graph.steps[3].node
    evaluate = node.evaluate

    def blocked(inputs: object, outputs: object) -> None:
        threads.append(threading.current_thread().name)
        started.set()
        assert release.wait(10)
        evaluate(inputs, outputs)  # type: ignore[arg-type]

    before = scene.update()
    means = before.means.copy()  # the update after the next may write over them
    monkeypatch.setattr(node, "evaluate", blocked)
    scene.set("root", half((3,), 1.0))
    first = scene.update_async()
    assert started.wait(10)
    # The worker is busy: the caller still reads the last splats and sets the next inputs.
    assert scene.splats is before
    assert scene.value("means") is before.means
    np.testing.assert_array_equal(scene.value("root"), np.zeros(3))
    scene.set("root", half((3,), 2.0))
    second = scene.update_async()
    assert not first.done()
    release.set()
    np.testing.assert_allclose(first.result(10).means - means, 1.0, atol=1e-6)
    second.result(10)
    np.testing.assert_array_equal(scene.value("root"), half((3,), 2.0))
    assert all(name.startswith("nnr") for name in threads)
    scene.close()


def test_an_error_on_the_worker_reaches_the_caller(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(inputs: object, outputs: object) -> None:
        raise RuntimeError("node broke")

    scene.update()
    node = scene.graph.steps[4].node
    with monkeypatch.context() as patch:
        patch.setattr(node, "evaluate", broken)
        scene.set("root", half((3,)))
        with pytest.raises(RuntimeError, match="node broke"):
            scene.update_async().result(10)
    # What had not run is still dirty.
    assert ran(scene) == ["color", "sort"]
    scene.close()


def test_load_reads_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a.nnr"
    container.write_scene(path, *sample.make(rings=3, subdivision=1, strands=4, bones=3))
    scene = nnr.load(str(path))
    assert scene.name == "sample"
    assert len(scene.splats) == len(scene.order)
