"""taoxr bench all: the real workers at once, and figures that are whole."""

import json
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from taoxr_models.together import cli_bench

pytestmark = pytest.mark.process


@pytest.mark.slow
def test_figures(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli_bench.app, ["--seconds", "1", "--json"])
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout[result.stdout.index("{") :])
    assert figures["listening.finals"] >= 1
    assert figures["listening.rtf"]["p50"] > 0
    shares = sum(figures[f"speaking.{role}_rtf"] for role in ("llm", "tts", "a2bs"))
    answers = figures["speaking.rtf"]
    assert 0 < shares <= answers["max"] * 1.01
    assert figures["speaking.audio_s"] > 1
    # Each is a whole process with its model.
    assert all(figures[f"rss_mb.{role}"] > 50 for role in ("ear", "llm", "tts", "a2bs"))
    assert set(figures["bars"]) == {"listening.rtf", "speaking.rtf"}
    assert psutil.Process().children() == []
