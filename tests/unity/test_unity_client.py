"""The Unity package's client, on Mono and .NET, against a real bridge on fake workers."""

import asyncio
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import trustme
from certificates import certificate
from client_runner import ClientRunner
from hostile_server import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    RESPONSE,
    SETTLED,
    HostileServer,
    frame,
    literal,
)

from taoxr.v1 import conversation_pb2
from taoxr.worker.v1 import llm_pb2

pytestmark = pytest.mark.process

MakeBridge = Callable[..., Any]
MakeClient = Callable[..., ClientRunner]
STORY = "one two three four five six seven eight nine ten " * 4


def _always(answer: str) -> Callable[[str], str]:
    def say(prompt: str) -> str:
        return answer

    return say


@pytest.fixture
def voice(tmp_path: Path) -> Path:
    """A second of what a fake ear takes for speech, and silence after it; raw, 16 kHz."""
    path = tmp_path / "voice.raw"
    path.write_bytes(np.r_[np.full(16000, 1000), np.zeros(4000)].astype("<i2").tobytes())
    return path


async def test_questions_and_answers(make_client: MakeClient, fake_bridge: MakeBridge) -> None:
    async with fake_bridge() as (_, fakes):
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(_ask_twice, client)


def _ask_twice(client: ClientRunner) -> None:
    client.tell("connect")
    assert client.until("reply", "connect", "OK")[3]
    for what, answer in (("serving", "True"), ("avatars", "default"), ("info", "")):
        client.tell(what)
        assert client.until("reply", what, "OK")[3].startswith(answer)
    client.tell("converse")
    client.tell("play", 8)
    client.tell("ask", "one")
    client.until("state", "Running")
    assert client.until("started", "False")[6] == "22050"
    client.until("turn", "turn-1", "Done", "You said one.")
    client.tell("ask", "zwei ˈæ")
    client.until("turn", "turn-2", "Done", "You said zwei ˈæ.")
    assert "".join(e[2] for e in client.all("text") if e[1] == "turn-2") == "You said zwei ˈæ."
    for turn in ("turn-1", "turn-2"):
        chunks = [e for e in client.all("audio") if e[1] == turn]
        assert all(e[7] == "True" for e in chunks)
        assert [e[2] for e in chunks] == ["0", *(e[3] for e in chunks[:-1])]
        assert sum(int(e[4]) for e in chunks) >= 5
        assert [e[8] for e in chunks] == ["False"] * (len(chunks) - 1) + ["True"]
    client.tell("ping")
    client.until("pong", "77")
    client.tell("finish")
    client.until("ended", "OK")
    client.tell("dispose")
    assert int(client.until("disposed")[1]) < 1000
    assert not client.all("cut")


async def test_push_to_talk_and_open_microphone(
    make_client: MakeClient, fake_bridge: MakeBridge, voice: Path
) -> None:
    async with fake_bridge() as (_, fakes):
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(_talk, client, voice)
        assert [request.messages[-1].content for request in fakes.llm.requests] == ["hello there"] * 2


def _talk(client: ClientRunner, voice: Path) -> None:
    client.tell("converse", "audio=16000", "ptt")
    client.tell("play", 8)
    client.tell("audio", voice)  # nobody holds the button
    client.tell("begin")
    client.tell("audio", voice)
    client.tell("end")
    client.until("transcript", "True", "hello there")
    client.until("turn", "turn-1", "Done")
    assert len(client.all("speech")) == 2
    client.tell("leave")
    client.until("left")
    client.tell("converse", "audio=16000", "partials")
    client.until("state", "Running")
    client.tell("mute", 1)
    client.tell("audio", voice)
    client.tell("mute", 0)
    client.tell("audio", voice)
    client.until("transcript", "False", "hello")
    client.until("transcript", "True", "hello there")
    client.until("turn", "turn-1", "Done")
    assert len(client.all("speech")) == 4
    client.tell("stats")
    assert client.until("stats")[2] == "0"  # nothing was dropped


async def test_interruptions(make_client: MakeClient, fake_bridge: MakeBridge, voice: Path) -> None:
    async with fake_bridge() as (_, fakes):
        fakes.llm.answer = _always(STORY)
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(_interrupt, client, voice)


def _interrupt(client: ClientRunner, voice: Path) -> None:
    client.tell("converse", "audio=16000")
    client.tell("play", 1)
    client.tell("ask", "a story")
    client.until("audio", "turn-1")
    client.tell("interrupt")
    played_us = int(client.until("cut", "turn-1")[2])
    already = len(client.seen)
    heard = client.until("turn", "turn-1", "Interrupted")[3]
    assert STORY.startswith(heard)
    assert played_us < 2_000_000
    assert not [e for e in client.seen[already:] if e[0] in ("audio", "text")]
    # The user speaks up: the server interrupts.
    client.tell("ask", "another one")
    client.until("audio", "turn-2")
    client.tell("audio", voice)
    client.until("cut")
    client.until("turn", "turn-2", "Interrupted")
    client.until("audio", "turn-3")
    assert len(client.all("cut")) == 2


async def test_tools(make_client: MakeClient, fake_bridge: MakeBridge) -> None:
    def script(request: llm_pb2.GenerateRequest) -> list[str | llm_pb2.CalledTool]:
        if not request.tool_uses:
            return [llm_pb2.CalledTool(name="look", arguments_json=json.dumps({"at": "you"}))]
        result = request.tool_uses[-1].result
        return [f"Told: {result.output or result.error}"]

    def use(client: ClientRunner) -> None:
        for command, end in (("tool", "Told: a lamp"), ("fail", "Told: a lamp")):
            client.tell("converse", "tool=look")
            client.tell("play", 8)
            client.tell("ask", "what is there?")
            _, call_id, name, arguments = client.until("toolcall")
            assert (name, json.loads(arguments)) == ("look", {"at": "you"})
            client.tell(command, call_id, "a lamp")
            client.until("turn", "turn-1", "Done", end)
            client.tell("leave")
            client.until("left")

    async with fake_bridge() as (_, fakes):
        fakes.llm.script = script
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(use, client)


async def test_the_body_moves_between_and_in_the_turns(
    make_client: MakeClient, fake_bridge: MakeBridge
) -> None:
    def watch(client: ClientRunner) -> None:
        client.tell("converse", "body")
        client.tell("play", 8)
        client.tell("wave")
        client.tell("look")
        client.until("motion", "Idle")
        client.tell("ask", "one")
        client.until("turn", "turn-1", "Done")
        chunks = client.all("audio")
        assert sum(int(e[5]) for e in chunks) > 0
        assert all(e[7] == "True" for e in chunks)

    async with fake_bridge() as (_, fakes):
        fakes.llm.answer = _always("go on")  # letters that are IPA, which a body needs
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(watch, client)


async def test_a_slow_reader_loses_nothing(make_client: MakeClient, fake_bridge: MakeBridge) -> None:
    words = " ".join(f"w{i}" for i in range(600))

    def read_slowly(client: ClientRunner) -> None:
        client.tell("converse")
        client.until("state", "Running")
        client.tell("polls", 0)
        client.tell("ask", "much")
        waiting = 0
        while waiting < 256:
            client.tell("stats")
            waiting = int(client.until("stats")[1])
            assert waiting <= 257  # of which one may be a step
        client.tell("polls", 1)
        client.until("text", "", " w599.")
        assert "".join(e[2] for e in client.all("text")) == words + "."

    async with fake_bridge() as (_, fakes):
        fakes.llm.answer = _always(words + ".")
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(read_slowly, client)


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
            _ask_twice(client)
        with make_client(f"https://localhost:{port}", ca=tmp_path / "stranger.pem") as client:
            client.tell("connect")
            client.until("connection", "Refused")
            assert "not trusted" in client.until("reply", "connect", "PermissionDenied")[3]

    async with fake_bridge(**settings) as (_, fakes):
        await asyncio.to_thread(knock, fakes.bridge)


def _message(**payload: Any) -> bytes:
    data = conversation_pb2.ConverseResponse(seq=1, **payload).SerializeToString()
    return frame(DATA, b"\0" + len(data).to_bytes(4, "big") + data, 0, 3)


def _conversation(*messages: bytes) -> Callable[[socket.socket], None]:
    """Lets the client in, and answers its conversation with these frames."""

    def speak(connection: socket.socket) -> None:
        connection.sendall(frame(HEADERS, RESPONSE, END_HEADERS, 1) + frame(DATA, b"\0\0\0\0\0", 0, 1))
        connection.sendall(frame(HEADERS, literal(b"grpc-status", b"0"), END_HEADERS | END_STREAM, 1))
        while b"Converse" not in (connection.recv(1 << 16) or b"Converse"):
            pass
        connection.sendall(frame(HEADERS, RESPONSE, END_HEADERS, 3))
        for message in messages:
            connection.sendall(message)

    return speak


STARTED = {
    "session_id": "x",
    "audio_out": {"sample_rate_hz": 22050},
    "rig": {"blendshape_names": [f"s{i}" for i in range(52)]},
}


def test_a_server_that_floods_a_conversation(make_client: MakeClient) -> None:
    """As much as the window of HTTP/2 lets through, to a client that does not poll."""
    pong = _message(pong={"client_time_us": 5})[9:]
    pieces = [frame(DATA, pong * 1000, 0, 3)] * 20
    last = _message(text_delta={"text": "last"})
    speak = _conversation(_message(session_started=STARTED), *pieces, last)
    with HostileServer(speak) as server, make_client(server.target) as client:
        client.tell("connect")
        client.until("reply", "connect", "OK")
        client.tell("polls", 0)
        client.tell("converse")
        memory = psutil.Process(client.process.pid).memory_info().rss
        waiting = 0
        while waiting < 256:
            client.tell("stats")
            waiting = int(client.until("stats")[1])
            assert waiting <= 258
        client.tell("polls", 1)
        client.until("pong", "5")
        client.tell("polls", 0)
        client.tell("stats")
        assert int(client.until("stats")[1]) <= 258
        client.tell("polls", 1)
        client.until("text", "", "last")
        assert len(client.all("pong")) == 20_000
        assert psutil.Process(client.process.pid).memory_info().rss - memory < 40 << 20
        client.tell("dispose")
        assert int(client.until("disposed")[1]) < 1000


def test_a_server_that_talks_nonsense(make_client: MakeClient) -> None:
    with (
        HostileServer(_conversation(_message(session_started={}))) as server,
        make_client(server.target) as client,
    ):
        client.tell("converse")
        client.until("ended", "DataLoss")
    body = [{"time_us": 0, "rotations": [1.0]}]
    wrong = {"frames": [{"time_us": 0, "weights": [1.0]}], "body": body, "pcm": b"abc"}
    speak = _conversation(
        _message(session_started=STARTED),
        _message(media=wrong),
        _message(motion={"body": body}),
        _message(),
        _message(media={"frames": [{"time_us": 0, "weights": [1.0] * 52}], "pcm": bytes(20)}),
        frame(DATA, b"\0\0\0\0\3\xff\xff\xff", 0, 3),
    )
    with HostileServer(speak) as server, make_client(server.target) as client:
        client.tell("converse")
        assert [e[4] for e in (client.until("audio"), client.until("audio"))] == ["0", "1"]
        assert "cannot be read" in client.until("retrying", "Internal")[2]
    assert not client.all("broken")
