"""A microphone for the benchmarks."""

import asyncio
import time
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.client import Conversation, Speech

_PIECE_S: Final = 0.02
_BEFORE_S: Final = 0.3


@dataclass(frozen=True, slots=True)
class Said:
    """When the first sound of a speech went out and when the last one had, on the monotonic clock."""

    began: float
    ended: float


class Microphone:
    """Sends audio in real time for the length of the block: silence, or what is to be said.

    Args:
        conversation: Where it goes.
        rate_hz: Rate of the audio.
    """

    def __init__(self, conversation: Conversation, rate_hz: int) -> None:
        self._conversation = conversation
        self._rate_hz = rate_hz
        self._waiting: NDArray[np.int16] = np.zeros(0, np.int16)
        self._end = 0
        self._said: asyncio.Future[float] | None = None

    async def __aenter__(self) -> "Microphone":
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def say(self, speech: Speech) -> Said:
        """Says it; returns when its last sound went out."""
        sounds = [p for p in speech.phonemes if p.symbol not in ("", "_")]
        first, last = min(p.start_us for p in sounds), max(p.end_us for p in sounds)
        self._end = round(self._rate_hz * (_BEFORE_S + last / 1e6))
        self._waiting = np.concatenate([np.zeros(round(self._rate_hz * _BEFORE_S), np.int16), speech.pcm])
        self._said = asyncio.get_running_loop().create_future()
        ended = await self._said
        return Said(ended - (last - first) / 1e6, ended)

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
