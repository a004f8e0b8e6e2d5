"""Clients that stop reading, behind a real socket that stands still; limits of calls."""

import asyncio
import random
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import grpc
import numpy as np
import psutil
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoxr.client import Client, Conversation, ConversationOptions, MediaChunk, connect, private_bridge
from taoxr.client.channel import open_channel
from taoxr.errors import BusyError, InvalidInputError, StalledError, TaoxrError
from taoxr.interop.a2f.v1 import a2f_pb2
from taoxr.rpc import CHANNEL_OPTIONS, SERVER_OPTIONS, error_of
from taoxr.v1 import animation_pb2, common_pb2, speech_pb2

pytestmark = pytest.mark.process

# Enough for what the first one costs the process (2 MB once) to count little.
CLIENTS = 8
LONG = ("One two three four five six seven eight nine ten eleven twelve. " * 60)[:3900]


class Valve:
    """A TCP relay in front of the bridge whose way back to the client can be shut."""

    def __init__(self, target: str) -> None:
        host, port = target.rsplit(":", 1)
        self._there = (host, int(port))
        self.open = asyncio.Event()
        self.open.set()

    @asynccontextmanager
    async def listen(self) -> AsyncGenerator[str]:
        server = await asyncio.start_server(self._relay, "127.0.0.1", 0, limit=4096)
        async with server:
            yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with socket.socket() as plain:
            # Little room in the kernel, so that the bridge notices soon.
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.setblocking(False)
            await asyncio.get_running_loop().sock_connect(plain, self._there)
            back, there = await asyncio.open_connection(sock=plain.dup(), limit=4096)
            ways = [
                asyncio.ensure_future(self._pass(reader, there, None)),
                asyncio.ensure_future(self._pass(back, writer, self.open)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.wait(ways)
                writer.close()
                there.close()

    async def _pass(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, gate: asyncio.Event | None
    ) -> None:
        while True:
            if gate is not None:
                await gate.wait()
            try:
                data = await source.read(4096)
                sink.write(data)
                await sink.drain()
            except ConnectionError:
                return
            if not data:
                return


@asynccontextmanager
async def bridge_process(fakes: Any, **environment: str) -> AsyncGenerator[tuple[str, psutil.Process]]:
    """A bridge in a process of its own, on the fakes of this one."""
    async with AsyncExitStack() as stack:
        stack.push_async_callback(fakes.stop_all)
        for role in fakes.targets:
            await fakes.start(role)
        workers = [f"--worker={role}={target}" for role, target in fakes.targets.items()]
        before = {child.pid for child in psutil.Process().children()}
        target = await stack.enter_async_context(private_bridge(arguments=workers))
        (process,) = [c for c in psutil.Process().children() if c.pid not in before]
        yield target, process


async def active(client: Any, wanted: int, timeout: float = 60.0) -> None:
    async with asyncio.timeout(timeout):
        while (await client.server_info()).active_conversations != wanted:  # noqa: ASYNC110  another process
            await asyncio.sleep(0.05)


async def shout(talk: Conversation) -> None:
    """Says things without end; each is answered, and nobody reads that."""
    with suppress(TaoxrError):
        while True:
            await talk.send_text("tell me a story. " * 200)


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is told differently")
async def test_stalled_conversations_are_closed_and_cost_little(fakes, monkeypatch):
    monkeypatch.setenv("TAOXR_BRIDGE_STALL_TIMEOUT_S", "1")
    monkeypatch.setenv("TAOXR_BRIDGE_MAX_CONVERSATIONS", str(CLIENTS + 1))
    monkeypatch.setenv("TAOXR_BRIDGE_LEAD_US", "10000000")
    fakes.llm.answer = lambda prompt: "You said that."
    async with AsyncExitStack() as stack:
        target, process = await stack.enter_async_context(bridge_process(fakes))
        valve = Valve(target)
        through = await stack.enter_async_context(valve.listen())
        watcher = await stack.enter_async_context(connect(target))
        # Once in peace, so that everything that is loaded on first use is loaded.
        async with connect(through) as client:
            assert len((await client.say(LONG)).pcm)
            async with client.converse() as talk:
                await talk.send_text("hello")
                async for event in talk:
                    if isinstance(event, MediaChunk):
                        break
        await active(watcher, 0)
        before = process.memory_info().rss
        talks = []
        for _ in range(CLIENTS):
            client = await stack.enter_async_context(connect(through))
            talks.append(await stack.enter_async_context(client.converse(ConversationOptions())))
        await active(watcher, CLIENTS)
        valve.open.clear()
        shouting = [asyncio.ensure_future(shout(talk)) for talk in talks]
        await active(watcher, 0)
        grown = process.memory_info().rss - before
        assert grown / CLIENTS < 1024 * 1024, f"{grown / CLIENTS / 1024:.0f} KiB per stalled client"
        valve.open.set()
        await asyncio.wait(shouting)


async def test_a_stalled_speech_ends_with_a_status(fake_bridge):
    settings = {"stall_timeout_s": 0.5, "max_calls": 1}
    async with fake_bridge(**settings) as (watcher, fakes):
        valve = Valve(fakes.bridge)
        async with valve.listen() as through, connect(through) as client:
            speech = client.stream_say(LONG)
            await anext(speech)
            valve.open.clear()
            await freed(watcher)
            valve.open.set()
            with pytest.raises(StalledError, match="read on"):
                async for _ in speech:
                    pass


async def freed(client: Client) -> None:
    """Waits until the bridge takes calls again."""
    async with asyncio.timeout(60):
        while True:
            try:
                await client.server_info()
            except BusyError as error:
                await asyncio.sleep(min(0.1, error.retry_after_s))
            else:
                return


async def test_too_many_calls_are_refused(fake_bridge):
    async with fake_bridge(max_calls=1) as (client, fakes), client.converse():
        with pytest.raises(BusyError, match="all 1 calls") as raised:
            await client.say("hello")
        assert raised.value.retry_after_s > 0
        async with open_channel(fakes.bridge) as channel:  # health is not counted
            await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())


async def test_what_is_too_large_or_no_message_has_a_status(fake_bridge):
    async with fake_bridge() as (client, fakes), open_channel(fakes.bridge) as channel:
        with pytest.raises(TaoxrError, match="RESOURCE_EXHAUSTED"):
            await client.say("x" * 2_000_000)
        for kind in ("unary_unary", "unary_stream"):
            say = getattr(channel, kind)("/taoxr.v1.ConversationService/Say")
            call = say(b"\xff\xff\xff")
            with pytest.raises(aio.AioRpcError) as raised:
                await (call if kind == "unary_unary" else call.read())
            error = error_of(raised.value)
            assert isinstance(error, InvalidInputError)
            assert error.field == "request"


async def test_a_call_without_traffic_outlives_its_pings():
    """The server's options at a fifth of their times, so that a client may ping every second."""
    options = {name: value // 5 if name.endswith("_ms") else value for name, value in SERVER_OPTIONS}
    server = aio.server(options=tuple(options.items()))
    silence = asyncio.Event()

    async def wait(request: bytes, context: Any) -> bytes:
        await silence.wait()
        return b"still here"

    handlers = {"Wait": grpc.unary_unary_rpc_method_handler(wait)}
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("test.Service", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    pings = dict(CHANNEL_OPTIONS) | {"grpc.keepalive_time_ms": 1_000}
    try:
        async with aio.insecure_channel(f"127.0.0.1:{port}", options=tuple(pings.items())) as channel:
            call = channel.unary_unary("/test.Service/Wait")(b"")
            # C-core would hang up at the third ping too many, after 5 s.
            asyncio.get_running_loop().call_later(6, silence.set)
            assert await call == b"still here"
    finally:
        await server.stop(None)


async def test_noise_on_the_socket_harms_nobody(fake_bridge):
    """Bytes that are no HTTP/2, or begin like it: the connection closes and nothing else happens."""
    rng = random.Random(5)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")
    async with fake_bridge() as (client, fakes):
        host, port = fakes.bridge.rsplit(":", 1)
        for i in range(200):
            with socket.create_connection((host, int(port)), timeout=60) as plain:
                plain.sendall(
                    preface[: rng.choice((0, 10, len(preface)))] + rng.randbytes(rng.randrange(200))
                )
            if i % 50 == 49:
                assert len((await client.say("hello")).pcm)


def stream_requests() -> dict[str, list[Any]]:
    """The calls that take a stream of requests, with the first two of each."""
    audio = common_pb2.AudioFormat(sample_rate_hz=16000)
    header = a2f_pb2.AudioHeader(channel_count=1, samples_per_second=16000, bits_per_sample=16)
    return {
        "taoxr.v1.SpeechService/Recognize": [
            speech_pb2.RecognizeRequest(config=speech_pb2.RecognizeConfig(audio=audio)),
            speech_pb2.RecognizeRequest(pcm=bytes(640)),
        ],
        "taoxr.v1.AnimationService/AnimateAudio": [
            animation_pb2.AnimateAudioRequest(config=animation_pb2.AnimateAudioConfig(audio=audio)),
            animation_pb2.AnimateAudioRequest(pcm=bytes(640)),
        ],
        "nvidia_ace.services.a2f_controller.v1.A2FControllerService/ProcessAudioStream": [
            a2f_pb2.AudioStream(audio_stream_header=a2f_pb2.AudioStreamHeader(audio_header=header)),
            a2f_pb2.AudioStream(audio_with_emotion=a2f_pb2.AudioWithEmotion(audio_buffer=bytes(640))),
        ],
    }


@pytest.mark.parametrize("sent", [0, 1, 2])
async def test_a_stream_without_requests_is_ended(fake_bridge, sent: int):
    async with fake_bridge(stream_idle_timeout_s=0.3) as (_, fakes), open_channel(fakes.bridge) as channel:
        for method, requests in stream_requests().items():

            async def first(given: list[Any] = requests[:sent]) -> AsyncGenerator[bytes]:
                for request in given:
                    yield request.SerializeToString()
                await asyncio.Event().wait()

            call: Any = channel.stream_stream(f"/{method}")(first())
            with pytest.raises(aio.AioRpcError) as raised:
                async for _ in call:
                    pass
            assert raised.value.code() is grpc.StatusCode.FAILED_PRECONDITION, method
            assert "no request for 0.3 s" in str(raised.value.details())


async def test_a_slow_worker_is_not_the_clients_idleness(fake_bridge):
    """The limit is for waits for the client: one that waits for an answer itself is not ended."""
    async with fake_bridge(stream_idle_timeout_s=1.0) as (client, fakes):
        fakes.llm.hold.clear()
        async with client.converse() as conversation:  # a conversation has a limit of its own
            await conversation.send_text("hello")
            await fakes.llm.called.wait()
            asyncio.get_running_loop().call_later(1.5, fakes.llm.hold.set)
            async for event in conversation:
                if isinstance(event, MediaChunk):
                    break
        # Half-closed at once, the call may last as long as its work.
        speech = np.zeros(16000 * 30, np.int16)
        assert len((await client.animate_audio(speech, 16000)).times_us) == 900
