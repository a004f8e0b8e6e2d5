"""What the bridge itself costs: the same streams to a worker, and to the bridge in front of it."""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from grpc import aio

from taoxr.client import private_bridge
from taoxr.rpc import CHANNEL_OPTIONS
from taoxr.v1 import animation_pb2, common_pb2
from taoxr.v1.animation_pb2_grpc import AnimationServiceStub
from taoxr.worker.v1 import a2bs_pb2
from taoxr.worker.v1.a2bs_pb2_grpc import A2bsServiceStub
from taoxr_bridge.bench.figures import Spread, spread
from taoxr_bridge.worker import ROLES

_RATE: Final = 16_000
_FRAME_RATE: Final = 30.0
# Audio of two frames, so that every message is answered by one with frames.
_PCM: Final = bytes(round(2 / _FRAME_RATE * _RATE) * 2 + 4)
_PIECE_S: Final = len(_PCM) / 2 / _RATE
_WARM_UP: Final = 200

Exchange = Callable[[bytes], Awaitable[None]]


async def bench_overhead(messages: int, streams: int, seconds: float) -> dict[str, Spread | float | int]:
    """Measures the bridge with a worker that answers at once, each in a process of its own.

    "direct_us" and "bridge_us" are round trips of one message of audio and its frames, without and with the
    bridge; a round trip through it is two messages, so "overhead_us" is half of the difference of medians.
    "frames_ms" is the delay of frames behind their audio over `streams` streams in real time; late ones
    (more than one frame after their audio) are counted.
    """
    async with _stub() as stub_target:
        arguments = [item for role in ROLES for item in ("--worker", f"{role}={stub_target}")]
        async with (
            private_bridge(arguments=arguments) as target,
            aio.insecure_channel(stub_target, options=CHANNEL_OPTIONS) as direct,
            aio.insecure_channel(target, options=CHANNEL_OPTIONS) as through,
        ):
            direct_us: list[float] = []
            bridge_us: list[float] = []
            async with _directly(direct) as exchange, _bridged(through) as bridged:
                for _ in range(_WARM_UP):
                    await exchange(_PCM)
                    await bridged(_PCM)
                # In turns, so that whatever else the machine does falls on both.
                for _ in range(messages):
                    direct_us.append(await _timed(exchange))
                    bridge_us.append(await _timed(bridged))
            delays = await asyncio.gather(*(_live(through, i, seconds) for i in range(streams)))
    figures: dict[str, Spread | float | int] = {
        "direct_us": spread(direct_us),
        "bridge_us": spread(bridge_us),
        "overhead_us": round((spread(bridge_us).p50 - spread(direct_us).p50) / 2, 1),
    }
    frames_ms = [delay * 1000 for of_stream in delays for delay in of_stream]
    if frames_ms:
        late = sum(ms > 1000 / _FRAME_RATE for ms in frames_ms)
        figures |= {"streams": streams, "frames_ms": spread(frames_ms), "late_messages": late}
    return figures


async def _timed(exchange: Exchange) -> float:
    began = time.perf_counter()
    await exchange(_PCM)
    return (time.perf_counter() - began) * 1e6


async def _live(channel: aio.Channel, index: int, seconds: float) -> list[float]:
    """One stream in real time; the delay of every message behind its audio, in seconds."""
    delays: list[float] = []
    # Streams of many clients do not beat in time.
    await asyncio.sleep(_PIECE_S * (index * 0.618 % 1.0))
    async with _bridged(channel) as exchange:
        began = time.monotonic()
        for i in range(round(seconds / _PIECE_S)):
            due = began + (i + 1) * _PIECE_S
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await exchange(_PCM)
            delays.append(time.monotonic() - due)
    return delays


@asynccontextmanager
async def _directly(channel: aio.Channel) -> AsyncGenerator[Exchange]:
    config = a2bs_pb2.AnimateAudioConfig(sample_rate_hz=_RATE, frame_rate=_FRAME_RATE)
    pieces: asyncio.Queue[bytes] = asyncio.Queue()

    async def requests() -> AsyncIterator[a2bs_pb2.AnimateAudioRequest]:
        yield a2bs_pb2.AnimateAudioRequest(config=config)
        while True:
            yield a2bs_pb2.AnimateAudioRequest(pcm=await pieces.get())

    async with _exchanging(A2bsServiceStub(channel).AnimateAudio(requests()), pieces) as exchange:
        yield exchange


@asynccontextmanager
async def _bridged(channel: aio.Channel) -> AsyncGenerator[Exchange]:
    config = animation_pb2.AnimateAudioConfig(
        audio=common_pb2.AudioFormat(sample_rate_hz=_RATE), frame_rate=_FRAME_RATE
    )
    pieces: asyncio.Queue[bytes] = asyncio.Queue()

    async def requests() -> AsyncIterator[animation_pb2.AnimateAudioRequest]:
        yield animation_pb2.AnimateAudioRequest(config=config)
        while True:
            yield animation_pb2.AnimateAudioRequest(pcm=await pieces.get())

    async with _exchanging(AnimationServiceStub(channel).AnimateAudio(requests()), pieces) as exchange:
        yield exchange


@asynccontextmanager
async def _exchanging(call: Any, pieces: "asyncio.Queue[bytes]") -> AsyncGenerator[Exchange]:
    responses = aiter(call)

    async def exchange(pcm: bytes) -> None:
        await pieces.put(pcm)
        # The bridge tells the rig first, without being asked for.
        while not _has_frames(await anext(responses)):
            pass

    try:
        yield exchange
    finally:
        call.cancel()


def _has_frames(response: animation_pb2.AnimateAudioResponse | a2bs_pb2.AnimateAudioResponse) -> bool:
    if isinstance(response, a2bs_pb2.AnimateAudioResponse):
        return bool(response.frames)
    return bool(response.frames.frames)


@asynccontextmanager
async def _stub() -> AsyncGenerator[str]:
    """A stub worker process; yields its target."""
    with tempfile.TemporaryDirectory(prefix="taoxr-bench-") as folder:
        target = f"unix:{Path(folder) / 'stub'}"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "taoxr_bridge.bench.stub", target, stdin=asyncio.subprocess.PIPE
        )
        try:
            yield target
        finally:
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()
