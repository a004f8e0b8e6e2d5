"""The renderer as a resource: stereo, sizes, errors, threads, and that nothing is left behind."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import psutil
import pytest

from taoxr.errors import InvalidInputError
from taoxr_runtime.render import OffscreenRenderer, View, look_at, perspective
from taoxr_runtime.render.renderer import Lists
from taoxr_runtime.splats import Splats

pytestmark = pytest.mark.gl

WHITE = np.ones(3, np.float32)


@pytest.fixture(scope="module")
def renderer() -> Iterator[OffscreenRenderer]:
    with OffscreenRenderer() as opened:
        yield opened


def dot(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Splats:
    return Splats.isotropic(np.array([[x, y, z]], np.float32), 0.02, 1.0, WHITE)


def eye(x: float = 0.0, width: int = 64, height: int = 48) -> View:
    return View(look_at((x, 0, 1), (x, 0, 0)), perspective(0.8, width / height), width, height)


def column(image: np.ndarray) -> float:
    """Mean column of what was drawn."""
    weights = image[:, :, 3].sum(axis=0)
    return float((weights * np.arange(len(weights))).sum() / weights.sum())


def test_near_things_move_left_in_the_right_eye(renderer: OffscreenRenderer) -> None:
    eyes = [eye(-0.03, 256, 192), eye(0.03, 256, 192)]
    disparity = {}
    for name, z in (("near", 0.4), ("far", -1.0)):
        left, right = renderer.render(dot(z=z), eyes)
        disparity[name] = column(left) - column(right)
        expected = 0.06 * eyes[0].focal[0] / (1 - z)
        assert disparity[name] == pytest.approx(expected, abs=0.1)
    assert disparity["near"] > disparity["far"] > 0


def test_row_zero_is_the_top(renderer: OffscreenRenderer) -> None:
    image = renderer.render(dot(y=0.2), [eye()])[0]
    assert image[:24, :, 3].any()
    assert not image[24:, :, 3].any()


@pytest.mark.parametrize("lists", ["cpu", "gpu"])
def test_pictures_of_more_tiles_than_a_dispatch_takes_in_a_row(lists: Lists) -> None:
    eyes = [eye(x, 16_384, 544) for x in (-0.03, 0.03)]
    with OffscreenRenderer(rasterizer="tiles", lists=lists) as opened:
        for image in opened.render(dot(y=-0.35), eyes):
            assert image[-100:, :, 3].max() > 250
            assert not image[:-200].any()


def test_views_of_several_sizes_in_one_call(renderer: OffscreenRenderer) -> None:
    sizes = [(31, 17), (200, 100), (1, 1), (64, 48), (65, 48), (66, 48)]
    images = renderer.render(dot(), [eye(0, *size) for size in sizes], (1.0, 0.2, 0.0))
    assert [image.shape for image in images] == [(height, width, 4) for width, height in sizes]
    assert all((image[:, :, 3] == 255).all() for image in images)
    assert tuple(images[0][0, 0]) == (255, 51, 0, 255)


def test_same_splats_give_the_same_bytes(renderer: OffscreenRenderer) -> None:
    first, again = (renderer.render(dot(), [eye()])[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first.flags.writeable


def test_fewer_splats_after_more_leave_nothing_of_the_old_ones(renderer: OffscreenRenderer) -> None:
    many = Splats.isotropic(
        np.random.default_rng(0).normal(size=(5000, 3)).astype(np.float32) * 0.2, 0.02, 1.0, WHITE
    )
    renderer.render(many, [eye()])
    alone = renderer.render(dot(), [eye()])[0]
    with OffscreenRenderer() as fresh:
        np.testing.assert_array_equal(alone, fresh.render(dot(), [eye()])[0])


def test_nothing_to_draw_and_nobody_to_see(renderer: OffscreenRenderer) -> None:
    nothing = Splats.isotropic(np.zeros((0, 3), np.float32), 0.02, 1.0, WHITE)
    assert not renderer.render(nothing, [eye()])[0].any()
    assert renderer.render(dot(), []) == []
    assert not renderer.render(dot(), [eye()], order=np.array([], np.int64))[0].any()


def test_picture_behind_one_or_each_view(renderer: OffscreenRenderer) -> None:
    pictures = [np.full((48, 64, channels), 90, np.uint8) for channels in (3, 4)]
    images = renderer.render(dot(), [eye(), eye()], pictures)
    assert tuple(images[0][0, 0]) == (90, 90, 90, 255)
    assert tuple(images[1][0, 0]) == (90, 90, 90, 90)
    both = renderer.render(dot(), [eye(), eye()], pictures[0])
    np.testing.assert_array_equal(both[0], images[0])


BAD = {
    "colour out of range": {"background_srgb": (0.0, 2.0, 0.0)},
    "colour with alpha": {"background_srgb": (0.0, 0.0, 0.0, 1.0)},
    "colour as a list": {"background_srgb": [0.1, 0.2, 0.3]},
    "picture of another size": {"background_srgb": np.zeros((64, 48, 4), np.uint8)},
    "picture of floats": {"background_srgb": np.zeros((48, 64, 4))},
    "too few pictures": {"background_srgb": []},
    "order of floats": {"order": np.array([0.0])},
    "order outside": {"order": np.array([1])},
    "negative order": {"order": np.array([-1])},
    "order in two dimensions": {"order": np.array([[0]])},
    "colours for too few eyes": {"view_colors_srgb": []},
    "colours of other splats": {"view_colors_srgb": [np.zeros((2, 3), np.float32)]},
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_arguments_are_refused_by_name(name: str, renderer: OffscreenRenderer) -> None:
    (field,) = BAD[name]
    with pytest.raises(InvalidInputError, match=field):
        renderer.render(dot(), [eye()], **BAD[name])
    assert renderer.render(dot(), [eye()])[0].any()


def test_not_a_number_is_refused(renderer: OffscreenRenderer) -> None:
    bad = dot()
    bad.covariances[0, 4] = np.nan
    with pytest.raises(InvalidInputError, match=r"splats.covariances\[0, 4\]"):
        renderer.render(bad, [eye()])


@pytest.mark.parametrize("rasterizer", ["quads", "tiles"])
@pytest.mark.parametrize(
    ("mean", "covariance"),
    [
        ((0, 0, 0), (-1, 0, 0, -1, 0, -1)),
        ((0, 0, 0), (3e38, 0, 0, 3e38, 0, 3e38)),
        ((3e38, -3e38, -3e38), (1, 0, 0, 1, 0, 1)),
        ((0, 0, 1), (1, 0, 0, 1, 0, 1)),
    ],
)
def test_absurd_splats_leave_the_others_alone(rasterizer, mean, covariance) -> None:
    absurd = Splats(
        np.array([mean, (0, 0, 0)], np.float32),
        np.array([covariance, (4e-4, 0, 0, 4e-4, 0, 4e-4)], np.float32),
        np.ones(2, np.float32),
        np.ones((2, 3), np.float32),
    )
    with OffscreenRenderer(rasterizer=rasterizer) as renderer:
        expected = renderer.render(dot(), [eye()])[0]
        np.testing.assert_array_equal(renderer.render(absurd, [eye()])[0], expected)


def test_closed_renderer_says_so_and_closes_twice() -> None:
    renderer = OffscreenRenderer()
    renderer.close()
    renderer.close()
    with pytest.raises(RuntimeError, match="closed"):
        renderer.render(dot(), [eye()])


def test_two_renderers_in_one_thread_do_not_disturb_each_other() -> None:
    with OffscreenRenderer() as first, OffscreenRenderer() as second:
        expected = first.render(dot(), [eye()])[0]
        np.testing.assert_array_equal(second.render(dot(), [eye()])[0], expected)
        first.close()
        np.testing.assert_array_equal(second.render(dot(), [eye()])[0], expected)


def test_each_thread_has_its_own_renderer(renderer: OffscreenRenderer) -> None:
    expected = renderer.render(dot(), [eye()])[0]
    results: list[object] = []

    def work() -> None:
        try:
            renderer.render(dot(), [eye()])
        except RuntimeError as error:
            results.append(str(error))
        with OffscreenRenderer() as own:
            results.append(own.render(dot(), [eye()])[0])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    refused, image = results
    assert "thread" in str(refused)
    np.testing.assert_array_equal(image, expected)
    np.testing.assert_array_equal(renderer.render(dot(), [eye()])[0], expected)


def test_profile_names_every_pass() -> None:
    with OffscreenRenderer(rasterizer="tiles", lists="cpu", profile=True) as renderer:
        renderer.render(dot(), [eye(), eye()])
        assert list(renderer.passes_ms) == [
            "upload",
            "sort",
            "project",
            "background",
            "blend",
            "present",
            "read",
        ]
        assert all(passed > 0 for passed in renderer.passes_ms.values())


def test_opening_and_closing_leaves_no_files_threads_or_memory() -> None:
    process = psutil.Process()

    def once() -> None:
        with OffscreenRenderer() as renderer:
            renderer.render(dot(), [eye(0, 512, 512)])

    for _ in range(5):
        once()
    before = process.num_fds(), process.num_threads(), process.memory_info().rss
    for _ in range(20):
        once()
    after = process.num_fds(), process.num_threads(), process.memory_info().rss
    assert after[:2] == before[:2]
    assert (after[2] - before[2]) / 2**20 < 20


def test_many_pictures_leave_no_memory(renderer: OffscreenRenderer) -> None:
    process = psutil.Process()
    sizes = [(100 + n, 100) for n in range(10)]
    for size in sizes * 2:
        renderer.render(dot(), [eye(0, *size)])
    before = process.memory_info().rss
    for size in sizes * 20:
        renderer.render(dot(), [eye(0, *size)])
    assert (process.memory_info().rss - before) / 2**20 < 10


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_without_a_driver_the_error_names_the_packages() -> None:
    code = "from taoxr_runtime.render import OffscreenRenderer; OffscreenRenderer()"
    done = python(code, __EGL_VENDOR_LIBRARY_FILENAMES="/nonexistent.json")
    assert done.returncode == 1
    assert "UnavailableError" in done.stderr
    assert "apt-get install libegl1 libopengl0 libgl1-mesa-dri" in done.stderr


def test_an_old_driver_is_named_with_what_it_lacks(renderer: OffscreenRenderer) -> None:
    if "llvmpipe" not in renderer.description:
        pytest.skip("only Mesa can be told to act old")
    done = python(
        "from taoxr_runtime.render import OffscreenRenderer; OffscreenRenderer()",
        MESA_GL_VERSION_OVERRIDE="3.3",
    )
    assert done.returncode == 1
    assert "Mesa surfaceless: has no OpenGL 4.5 core profile" in done.stderr


def test_without_pyopengl_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['OpenGL'] = None\n"
        "from taoxr_runtime.render import OffscreenRenderer; OffscreenRenderer()"
    )
    done = python(code)
    assert done.returncode == 1
    assert "pip install 'taoxr[xr]'" in done.stderr


def test_pyopengl_loaded_for_x_is_named_as_the_reason() -> None:
    code = (
        "import os; os.environ['PYOPENGL_PLATFORM'] = 'glx'; import OpenGL.platform\n"
        "from taoxr_runtime.render import OffscreenRenderer; OffscreenRenderer()"
    )
    done = python(code)
    assert done.returncode == 1
    assert "import taoxr_runtime.render first" in done.stderr


def test_drawing_needs_no_display_and_passes_with_every_call_checked() -> None:
    code = (
        "import numpy as np; from taoxr_runtime.render import *; from taoxr_runtime.splats import Splats\n"
        "splats = Splats.isotropic(np.zeros((1, 3), np.float32), 0.02, 1.0, np.ones(3, np.float32))\n"
        "view = View(look_at((0, 0, 1), (0, 0, 0)), perspective(0.8, 1), 64, 64)\n"
        "with OffscreenRenderer() as r: print(int(r.render(splats, [view])[0].max()))"
    )
    done = python(code, DISPLAY="", WAYLAND_DISPLAY="", TAOXR_GL_DEBUG="1")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 200
