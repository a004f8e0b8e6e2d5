"""What the Unity package's HTTP/2 client makes of a server that breaks the rules: an error, never a hang."""

import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import psutil
import pytest
from csharp import RUNTIMES, Runtime
from grpc_runner import GrpcRunner
from hostile_server import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PADDED,
    PING,
    PUSH,
    RESPONSE,
    RST,
    SETTINGS,
    SETTLED,
    WINDOW,
    HostileServer,
    frame,
    literal,
)

pytestmark = pytest.mark.process

OPEN = frame(HEADERS, RESPONSE, END_HEADERS, 1)
# GetServerInfoResponse with version "x", behind the head of a gRPC message.
MESSAGE = b"\0\0\0\0\3\x0a\1x"
GOOD_END = frame(HEADERS, literal(b"grpc-status", b"0"), END_HEADERS | END_STREAM, 1)
MOST_MEMORY = 40 << 20


def _trailers(status: bytes, message: bytes, details: bytes = b"") -> bytes:
    block = literal(b"grpc-status", status) + literal(b"grpc-message", message)
    if details:
        block += literal(b"grpc-status-details-bin", details)
    return frame(HEADERS, block, END_HEADERS | END_STREAM, 1)


@pytest.fixture(scope="module", params=RUNTIMES)
def runner(request: pytest.FixtureRequest, programs: Path) -> Iterator[GrpcRunner]:
    runtime: Runtime = request.param
    with GrpcRunner(runtime, programs / runtime / "grpc_runner.dll") as made:
        yield made


def _info(
    runner: GrpcRunner, answer: bytes | Callable[[socket.socket], None], greeting: bytes = SETTLED
) -> list[str]:
    with HostileServer(answer, greeting) as server:
        return runner.call("info", server.target, timeout_s=20)


def test_an_answer_in_odd_pieces_is_right(runner: GrpcRunner) -> None:
    split = frame(HEADERS, RESPONSE[:3], 0, 1) + frame(CONTINUATION, RESPONSE[3:], END_HEADERS, 1)
    informational = frame(HEADERS, b"\x08\x03103", END_HEADERS, 1)
    padded = frame(DATA, bytes([4]) + MESSAGE[:2] + bytes(4), PADDED, 1)
    rest = b"".join(frame(DATA, MESSAGE[i : i + 1], 0, 1) for i in range(2, len(MESSAGE)))
    between = frame(PING, b"12345678") + frame(99, b"unknown") + frame(WINDOW, struct.pack(">I", 7))
    answer = informational + split + padded + between + frame(DATA, b"", 0, 1) + rest + GOOD_END
    assert _info(runner, answer) == ["OK", "x", ""]


# RFC 7541, C.4.1 and C.6.1: strings in Huffman code.
HUFFMAN_NAME = b"\x40\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf"
HUFFMAN_DATE = (
    b"\x61\x96\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff"
)


def test_headers_in_huffman_code(runner: GrpcRunner) -> None:
    ok = frame(HEADERS, RESPONSE + HUFFMAN_NAME + HUFFMAN_DATE, END_HEADERS, 1) + frame(DATA, MESSAGE, 0, 1)
    assert _info(runner, ok + GOOD_END)[0] == "OK"
    # 302 in Huffman code (C.6.1).
    assert (
        "HTTP status 302"
        in _info(runner, frame(HEADERS, b"\x48\x82\x64\x02", END_HEADERS | END_STREAM, 1))[1]
    )


@pytest.mark.parametrize(
    ("answer", "status", "complaint"),
    [
        (frame(DATA, bytes(16385), 0, 1), "Unavailable", "a frame of 16385 bytes"),
        (frame(DATA, b"x", 0, 1), "Unavailable", "data before the headers"),
        (OPEN + frame(DATA, b"x", 0, 7), "Unavailable", "stream 7, which is not there"),
        (OPEN + frame(DATA, b"\xff", PADDED, 1), "Unavailable", "padding beyond the end"),
        (OPEN + frame(PUSH, bytes(4), END_HEADERS, 1), "Unavailable", "PUSH_PROMISE"),
        (OPEN + frame(PING, bytes(7)), "Unavailable", "PING"),
        (OPEN + frame(SETTINGS, bytes(5)), "Unavailable", "SETTINGS"),
        (OPEN + frame(SETTINGS, b"\0\4\xff\xff\xff\xff"), "Unavailable", "window of more than"),
        (OPEN + frame(WINDOW, struct.pack(">I", 2**31 - 1)) * 2, "Unavailable", "window overflows"),
        (OPEN + frame(WINDOW, bytes(4)), "Unavailable", "grows by 0"),
        (OPEN + frame(CONTINUATION, b"", END_HEADERS, 1), "Unavailable", "CONTINUATION of nothing"),
        (frame(HEADERS, b"", 0, 1) + frame(PING, bytes(8)), "Unavailable", "between the pieces"),
        (frame(HEADERS, b"\xff\xff\xff\xff\xff\xff", END_HEADERS, 1), "Unavailable", "number is too large"),
        (frame(HEADERS, b"\xbe", END_HEADERS, 1), "Unavailable", "entry 62 is in no table"),
        (frame(HEADERS, b"\x3f\xe1\x1f", END_HEADERS, 1), "Unavailable", "a table was made"),
        (frame(HEADERS, b"\0\x7f", END_HEADERS, 1), "Unavailable", "end inside a number"),
        (frame(HEADERS, b"\0\x05ab", END_HEADERS, 1), "Unavailable", "beyond the end"),
        (frame(HEADERS, b"\0\x84\xff\xff\xff\xff", END_HEADERS, 1), "Unavailable", "its own end"),
        (frame(HEADERS, b"\0\x82\xff\xff", END_HEADERS, 1), "Unavailable", "inside a character"),
        (OPEN + frame(RST, struct.pack(">I", 7), 0, 1), "Unavailable", "RefusedStream"),
        (OPEN + frame(RST, struct.pack(">I", 2), 0, 1), "Internal", "InternalError"),
        (frame(GOAWAY, struct.pack(">II", 0, 0) + b"bye"), "Unavailable", "bye"),
        (OPEN + OPEN, "Unavailable", "middle of a response"),
        (OPEN + frame(DATA, b"\1\0\0\0\0", 0, 1) + GOOD_END, "Internal", "compressed"),
        (OPEN + frame(DATA, b"\0\xff\xff\xff\xff", 0, 1), "ResourceExhausted", "4294967295 bytes"),
        (OPEN + frame(DATA, MESSAGE[:6], 0, 1) + GOOD_END, "Internal", "inside a message"),
        (OPEN + frame(DATA, b"\0\0\0\0\1\xff", 0, 1), "Internal", "cannot be read"),
        (OPEN + GOOD_END, "Internal", "without a response"),
        (OPEN + frame(DATA, MESSAGE * 2, 0, 1) + GOOD_END, "Internal", "more than one response"),
        (OPEN + frame(DATA, MESSAGE, END_STREAM, 1), "Unknown", "without a status"),
        (OPEN + _trailers(b"99", b"%e2%82%ac%"), "Unknown", "€%"),
        (OPEN + _trailers(b"abc", b""), "Unknown", "without a status"),
        (OPEN + _trailers(b"3", b"no", b"//////8"), "InvalidArgument", "no"),
        (frame(SETTINGS, b"\0\5\0\0\0\1" * 2000) + OPEN + GOOD_END, "Internal", "without a response"),
        (frame(HEADERS, b"\x8d", END_HEADERS | END_STREAM, 1), "Unimplemented", "HTTP status 404"),
        (frame(HEADERS, b"\x88", END_HEADERS | END_STREAM, 1), "Unknown", "does not speak gRPC"),
    ],
)
def test_rules_that_are_broken_are_named(
    runner: GrpcRunner, answer: bytes, status: str, complaint: str
) -> None:
    got = _info(runner, answer)
    assert got[0] == status, got
    assert complaint in got[1]


def _flood(start: bytes, data: bytes) -> Callable[[socket.socket], None]:
    """Sends the start, then the data again and again until the client hangs up; reads nothing."""

    def send(connection: socket.socket) -> None:
        connection.sendall(start)
        many = data * (1 + 65536 // len(data))
        while True:
            connection.sendall(many)

    return send


@pytest.mark.parametrize(
    ("start", "again", "complaint"),
    [
        (frame(HEADERS, b"", 0, 1), frame(CONTINUATION, b"", 0, 1), "too large"),
        (frame(HEADERS, b"", 0, 1), frame(CONTINUATION, bytes(16384), 0, 1), "too large"),
        (b"", frame(HEADERS, b"\x8f" * 16000, END_HEADERS, 1), "too large"),
        (b"", frame(PING, bytes(8)), "floods"),
        (b"", frame(SETTINGS), "floods"),
        (OPEN, frame(DATA, b"", 0, 1), "empty frames"),
    ],
)
def test_floods_end_and_cost_no_memory(
    runner: GrpcRunner, start: bytes, again: bytes, complaint: str
) -> None:
    process = psutil.Process(runner.process.pid)
    before = process.memory_info().rss
    got = _info(runner, _flood(start, again))
    assert got[0] in ("Unavailable", "ResourceExhausted"), got
    assert complaint in got[1], got
    assert process.memory_info().rss - before < MOST_MEMORY


def test_more_data_than_the_window_is_not_kept(runner: GrpcRunner) -> None:
    before = psutil.Process(runner.process.pid).memory_info().rss
    data = frame(DATA, bytes(16384), 0, 1)
    with HostileServer(_flood(OPEN, data)) as server:
        status, text, *_ = runner.call("unread", server.target)
    assert (status, "more data than its window" in text) == ("Unavailable", True), text
    assert psutil.Process(runner.process.pid).memory_info().rss - before < MOST_MEMORY


def _hang_up(connection: socket.socket) -> None:
    connection.sendall(OPEN + frame(DATA, MESSAGE[:3], 0, 1))
    connection.shutdown(socket.SHUT_RDWR)


def _reset(connection: socket.socket) -> None:
    connection.sendall(OPEN)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize("how", [_hang_up, _reset])
def test_a_connection_that_breaks(runner: GrpcRunner, how: Callable[[socket.socket], None]) -> None:
    status, text, *_ = _info(runner, how)
    assert status == "Unavailable"
    assert "the server closed the connection" in text or "the connection was lost" in text


def test_ports_that_do_not_speak_http2(runner: GrpcRunner) -> None:
    assert "does not speak HTTP/2" in _info(runner, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n")[1]
    with HostileServer(b"", b"") as silent:
        status, text = runner.call("info", silent.target, timeout_s=0.5)
    assert (status, text) == ("NoConnection", f"{silent.target} did not answer within 500 ms")
    with HostileServer(b"") as mute:  # speaks HTTP/2, but never answers
        assert runner.call("info", mute.target, timeout_s=2)[0] == "DeadlineExceeded"


def test_a_server_that_takes_nothing_or_says_nothing(runner: GrpcRunner) -> None:
    # Its window is 0, so that the request cannot be sent.
    with HostileServer(b"", frame(SETTINGS, b"\0\4\0\0\0\0") + frame(SETTINGS, flags=1)) as closed:
        assert runner.call("info", closed.target, timeout_s=0.5)[0] == "DeadlineExceeded"
    # Not even to a PING: the network is gone.
    with HostileServer(b"") as silent:
        status, text, *_ = runner.call("silence", silent.target, "0.2")
    assert (status, "silent" in text) == ("Unavailable", True), text


def _anything(random: Random) -> bytes:
    """A few frames of any kind, some of which are good up to a point."""
    frames: list[bytes] = []
    for _ in range(random.randrange(1, 8)):
        kind, flags = (
            random.choice([*range(11), 255]),
            random.choice([0, 1, 4, 5, 8, 9, 32, random.randrange(256)]),
        )
        size = random.choice([0, 1, 4, 5, 6, 8, random.randrange(200)])
        payload = random.choice([random.randbytes(size), RESPONSE, MESSAGE])
        frames.append(frame(kind, payload, flags, random.choice([0, 1, 1, 1, 2, 3, 2**31 - 1])))
    return b"".join(random.sample([OPEN, b"", b"", b""], 1) + frames)


def test_anything_at_all_ends(runner: GrpcRunner) -> None:
    random = Random(7)
    before = psutil.Process(runner.process.pid).memory_info().rss

    def send(connection: socket.socket) -> None:
        connection.sendall(_anything(random))
        connection.shutdown(socket.SHUT_WR)

    seen: set[str] = set()
    with HostileServer(send) as server:
        for _ in range(150):
            status, text, *_ = runner.call("info", server.target, timeout_s=20)
            assert status != "DeadlineExceeded"
            seen.add(text)
    assert len(seen) > 10
    assert psutil.Process(runner.process.pid).memory_info().rss - before < MOST_MEMORY
