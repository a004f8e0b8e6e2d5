"""What is chosen for a GPU: measured once for a driver, then remembered."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from taoxr_runtime.render import autotune
from taoxr_runtime.render.autotune import Tuned
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.radix import Plan

pytestmark = pytest.mark.gl


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path))


@pytest.fixture
def context() -> Iterator[None]:
    opened = Context()
    yield
    opened.release()


def test_measures_a_driver_once() -> None:
    asked: list[Tuned] = []

    def measure(result: Tuned) -> Tuned:
        asked.append(result)
        return result

    first, second = Tuned("tiles", Plan(8, 512, 4, 32)), Tuned("quads", Plan())
    assert autotune.tuned("GPU 1", lambda: measure(first)) == first
    assert autotune.tuned("GPU 2", lambda: measure(second)) == second
    assert autotune.tuned("GPU 1", lambda: measure(second)) == first
    assert asked == [first, second]


def test_a_broken_memory_is_forgotten(tmp_path: Path) -> None:
    first, second = Tuned("quads", Plan()), Tuned("tiles", Plan(5, 64, 8))
    assert autotune.tuned("GPU", lambda: first) == first
    (file,) = tmp_path.rglob("gpu.json")
    plan = '{"digit_bits": 99, "group": 64, "items": 8, "subgroups": 0}'
    for broken in ("{", "[]", '{"GPU": "tiles"}', f'{{"GPU": {{"rasterizer": "tiles", "plan": {plan}}}}}'):
        file.write_text(broken)
        assert autotune.tuned("GPU", lambda: second) == second


def test_takes_the_fastest(context: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autotune, "_SPLATS", 500)
    monkeypatch.setattr(autotune, "_SIZE", 64)
    sorts, frames = autotune.sort_times(5000), autotune.frame_times(Plan())
    assert list(sorts) == autotune.plans()
    assert set(frames) == {"quads", "tiles"}
    assert all(ms > 0 for ms in (*sorts.values(), *frames.values()))
    slower, faster = autotune.plans()[:2]
    monkeypatch.setattr(autotune, "sort_times", lambda: {slower: 2.0, faster: 1.0})
    monkeypatch.setattr(autotune, "frame_times", lambda plan: {"quads": 1.0, "tiles": 2.0})
    assert autotune.measured() == Tuned("quads", faster)
