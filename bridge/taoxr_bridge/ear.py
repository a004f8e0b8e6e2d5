"""The ear of one conversation: the user's audio goes in, speech and transcripts come out."""

import asyncio
import time
from bisect import bisect_left
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Final

from taoxr.errors import UnavailableError
from taoxr.worker.v1 import ear_pb2
from taoxr_bridge import calls
from taoxr_bridge.speech import duration
from taoxr_bridge.worker import Worker

_QUEUE: Final = 64
_RETRY_S: Final = 0.5
# About 100 s of audio in pieces of 20 ms.
_ARRIVALS: Final = 5000


class Ear:
    """Sends audio to the ear worker and hands on what it hears; survives a restart of the worker.

    Args:
        worker: The ear worker.
        config: First request of its stream.
        wait_s: How long to wait for a worker that restarts.
        on_heard: Gets every response, its times counted from the first sample of the conversation.
        on_lost: Told when the worker is gone; what was being said is lost.
    """

    def __init__(
        self,
        worker: Worker,
        config: ear_pb2.ListenConfig,
        wait_s: float,
        on_heard: Callable[[ear_pb2.ListenResponse], Awaitable[None]],
        on_lost: Callable[[UnavailableError], Awaitable[None]],
    ) -> None:
        self._worker = worker
        self._config = config
        self._wait_s = wait_s
        self._on_heard = on_heard
        self._on_lost = on_lost
        self._requests: asyncio.Queue[ear_pb2.ListenRequest | None] = asyncio.Queue(_QUEUE)
        self._connected = True
        self._fed_us = 0
        self._base_us = 0
        # (end of a piece of audio, when it came): says when a position in the audio was heard.
        self._arrivals: deque[tuple[int, float]] = deque(maxlen=_ARRIVALS)

    async def feed(self, pcm: bytes) -> None:
        """More audio; while the worker is away it is dropped."""
        self._fed_us += duration(pcm, self._config.sample_rate_hz)
        self._arrivals.append((self._fed_us, time.monotonic()))
        if self._connected:
            await self._requests.put(ear_pb2.ListenRequest(pcm=pcm))

    def play(self, pcm: bytes, sample_rate_hz: int, text: str, ahead_us: int) -> None:
        """The user's loudspeaker will play this `ahead_us` from now: the ear shall not take it for the user.

        Dropped while the worker is away or too slow.
        """
        playback = ear_pb2.Playback(pcm=pcm, sample_rate_hz=sample_rate_hz, text=text)
        playback.offset_us = self._fed_us - self._base_us + ahead_us
        self._put_now(ear_pb2.ListenRequest(playback=playback))

    def stop_playback(self) -> None:
        """The loudspeaker falls silent now."""
        stopped = ear_pb2.PlaybackStopped(offset_us=self._fed_us - self._base_us)
        self._put_now(ear_pb2.ListenRequest(playback_stopped=stopped))

    def _put_now(self, request: ear_pb2.ListenRequest) -> None:
        # A full queue must not hold up the avatar.
        if self._connected and not self._config.echo_cancelled and not self._requests.full():
            self._requests.put_nowait(request)

    async def end_utterance(self) -> None:
        """The user says that the turn is over."""
        if self._connected:
            end = ear_pb2.EndOfUtterance()
            await self._requests.put(ear_pb2.ListenRequest(end_of_utterance=end))

    async def close(self) -> None:
        """No more audio comes; `run` returns once the open utterance is finished."""
        await self._requests.put(None)

    def arrival(self, offset_us: int) -> float:
        """When the audio at `offset_us` came, on the monotonic clock."""
        if not self._arrivals:
            return time.monotonic()
        i = bisect_left(self._arrivals, (offset_us, 0.0))
        return self._arrivals[min(i, len(self._arrivals) - 1)][1]

    async def run(self) -> None:
        """Listens until `close`."""
        lost = False
        while True:
            try:
                await self._worker.ready(self._wait_s)
                if lost:
                    self._base_us, self._connected, lost = self._fed_us, True, False
                async with aclosing(calls.listen(self._worker, self._stream(), self._wait_s)) as heard:
                    async for response in heard:
                        await self._on_heard(self._placed(response))
                return
            except UnavailableError as error:
                self._connected = False
                closing = self._drain()
                if not lost:
                    lost = True
                    await self._on_lost(error)
                if closing:
                    return
                await asyncio.sleep(_RETRY_S)

    async def _stream(self) -> AsyncIterator[ear_pb2.ListenRequest]:
        yield ear_pb2.ListenRequest(config=self._config)
        while (request := await self._requests.get()) is not None:
            yield request

    def _drain(self) -> bool:
        """Empties the queue; True when the end of the audio was in it."""
        closing = False
        while not self._requests.empty():
            closing |= self._requests.get_nowait() is None
        return closing

    def _placed(self, response: ear_pb2.ListenResponse) -> ear_pb2.ListenResponse:
        placed = ear_pb2.ListenResponse()
        placed.CopyFrom(response)
        match response.WhichOneof("payload"):
            case "speech_started":
                placed.speech_started.offset_us += self._base_us
            case "speech_sustained":
                placed.speech_sustained.offset_us += self._base_us
            case "speech_stopped":
                placed.speech_stopped.offset_us += self._base_us
            case _:
                for span in (placed.utterance, *placed.utterance.words):
                    span.start_us += self._base_us
                    span.end_us += self._base_us
        return placed
