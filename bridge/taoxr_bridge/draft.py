"""An answer that is prepared before it is certain that the user has finished."""

import asyncio
import re
from collections.abc import Awaitable, Callable

import structlog

from taoxr.v1.conversation_pb2 import ConverseResponse
from taoxr_bridge.turn import Turn


class Held:
    """Holds responses back until `release`; after that they go straight on.

    Args:
        send: Where they go.
    """

    def __init__(self, send: Callable[[ConverseResponse], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: list[ConverseResponse] = []
        self._released = False

    async def emit(self, response: ConverseResponse) -> None:
        """Takes a response."""
        if self._released:
            await self._send(response)
        else:
            self._waiting.append(response)

    async def release(self) -> None:
        """Lets all go, in order."""
        # More may come while these are sent, and wait behind them.
        while self._waiting:
            await self._send(self._waiting.pop(0))
        self._released = True


def same_words(a: str, b: str) -> bool:
    """Whether two texts differ at most in upper and lower case, punctuation and white space."""
    return re.findall(r"\w+", a.casefold()) == re.findall(r"\w+", b.casefold())


class Draft:
    """A turn that runs unheard; its owner either publishes or drops it.

    Args:
        text: What the user is taken to have said.
        turn: The answer.
        held: Where the turn emits to.
    """

    def __init__(self, text: str, turn: Turn, held: Held) -> None:
        self.text = text
        self.turn = turn
        self._held = held
        self._task = asyncio.create_task(turn.run(), name=f"{turn.turn_id} draft")

    async def publish(self) -> None:
        """The user has said exactly that: lets the answer out, and returns when it is over.

        Raises:
            TaoxrError: A worker failed.
        """
        try:
            await self._held.release()
            self.turn.public.set()
            await self._task
        finally:
            await self.drop()

    async def drop(self) -> None:
        """Stops the work; nobody hears of it. Dropping again does nothing."""
        self._task.cancel()
        await asyncio.wait([self._task])
        # A worker's failure will be met again by the turn that takes this one's place.
        if not self._task.cancelled() and (error := self._task.exception()):
            structlog.get_logger().info("draft failed", kind=type(error).__name__)
