"""What is thought of an answer, kept apart from who speaks it: the one may be stopped, the other go on."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from google.rpc import status_pb2  # pyright: ignore[reportMissingTypeStubs]

from taoxr.worker.v1 import llm_pb2
from taoxr_bridge.tools import Emit


class Thinks(Protocol):
    """Who thinks of an answer, or knows it already."""

    def think(self) -> AsyncGenerator[llm_pb2.GenerateResponse]:
        """Streams the answer."""
        ...

    def after(self, said: str, use: llm_pb2.ToolUse) -> "Thinks":
        """Who goes on once a tool was called, `said` having been said before that."""
        ...

    def forgotten(self, by_model: int) -> status_pb2.Status | None:
        """What to tell the client when it is not yet told how much the model has forgotten."""
        ...

    async def use_tool(self, turn_id: str, call: llm_pb2.CalledTool, emit: Emit) -> llm_pb2.ToolUse:
        """Calls a tool of the client's."""
        ...


class Thought:
    """An answer that is thought from now on, whether or not anybody reads it.

    Args:
        thinker: Who thinks of it.

    Attributes:
        read: Responses that were read so far.
    """

    def __init__(self, thinker: Thinks) -> None:
        self.thinker = thinker
        self.read = 0
        self._responses: list[llm_pb2.GenerateResponse] = []
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._collect(), name="thought")

    async def responses(self) -> AsyncGenerator[llm_pb2.GenerateResponse]:
        """What nobody has read yet, and what comes.

        Raises:
            TaoxrError: The model failed.
        """
        while True:
            while self.read < len(self._responses):
                self.read += 1
                yield self._responses[self.read - 1]
            if self._task.done():
                await self._task  # raises what ended it
                return
            self._news.clear()
            await self._news.wait()

    @property
    def over(self) -> bool:
        """True once nothing more comes."""
        return self._task.done()

    def unread(self) -> str:
        """The text that nobody has read yet."""
        return "".join(r.text for r in self._responses[self.read :])

    async def drop(self) -> None:
        """Stops thinking; dropping again does nothing."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _collect(self) -> None:
        try:
            async with aclosing(self.thinker.think()) as responses:
                async for response in responses:
                    self._responses.append(response)
                    self._news.set()
        finally:
            self._news.set()


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left of an answer whose speaker was stopped.

    Attributes:
        text: What was read of the thought but not heard.
        thought: Where it goes on.
        before: What was heard of it.
    """

    text: str
    thought: Thought
    before: str

    @property
    def empty(self) -> bool:
        """True when there is nothing to say, and nothing comes."""
        return not any(c.isalnum() for c in self.text + self.thought.unread()) and self.thought.over

    async def think(self) -> AsyncGenerator[llm_pb2.GenerateResponse]:
        """Streams it."""
        if self.text:
            yield llm_pb2.GenerateResponse(text=self.text)
        async with aclosing(self.thought.responses()) as responses:
            async for response in responses:
                yield response

    def after(self, said: str, use: llm_pb2.ToolUse) -> Thinks:
        """See `Thinks.after`."""
        return self.thought.thinker.after(self.before + said, use)

    def forgotten(self, by_model: int) -> status_pb2.Status | None:
        """See `Thinks.forgotten`."""
        return self.thought.thinker.forgotten(by_model)

    async def use_tool(self, turn_id: str, call: llm_pb2.CalledTool, emit: Emit) -> llm_pb2.ToolUse:
        """See `Thinks.use_tool`."""
        return await self.thought.thinker.use_tool(turn_id, call, emit)
