"""``taoxr bench render`` measures what it says; how fast it is, is nobody's business here."""

import json

import pytest
from typer.testing import CliRunner

from taoxr_runtime.bench.cli import app

pytestmark = pytest.mark.gl


def test_times_every_pass_of_every_way() -> None:
    arguments = ["--splats", "2000", "--width", "64", "--height", "48", "--frames", "2", "--json"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert figures["splats"] == 2000
    assert figures["avatar.splats"] > 100_000
    assert 0 < figures["avatar.uploaded_bytes"] < 10_000
    for way, passes in {
        "head moved": ("project", "sort", "list", "sort tiles", "blend"),
        "quads": ("sort", "project", "blend"),
        "avatar moved": ("blendshapes", "skinning", "binding", "color", "project", "blend"),
    }.items():
        for name in (*passes, "gpu", "submit"):
            figure = figures[f"{way}.{name}_ms"]
            assert figure["n"] == 2
            assert 0 <= figure["p50"] <= figure["max"]
        assert figures[f"{way}.frame_ms"] > 0
