"""``taoxr bench render`` measures what it says; how fast it is, is nobody's business here."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from taoxr.figures import Spread
from taoxr_runtime.bench import body, render
from taoxr_runtime.bench.body import COEFFICIENTS, motion, moving_body
from taoxr_runtime.bench.cli import app
from taoxr_runtime.bench.render import Bench, Size
from taoxr_runtime.nnr import container, sample
from taoxr_runtime.nnr.graph import build
from taoxr_runtime.nnr.scene import Scene
from taoxr_runtime.render import autotune, gl
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.radix import default_plan

pytestmark = pytest.mark.gl


@pytest.fixture
def context() -> Iterator[None]:
    opened = Context()
    yield
    opened.release()


@pytest.fixture
def small_avatar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the default avatar, whose frames take llvmpipe a second."""
    path = tmp_path / "small.nnr"
    container.write_scene(path, *sample.make(rings=5, subdivision=2, strands=30))
    for module in (body, render):
        monkeypatch.setattr(module, "AVATAR", path)
    monkeypatch.setattr(body, "_POSE_BONES", 6)  # all that it has


def test_times_every_pass_of_every_way(small_avatar: None) -> None:
    size = ["--splats", "2000", "--width", "64", "--height", "48", "--frames", "2"]
    arguments = [*size, "--seconds", "0.1", "--fps", "20", "--json"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert figures["splats"] == figures["body moved.splats"] == 2000
    assert figures["avatar moved.splats"] == 350
    assert 0 < figures["body moved.uploaded_bytes"] < 10_000
    drawing = ("project", "sort", "list", "sort tiles", "blend")
    learned = ("field", "coefficients", "blendshapes", "skinning", "deformer", "sh_color", "deformation")
    for way, passes in {
        "body moved": (*learned, *drawing),
        "head moved": ("sh_color", *drawing),
        "quads": ("sort", "project", "blend"),
        "quads layered": ("sort", "project", "blend"),
        "avatar moved": ("blendshapes", "skinning", "binding", "color", *drawing),
    }.items():
        for name in (*passes, "gpu", "submit"):
            figure = figures[f"{way}.{name}_ms"]
            assert figure["n"] == 2
            assert 0 <= figure["p50"] <= figure["max"]
        assert figures[f"{way}.frame_ms"] > 0
    assert "head moved.deformer_ms" not in figures
    assert figures["pace.frames"] == figures["pace.took_ms"]["n"] == 2
    assert 0 <= figures["pace.missed"] <= 2


def test_measures_each_number_of_splats_and_views(context: None) -> None:
    figures = Bench(Size(1000, 32, 32, 2), default_plan()).scaling((500,))
    assert list(figures) == [
        f"scaling 500 splats {views} views.{name}_ms" for views in (1, 2, 4) for name in ("gpu", "frame")
    ]


def test_measures_32_bits_and_pictures_that_are_read_back(small_avatar: None, context: None) -> None:
    bench = Bench(Size(1000, 32, 32, 2), default_plan())
    figures = bench.offscreen((500,))
    with gl.borrowed():
        figures |= bench.floats()
    names = ["body moved, 32 bits.deformer", *(f"offscreen 500 splats {n} views.frame" for n in (1, 2))]
    for name in names:
        figure = figures[f"{name}_ms"]
        assert isinstance(figure, Spread)
        assert figure.n == 2


def test_times_every_plan_of_the_sort(context: None) -> None:
    figures = Bench(Size(1000, 32, 32, 2), default_plan()).sorts()
    assert len(figures) == len(autotune.plans())
    assert all(
        name.startswith("sort of ") and took > 0 for name, took in figures.items() if isinstance(took, float)
    )


def test_the_measured_body_is_the_same_every_time_and_moves() -> None:
    first, second = moving_body(3000), moving_body(3000)
    for name, tensor in first.tensors.items():
        np.testing.assert_array_equal(tensor, second.tensors[name])
    graph = build(first)
    assert graph.count == 3000
    assert graph.shapes["vertices"] == build(container.read(body.AVATAR)).shapes["vertices"]
    assert graph.shapes["coefficients"] == (COEFFICIENTS,)
    scene = Scene(first)
    at = motion(dict(scene.inputs))
    before, after = (_splats_at(scene, at(frame)) for frame in (1, 2))
    for splats in (before, after):
        splats.check_values()
    moved = np.linalg.norm(after.means - before.means, axis=1)
    assert 1e-5 < np.median(moved) < 0.1
    assert not np.array_equal(before.colors_srgb, after.colors_srgb)
    scene.close()


def _splats_at(scene: Scene, values: dict[str, np.ndarray]):
    for name, value in values.items():
        scene.set(name, value)
    return scene.update()
