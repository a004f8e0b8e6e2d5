"""Connects the stages of a turn: a bounded queue that can be closed."""

import asyncio
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Pipe(Generic[T]):
    """Items from one stage to the next; a full pipe makes the writer wait.

    Args:
        size: Most items that wait in it.
    """

    def __init__(self, size: int) -> None:
        self._queue: asyncio.Queue[T | None] = asyncio.Queue(size)

    async def put(self, item: T) -> None:
        """Adds an item; waits while the pipe is full."""
        await self._queue.put(item)

    async def close(self) -> None:
        """Nothing more comes; the reader's iteration ends after what is left."""
        await self._queue.put(None)

    async def __aiter__(self) -> AsyncIterator[T]:
        while (item := await self._queue.get()) is not None:
            yield item
