"""taoxr bench llm: random weights of any shape run, and the figures are whole."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taoxr.errors import InvalidInputError
from taoxr_models.catalog.recipes.llama import convert_llama
from taoxr_models.llm import bench, cli_bench
from taoxr_models.llm.chat import ChatModel, Text
from taoxr_models.llm.sampling import Sampling
from taoxr_models.llm.template import Message

pytestmark = pytest.mark.models

TINY = bench.Shape(layers=2, hidden=64, heads=2, kv_heads=1, feed_forward=128, vocabulary=600)


def test_random_weights_of_a_shape_are_a_model_that_writes(tmp_path: Path) -> None:
    bench.write_random_gguf(tmp_path / "x.gguf", TINY)
    folder = tmp_path / "model"
    folder.mkdir()
    convert_llama(tmp_path / "x.gguf", folder)
    chat = ChatModel(folder)
    steps = chat.answer(chat.prompt([Message("user", "Hello")], 8), Sampling(), 8)
    assert "".join(step.text for step in steps if isinstance(step, Text))


def test_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bench.SHAPES, "tiny", TINY)
    result = CliRunner().invoke(cli_bench.app, ["--shape", "tiny", "--json"])
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout[result.stdout.index("{") :])
    assert figures["prefill_tok_s"] > 0
    assert figures["decode_tok_s"] > 0
    assert (figures["peer"] == "llama.cpp") == bench.has_peer() == ("ratio" in figures)


def test_wrong_options(tmp_path: Path) -> None:
    there, missing = tmp_path / "there.gguf", tmp_path / "missing.gguf"
    there.touch()
    for arguments in (["--shape", "huge"], ["--shape", "qwen2.5-0.5b", "--gguf", str(there)]):
        result = CliRunner().invoke(cli_bench.app, arguments)
        assert isinstance(result.exception, InvalidInputError)
    result = CliRunner().invoke(cli_bench.app, ["--gguf", str(missing)])
    assert result.exit_code == 2
    assert "does not exist" in result.output
