"""Where a worker may listen, and with which token."""

import socket
from pathlib import Path

import pytest

from taoxr.errors import InvalidInputError
from taoxr_models.worker.address import parse_address, read_token, write_port
from taoxr_models.worker.model_thread import ModelThread
from taoxr_models.worker.role import ROLES, RoleSetup, create_role

pytestmark = pytest.mark.unit


def test_unix_socket(tmp_path: Path) -> None:
    address = parse_address(f"unix:{tmp_path}/s")
    assert address.is_unix
    assert address.target == f"unix:{tmp_path}/s"


def test_longest_path_that_the_system_takes(tmp_path: Path) -> None:
    room = 107 - len(f"{tmp_path}/")
    name = "s" * room
    parse_address(f"unix:{tmp_path}/{name}")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{tmp_path}/{name}")
    with pytest.raises(InvalidInputError, match="107"):
        parse_address(f"unix:{tmp_path}/{name}s")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "unix:",
        "unix:relative/path",
        "unix:/no/such/folder/s",
        "127.0.0.1",
        "127.0.0.1:x",
        "127.0.0.1:70000",
        "example.com:80",
        ":50",
        "0.0.0.0:0",
        "10.1.2.3:50",
        "[::]:0",
    ],
)
def test_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="--listen"):
        parse_address(text)


@pytest.mark.parametrize("text", ["127.0.0.1:0", "localhost:50061", "[::1]:9"])
def test_loopback(text: str) -> None:
    assert not parse_address(text).is_unix


def test_remote_only_on_request() -> None:
    assert parse_address("0.0.0.0:5000", allow_remote=True).target == "0.0.0.0:5000"


def test_token_file(tmp_path: Path) -> None:
    path = tmp_path / "token"
    with pytest.raises(InvalidInputError, match="readable"):
        read_token(path)
    path.write_text("short\n")
    with pytest.raises(InvalidInputError, match="16"):
        read_token(path)
    path.write_text("0123456789abcdef\n")
    assert read_token(path) == "0123456789abcdef"


def test_port_file(tmp_path: Path) -> None:
    write_port(tmp_path / "port", 1234)
    assert (tmp_path / "port").read_text() == "1234\n"
    assert [p.name for p in tmp_path.iterdir()] == ["port"]


def test_unknown_role() -> None:
    with pytest.raises(InvalidInputError, match=ROLES[0]):
        create_role("nose", RoleSetup(ModelThread()))
