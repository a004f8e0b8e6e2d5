"""Networks of a file's own that make what the GPU draws or what its kernels take."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr import Scene, container, sample, sample_learned
from taoxr_runtime.nnr.compiler import compile_scene
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.gl import GlScene, GlStage
from taoxr_runtime.nnr.gl.kernels import Value, as_buffer
from taoxr_runtime.nnr.gl.slow import Slow, Span
from taoxr_runtime.nnr.graph import RESULTS
from taoxr_runtime.nnr.mnn.builder import GraphBuilder
from taoxr_runtime.nnr.rates import PERIOD_US
from taoxr_runtime.render import gl
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.objects import Buffer
from taoxr_runtime.splats import Splats
from taoxr_runtime.stage import Placed

pytestmark = pytest.mark.gl

COUNT, BONES, LATENT = 150, 6, 100
RNG = np.random.default_rng(3)


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAOXR_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    opened = Context()
    yield
    opened.release()


def linear(at_zero: Sequence[np.ndarray], change: Sequence[np.ndarray]) -> bytes:
    """A network that adds to constants the first coefficient of the expression times others."""
    g = GraphBuilder([(52,)])
    first = g.inputs[0].gather([0], 0)
    made = [(first * moved.reshape(-1) + start.reshape(-1)).reshape(*start.shape)
            for start, moved in zip(at_zero, change, strict=True)]  # fmt: skip
    return g.build(made, [start.shape for start in at_zero])


def model_node(outputs: dict[str, np.ndarray]) -> dict[str, Any]:
    return {
        "kind": "model", "inputs": ["expression"], "outputs": list(outputs), "tensors": {},
        "attributes": {"output_shapes": [list(a.shape) for a in outputs.values()], "rate": "animation"},
    }  # fmt: skip


@pytest.fixture(scope="module")
def of_splats(_own_cache: None) -> Container:
    """A scene whose splats, all of them, a network makes 20 times a second."""
    made = {name: RNG.uniform(0.2, 0.4, (COUNT, *tail)) for name, tail in RESULTS.items()}
    change = [RNG.uniform(0, 0.5, array.shape) for array in made.values()]
    document, _ = sample.make()
    document |= {"nodes": [model_node(made)]}
    network = linear(list(made.values()), change)
    return container.from_bytes(compile_scene(document, {}, {0: network}, measure=False).data)


def expression(first: float) -> np.ndarray:
    return np.array([first, *[0.0] * 51], np.float32)


def shown_at(scene: GlScene | GlStage, set_on: GlScene, amount: float) -> None:
    """Runs the network twice, and shows so much of the way from the one result to the other."""
    for period, first in ((0, 0.0), (1, 1.0)):
        set_on.set("expression", expression(first))
        scene.update(time_us=period * PERIOD_US)
    scene.update(time_us=PERIOD_US + round(amount * PERIOD_US))


def expected_at(file: Container, amount: float) -> Splats:
    scene = Scene(file)
    scene.set("expression", expression(amount))
    return scene.update()


def test_a_second_update_for_the_same_time_makes_nothing_anew(of_splats: Container) -> None:
    scene = GlScene(of_splats)
    shown_at(scene, scene, 0.25)
    made, place = scene.splats.read(), scene.splats.place_number
    scene.update(time_us=PERIOD_US + round(0.25 * PERIOD_US))
    assert scene.splats.place_number == place
    scene.update(time_us=PERIOD_US + round(0.5 * PERIOD_US))
    assert scene.splats.place_number != place
    later = scene.splats.read()
    for name in RESULTS:
        assert not np.array_equal(getattr(later, name), getattr(made, name))
        np.testing.assert_allclose(
            getattr(later, name), getattr(expected_at(of_splats, 0.5), name), atol=1e-6
        )
    scene.release()


def test_splats_of_a_network_leave_those_beside_them_alone(of_splats: Container) -> None:
    beside = Splats.isotropic(np.ones((70, 3), np.float32), 0.1, 0.5, np.full(3, 0.7, np.float32))
    scene = GlScene(of_splats, beside)
    shown_at(scene, scene, 0.25)
    made, expected = scene.splats.read(), expected_at(of_splats, 0.25)
    for name in RESULTS:
        np.testing.assert_allclose(getattr(made, name)[:COUNT], getattr(expected, name), atol=1e-6)
        np.testing.assert_array_equal(getattr(made, name)[COUNT:], getattr(beside, name))
    scene.release()


def test_splats_of_a_network_share_a_pool(of_splats: Container) -> None:
    ball = container.from_bytes(container.to_bytes(*sample.make(rings=4)))
    stage = GlStage([Placed(file, np.eye(4)) for file in (ball, of_splats, ball)])
    shown_at(stage, stage.scenes[1], 0.5)
    alone = Scene(ball).update()
    parts, n = stage.splats.read(), len(alone)
    for name in RESULTS:
        whole = getattr(parts, name)
        np.testing.assert_allclose(
            whole[n : n + COUNT], getattr(expected_at(of_splats, 0.5), name), atol=1e-6
        )
        np.testing.assert_array_equal(stage.scenes[1].value(name), whole[n : n + COUNT])
        for part in (whole[:n], whole[n + COUNT :]):
            np.testing.assert_allclose(part, getattr(alone, name), atol=4e-3 if "colors" in name else 3e-6)
    with pytest.raises(InvalidInputError, match="eyes"):
        stage.look_from(np.zeros((2, 3)))
    stage.release()


def test_networks_make_what_kernels_take_from_the_cpu() -> None:
    """Rotations, which pass no zero between q and -q, and a latent code longer than any coefficients."""
    document, tensors = sample_learned.make(rings=4, per_triangle=1, bones=BONES, degree=0)
    weight = tensors["tensors/field_weight0.npy"]
    more = RNG.normal(0, 0.05, (len(weight), LATENT - sample_learned.LATENT)).astype(np.float32)
    tensors["tensors/field_weight0.npy"] = np.hstack([weight, more])
    quaternions = RNG.normal(0, 0.1, (BONES, 4))
    quaternions[:, 3] += 1
    made = {"posed": quaternions, "hung": RNG.normal(size=LATENT)}
    network = linear(list(made.values()), [-2 * quaternions, np.zeros(LATENT)])
    names = {"pose": "posed", "latent": "hung"}
    for node in document["nodes"]:
        node["inputs"] = [names.get(name, name) for name in node["inputs"]]
    document["nodes"].insert(0, model_node(made))
    document["inputs"] = [given for given in document["inputs"] if given["name"] not in names]
    file = container.from_bytes(compile_scene(document, tensors, {0: network}, measure=False).data)
    scene, on_cpu = GlScene(file), Scene(file)
    for amount in (0.0, 0.5, 0.9):
        shown_at(scene, scene, amount)
        turned = scene.value("posed")
        unit = turned / np.linalg.norm(turned, axis=1, keepdims=True)
        expected = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
        np.testing.assert_allclose(unit, expected, atol=1e-6)
    on_cpu.set("expression", expression(1.0))
    on_cpu.update()
    scene.update()
    for name in ("displacement", "bones", "vertices", "means"):
        np.testing.assert_allclose(scene.value(name), on_cpu.value(name), atol=3e-6)
    scene.release()


def test_a_network_may_make_more_than_a_dispatch_takes_in_a_row() -> None:
    count = gl.MOST_GROUPS * 64 + 1000

    class Counts:
        uploaded = 0

        def run(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
            as_buffer(outputs[0]).write(np.arange(count, dtype=np.float32))

        def release(self) -> None: ...

    shown, read = Buffer(), np.empty(count + 8, np.float32)
    shown.write(np.full(count + 8, -1, np.float32))
    slow = Slow(Counts(), [Span(shown, 5, count)])
    slow.run([])
    slow.show(1.0)
    shown.read(read)
    np.testing.assert_array_equal(read[5:-3], np.arange(count))
    assert set(read[:5]) == set(read[-3:]) == {-1}
    gl.check("test")
    slow.release()
    shown.release()


def test_a_scene_too_large_for_the_driver_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    file = container.from_bytes(container.to_bytes(*sample_learned.make(rings=8)))
    monkeypatch.setattr(gl, "storage_block_bytes", lambda: 1 << 18)
    with pytest.raises(InvalidInputError, match="a table of"):
        GlScene(file)
