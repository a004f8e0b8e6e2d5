"""A real window under an X server without screen. No bridge: what the window shows without one."""

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime.audio import NullSink, NullSource
from taoxr_runtime.demo.stage import load_avatar
from taoxr_runtime.live import Companion
from taoxr_runtime.nnr import Scene
from taoxr_runtime.render import SplatRenderer, gl
from taoxr_runtime.render.stereo import Stereo
from taoxr_runtime.splat_files import Cloud
from taoxr_runtime.splat_files.scene import write
from taoxr_runtime.view.app import Figures, Plan, Viewer
from taoxr_runtime.view.devices import Devices
from taoxr_runtime.view.events import Dragged, Event, Key, Pressed, Released, Typed, Wheeled
from taoxr_runtime.view.window import Window, window_library

pytestmark = pytest.mark.gl

NOBODY = "127.0.0.1:9"  # a port where no bridge listens
SIZE = (320, 400)


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    loaded = load_avatar(None)
    yield loaded
    loaded.close()


class Asked(Companion):
    """Writes down what the window asks of it."""

    def __init__(self) -> None:
        super().__init__(NOBODY, NullSink(), NullSource())
        self.calls: list[object] = []

    def ask(self, text: str) -> None:
        self.calls.append(text)

    def talk(self, pressed: bool) -> None:
        self.calls.append(pressed)

    def interrupt(self) -> None:
        self.calls.append("interrupt")


Show = Callable[..., tuple[Figures, Asked]]


@pytest.fixture
def show(display: str, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Show:
    """`show(plan, events)`: runs a window; the user does five of `events` in each frame."""
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)

    def run(
        plan: Plan, events: Sequence[Event] = (), devices: Devices | None = None
    ) -> tuple[Figures, Asked]:
        left = list(events)
        poll = Window.poll

        def scripted(window: Window) -> list[Event]:
            return poll(window) + [left.pop(0) for _ in range(min(len(left), 5))]

        monkeypatch.setattr(Window, "poll", scripted)
        with Asked() as companion:
            return Viewer(scene, companion, plan, devices).run(), companion

    return run


def picture(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB")).astype(float)


def test_the_avatar_and_the_words_are_in_the_window(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "view.png"
    figures, _ = show(Plan(size=SIZE, frames=3, screenshot=path))
    assert figures.frames == 3
    assert not figures.interrupted
    image = picture(path)
    assert image.shape == (400, 320, 3)
    assert image[20, 30].min() > 200  # the light backdrop
    skin, shirt = image[130, 160], image[290, 160]
    assert skin[0] > skin[2] + 30
    assert shirt[2] > shirt[0] + 30
    foot = image[330:395, 20:300]
    assert foot.min() < 60 < 150 < foot.max()  # light letters on dark paper


def test_typing_asks_and_keys_do_what_they_say(show: Show) -> None:
    hello = [Typed(letter) for letter in "Hi xx"]
    figures, companion = show(
        Plan(size=(128, 160), frames=60),
        [
            *hello, Pressed(Key.BACKSPACE), Pressed(Key.BACKSPACE), Pressed(Key.ENTER), Pressed(Key.ENTER),
            Pressed(Key.SPACE), Typed(" "), Pressed(Key.SPACE, again=True), Released(Key.SPACE),
            Pressed(Key.TAB), Typed("a"), Pressed(Key.SPACE), Released(Key.SPACE),
            Pressed(Key.ESCAPE), Pressed(Key.F1), Dragged(0.1, 0.1, False), Dragged(0.1, 0.1, True),
            Wheeled(2.0), Pressed(Key.HOME), Pressed(Key.PASTE), Pressed(Key.ESCAPE), Typed("never"),
        ],
    )  # fmt: skip
    # Space talks only while nothing is typed; its release is told anyway, so that no talk goes on for ever.
    assert companion.calls == ["Hi", True, False, "interrupt", False]
    assert figures.frames == 5  # the second Escape quits


def test_keys_change_loudspeaker_and_microphone_and_it_is_told(show: Show, tmp_path: Path) -> None:
    path, devices = tmp_path / "told.png", Devices(NullSink(), NullSource())
    show(Plan(size=SIZE, frames=2, screenshot=path))
    before = picture(path)
    show(Plan(size=SIZE, frames=30, screenshot=path), [Pressed(Key.F2), Pressed(Key.F3)], devices)
    devices.close()
    assert devices.said[0].startswith("no microphone is in use: ")
    foot = np.s_[320:395, 20:300]
    alarm = (picture(path)[foot] - before[foot]).max(axis=(0, 1))
    assert alarm[0] > 100  # a notice in its own colour


def test_after_a_reset_of_the_gpu_there_is_another_window(
    show: Show, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pretended: no context is current, as if calls did nothing, and glGetError says that it is lost."""
    g, egl = gl.gl(), gl.load("OpenGL.EGL")
    real, draw, frames = g.glGetError, SplatRenderer.draw, itertools.count()

    def losing(*args: Any, **options: Any) -> None:
        if next(frames) == 2:
            window_library().make_context_current(None)
        draw(*args, **options)

    monkeypatch.setattr(g, "glGetError", lambda: real() if egl.eglGetCurrentContext() else 0x0507)
    monkeypatch.setattr(SplatRenderer, "draw", losing)
    path = tmp_path / "again.png"
    figures, companion = show(Plan(size=SIZE, frames=5, screenshot=path, ask="Hello?"))
    assert figures.frames == 5
    assert companion.calls == ["Hello?"], "asked once"
    image = picture(path)
    assert image[130, 160, 0] > image[130, 160, 2] + 30  # skin
    alarm = (image[320:395, 20:300, 0] - image[320:395, 20:300, 2]).max()
    assert alarm > 100  # the notice


def test_a_gpu_that_is_reset_at_once_again_is_given_up(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(what: str) -> None:
        raise gl.ContextLostError

    monkeypatch.setattr(gl, "check", lost)
    with pytest.raises(gl.ContextLostError):
        show(Plan(size=SIZE, frames=5))


def test_side_by_side_each_eye_has_its_half(show: Show, tmp_path: Path) -> None:
    path = tmp_path / "sbs.png"
    stereo: Stereo = "sbs"
    show(Plan(size=(480, 300), frames=2, screenshot=path, stereo=stereo))
    image = picture(path)
    left, right = image[:, :240], image[:, 240:]
    for eye in (left, right):
        assert eye[100, 120, 0] > eye[100, 120, 2] + 20  # skin in the middle of each
    face = np.s_[60:140, 80:160]
    difference = np.abs(left[face] - right[face]).mean()
    assert 0.3 < difference < 30
    corner = np.s_[30:60, 5:40]  # below the words
    assert np.abs(left[corner] - right[corner]).mean() < 1.5


def test_for_coloured_glasses_both_eyes_are_in_one_picture(show: Show, tmp_path: Path) -> None:
    kinds: tuple[Stereo, ...] = ("off", "anaglyph")
    for stereo in kinds:
        show(Plan(size=SIZE, frames=2, screenshot=tmp_path / f"{stereo}.png", stereo=stereo))
    one, both = (picture(tmp_path / f"{stereo}.png") for stereo in kinds)
    corner = np.s_[30:60, 5:40]  # below the words; nothing there is nearer or farther
    assert np.abs(both[corner] - one[corner]).mean() < 8  # light stays light

    def apart(image: np.ndarray) -> float:
        """How much edges differ between red and cyan: they lie apart where the eyes see them apart."""
        red, cyan = (np.diff(image[60:300, 40:280, channel], axis=1) for channel in (0, 1))
        return float(np.abs(red - cyan).mean())

    assert apart(both) > 1.5 * apart(one)
    assert both[330:395, 20:300].min() < 60  # the words


def test_dragging_turns_the_avatar(show: Show, tmp_path: Path) -> None:
    show(Plan(size=SIZE, frames=2, screenshot=tmp_path / "a.png"))
    show(Plan(size=SIZE, frames=2, screenshot=tmp_path / "b.png"), [Dragged(0.5, 0.0, False)])
    a, b = picture(tmp_path / "a.png"), picture(tmp_path / "b.png")
    assert np.abs(a[100:180] - b[100:180]).mean() > 3


def test_a_screenshot_that_cannot_be_written(show: Show, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="--screenshot"):
        show(Plan(size=(128, 160), frames=1, screenshot=tmp_path / "none" / "a.png"))


def test_without_a_display_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    if sys.platform == "linux":
        with pytest.raises(UnavailableError, match=r"no display: .*xvfb-run"):
            Window(64, 64, "test")
    monkeypatch.setenv("DISPLAY", ":9999")
    with pytest.raises(UnavailableError, match=r"cannot be used .*Failed to open display"):
        Window(64, 64, "test")


def command(*arguments: str, display: str) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", "from taoxr.cli import main; main()", "view", *arguments],
        env={**os.environ, "DISPLAY": display, "COLUMNS": "400"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stereo", "3d"], "--stereo: got '3d', expected off, sbs or anaglyph"),
        (["--size", "7x7"], "--size: got '7x7', expected WIDTHxHEIGHT"),
        (["--mic", "--wav", "a.wav"], "expected one of them"),
        (["--hands-free"], "--hands-free: got True, expected --mic or --wav beside it"),
        (["--wav", "none.wav"], "--wav: got 'none.wav', expected a file that exists"),
        (["--fps", "1"], "--fps: got 1.0, expected 5 to 240"),
        (["--frames", "3", "--after", "2"], "--frames: got 3, expected no --after beside it"),
        (["--screenshot", "a.gif"], "--screenshot: got 'a.gif', expected a name that ends in .png"),
        (["--sound", "loud"], "sound: got 'loud', expected auto, device, null"),
        (["--avatar", "none.nnr", "--sound", "null"], "avatar: got 'none.nnr', expected a .nnr file"),
    ],
)
def test_wrong_options_are_told(arguments: list[str], message: str, display: str) -> None:
    with pytest.raises(InvalidInputError) as told:
        invoke(arguments, display)
    assert message in str(told.value)


def test_what_is_asked_for_draws(display: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scene without a body, which is only looked at: no bridge is started."""
    scene, drew = tmp_path / "cloud.nnr", list[str]()
    means = np.random.default_rng(0).uniform(0, 1, (20, 3)).astype(np.float32)
    turns, ones = np.tile(np.float32([0, 0, 0, 1]), (20, 1)), np.ones((20, 3), np.float32)
    write(scene, Cloud(means, turns, 0.05 * ones, ones[:, 0], ones[:, None]), "cloud", "CC0-1.0", "generated")
    draw = SplatRenderer.draw

    def drawn(self: SplatRenderer, *given: Any, **named: Any) -> None:
        drew.append(self.rasterizer)
        draw(self, *given, **named)

    monkeypatch.setattr(SplatRenderer, "draw", drawn)
    # Software drivers draw tiles if nothing is asked for.
    for raster in ("quads", "tiles"):
        invoke(["--avatar", str(scene), "--raster", raster, "--frames", "1", "--sound", "null"], display)
    assert drew == ["quads", "tiles"]


def invoke(arguments: list[str], display: str) -> None:
    """The command in this process: what it raises, `taoxr` prints."""
    import typer

    from taoxr_runtime.view.cli import app

    before = os.environ.get("DISPLAY")
    os.environ["DISPLAY"] = display
    try:
        typer.main.get_command(app).main(args=arguments, standalone_mode=False)
    finally:
        os.environ.pop("DISPLAY")
        if before is not None:
            os.environ["DISPLAY"] = before


def test_ctrl_c_ends_it_cleanly(display: str) -> None:
    process = command("--target", NOBODY, "--sound", "null", "--debug", "--size", "128x160", display=display)
    wait_for_window(display, process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "Traceback" not in output
    assert "fps" in output
    assert "notice:" in output  # that there is no bridge


def wait_for_window(display: str, process: subprocess.Popen[str]) -> None:
    """Returns when something light is on the screen."""
    from PIL import ImageGrab

    while process.poll() is None:
        time.sleep(0.1)
        if np.asarray(ImageGrab.grab(xdisplay=display)).any():
            return
    raise AssertionError(process.communicate()[0])
