"""The user's voice over the avatar's: how soon the avatar is silent."""

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Final

from taoxr.client import Client, ConversationOptions, MediaChunk, State
from taoxr.errors import UnavailableError
from taoxr.figures import Spread, spread
from taoxr_bridge.bench.microphone import Microphone
from taoxr_bridge.bench.turn import LONG, end_of, until

_WORDS: Final = ("Wait a moment, I have another question.", "Stop it now, please.", "No, that is not it.")
# From the first sound of the answer; the ear needs some of it to know that there is no echo.
_SPEAKS_S: Final = (1.8, 2.6)


async def bench_barge_ins(
    client: Client, count: int, progress: Callable[[str], None]
) -> dict[str, Spread | float | int]:
    """Speaks over `count` answers at random moments (fixed seed), through a microphone that hears no echo.

    "barge_in_ms" runs from the first sound of the user's words to the message that ends the avatar's turn,
    after which the client plays nothing of it.
    """
    chance = random.Random(1)
    words = [await client.say(text) for text in _WORDS]
    rate = words[0].sample_rate_hz
    stopped: list[float] = []
    missed = 0
    for i in range(count):
        progress(f"speaking over answer {i + 1}/{count}")
        async with (
            client.converse(ConversationOptions(audio_in_hz=rate)) as conversation,
            Microphone(conversation, rate) as microphone,
            aclosing(aiter(conversation)) as events,
        ):
            await conversation.send_text(LONG)
            await until(events, MediaChunk)
            await asyncio.sleep(chance.uniform(*_SPEAKS_S))
            saying = asyncio.create_task(microphone.say(words[i % len(words)]))
            ended = await end_of(events)
            silent = time.monotonic()
            said = await saying
            if ended.state is State.INTERRUPTED:
                stopped.append((silent - said.began) * 1000)
            else:
                missed += 1
    if not stopped:
        raise UnavailableError(f"the avatar was silent before it was interrupted, {count} times")
    return {"barge_in_ms": spread(stopped), "barge_in_missed": missed}
