"""``taoxr splat render`` and a still scene in the window, on a real OpenGL context."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.runtime import splat_writers as writers
from tests.runtime.pictures import MIN_PSNR, psnr
from typer.testing import CliRunner

from taoxr.errors import InvalidInputError
from taoxr_runtime import nnr
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.render import reference
from taoxr_runtime.render.camera import centre
from taoxr_runtime.render.egl import Context
from taoxr_runtime.splat_files import placing, read
from taoxr_runtime.splat_files.cli import app
from taoxr_runtime.splat_files.viewpoint import Viewpoint
from taoxr_runtime.view.app import Plan, Viewer
from taoxr_runtime.view.cli import app as view
from taoxr_runtime.view.still import Nobody

pytestmark = pytest.mark.gl

RUN = CliRunner()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("splats") / "a.ply"
    path.write_bytes(writers.ply(writers.random_rows(400)))
    return path


@pytest.fixture(scope="module")
def scene(file: Path) -> Path:
    out = file.with_suffix(".nnr")
    assert RUN.invoke(app, ["import", str(file), "-o", str(out)]).exit_code == 0
    return out


def drawn(source: Path, *options: str) -> np.ndarray:
    """The picture, RGBA, colours not multiplied by alpha, 0 to 1."""
    out = source.with_suffix(".png")
    done = RUN.invoke(app, ["render", str(source), "-o", str(out), "--size", "96x64", *options])
    assert done.exit_code == 0, done.output
    return np.asarray(Image.open(out).convert("RGBA")) / 255


@pytest.mark.parametrize("raster", ["auto", "quads", "tiles"])
def test_a_picture_is_the_references(raster: str, file: Path) -> None:
    options = (
        "--raster",
        raster,
        "--yaw",
        "30",
        "--pitch",
        "-20",
        "--roll",
        "15",
        "--fov",
        "50",
        "--distance",
        "3.5",
    )
    picture = drawn(file, *options)
    cloud = read(file).cloud.moved(placing.turning("-y"))
    middle = placing.box(cloud.means).center
    point = Viewpoint(target=middle, distance=3.5, yaw=30, pitch=-20, roll=15, fov=50)
    expected = reference.render(cloud.splats(point.position), point.view(96, 64))
    alpha = picture[..., 3:]
    assert (
        psnr(255 * np.concatenate([picture[..., :3] * alpha, alpha], axis=2), expected) >= 40
    )  # rounded twice


def test_two_eyes_side_by_side_over_a_colour(file: Path) -> None:
    picture = drawn(
        file, "--stereo", "sbs", "--background", "#336699", "--target", "0,0,0", "--distance", "3"
    )
    assert picture.shape == (64, 192, 4)
    splats = read(file).cloud.moved(placing.turning("-y")).splats((0, 0, 3))
    views = Viewpoint(target=np.zeros(3), distance=3).pair(96, 64)
    order = reference.back_to_front(splats.means, centre(views))
    behind = np.full((64, 96, 4), (0.2, 0.4, 0.6, 1.0))
    expected = [reference.render(splats, view, order, behind) for view in views]
    assert psnr(255 * picture, np.concatenate(expected, axis=1)) >= MIN_PSNR


def test_by_itself_all_of_it_is_seen(file: Path, scene: Path) -> None:
    for source in (file, scene):
        alpha = drawn(source, "--yaw", "45")[..., 3]
        edges = np.concatenate([alpha[0], alpha[-1], alpha[:, 0], alpha[:, -1]])
        assert edges.max() < 0.2
        assert (alpha.max(axis=1) > 0.2).sum() > 32  # rows of 64


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (("--size", "0x10"), "--size"),
        (("--background", "blue"), "--background"),
        (("--stereo", "both"), "--stereo"),
        (("--fov", "170"), "--fov"),
        (("--target", "1,2"), "--target"),
        (("--out", "a.jpg"), "--out"),
    ],
)
def test_wrong_options_are_refused_by_name(file: Path, options: tuple[str, str], field: str) -> None:
    done = RUN.invoke(app, ["render", str(file), "-o", str(file.with_suffix(".png")), *options])
    assert isinstance(done.exception, InvalidInputError)
    assert done.exception.field == field


def test_the_gpu_makes_the_same_splats(scene: Path) -> None:
    loaded, camera = nnr.load(scene), np.array([0.5, 1.0, 2.0])
    loaded.set("camera", camera)
    expected = loaded.update()
    context = Context()
    try:
        on_gpu = GlScene(loaded.container)
        on_gpu.set("camera", camera)
        made = on_gpu.update().read()
        on_gpu.release()
    finally:
        context.release()
    np.testing.assert_array_equal(made.means, expected.means)
    np.testing.assert_array_equal(made.covariances, expected.covariances)
    np.testing.assert_array_equal(made.opacities, expected.opacities)
    np.testing.assert_allclose(made.colors_srgb, expected.colors_srgb, atol=2e-3)


def test_a_still_scene_fills_the_window(
    display: str, scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    out = tmp_path / "a.png"
    loaded = nnr.load(scene)
    figures = Viewer(loaded, Nobody(), Plan(size=(160, 160), frames=2, screenshot=out)).run()
    assert figures.frames == 2
    picture = np.asarray(Image.open(out).convert("RGB")).astype(float)
    assert picture[40:120, 40:120].std() > 30  # splats of all colours
    assert picture[:10].std() < 10  # the backdrop


def test_a_still_scene_answers_no_questions(
    display: str, scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    done = RUN.invoke(view, ["--avatar", str(scene), "--ask", "Who are you?", "--sound", "null"])
    assert isinstance(done.exception, InvalidInputError)
    assert "a scene with a body" in str(done.exception)
