"""Spoken turns and interruptions, as a client sees them."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

from taoxr.client import (
    Client,
    Conversation,
    ConversationOptions,
    Event,
    MediaChunk,
    State,
    TurnMetrics,
    TurnState,
)
from taoxr.errors import UnavailableError
from taoxr.figures import Spread, spread
from taoxr_bridge.bench.microphone import Microphone

QUESTIONS: Final = (
    "What is the capital of France?",
    "How many legs does a spider have?",
    "Can you tell me something about the moon?",
    "What do you like to eat?",
    "Why is the sky blue?",
    "Who are you?",
    "What is the largest planet?",
    "How do birds fly?",
    "Where does the rain come from?",
    "Do you know a good story?",
    "What can I cook for dinner tonight?",
    "How far away is the sun?",
    "What is your favourite colour?",
    "Why do cats purr?",
    "How does a bicycle work?",
    "What should I do on a rainy day?",
    "Which animal is the fastest?",
    "How do I learn to swim?",
    "What is a good name for a dog?",
    "Why do we sleep?",
)
"""Short ones."""
LONG: Final = "Please tell me a long story about the sea."
"""Gets an answer that can be interrupted."""
# Workers whose work an interruption ends; the ear goes on listening.
_THINKERS: Final = ("llm", "tts", "a2bs")
_TURN_S: Final = 60.0
_POLL_S: Final = 0.003


async def bench_turns(
    client: Client, count: int, progress: Callable[[str], None]
) -> dict[str, Spread | float | int]:
    """Asks `count` questions aloud, hands-free, and measures until the answer is heard and seen.

    The questions come from the server's own voice, in real time. "first_media_ms" runs from the last sound
    of the question to the first audio with its frames at the client; "stage.NAME_ms" are the server's own
    times since it heard that sound (see ``TurnMetrics``).
    """
    texts = [QUESTIONS[i % len(QUESTIONS)] for i in range(count)]
    questions = {text: await client.say(text) for text in dict.fromkeys(texts)}
    rate = next(iter(questions.values())).sample_rate_hz
    first_media: list[float] = []
    stages: dict[str, list[float]] = {}
    unanswered = 0
    async with client.converse(ConversationOptions(audio_in_hz=rate)) as conversation:
        microphone = Microphone(conversation, rate)
        async with microphone, aclosing(aiter(conversation)) as events:
            for i, text in enumerate(texts):
                progress(f"{i + 1}/{count} {text}")
                ended = (await microphone.say(questions[text])).ended
                times = await _answer(conversation, events)
                if times is None:
                    unanswered += 1
                    continue
                arrived, metrics = times
                first_media.append((arrived - ended) * 1000)
                for name, ms in metrics.stages_ms.items():
                    stages.setdefault(name, []).append(ms)
    if not first_media:
        raise UnavailableError(f"none of {count} questions was answered; look at the bridge's log")
    found = {f"stage.{name}_ms": spread(values) for name, values in stages.items()}
    return {"first_media_ms": spread(first_media), **found, "unanswered": unanswered}


async def bench_interrupts(
    client: Client, count: int, progress: Callable[[str], None]
) -> dict[str, Spread | float | int]:
    """Interrupts `count` answers at random moments (fixed seed).

    "interrupt_ms" runs from the client's interrupt to the message that ends the turn, which is the first of
    the new epoch and after the last of the old one; "idle_ms" to all workers without a running call.
    """
    chance = random.Random(1)
    interrupted: list[float] = []
    idle: list[float] = []
    missed = 0
    for i in range(count):
        progress(f"interruption {i + 1}/{count}")
        async with client.converse() as conversation, aclosing(aiter(conversation)) as events:
            await conversation.send_text(LONG)
            after_media = chance.random() < 0.75
            await until(events, MediaChunk if after_media else TurnState)
            await asyncio.sleep(chance.uniform(0.0, 0.8 if after_media else 0.3))
            began = time.monotonic()
            polling = asyncio.create_task(_idle(client))
            await conversation.interrupt(played_us=0)
            ended = await end_of(events)
            if ended.state is State.INTERRUPTED:
                interrupted.append((time.monotonic() - began) * 1000)
                idle.append((await polling - began) * 1000)
            else:
                missed += 1
                await polling
    if not interrupted:
        raise UnavailableError(f"all {count} answers were over before they could be interrupted")
    return {"interrupt_ms": spread(interrupted), "idle_ms": spread(idle), "interrupt_missed": missed}


async def _answer(
    conversation: Conversation, events: AsyncGenerator[Event]
) -> tuple[float, TurnMetrics] | None:
    """When the answer's first media came, and its stages; None when there was no answer."""
    arrived: float | None = None
    metrics: TurnMetrics | None = None
    async with asyncio.timeout(_TURN_S):
        async for event in events:
            match event:
                case MediaChunk():
                    arrived = time.monotonic() if arrived is None else arrived
                    # As if it were heard already: the benchmark has no use for the rest of the answer.
                    await conversation.report_playback(event.turn_id, event.end_us)
                case TurnMetrics():
                    metrics = event
                case TurnState(state=state) if state.ended:
                    return None if arrived is None or metrics is None else (arrived, metrics)
                case _:
                    pass
    raise UnavailableError("the bridge ended the conversation; look at its log")


async def until(events: AsyncGenerator[Event], kind: type[Event]) -> None:
    """Waits for an event of this kind.

    Raises:
        UnavailableError: The conversation ended.
    """
    async for event in events:
        if isinstance(event, kind):
            return
    raise UnavailableError("the bridge ended the conversation; look at its log")


async def end_of(events: AsyncGenerator[Event]) -> TurnState:
    """Waits for the end of a turn.

    Raises:
        UnavailableError: The conversation ended.
    """
    async for event in events:
        if isinstance(event, TurnState) and event.state.ended:
            return event
    raise UnavailableError("the bridge ended the conversation; look at its log")


async def _idle(client: Client) -> float:
    """When no worker that makes answers had a running call."""
    while True:
        workers = (await client.server_info()).workers
        if not any(w.state == "busy" for w in workers if w.role in _THINKERS):
            return time.monotonic()
        await asyncio.sleep(_POLL_S)
