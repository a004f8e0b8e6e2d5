"""A server on a raw socket that says what a test wants, to see what an HTTP/2 client makes of it."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from types import TracebackType

DATA, HEADERS, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 8, 9
END_STREAM, END_HEADERS, PADDED = 1, 4, 8
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind: int, payload: bytes = b"", flags: int = 0, stream: int = 0) -> bytes:
    """A frame of HTTP/2."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name: bytes, value: bytes) -> bytes:
    """A header in HPACK, as a literal that no table keeps."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


SETTLED = frame(SETTINGS) + frame(SETTINGS, flags=1)
# ":status 200" from the static table.
RESPONSE = b"\x88" + literal(b"content-type", b"application/grpc")


class HostileServer:
    """Takes connections one after the other; a context manager.

    Args:
        answer: What is sent once a request came: bytes, or a function that is given the socket.
        greeting: What is sent at once.
    """

    def __init__(self, answer: bytes | Callable[[socket.socket], None], greeting: bytes = SETTLED) -> None:
        self._answer, self._greeting = answer, greeting

    def __enter__(self) -> HostileServer:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.target = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                try:
                    self._speak(connection)
                except OSError:
                    continue  # The client went away, which is what most of this is for.

    def _speak(self, connection: socket.socket) -> None:
        connection.sendall(self._greeting)
        heard = b""
        while b"application/grpc" not in heard:  # our client sends its headers as plain literals
            more = connection.recv(65536)
            if not more:
                return
            heard += more
        if callable(self._answer):
            self._answer(connection)
        else:
            connection.sendall(self._answer)
        while connection.recv(65536):  # until the client closes the connection
            pass
