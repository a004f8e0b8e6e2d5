"""The parts of the window that need no display."""

import os
import signal
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr_runtime.nnr.schema import Landmarks
from taoxr_runtime.render.stereo import EYE_DISTANCE_M
from taoxr_runtime.splat_files.placing import Box
from taoxr_runtime.view.app import stop_signals
from taoxr_runtime.view.line import LONGEST, Line
from taoxr_runtime.view.orbit import Orbit
from taoxr_runtime.view.overlay import Words, paint
from taoxr_runtime.view.pace import DETAILS, Pace, QuietCollector

pytestmark = pytest.mark.unit

LANDMARKS = Landmarks(
    height=1.8,
    eye_left=(0.03, 1.68, 0.13),
    eye_right=(-0.03, 1.68, 0.13),
    mouth=(0.0, 1.61, 0.16),
    head_center=(0.0, 1.74, 0.09),
)


def pixel(view: object, point: tuple[float, float, float]) -> np.ndarray:
    """Where a point is in a picture, from the upper left."""
    clip = view.projection @ view.world_to_view @ np.array([*point, 1.0])  # type: ignore[attr-defined]
    x, y = clip[:2] / clip[3]
    return np.array([(x + 1) / 2 * view.width, (1 - y) / 2 * view.height])  # type: ignore[attr-defined]


def test_camera_starts_in_front_with_the_head_in_the_picture() -> None:
    for size in ((720, 900), (1280, 720), (300, 900)):
        orbit = Orbit(LANDMARKS, size[0] / size[1])
        view = orbit.view(*size)
        for point in (LANDMARKS.head_center, (0.0, 1.8, 0.09), (0.1, 1.7, 0.09), (-0.1, 1.7, 0.09)):
            assert np.all(pixel(view, point) > 0)
            assert np.all(pixel(view, point) < size)
        assert orbit.position[2] > 0.5
        np.testing.assert_allclose(pixel(view, tuple(orbit.target)), np.array(size) / 2, atol=1e-6)


def test_dragging_right_turns_the_avatar_to_the_right() -> None:
    orbit = Orbit(LANDMARKS, 0.8)
    nose = (0.0, 1.65, 0.25)
    before = pixel(orbit.view(720, 900), nose)
    orbit.turn(0.1, 0.0)
    assert pixel(orbit.view(720, 900), nose)[0] > before[0] + 5
    orbit.reset()
    orbit.lift(0.1)
    assert pixel(orbit.view(720, 900), nose)[1] < before[1] - 50
    orbit.reset()
    np.testing.assert_allclose(pixel(orbit.view(720, 900), nose), before)


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(-30, 30)), max_size=20))
def test_no_drag_takes_the_camera_out_of_bounds(moves: list[tuple[float, float, float]]) -> None:
    orbit = Orbit(LANDMARKS, 0.8)
    for right, up, notches in moves:
        orbit.turn(right, up)
        orbit.zoom(notches)
        orbit.lift(up)
        orbit.view(64, 64)
        assert orbit.position[1] > 0
        assert 0.1 < np.linalg.norm(orbit.position - orbit.target) < 9


def test_eyes_see_nearer_things_crossed_and_the_target_without_disparity() -> None:
    orbit = Orbit(LANDMARKS, 1.0)
    left, right = orbit.pair(640, 720)
    assert np.linalg.norm(left.position - right.position) == pytest.approx(EYE_DISTANCE_M)
    np.testing.assert_allclose((left.position + right.position) / 2, orbit.position, atol=1e-9)
    tx, ty, tz = orbit.target

    def disparity(z: float) -> float:
        ours, theirs = pixel(left, (tx, ty, z)), pixel(right, (tx, ty, z))
        assert ours[1] == pytest.approx(theirs[1])
        return float(ours[0] - theirs[0])

    assert disparity(tz) == pytest.approx(0.0, abs=1e-6)
    assert disparity(tz + 0.2) > 1  # nearer: the left eye sees it further right
    assert disparity(tz - 0.2) < -1


def test_line_takes_what_can_be_said() -> None:
    line = Line()
    line.type("  \tHello\n there ")
    assert line.text == "Hello  there "
    line.type("e\u0301")
    line.backspace()
    assert line.text == "Hello  there "
    assert line.take() == "Hello  there"
    assert line.text == ""
    line.backspace()
    assert line.take() == ""


@given(st.lists(st.one_of(st.text(), st.none())))
def test_line_stays_bounded(steps: list[str | None]) -> None:
    line = Line()
    for step in steps:
        if step is None:
            line.backspace()
        else:
            line.type(step * 50)
        assert len(line.text) <= LONGEST
        assert line.text == line.text.lstrip()


def test_overlay_is_premultiplied_and_keeps_the_middle_free() -> None:
    words = Words("listening", ("12 fps",), "What is it?", "It is a " + "very " * 60 + "long answer.", "hint")
    picture = paint(words, 360, 480)
    assert picture.shape == (480, 360, 4)
    assert np.all(picture[..., :3] <= picture[..., 3:])
    assert not picture[120:300].any()
    assert picture[300:, ..., 3].max() == 255
    assert not paint(Words(), 360, 480).any()
    for text in ("état ▏ 你好 \u202e\x00", "x" * 3000):
        paint(Words(line=text, typing=True, user=text, avatar=text, notice=text), 128, 128)


def test_slow_frames_are_drawn_more_coarsely_and_quick_ones_finely_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    pace = Pace(60)

    def frames(count: int, seconds: float) -> None:
        nonlocal now
        for _ in range(count):
            pace.begin()
            now += seconds
            pace.end()
            now += max(1 / 60 - seconds, 0)

    frames(100, 0.2)
    assert pace.detail == DETAILS[-1]
    assert pace.fps == pytest.approx(5.0)
    assert pace.frame_ms == pytest.approx(200.0)
    assert not slept[1:]
    frames(100, 0.01)
    assert pace.detail == DETAILS[0]
    assert pace.fps == pytest.approx(60.0, rel=0.05)
    assert pace.frames == 200


def test_a_software_driver_begins_coarsely_and_is_given_what_eight_frames_a_second_allow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    pace = Pace(60, software=True)

    def frames(count: int, cost: float) -> None:
        """Frames that take so long with all splats, and so much less with fewer."""
        nonlocal now
        for _ in range(count):
            pace.begin()
            now += cost * pace.detail.splats
            pace.end()

    assert pace.detail == DETAILS[-1]
    frames(100, 0.18)
    chosen = pace.detail
    assert DETAILS[-1].splats < chosen.splats < 1
    assert pace.frame_ms < 1000 / 8
    frames(100, 0.18)
    assert pace.detail == chosen
    frames(100, 0.04)
    assert pace.detail == DETAILS[0]


def test_garbage_is_collected_in_quiet_moments_only(monkeypatch: pytest.MonkeyPatch) -> None:
    import gc

    collected: list[float] = []
    with QuietCollector() as collector:
        assert not gc.isenabled()
        assert gc.get_freeze_count() > 0
        base = time.perf_counter()
        monkeypatch.setattr(gc, "collect", lambda: collected.append(0))
        for quiet, at, wanted in ((True, 1, 0), (False, 20, 0), (True, 20, 1), (True, 21, 1), (False, 90, 2)):
            monkeypatch.setattr(time, "perf_counter", lambda at=at: base + at)
            collector.rest(quiet)
            assert len(collected) == wanted
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_ctrl_c_asks_the_loop_to_stop() -> None:
    with stop_signals() as stop:
        assert not stop.is_set()
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(5)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_still_scene_may_reach_below_the_floor() -> None:
    room = Box(np.array([-2.0, -3.0, -2.0]), np.array([2.0, -1.0, 2.0]))
    orbit = Orbit.around(room, 1.0)
    np.testing.assert_allclose(orbit.target, [0, -2, 0])
    orbit.lift(9.0)
    assert orbit.target[1] == -3.0
    orbit.turn(0.0, 9.0)
    assert orbit.position[1] == pytest.approx(-2.95)


def test_the_microphones_level_is_a_bar_that_turns_red_before_it_clips() -> None:
    def bar(level: float | None) -> np.ndarray:
        return paint(Words("listening", level=level), 360, 480)[:60]

    none, quiet, loud, clipped = (bar(level) for level in (None, 0.0, 0.9, 1.0))
    assert (quiet != none).any()
    shown = [np.flatnonzero((picture != quiet).any(axis=(0, 2))) for picture in (loud, clipped)]
    assert len(shown[1]) > len(shown[0]) > 40
    green, red = (picture[(picture != quiet).any(axis=2)].max(axis=0) for picture in (loud, clipped))
    assert green[1] > green[0]
    assert red[0] > 2 * red[1]
