"""What the bridge itself costs: the same streams to a worker, and to the bridge in front of it."""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from grpc import aio

from taoxr.client import private_bridge
from taoxr.figures import Spread, spread
from taoxr.rpc import CHANNEL_OPTIONS
from taoxr.v1 import animation_pb2, common_pb2
from taoxr.v1.animation_pb2_grpc import AnimationServiceStub
from taoxr.worker.v1 import a2bs_pb2
from taoxr.worker.v1.a2bs_pb2_grpc import A2bsServiceStub
from taoxr_bridge.bench.bare import SERVICE
from taoxr_bridge.worker import ROLES

_RATE: Final = 16_000
_FRAME_RATE: Final = 30.0
# Audio of two frames, so that every message is answered by one with frames.
_PCM: Final = bytes(round(2 / _FRAME_RATE * _RATE) * 2 + 4)
_PIECE_S: Final = len(_PCM) / 2 / _RATE
_WARM_UP: Final = 200
_START_S: Final = 30.0

Exchange = Callable[[bytes], Awaitable[None]]


async def bench_overhead(messages: int, streams: int, seconds: float) -> dict[str, Spread | float | int]:
    """Measures the bridge with a worker that answers at once, each in a process of its own.

    Round trips of one message of audio and its frames: "direct_us" to the worker, "bridge_us" through the
    bridge, "relay_us" through a server that only passes bytes on, and "echo_us" to one that sends the same
    message back (see `taoxr_bridge.bench.bare`). A round trip through something between is two messages more,
    so "overhead_us" is half of what "bridge_us" is above "direct_us" in the median, "relay_overhead_us" the
    same of the relay, and "own_us" the difference of the two: what the bridge costs beyond gRPC.

    "frames_ms" is the delay of frames behind their audio over `streams` streams in real time; late ones
    (more than one frame after their audio) are counted.
    """
    async with AsyncExitStack() as stack:
        stub = await stack.enter_async_context(_process("stub"))
        bare = await stack.enter_async_context(_process("bare", stub))
        workers = [item for role in ROLES for item in ("--worker", f"{role}={stub}")]
        target = await stack.enter_async_context(private_bridge(arguments=workers))

        async def to(target: str) -> aio.Channel:
            return await stack.enter_async_context(aio.insecure_channel(target, options=CHANNEL_OPTIONS))

        through, beside = await to(target), await to(bare)
        ways = {
            "echo_us": _echoed(beside.stream_stream(f"/{SERVICE}/Echo")),
            "direct_us": _animated(A2bsServiceStub(await to(stub)).AnimateAudio),
            "relay_us": _animated(_relayed(beside)),
            "bridge_us": _bridged(through),
        }
        exchanges = {name: await stack.enter_async_context(way) for name, way in ways.items()}
        times: dict[str, list[float]] = {name: [] for name in exchanges}
        # In turns, so that whatever else the machine does falls on all.
        for i in range(_WARM_UP + messages):
            for name, exchange in exchanges.items():
                took = await _timed(exchange)
                if i >= _WARM_UP:
                    times[name].append(took)
        delays = await asyncio.gather(*(_live(through, i, seconds) for i in range(streams)))
    spreads = {name: spread(values) for name, values in times.items()}
    overhead, relay = ((spreads[n].p50 - spreads["direct_us"].p50) / 2 for n in ("bridge_us", "relay_us"))
    figures: dict[str, Spread | float | int] = {
        **spreads,
        "overhead_us": round(overhead, 1),
        "relay_overhead_us": round(relay, 1),
        "own_us": round(overhead - relay, 1),
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


def _relayed(channel: aio.Channel) -> Any:
    """The worker's call, by way of the relay."""
    return channel.stream_stream(
        f"/{SERVICE}/Relay",
        request_serializer=a2bs_pb2.AnimateAudioRequest.SerializeToString,
        response_deserializer=a2bs_pb2.AnimateAudioResponse.FromString,
    )


@asynccontextmanager
async def _animated(animate: Any) -> AsyncGenerator[Exchange]:
    """Exchanges with a worker."""
    config = a2bs_pb2.AnimateAudioConfig(sample_rate_hz=_RATE, frame_rate=_FRAME_RATE)
    pieces: asyncio.Queue[bytes] = asyncio.Queue()

    async def requests() -> AsyncIterator[a2bs_pb2.AnimateAudioRequest]:
        yield a2bs_pb2.AnimateAudioRequest(config=config)
        while True:
            yield a2bs_pb2.AnimateAudioRequest(pcm=await pieces.get())

    async with _exchanging(animate(requests()), pieces) as exchange:
        yield exchange


@asynccontextmanager
async def _bridged(channel: aio.Channel) -> AsyncGenerator[Exchange]:
    """Exchanges with the bridge."""
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
async def _echoed(echo: Any) -> AsyncGenerator[Exchange]:
    """Exchanges of a request's bytes with themselves."""
    call = echo()

    async def exchange(pcm: bytes) -> None:
        await call.write(pcm)
        await call.read()

    try:
        yield exchange
    finally:
        call.cancel()


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
async def _process(module: str, *arguments: str) -> AsyncGenerator[str]:
    """A server of `taoxr_bridge.bench` in a process of its own; yields its target."""
    with tempfile.TemporaryDirectory(prefix="taoxr-bench-") as folder:
        target = f"unix:{Path(folder) / module}"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", f"taoxr_bridge.bench.{module}", target, *arguments),
            stdin=asyncio.subprocess.PIPE,
        )
        try:
            # The channel that is ready shows that it listens.
            async with aio.insecure_channel(target, options=CHANNEL_OPTIONS) as channel:
                await asyncio.wait_for(channel.channel_ready(), _START_S)
            yield target
        finally:
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()
