"""How the Unity package's client finds, keeps and loses its server, on Mono and .NET."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme
from certificates import certificate
from client_runner import ClientRunner
from hostile_server import SETTLED, HostileServer

pytestmark = pytest.mark.process

MakeBridge = Callable[..., Any]
MakeClient = Callable[..., ClientRunner]


async def test_who_is_let_in(make_client: MakeClient, fake_bridge: MakeBridge) -> None:
    token = "the right token, quite long"

    def knock(target: str) -> None:
        with make_client(target, token="wrong") as client:
            client.tell("converse")
            client.until("connection", "Refused", "Unauthenticated")
            client.until("ended", "Unauthenticated")
            client.tell("serving")  # tries again
            client.until("reply", "serving", "Unauthenticated")
        with make_client(target.replace("127.0.0.1", "localhost"), token=token) as client:
            client.tell("info")
            client.until("reply", "info", "OK")
        with make_client(target, token=token) as client:
            client.tell("converse", "rate=5000")
            assert "frame_rate" in client.until("ended", "InvalidArgument")[2]

    async with fake_bridge(token=token) as (_, fakes):
        await asyncio.to_thread(knock, fakes.bridge)


def test_nobody_there(make_client: MakeClient, voice: Path) -> None:
    with HostileServer(b"") as silent:
        port = silent.target
        with make_client(port, call_s=0.5) as client:
            client.tell("connect")
            client.until("connection", "Connecting")
            client.until("reply", "connect", "DeadlineExceeded")
            client.tell("converse")
            client.tell("dispose")  # while everything waits
            assert int(client.until("disposed")[1]) < 1000
    with make_client(port, call_s=0.5, first_s=0.04, longest_s=0.1) as client:
        client.tell("connect")
        assert "cannot connect" in client.until("reply", "connect", "Unavailable")[3]
        for _ in range(3):
            client.until("connection", "Waiting", "Unavailable")
        waits = [float(e[4]) for e in client.all("connection") if e[1] == "Waiting"]
        for wait, longest in zip(waits, (0.04, 0.08, 0.1, 0.1), strict=True):
            assert longest / 2 <= wait <= longest
        client.tell("info")
        assert "cannot connect" in client.until("reply", "info", "Unavailable")[3]
        # Of sound that nobody takes the newest 5 s wait; of anything else too much is an error.
        client.tell("converse", "audio=16000")
        for _ in range(8):
            client.tell("audio", voice)
        client.tell("stats")
        assert 5_000_000 <= int(client.until("stats")[2]) < 5_600_000
        client.tell("flood")
        assert client.until("flooded")[1] == "256"
    with HostileServer(b"", b"HTTP/1.1 400 Bad Request\r\n\r\n") as web, make_client(web.target) as client:
        client.tell("connect")
        assert "does not speak HTTP/2" in client.until("reply", "connect", "Unavailable")[3]
    with make_client(port, retry_s=1000) as client:
        for _ in range(2):  # without a wait, when it is asked for
            client.tell("connect")
            client.until("reply", "connect", "Unavailable")
    with make_client("192.0.2.1:50061") as client:
        client.tell("connect")
        client.until("connection", "Refused")
        assert "TLS is needed" in client.until("reply", "connect", "PermissionDenied")[3]
    with make_client("192.0.2.1:50061", insecure="", connect_s=0.2) as client:
        client.tell("connect")
        client.until("reply", "connect", "Unavailable")  # it was tried; nobody has this address


def test_how_servers_are_named(make_client: MakeClient) -> None:
    named = {
        "box": ["box", "50061", "False"],
        " 10.0.0.7:5 ": ["10.0.0.7", "5", "False"],
        "https://box.local:443/": ["box.local", "443", "True"],
        "HTTP://box": ["box", "50061", "False"],
        "[::1]:7": ["::1", "7", "False"],
        "[::1]": ["::1", "50061", "False"],
        "fe80::1": ["fe80::1", "50061", "False"],
    }
    with make_client("box") as client:
        for text, parts in named.items():
            client.tell("target", text)
            assert client.until("target")[1:] == parts
        for text, complaint in {
            "": "names no host",
            ":5": "names no host",
            "ftp://box": "begins with http",
            "box:0": "from 1 to 65535",
            "box:port": "from 1 to 65535",
            "http://box/path": "names no host",
            "me@box": "names no host",
        }.items():
            client.tell("target", text)
            assert complaint in client.until("target")[1]


def test_a_server_that_falls_silent_is_lost(make_client: MakeClient) -> None:
    with HostileServer(b"", SETTLED) as silent, make_client(silent.target, call_s=0.3, retry_s=0.1) as client:
        client.tell("converse")
        for _ in range(2):
            client.until("connection", "Connecting")
            client.until("connection", "Waiting", "DeadlineExceeded")
        client.tell("leave")
        assert int(client.until("left")[1]) < 1000


async def test_tls(
    make_client: MakeClient, fake_bridge: MakeBridge, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings = certificate(tmp_path)
    trustme.CA().cert_pem.write_to_path(tmp_path / "stranger.pem")

    def knock(target: str) -> None:
        port = target.rsplit(":", 1)[1]
        with make_client(f"https://localhost:{port}", ca=tmp_path / "ca.pem") as client:
            client.tell("connect")
            if "mono" in request.node.name:  # which has no HTTP/2 with TLS
                assert "YetAnotherHttpHandler" in client.until("reply", "connect", "PermissionDenied")[3]
                return
            client.until("reply", "connect", "OK")
            client.tell("converse")
            client.tell("play", 8)
            client.tell("ask", "one")
            client.until("turn", "turn-1", "Done", "You said one.")
        with make_client(f"https://localhost:{port}", ca=tmp_path / "stranger.pem") as client:
            client.tell("connect")
            client.until("connection", "Refused")
            assert "not trusted" in client.until("reply", "connect", "PermissionDenied")[3]

    async with fake_bridge(**settings) as (_, fakes):
        await asyncio.to_thread(knock, fakes.bridge)
