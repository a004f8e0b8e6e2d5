"""Scenes with fewer splats: which ones stay, and that they still look like all."""

import math
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from taoxr.errors import InvalidInputError
from taoxr_runtime import nnr
from taoxr_runtime.nnr import NnrFormatError, Scene, container, sample, sample_learned
from taoxr_runtime.nnr.background import Background
from taoxr_runtime.nnr.compiler import compile_scene
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.errors import ThinningError
from taoxr_runtime.nnr.graph import build
from taoxr_runtime.nnr.mnn.builder import GraphBuilder
from taoxr_runtime.nnr.thinning import kept, thinned
from taoxr_runtime.render import SplatRenderer, View, look_at, perspective_from_angles
from taoxr_runtime.render.canvas import Canvas
from taoxr_runtime.render.egl import Context
from taoxr_runtime.splat_files import Cloud
from taoxr_runtime.splat_files.scene import write
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.gl

AVATAR = Path(str(files("taoxr_runtime"))) / "assets" / "default.nnr"
ENTRY = "tensors/importance.npy"
HALF_FOV = math.radians(13)


@pytest.fixture(scope="module")
def avatar() -> Scene:
    return nnr.load(AVATAR)


def small(importance: np.ndarray | None = None, entry: str = ENTRY) -> Container:
    scene, tensors = sample.make(rings=5, subdivision=2, strands=30)
    if importance is not None:
        scene, tensors = {**scene, "importance": entry}, {**tensors, ENTRY: importance}
    return container.from_bytes(container.to_bytes(scene, tensors))


@pytest.mark.unit
@pytest.mark.parametrize(
    ("importance", "entry", "problem"),
    [
        (np.zeros(7, np.uint8), ENTRY, r"uint8 \[7\], expected uint8 \[350\]"),
        (np.zeros(350, np.uint16), ENTRY, r"uint16 \[350\], expected uint8"),
        (np.zeros((350, 1), np.uint8), ENTRY, "expected uint8"),
        (np.zeros(350, np.uint8), "tensors/none.npy", "is not in scene.tensors"),
    ],
)
def test_a_wrong_order_is_an_error_that_names_the_field(
    importance: np.ndarray, entry: str, problem: str
) -> None:
    with pytest.raises(NnrFormatError, match=problem) as caught:
        build(small(importance, entry))
    assert caught.value.field == "scene.importance"


@pytest.mark.unit
def test_the_most_important_ones_stay_and_fewer_are_some_of_them() -> None:
    importance = np.random.default_rng(1).integers(0, 256, 350).astype(np.uint8)
    scene = small(importance)
    half, third = kept(scene, 350, 1 / 2), kept(scene, 350, 1 / 3)
    assert (len(half), len(third)) == (175, 117)
    assert set(third) < set(half)
    assert importance[half].min() >= np.delete(importance, half).max()
    assert list(kept(scene, 350, 1)) == list(range(350))


@pytest.mark.unit
def test_without_an_order_they_are_evenly_spaced() -> None:
    assert set(np.diff(kept(small(), 350, 0.5))) == {2}


@pytest.mark.unit
@pytest.mark.parametrize("share", [0.0, -1.0, 1.5, math.nan])
def test_no_other_share_is_taken(share: float) -> None:
    with pytest.raises(InvalidInputError, match="share"):
        thinned(small(), share)


def cloud() -> Container:
    rng = np.random.default_rng(2)
    means = rng.uniform(-1, 1, (400, 3)).astype(np.float32)
    turns = np.tile(np.array([0, 0, 0, 1], np.float32), (400, 1))
    sizes = rng.uniform(0.01, 0.1, (400, 3)).astype(np.float32)
    shown = Cloud(
        means, turns, sizes, np.full(400, 0.8, np.float32), rng.normal(0, 0.2, (400, 4, 3)).astype(np.float32)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cloud.nnr"
        write(path, shown, "cloud", "CC0-1.0", "generated")
        return container.read(path)


@pytest.mark.parity
@pytest.mark.parametrize("made", ["small", "learned", "relit", "cloud"])
def test_splats_that_stay_are_where_they_were_in_their_colours_and_larger(made: str) -> None:
    contents = {
        "small": small,
        "cloud": cloud,
        "learned": lambda: container.from_bytes(container.to_bytes(*sample_learned.make(rings=5))),
        "relit": lambda: container.from_bytes(container.to_bytes(*sample_learned.make(rings=5, relit=True))),
    }[made]()
    full, half = Scene(contents), Scene(thinned(contents, 0.5))
    for scene in (full, half):
        scene.set("camera", np.array([0.3, 1.5, 1.0]))
        if made != "cloud":
            scene.set("expression", np.linspace(0, 0.5, 52))
    stay = kept(contents, full.graph.count, 0.5)
    before, after = full.update(), half.update()
    np.testing.assert_allclose(after.means, before.means[stay], atol=1e-6)
    np.testing.assert_allclose(after.colors_srgb, before.colors_srgb[stay], atol=1e-5)
    np.testing.assert_array_equal(after.opacities, before.opacities[stay])
    size = [s.covariances[:, [0, 3, 5]].sum(1) for s in (before, after)]
    assert np.median(size[1] / size[0][stay]) > 1.4
    assert sorted(half.order if half.order is not None else []) == list(range(len(stay)))


@pytest.mark.parity
def test_all_of_them_are_the_scene_itself() -> None:
    full, same = Scene(small()), Scene(thinned(small(), 1.0))
    for name in ("means", "opacities", "colors_srgb"):
        np.testing.assert_array_equal(getattr(same.splats, name), getattr(full.splats, name))
    largest = np.abs(full.splats.covariances).max()
    np.testing.assert_allclose(same.splats.covariances, full.splats.covariances, atol=1e-5 * largest)


@pytest.mark.unit
def test_an_avatar_has_an_order_that_prefers_what_people_look_at(avatar: Scene) -> None:
    contents = avatar.container
    assert contents.scene.importance is not None
    levels = np.bincount(contents.tensors[contents.scene.importance], minlength=256)
    assert levels.max() - levels.min() <= 1
    color = next(node for node in contents.scene.nodes if node.kind == "color")
    material = contents.tensors[color.tensors["material"]]
    names = [m["name"] for m in color.attributes["materials"]]
    stay = np.zeros(len(material), bool)
    stay[kept(contents, len(material), 0.3)] = True
    share = {name: stay[material == number].mean() for number, name in enumerate(names)}
    assert share["eye"] > 0.6
    assert share["brow"] > 0.45
    means = avatar.splats.means
    face = np.linalg.norm(means - np.array(avatar.landmarks.mouth), axis=1) < 0.05
    assert stay[face & (material == names.index("skin"))].mean() > 0.4 > share["cloth"] > share["shoe"] > 0.15


@pytest.fixture(scope="module")
def fewer(avatar: Scene) -> dict[float, Scene]:
    return {share: Scene(thinned(avatar.container, share)) for share in (0.75, 0.5, 0.25)}


@pytest.fixture(scope="module")
def renderer() -> Iterator[SplatRenderer]:
    context = Context()
    with SplatRenderer() as opened:
        yield opened
    context.release()


@pytest.mark.gl
@pytest.mark.parametrize(
    ("target", "distance", "yaw", "least"),
    [
        # dB at 75, 50 and 25 % of the splats, measured less 2.
        ((0, 1.66, 0.09), 0.75, 0.2, (39, 32, 25)),
        ((0, 1.57, 0.09), 1.40, 0.2, (45, 37, 29)),
        ((0, 0.92, 0.00), 4.20, 0.2, (46, 42, 36)),
        ((0, 1.66, 0.09), 0.90, 2.8, (37, 31, 25)),
    ],
    ids=["face", "bust", "body", "back"],
)
def test_a_thinned_avatar_looks_like_the_full_one_and_has_no_holes(
    avatar: Scene,
    fewer: dict[float, Scene],
    renderer: SplatRenderer,
    target: tuple[float, float, float],
    distance: float,
    yaw: float,
    least: tuple[float, float, float],
) -> None:
    at = np.array(target)
    eye = at + distance * np.array([math.sin(yaw), 0.05, math.cos(yaw)])
    view = View(look_at(eye, at), perspective_from_angles(-HALF_FOV, HALF_FOV, HALF_FOV, -HALF_FOV), 256, 256)

    def picture(scene: Scene) -> np.ndarray:
        scene.set("camera", eye)
        splats = scene.update()
        canvas = Canvas(256, 256, "rgba8")
        renderer.draw(splats, [view], [canvas], order=scene.order)
        drawn = canvas.read().astype(float) / 255
        canvas.release()
        return drawn

    full = picture(avatar)
    inside = full[..., 3] > 0.98
    for (share, scene), bound in zip(fewer.items(), least, strict=True):
        image = picture(scene)
        db = -10 * math.log10(np.square(image - full).mean())
        assert db > bound, share
        assert (image[..., 3][inside] < 0.9).mean() < 5e-4, share
        assert image[..., 3][inside].min() > 0.8, share


@pytest.mark.unit
def test_a_frame_loop_gets_the_smaller_scene_when_it_is_made_and_never_another_moment(avatar: Scene) -> None:
    moment = 0

    def prepare(scene: Scene) -> None:
        scene.set("root", np.array([0.001 * moment, 0, 0]))

    few = round(0.25 * avatar.graph.count)
    with Background(avatar) as background:
        first = background.update(prepare, 0.25, wait=True)
        assert len(first) == avatar.graph.count
        while len(splats := background.update(prepare, 0.25, wait=True)) != few:
            moment += 1
        assert background.order is not None
        assert len(background.order) == few
        moment += 10
        now = background.update(prepare, 0.25, wait=True)
        full = background.update(prepare, 1.0, wait=True)
        stay = kept(avatar.container, avatar.graph.count, 0.25)
        np.testing.assert_allclose(now.means, full.means[stay], atol=1e-6)
        assert not np.array_equal(now.means, splats.means)


@pytest.mark.unit
def test_an_update_that_fails_at_the_end_is_told_and_leaves_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene, late = Scene(small()), Future[Splats]()

    def run() -> None:
        with Background(scene) as background:
            background.update(lambda _: None, 0.5, wait=True)
            monkeypatch.setattr(Scene, "update_async", lambda _: late)
            background.update(lambda _: None)
            late.set_exception(MemoryError("no room"))

    with pytest.raises(MemoryError, match="no room"):
        run()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("levels")]
    scene.close()


@pytest.mark.unit
def test_a_scene_whose_own_model_makes_a_value_per_splat_stays_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path))
    scene, tensors = sample.make(rings=5, subdivision=2, strands=30)
    scene["nodes"][0] = {
        "kind": "model", "inputs": ["expression"], "outputs": ["opacities"], "tensors": {},
        "attributes": {"output_shapes": [[350]], "rate": "animation"},
    }  # fmt: skip
    del tensors["tensors/opacity.npy"]
    g = GraphBuilder([(52,)])
    made = g.build(
        [(g.inputs[0].reshape(1, 52) @ np.full((52, 350), 0.01, np.float32)).reshape(350)], [(350,)]
    )
    contents = container.from_bytes(compile_scene(scene, tensors, {0: made}, measure=False).data)
    with pytest.raises(ThinningError, match=r"node 0 .* 'opacities' for each of 350 splats"):
        thinned(contents, 0.5)
    whole = Scene(contents)
    with Background(whole) as background:
        for _ in range(3):
            assert len(background.update(lambda _: None, 0.5, wait=True)) == 350
    whole.close()
