"""Conversations with servers that flood the Unity package's client or talk nonsense, on Mono and .NET."""

import socket
from collections.abc import Callable
from typing import Any

import psutil
import pytest
from client_runner import ClientRunner
from hostile_server import DATA, END_HEADERS, END_STREAM, HEADERS, RESPONSE, HostileServer, frame, literal

from taoxr.v1 import conversation_pb2

pytestmark = pytest.mark.process

MakeClient = Callable[..., ClientRunner]


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
