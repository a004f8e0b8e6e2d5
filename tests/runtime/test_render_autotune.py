"""The choice between rasterizers: measured once for a driver."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from taoxr_runtime.render import autotune
from taoxr_runtime.render.egl import Context

pytestmark = pytest.mark.gl


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path))


@pytest.fixture
def context() -> Iterator[None]:
    opened = Context()
    yield
    opened.release()


def test_takes_the_faster_and_remembers_it() -> None:
    asked: list[str] = []

    def measure(quads: float, tiles: float) -> dict[autotune.Choice, float]:
        asked.append("measured")
        return {"quads": quads, "tiles": tiles}

    assert autotune.choose("GPU 1", lambda: measure(2.0, 1.0)) == "tiles"
    assert autotune.choose("GPU 2", lambda: measure(1.0, 2.0)) == "quads"
    assert autotune.choose("GPU 1", lambda: measure(1.0, 2.0)) == "tiles"
    assert len(asked) == 2


def test_a_broken_memory_is_forgotten(tmp_path: Path) -> None:
    assert autotune.choose("GPU", lambda: {"quads": 1.0, "tiles": 2.0}) == "quads"
    (file,) = tmp_path.rglob("rasterizers.json")
    for broken in ("{", "[]", '{"GPU": "triangles"}'):
        file.write_text(broken)
        assert autotune.choose("GPU", lambda: {"quads": 2.0, "tiles": 1.0}) == "tiles"


def test_measures_both(context: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autotune, "_SPLATS", 500)
    monkeypatch.setattr(autotune, "_SIZE", 64)
    times = autotune.measured()
    assert set(times) == {"quads", "tiles"}
    assert all(ms > 0 for ms in times.values())
