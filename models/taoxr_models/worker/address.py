"""Where a worker listens."""

import ipaddress
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taoxr.errors import InvalidInputError

_UNIX_PREFIX: Final = "unix:"
# sockaddr_un.sun_path, less the final zero: 108 bytes on Linux, 104 on macOS.
_UNIX_PATH_BYTES: Final = 107 if sys.platform == "linux" else 103
_EXPECTED: Final = "unix:PATH or HOST:PORT such as 127.0.0.1:0"


@dataclass(frozen=True)
class Address:
    """A checked ``--listen`` value.

    Attributes:
        target: What gRPC binds.
        is_unix: True for a Unix socket, which only our user can open and which needs no token.
    """

    target: str
    is_unix: bool


def parse_address(text: str, *, allow_remote: bool = False) -> Address:
    """Checks a ``--listen`` value.

    Args:
        text: ``unix:PATH`` or ``IP:PORT``; port 0 takes a free one.
        allow_remote: Accept addresses that other machines reach.

    Raises:
        InvalidInputError: It is neither, or reachable from elsewhere without ``allow_remote``.
    """
    if text.startswith(_UNIX_PREFIX):
        path = Path(text.removeprefix(_UNIX_PREFIX))
        if not path.is_absolute() or not path.parent.is_dir():
            raise InvalidInputError("--listen", text, "unix: and an absolute path in a folder that exists")
        if len(os.fsencode(path)) > _UNIX_PATH_BYTES:
            raise InvalidInputError("--listen", text, f"a socket path of at most {_UNIX_PATH_BYTES} bytes")
        return Address(text, is_unix=True)
    host, _, port = text.rpartition(":")
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host.strip("[]"))
    except ValueError:
        raise InvalidInputError("--listen", text, _EXPECTED) from None
    if not port.isdecimal() or int(port) > 65535:
        raise InvalidInputError("--listen", text, _EXPECTED)
    if not address.is_loopback and not allow_remote:
        raise InvalidInputError(
            "--listen", text, "a loopback address; --allow-remote accepts others (traffic is not encrypted)"
        )
    return Address(text, is_unix=False)


def read_token(path: Path) -> str:
    """The secret in a token file.

    Raises:
        InvalidInputError: The file is missing, or holds fewer than 16 characters.
    """
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError("--token-file", str(path), f"a readable ASCII file ({error})") from error
    if len(token) < 16:
        raise InvalidInputError("--token-file", str(path), "a token of at least 16 characters")
    return token


def write_port(path: Path, port: int) -> None:
    """Writes the port, at once and whole, so that a reader never sees half of it."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    partial.write_text(f"{port}\n", encoding="ascii")
    partial.replace(path)
