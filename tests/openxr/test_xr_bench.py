"""``taoxr bench xr``: what it counts, and that it does so beside a real runtime and a real conversation."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from monado import Monado
from numpy.typing import NDArray
from typer.testing import CliRunner

from taoxr import arkit
from taoxr.figures import Spread, judged
from taoxr_runtime.audio import NullSink
from taoxr_runtime.bench import cli_xr
from taoxr_runtime.bench import xr as bench
from taoxr_runtime.bench.xr import BARS, WARM, Puppet, Recorder, Watched, bench_ears
from taoxr_runtime.splats import Splats
from taoxr_runtime.xr import cli as xr_cli
from taoxr_runtime.xr.api import NoRuntimeError
from taoxr_runtime.xr.conversation import Nobody
from taoxr_runtime.xr.session import Frame

pytestmark = pytest.mark.e2e

CAMERA = np.array([0.0, 1.6, 1.5])
PERIOD_NS = 50_000_000


class Loop:
    """A headset's frames on a clock of the test's own, while somebody talks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, looked_late_us: int = 0) -> None:
        self.now_us = 1_000_000
        monkeypatch.setattr(bench, "clock_us", self.clock)
        self.sink = NullSink(clock=self.clock)
        watched = Watched(Nobody(), self.sink)
        self.recorder = Recorder(Late(Puppet(watched), self.wait, looked_late_us), watched, self.sink)
        self.slot = 0
        self.sink.write(np.full(48_000 * 30, 1000, np.int16), 48_000, last=True)

    def clock(self) -> int:
        return self.now_us

    def wait(self, us: int) -> None:
        self.now_us += us

    def frame(self, pictures: int = 1) -> None:
        """A frame that is shown so many pictures after the last."""
        recorder = self.recorder
        self.slot += pictures
        due_us = 1_000_000 + self.slot * PERIOD_NS // 1000
        recorder.begin()
        self.now_us = due_us
        recorder.passed()
        self.now_us += 2000
        recorder.look(np.eye(4))
        recorder.update(CAMERA, 20_000 - 2000)
        for _ in range(3):
            recorder.passed()
        recorder.end(due_us * 1000 + 20_000_000, PERIOD_NS)

    def figures(self) -> bench.Figures:
        self.wait(1_000_000)
        self.recorder.settle(self.now_us)
        return self.recorder.figures("talking")


class Late:
    """A figure that makes its face so long after it was asked for."""

    order = mesh = None

    def foresee(self, ahead_us: int) -> None:
        """It is made when it is shown."""

    def context_lost(self) -> None:
        raise AssertionError("no context is lost here")

    def __init__(self, figure: Puppet, wait: Callable[[int], None], us: int) -> None:
        self._figure, self._wait, self._us = figure, wait, us

    def update(self, camera_in_model: NDArray[np.float64], ahead_us: int = 0) -> Splats:
        self._wait(self._us)
        return self._figure.update(camera_in_model, ahead_us)


def test_counts_what_the_headset_had_to_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch)
    for k in range(WARM + 100):
        loop.frame(3 if k in (5, WARM + 40, WARM + 70) else 1)
    figures = loop.figures()
    assert figures["talking.frames"] == 100
    assert figures["talking.missed"] == 4, "those while it warms up do not count"
    interval, pose = figures["talking.interval_ms"], figures["talking.pose_to_display_ms"]
    assert isinstance(interval, Spread)
    assert isinstance(pose, Spread)
    assert (interval.p50, interval.max) == (50.0, 150.0)
    assert (pose.p50, pose.max) == (18.0, 18.0)
    assert loop.recorder.period_ms == 50.0


@pytest.mark.parametrize("late_us", [0, 15_000, 60_000])
def test_skew_is_that_of_the_sound_heard_when_the_picture_is_seen(
    monkeypatch: pytest.MonkeyPatch, late_us: int
) -> None:
    loop = Loop(monkeypatch, late_us)
    for _ in range(WARM + 60):
        loop.frame()
    figures = loop.figures()
    assert len(loop.recorder.skews_us) == 60
    assert np.median(loop.recorder.skews_us) == pytest.approx(late_us, abs=500)
    verdict = judged(figures, BARS)["talking.av_skew_p99_ms"]
    assert verdict["pass"] == (late_us < 40_000)


def test_silence_has_no_skew(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop(monkeypatch)
    loop.sink.flush()
    for _ in range(WARM + 10):
        loop.frame()
    assert "talking.av_skew_ms" not in loop.figures()


def test_the_trivial_scene_moves_with_the_face() -> None:
    class Speaking(Nobody):
        def face(self, now_us: int, ahead_us: int = 0) -> NDArray[np.float32]:
            face = np.zeros(len(arkit.NAMES), np.float32)
            face[arkit.INDEX["jawOpen"]] = 1.0
            return face

    moved = Puppet(Speaking()).update(CAMERA).means - Puppet(Nobody()).update(CAMERA).means
    assert moved[:, 1].min() == pytest.approx(-0.03, abs=1e-6)
    assert 10 < np.count_nonzero(moved) < len(moved) / 2


def test_the_way_to_two_ears_is_timed_block_by_block() -> None:
    figures = bench_ears(blocks=20)
    block = figures["binaural.block_ms"]
    assert isinstance(block, Spread)
    assert block.n == 20
    assert 0 < block.p50 <= block.max
    assert figures["binaural.percent_of_real_time"] > 0


def test_a_frame_says_how_long_it_is_from_now_until_it_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    now_us = 5_000_000
    monkeypatch.setattr("taoxr_runtime.xr.session.clock_us", lambda: now_us)
    frame = Frame(1, PERIOD_NS, 5_020_000, True)
    assert frame.ahead_us == 20_000
    now_us += 3000
    assert frame.ahead_us == 17_000
    now_us += 30_000
    assert frame.ahead_us == 0


@pytest.mark.slow
def test_measures_a_conversation_beside_the_headset(real_bridge: str) -> None:
    command = [sys.executable, "-c", "from taoxr.cli import main; main()", "bench", "xr", "--json"]
    with Monado() as monado:
        done = monado.run([*command, "--frames", "60", "--target", real_bridge], timeout=120)
    assert done.returncode == 0, done.stdout
    figures = json.loads(done.stdout[done.stdout.index("{") :])
    assert figures["runtime"].startswith("Monado")
    assert figures["scene"] == "trivial"
    assert figures["period_ms"] == 50.0
    for name in ("alone", "talking"):
        assert figures[f"{name}.frames"] == 60
        assert figures[f"{name}.interval_ms"]["p50"] == pytest.approx(50, abs=5)
        assert 0 < figures[f"{name}.pose_to_display_ms"]["p50"] < 50
    assert figures["talking.av_skew_ms"]["n"] > 10
    assert figures["talking.av_skew_ms"]["p50"] < 40
    assert set(figures["bars"]) == set(BARS)


@pytest.mark.parametrize(("cli", "next_step"), [(cli_xr, "bench_alone"), (xr_cli, "load_avatar")])
def test_says_that_there_is_no_runtime_before_anything_is_started(
    cli: Any, next_step: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XR_RUNTIME_JSON", str(tmp_path / "none.json"))
    monkeypatch.setattr(cli, next_step, None)
    with pytest.raises(NoRuntimeError, match="no OpenXR runtime"):
        CliRunner().invoke(cli.app, [], catch_exceptions=False)
