"""What waits to be sent to a client, from which an interruption can take things out again."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Final

from taoxr.errors import StalledError
from taoxr.v1.conversation_pb2 import ConverseResponse

# `put` waits above the first and `put_now` fails above the second, so that a client that sends much and
# reads nothing costs no more than this.
_FULL_BYTES: Final = 256 * 1024
_MOST_BYTES: Final = 512 * 1024


class Outbox:
    """Responses in order; numbers them when they leave.

    Args:
        size: Most responses that wait before `put` waits too.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._waiting: deque[ConverseResponse] = deque()
        self._bytes = 0
        self._changed = asyncio.Condition()
        self._closed = False
        self._sending = False
        self._seq = 0

    async def put(self, response: ConverseResponse) -> None:
        """Adds a response; waits while the outbox is full."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: len(self._waiting) < self._size and self._bytes < _FULL_BYTES
            )
            self._add(response)

    async def put_now(self, response: ConverseResponse) -> None:
        """Adds a response, however many wait: for what must not hold up the reading of requests.

        Raises:
            StalledError: Far too much waits already.
        """
        async with self._changed:
            if self._bytes > _MOST_BYTES:
                raise StalledError(
                    f"{self._bytes} bytes of responses wait; open a new conversation and read on"
                )
            self._add(response)

    async def drop(self, turn_id: str) -> None:
        """Takes out everything of a turn that has not left yet."""
        async with self._changed:
            self._waiting = deque(r for r in self._waiting if r.turn_id != turn_id)
            self._bytes = sum(r.ByteSize() for r in self._waiting)
            self._changed.notify_all()

    async def flushed(self) -> None:
        """Waits until nothing waits to be sent."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._waiting and not self._sending)

    async def close(self) -> None:
        """Nothing more comes; the iteration ends after what is left."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _add(self, response: ConverseResponse) -> None:
        self._waiting.append(response)
        self._bytes += response.ByteSize()
        self._changed.notify_all()

    async def __aiter__(self) -> AsyncIterator[ConverseResponse]:
        while True:
            async with self._changed:
                self._sending = False
                self._changed.notify_all()
                await self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                response = self._waiting.popleft()
                self._bytes -= response.ByteSize()
                self._sending = True
                self._changed.notify_all()
            self._seq += 1
            response.seq = self._seq
            yield response
