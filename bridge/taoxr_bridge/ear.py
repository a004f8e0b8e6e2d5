"""The ear of one conversation: the user's audio goes in, speech and transcripts come out."""

import asyncio
import time
from bisect import bisect_left
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Final, TypeAlias

from taoxr.errors import UnavailableError
from taoxr.worker.v1 import ear_pb2
from taoxr_bridge import calls
from taoxr_bridge.speech import duration
from taoxr_bridge.worker import Worker

_QUEUE: Final = 64
_RETRY_S: Final = 0.5
# What was said while the worker was away is answered when it is back, unless it was longer ago than that.
_HELD_US: Final = 10_000_000
# The avatar may speak on while no audio comes.
_HELD_REQUESTS: Final = 1000
# About 100 s of audio in pieces of 20 ms.
_ARRIVALS: Final = 5000

# None: no more comes. Positions of playback count from the first sample of the conversation.
_Requests: TypeAlias = asyncio.Queue[ear_pb2.ListenRequest | None]


class Ear:
    """Sends audio to the ear worker and hands on what it hears; survives a restart of the worker.

    An utterance that was being said when the worker was lost is lost with it, with push-to-talk up to its
    end. Later audio waits until the worker is back, the newest 10 s of it.

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
        # The worker's, while it is there. Each connection has a queue of its own: gRPC may still wait for
        # a request of one that broke, and would swallow it.
        self._requests: _Requests | None = None
        self._held: deque[ear_pb2.ListenRequest] = deque()
        self._held_us = 0
        self._closing = False
        # Push-to-talk: an utterance is being said; its beginning is lost.
        self._open = self._broken = False
        self._fed_us = 0
        # (end of a piece of audio, when it came): says when a position in the audio was heard.
        self._arrivals: deque[tuple[int, float]] = deque(maxlen=_ARRIVALS)

    async def feed(self, pcm: bytes) -> None:
        """More audio."""
        self._fed_us += duration(pcm, self._config.sample_rate_hz)
        self._arrivals.append((self._fed_us, time.monotonic()))
        self._open = self._config.push_to_talk
        # Half an utterance is not heard; silence keeps the clock.
        await self._put(ear_pb2.ListenRequest(pcm=bytes(len(pcm)) if self._broken else pcm))

    def play(self, pcm: bytes, sample_rate_hz: int, text: str, ahead_us: int) -> None:
        """The user's loudspeaker will play this `ahead_us` from now: the ear shall not take it for the user.

        Dropped while the worker is too slow.
        """
        playback = ear_pb2.Playback(pcm=pcm, sample_rate_hz=sample_rate_hz, text=text)
        playback.offset_us = self._fed_us + ahead_us
        self._put_now(ear_pb2.ListenRequest(playback=playback))

    def stop_playback(self) -> None:
        """The loudspeaker falls silent now."""
        stopped = ear_pb2.PlaybackStopped(offset_us=self._fed_us)
        self._put_now(ear_pb2.ListenRequest(playback_stopped=stopped))

    async def end_utterance(self) -> None:
        """The user says that the turn is over."""
        if not self._broken:
            await self._put(ear_pb2.ListenRequest(end_of_utterance=ear_pb2.EndOfUtterance()))
        self._open = self._broken = False

    async def close(self) -> None:
        """No more audio comes; `run` returns once the open utterance is finished."""
        self._closing = True
        if self._requests is not None:
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
                lost = False
                base_us, requests = self._connect()
                async with aclosing(calls.listen(self._worker, requests, self._wait_s)) as heard:
                    async for response in heard:
                        await self._on_heard(_placed(response, base_us))
                return
            except UnavailableError as error:
                self._disconnect()
                if not lost:
                    lost = True
                    await self._on_lost(error)
                if self._closing:
                    return
                await asyncio.sleep(_RETRY_S)

    async def _put(self, request: ear_pb2.ListenRequest) -> None:
        if self._requests is not None:
            await self._requests.put(request)
        else:
            self._hold(request)

    def _put_now(self, request: ear_pb2.ListenRequest) -> None:
        if self._config.echo_cancelled:
            return
        if self._requests is None:
            self._hold(request)
        elif not self._requests.full():  # a full queue must not hold up the avatar
            self._requests.put_nowait(request)

    def _hold(self, request: ear_pb2.ListenRequest) -> None:
        self._held.append(request)
        self._held_us += duration(request.pcm, self._config.sample_rate_hz)
        while self._held_us > _HELD_US or len(self._held) > _HELD_REQUESTS:
            self._held_us -= duration(self._held.popleft().pcm, self._config.sample_rate_hz)

    def _connect(self) -> tuple[int, AsyncIterator[ear_pb2.ListenRequest]]:
        """Opens a queue; returns where in the conversation's audio its stream begins, and the stream."""
        base_us = self._fed_us - self._held_us
        held, self._held, self._held_us = self._held, deque(), 0
        requests: _Requests = asyncio.Queue(_QUEUE)
        self._requests = requests
        return base_us, self._stream(base_us, held, None if self._closing else requests)

    def _disconnect(self) -> None:
        requests, self._requests = self._requests, None
        if requests is not None:
            self._broken = self._open
            # Whoever waits for room in it goes on, and its reader ends.
            while not requests.empty():
                requests.get_nowait()
            requests.put_nowait(None)

    async def _stream(
        self, base_us: int, held: deque[ear_pb2.ListenRequest], requests: _Requests | None
    ) -> AsyncIterator[ear_pb2.ListenRequest]:
        yield ear_pb2.ListenRequest(config=self._config)
        for request in held:
            yield _rebased(request, base_us)
        while requests is not None and (request := await requests.get()) is not None:
            yield _rebased(request, base_us)


def _rebased(request: ear_pb2.ListenRequest, base_us: int) -> ear_pb2.ListenRequest:
    """With positions counted from the first sample of the stream."""
    match request.WhichOneof("payload"):
        case "playback":
            request.playback.offset_us -= base_us
        case "playback_stopped":
            request.playback_stopped.offset_us -= base_us
        case _:
            pass
    return request


def _placed(response: ear_pb2.ListenResponse, base_us: int) -> ear_pb2.ListenResponse:
    """With positions counted from the first sample of the conversation."""
    placed = ear_pb2.ListenResponse()
    placed.CopyFrom(response)
    match response.WhichOneof("payload"):
        case "speech_started":
            placed.speech_started.offset_us += base_us
        case "speech_sustained":
            placed.speech_sustained.offset_us += base_us
        case "speech_stopped":
            placed.speech_stopped.offset_us += base_us
        case _:
            for span in (placed.utterance, *placed.utterance.words):
                span.start_us += base_us
                span.end_us += base_us
    return placed
