"""``taoxr nnr``."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr import NnrFormatError, container, sample
from taoxr_runtime.nnr.cli import app

pytestmark = pytest.mark.unit

RUN = CliRunner()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.nnr"
    scene, tensors = sample.make(rings=3, subdivision=1, strands=4, bones=3)
    container.write_scene(path, {**scene, "name": "Eve [bold]x[/]"}, tensors)
    return path


def test_inspect_prints_a_table(file: Path) -> None:
    result = RUN.invoke(app, ["inspect", str(file)])
    assert result.exit_code == 0
    for text in ("Eve [bold]x[/]", "CC0-1.0", "blendshapes", "colors_srgb", "expression", "3 bones"):
        assert text in result.output


def test_inspect_prints_json(file: Path) -> None:
    report = json.loads(RUN.invoke(app, ["inspect", str(file), "--json"]).output)
    assert report["inputs"] == {"expression": [52], "pose": [3, 4], "root": [3], "camera": [3]}
    assert [node["kind"] for node in report["nodes"]] == [
        "splats", "blendshapes", "skinning", "binding", "color", "sort",
    ]  # fmt: skip
    assert report["tensors"]["tensors/rest.npy"]["shape"] == [18, 3]
    assert report["nodes"][-1]["dtypes"] == {"order": "int32"}
    assert {node["rate"] for node in report["nodes"]} == {"display"}
    assert report["splats"] == report["nodes"][0]["outputs"]["opacities"][0]
    assert report["bytes"] <= file.stat().st_size


def test_validate(file: Path) -> None:
    result = RUN.invoke(app, ["validate", str(file), "--json"])
    assert json.loads(result.output)["valid"] is True
    assert "valid" in RUN.invoke(app, ["validate", str(file)]).output
    file.write_bytes(file.read_bytes()[:-1])
    result = RUN.invoke(app, ["validate", str(file)])
    assert result.exit_code == 1
    assert isinstance(result.exception, NnrFormatError)
    result = RUN.invoke(app, ["validate", str(file), "--json"])
    assert result.exit_code == 1
    assert json.loads(result.output)["field"] == "file"


@pytest.mark.parametrize("command", ["inspect", "validate", "run"])
def test_a_missing_file_is_named(tmp_path: Path, command: str) -> None:
    result = RUN.invoke(app, [command, str(tmp_path / "none.nnr")])
    assert isinstance(result.exception, InvalidInputError)
    assert "none.nnr" in str(result.exception)
