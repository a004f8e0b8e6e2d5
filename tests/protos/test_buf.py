"""The protos follow buf's rules, and still serve the clients of the committed baseline."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet

pytestmark = pytest.mark.unit

PROTOS = Path(__file__).parents[2] / "protos"
# Beside this interpreter, whether or not its environment is activated.
BUF = Path(sys.executable).parent / "buf"


def load_generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("taoxr_generate", PROTOS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATE = load_generate()


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "protos.binpb"
    GENERATE.describe(path)
    return path


def buf(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(BUF), *map(str, arguments), "--config", str(PROTOS / "buf.yaml")]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_protos_are_lint_clean_and_every_public_field_is_documented(image: Path) -> None:
    result = buf("lint", image)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def test_nothing_breaks_clients_of_the_baseline(image: Path) -> None:
    result = buf("breaking", image, "--against", GENERATE.BASELINE)
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def file_of(image: FileDescriptorSet, name: str) -> FileDescriptorProto:
    return next(f for f in image.file if f.name == f"taoxr/v1/{name}.proto")


def message_of(image: FileDescriptorSet, name: str) -> DescriptorProto:
    return next(m for m in file_of(image, "conversation").message_type if m.name == name)


def remove_field(image: FileDescriptorSet) -> None:
    del message_of(image, "TextDelta").field[0]


def renumber_field(image: FileDescriptorSet) -> None:
    message_of(image, "TextDelta").field[0].number = 9


def change_type(image: FileDescriptorSet) -> None:
    field = message_of(image, "PlaybackReport").field[1]
    field.type = field.TYPE_DOUBLE


def remove_rpc(image: FileDescriptorSet) -> None:
    del file_of(image, "conversation").service[0].method[0]


@pytest.mark.parametrize("change", [remove_field, renumber_field, change_type, remove_rpc])
def test_the_check_finds_what_would_break_a_client(
    image: Path, change: Callable[[FileDescriptorSet], None]
) -> None:
    changed = FileDescriptorSet.FromString(image.read_bytes())
    change(changed)
    image.write_bytes(changed.SerializeToString())
    result = buf("breaking", image, "--against", GENERATE.BASELINE)
    assert result.returncode == 100  # buf's status for "rules were broken"
    assert result.stdout.startswith("taoxr/v1/conversation.proto:")


def test_the_lint_finds_an_undocumented_field(image: Path) -> None:
    changed = FileDescriptorSet.FromString(image.read_bytes())
    for location in file_of(changed, "conversation").source_code_info.location:
        location.ClearField("leading_comments")
    image.write_bytes(changed.SerializeToString())
    result = buf("lint", image)
    assert result.returncode == 100
    assert "should have a non-empty comment" in result.stdout
