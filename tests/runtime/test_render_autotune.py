"""What is chosen for a GPU: measured once for a driver, then remembered."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from taoxr_runtime.render import autotune
from taoxr_runtime.render.autotune import Tuned
from taoxr_runtime.render.canvas import Layers
from taoxr_runtime.render.compute_tiles import ComputeTiles
from taoxr_runtime.render.egl import Context
from taoxr_runtime.render.footprints import Footprints
from taoxr_runtime.render.gl import GlError
from taoxr_runtime.render.quads import Quads, layer_extension
from taoxr_runtime.render.radix import Plan, RadixSort

pytestmark = pytest.mark.gl

WHITE = (1.0, 1.0, 1.0, 1.0)


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

    first, second = Tuned("tiles", Plan(8, 512, 4, 32), True), Tuned("quads", Plan(), False)
    assert autotune.tuned("GPU 1", lambda: measure(first)) == first
    assert autotune.tuned("GPU 2", lambda: measure(second)) == second
    assert autotune.tuned("GPU 1", lambda: measure(second)) == first
    assert asked == [first, second]


def test_a_broken_memory_is_forgotten(tmp_path: Path) -> None:
    first, second = Tuned("quads", Plan(), False), Tuned("tiles", Plan(5, 64, 8), True)
    assert autotune.tuned("GPU", lambda: first) == first
    (file,) = tmp_path.rglob("gpu.json")
    plan = '{"digit_bits": 99, "group": 64, "items": 8, "subgroups": 0}'
    before_layers = (
        '{"GPU": {"rasterizer": "tiles", "plan": {"digit_bits": 4, "group": 64, "items": 8, "subgroups": 0}}}'
    )
    for broken in (
        "{",
        "[]",
        '{"GPU": "tiles"}',
        f'{{"GPU": {{"rasterizer": "tiles", "plan": {plan}}}}}',
        before_layers,
    ):
        file.write_text(broken)
        assert autotune.tuned("GPU", lambda: second) == second


def test_takes_the_fastest(context: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autotune, "_SPLATS", 500)
    monkeypatch.setattr(autotune, "_SIZE", 64)
    sorts, frames = autotune.sort_times(5000), autotune.frame_times(Plan())
    assert list(sorts) == autotune.plans()
    assert set(frames) == {"quads", "tiles"}
    eyes = autotune.eye_times(Plan())
    assert set(eyes) == ({"two draws"} if layer_extension() is None else {"two draws", "layered"})
    assert all(ms > 0 for ms in (*sorts.values(), *frames.values(), *eyes.values()))
    slower, faster = autotune.plans()[:2]
    monkeypatch.setattr(autotune, "sort_times", lambda: {slower: 2.0, faster: 1.0})
    monkeypatch.setattr(autotune, "frame_times", lambda plan: {"quads": 1.0, "tiles": 2.0})
    for layered in (True, False):
        eyes = {"two draws": 1.0, "layered": 0.5 if layered else 1.5}
        monkeypatch.setattr(autotune, "eye_times", lambda plan, eyes=eyes: eyes)
        assert autotune.measured() == Tuned("quads", faster, layered)


def test_leaves_out_what_works_wrongly(context: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a driver whose subgroups are smaller than it says."""
    monkeypatch.setattr(autotune, "_SPLATS", 500)
    monkeypatch.setattr(autotune, "_SIZE", 64)
    monkeypatch.setattr(autotune, "_KEYS", 5000)
    broken = set(autotune.plans()[:1])
    sort, raster = RadixSort.sort, ComputeTiles.raster

    def sorted_wrongly(self: RadixSort, *args: Any) -> Any:
        return sort(self, *args[:4], 4) if self.plan in broken else sort(self, *args)

    monkeypatch.setattr(RadixSort, "sort", sorted_wrongly)
    assert list(autotune.sort_times()) == autotune.plans()[1:]
    monkeypatch.setattr(ComputeTiles, "raster", lambda self, canvases, fills: raster(self, canvases, [WHITE]))
    assert set(autotune.frame_times(autotune.plans()[1])) == {"quads"}
    assert autotune.measured().rasterizer == "quads"
    if layer_extension() is not None:
        both = Quads.raster_both

        def drawn_wrongly(self: Quads, footprints: Footprints, layers: Layers) -> None:
            footprints.count //= 2
            both(self, footprints, layers)

        monkeypatch.setattr(Quads, "raster_both", drawn_wrongly)
        assert set(autotune.eye_times(autotune.plans()[1])) == {"two draws"}
    broken.update(autotune.plans())
    with pytest.raises(GlError, match="sorts wrongly"):
        autotune.measured()
