"""Spoken turns and interruptions, as a client sees them."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.client import (
    Client,
    Conversation,
    ConversationOptions,
    Event,
    MediaChunk,
    Speech,
    State,
    TurnMetrics,
    TurnState,
)
from taoxr.errors import UnavailableError
from taoxr_bridge.bench.figures import Spread, spread

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
_LONG: Final = "Please tell me a long story about the sea."
_PIECE_S: Final = 0.02
_BEFORE_S: Final = 0.3
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
        microphone = _Microphone(conversation, rate)
        async with microphone, aclosing(aiter(conversation)) as events:
            for i, text in enumerate(texts):
                progress(f"{i + 1}/{count} {text}")
                ended = await microphone.say(questions[text])
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
            await conversation.send_text(_LONG)
            after_media = chance.random() < 0.75
            await _until(events, MediaChunk if after_media else TurnState)
            await asyncio.sleep(chance.uniform(0.0, 0.8 if after_media else 0.3))
            began = time.monotonic()
            polling = asyncio.create_task(_idle(client))
            await conversation.interrupt(played_us=0)
            ended = await _end(events)
            if ended.state is State.INTERRUPTED:
                interrupted.append((time.monotonic() - began) * 1000)
                idle.append((await polling - began) * 1000)
            else:
                missed += 1
                await polling
    if not interrupted:
        raise UnavailableError(f"all {count} answers were over before they could be interrupted")
    return {"interrupt_ms": spread(interrupted), "idle_ms": spread(idle), "interrupt_missed": missed}


class _Microphone:
    """Sends audio in real time for the length of the block: silence, or what is to be said."""

    def __init__(self, conversation: Conversation, rate_hz: int) -> None:
        self._conversation = conversation
        self._rate_hz = rate_hz
        self._waiting: NDArray[np.int16] = np.zeros(0, np.int16)
        self._end = 0
        self._said: asyncio.Future[float] | None = None

    async def __aenter__(self) -> "_Microphone":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def say(self, speech: Speech) -> float:
        """Says it; returns when its last sound went out, on the monotonic clock."""
        sounds = [p.end_us for p in speech.phonemes if p.symbol not in ("", "_")]
        self._end = round(self._rate_hz * (_BEFORE_S + max(sounds) / 1e6))
        self._waiting = np.concatenate([np.zeros(round(self._rate_hz * _BEFORE_S), np.int16), speech.pcm])
        self._said = asyncio.get_running_loop().create_future()
        return await self._said

    async def _run(self) -> None:
        size = round(self._rate_hz * _PIECE_S)
        began, sent = time.monotonic(), 0
        while True:
            piece, self._waiting = self._waiting[:size], self._waiting[size:]
            sent += size
            # A piece of a microphone is there when its last sample is.
            await asyncio.sleep(max(0.0, began + sent / self._rate_hz - time.monotonic()))
            await self._conversation.send_audio(np.pad(piece, (0, size - len(piece))))
            if self._said is not None:
                self._end -= size
                if self._end <= 0:
                    self._said.set_result(began + (sent + self._end) / self._rate_hz)
                    self._said = None


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


async def _until(events: AsyncGenerator[Event], kind: type[Event]) -> None:
    async for event in events:
        if isinstance(event, kind):
            return
    raise UnavailableError("the bridge ended the conversation; look at its log")


async def _end(events: AsyncGenerator[Event]) -> TurnState:
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
