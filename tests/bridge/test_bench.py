"""The benchmarks measure something: figures in a sane order, from real processes."""

import json

import pytest
from typer.testing import CliRunner

from taoxr.figures import spread
from taoxr_bridge.bench.cli import bridge_app as app

pytestmark = pytest.mark.process


def test_spread_names_median_and_tail() -> None:
    found = spread([float(n) for n in range(1, 102)])
    assert (found.p50, found.p95, found.max, found.n) == (51.0, 96.0, 101.0, 101)


def test_bench_bridge_compares_with_the_worker_alone() -> None:
    arguments = ["--messages", "200", "--streams", "3", "--seconds", "1", "--json"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    for way in ("echo_us", "direct_us", "relay_us", "bridge_us"):
        assert figures[way]["n"] == 200
    assert figures["direct_us"]["p50"] < figures["relay_us"]["p50"]
    assert figures["direct_us"]["p50"] < figures["bridge_us"]["p50"]
    assert 0 < figures["overhead_us"] < figures["bridge_us"]["p50"]
    assert 0 < figures["relay_overhead_us"] < figures["relay_us"]["p50"]
    assert figures["frames_ms"]["n"] == 3 * 15
    assert 0 <= figures["late_messages"] <= 45
    judged = {name: (bar["bar"], bar["pass"]) for name, bar in figures["bars"].items()}
    assert judged == {
        "own_us": (150.0, figures["own_us"] <= 150.0),
        "late_messages": (0.0, figures["late_messages"] == 0),
    }
