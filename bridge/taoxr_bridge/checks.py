"""Checks of the bridge for ``taoxr doctor``."""

import asyncio
import errno
import socket
from collections.abc import Iterator
from typing import Final

from pydantic import ValidationError

from taoxr.client import connect
from taoxr.doctor import Entry, fail, ok, warn
from taoxr.errors import TaoxrError
from taoxr_bridge.settings import Settings

_ANSWER_S: Final = 3.0
_LONGEST: Final = 60


def checks() -> Iterator[Entry]:
    """The settings, and whether a bridge with them can listen."""
    try:
        settings = Settings()  # pyright: ignore[reportCallIssue]  # from the environment
    except ValidationError as error:
        first = error.errors()[0]
        name = f"TAOXR_BRIDGE_{'_'.join(str(part) for part in first['loc'][:1]).upper()}"
        yield fail("settings", f"{name}={first['input']!r}: {first['msg']}", f"unset or correct {name}")
        return
    shown = settings.model_dump() | {"examples": f"({len(settings.examples)} exchanges)"}
    yield ok("settings", ", ".join(f"{name}={_short(value)}" for name, value in shown.items()))
    yield _port(settings.host, settings.port)


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _port(host: str, port: int) -> Entry:
    name = f"port {port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            hint = "choose an address of this machine: TAOXR_BRIDGE_HOST, TAOXR_BRIDGE_PORT"
            return fail(name, f"a bridge cannot listen on {host}:{port}: {error}", hint)
    else:
        return ok(name, f"free on {host}")
    try:
        version = asyncio.run(_bridge_version(f"{host}:{port}"))
    except (TaoxrError, TimeoutError):
        hint = "taoxr serve --port 0 (or another); demo, talk and say start bridges with ports of their own"
        return warn(name, f"taken on {host} by another program", hint)
    return ok(name, f"a taoxr bridge {version} listens there; reach it with --target {host}:{port}")


async def _bridge_version(target: str) -> str:
    async with connect(target) as client:
        return (await asyncio.wait_for(client.server_info(), _ANSWER_S)).version
