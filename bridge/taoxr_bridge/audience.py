"""Who looks at a conversation beside its client."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from typing import Final

from taoxr.errors import BusyError, StalledError
from taoxr.v1 import conversation_pb2 as pb

# Some 8 s of media; what waits for one watcher costs no more than this.
_MOST_BYTES: Final = 512 * 1024
_MOST_WATCHERS: Final = 16
_RETRY_S: Final = 5.0
_PRIVATE: Final = "pong"


class Watcher:
    """What waits to be sent to one watcher: iterate over it."""

    def __init__(self, started: pb.ConverseResponse) -> None:
        self._waiting = deque((started,))
        self._bytes = started.ByteSize()
        self._changed = asyncio.Event()
        self._open = True
        self._slow = False

    def put(self, response: pb.ConverseResponse) -> None:
        """Adds a response; too many, and the watcher gets nothing more."""
        if self._slow:
            return
        self._bytes += response.ByteSize()
        self._slow = self._bytes > _MOST_BYTES
        if self._slow:
            self._waiting.clear()
        else:
            self._waiting.append(response)
        self._changed.set()

    def close(self) -> None:
        """The conversation is over: the iteration ends after what waits."""
        self._open = False
        self._changed.set()

    async def __aiter__(self) -> AsyncIterator[pb.ConverseResponse]:
        """The responses in order.

        Raises:
            StalledError: The watcher was too slow.
        """
        while True:
            if self._slow:
                raise StalledError("the watcher does not keep up with the conversation: watch again")
            if self._waiting:
                response = self._waiting.popleft()
                self._bytes -= response.ByteSize()
                yield response
            elif self._open:
                self._changed.clear()
                await self._changed.wait()
            else:
                return


class Audience:
    """The watchers of one conversation, who never hold it up."""

    def __init__(self) -> None:
        self._watchers: set[Watcher] = set()
        self._started: pb.ConverseResponse | None = None

    def show(self, response: pb.ConverseResponse) -> None:
        """Shows what the client is told, apart from what is between the two."""
        kind = response.WhichOneof("payload")
        if kind == "session_started":
            self._started = pb.ConverseResponse()
            self._started.CopyFrom(response)
            self._started.session_started.ClearField("resume_token")
            self._started.session_started.ClearField("resume_window_us")
        elif kind != _PRIVATE:
            for watcher in self._watchers:
                watcher.put(response)

    @contextmanager
    def watch(self) -> Generator[Watcher]:
        """Joins the audience for the length of the block.

        Raises:
            BusyError: Too many watch already, or the conversation only begins.
        """
        if self._started is None:
            raise BusyError("the conversation is only beginning; try again", _RETRY_S)
        if len(self._watchers) >= _MOST_WATCHERS:
            raise BusyError(f"{_MOST_WATCHERS} watch this conversation already", _RETRY_S)
        watcher = Watcher(self._started)
        self._watchers.add(watcher)
        try:
            yield watcher
        finally:
            self._watchers.discard(watcher)

    def close(self) -> None:
        """The conversation is over."""
        for watcher in self._watchers:
            watcher.close()
