"""Files that commands write: checked before, whole after."""

import os
from pathlib import Path

import pytest

from taoxr.client import out_file
from taoxr.errors import InvalidInputError

pytestmark = pytest.mark.unit


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    with out_file.replacing(path, field="--out") as file:
        file.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with out_file.replacing(path, field="--out") as file:
            file.write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with out_file.replacing(tmp_path / "new", field="--out") as file:
        file.write_text("new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with out_file.replacing(tmp_path / "link", field="--out") as file:
        file.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_what_is_no_file_is_written_to() -> None:
    with out_file.replacing(Path(os.devnull), field="--out") as file:
        assert file == Path(os.devnull)
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize(
    ("name", "suffixes", "expected"),
    [
        ("", (), "not a folder"),
        ("no/a.json", (), "a folder that exists"),
        ("a.txt", (".json", ".csv"), "ends in .json or .csv"),
    ],
)
def test_what_cannot_be_written_is_named(
    tmp_path: Path, name: str, suffixes: tuple[str, ...], expected: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        out_file.check(tmp_path / name, field="--frames", suffixes=suffixes)
    assert caught.value.field == "--frames"
    assert expected in caught.value.expected
