"""Going on with a conversation whose connection was lost."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Final

from taoxr.client.conversation import Conversation, ConversationOptions
from taoxr.errors import UnavailableError

_FIRST_DELAY_S: Final = 0.1
_LONGEST_DELAY_S: Final = 2.0


@asynccontextmanager
async def resumed(
    lost: Conversation, converse: Callable[[ConversationOptions], Conversation], patience_s: float
) -> AsyncGenerator[Conversation]:
    """The lost conversation on a new stream; see `Client.resume`."""
    token = lost.started.resume_token
    if not token:
        raise UnavailableError("this bridge keeps no journal, so the conversation cannot be resumed")
    options = replace(lost.options, resume_token=token, history=(), system_prompt="")
    deadline, delay = time.monotonic() + patience_s, _FIRST_DELAY_S
    async with AsyncExitStack() as stack:
        while True:
            try:
                conversation = await stack.enter_async_context(converse(options))
                break
            except UnavailableError:  # also BusyError: a worker that loads, a place that is taken
                if time.monotonic() + delay > deadline:
                    raise
            await asyncio.sleep(delay)
            delay = min(2 * delay, _LONGEST_DELAY_S)
        yield conversation
