"""Random and mutated requests to every rpc get documented statuses, and nothing stays behind."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc import StatusCode, aio

from taoxr.client import ConversationOptions, Motion, State, Track, TurnState
from taoxr.interop.a2f.v1 import a2f_pb2
from taoxr.v1 import animation_pb2, avatar_pb2, common_pb2, conversation_pb2, speech_pb2
from taoxr_bridge import a2f

pytestmark = pytest.mark.process

FILES = (animation_pb2, avatar_pb2, conversation_pb2, speech_pb2)
SERVICES = [s for f in FILES for s in f.DESCRIPTOR.services_by_name.values()]


@dataclass(frozen=True)
class Rpc:
    """One rpc: its path, the kind of its requests, and whether they and the responses are streams."""

    path: str
    request: type[Message]
    requests: bool
    responses: bool


RPCS = (
    *(
        Rpc(
            f"/{service.full_name}/{method.name}",
            GetMessageClass(method.input_type),
            method.client_streaming,
            method.server_streaming,
        )
        for service in SERVICES
        for method in service.methods_by_name.values()
    ),
    Rpc(f"/{a2f.CONTROLLER}/ProcessAudioStream", a2f_pb2.AudioStream, True, True),
    Rpc(f"/{a2f.EXPORT}/GetConfigs", a2f_pb2.GetConfigsRequest, False, True),
)
# docs/api.md; CANCELLED and DEADLINE_EXCEEDED are what this client does itself.
DOCUMENTED = {
    StatusCode.OK,
    StatusCode.INVALID_ARGUMENT,
    StatusCode.NOT_FOUND,
    StatusCode.RESOURCE_EXHAUSTED,
    StatusCode.FAILED_PRECONDITION,
    StatusCode.UNAVAILABLE,
    StatusCode.CANCELLED,
    StatusCode.DEADLINE_EXCEEDED,
}
# grpc.aio's client says this by itself when it writes to a call that the server has just ended.
CLIENTS_OWN = "Internal error from Core"
WATCH = "/taoxr.v1.ConversationService/Watch"
PATIENCE_S = 30.0  # every call ends by itself, on a busy machine too
AT_ONCE = 16
TEXTS = (
    "",
    " ",
    "Hello.",
    "ˈæ\u0000\u202e",
    "NaN",
    "a" * 4001,
    "x" * 1_000_000,
    "default",
    "../../etc/passwd",
)
INTEGERS = (0, 1, -1, 2, 16000, 44100, 7999, 1 << 30, (1 << 31) - 1, -(1 << 31))
FLOATS = (0.0, 1.0, -1.0, 30.0, 0.5, float("nan"), float("inf"), 1e30, 5e-324)
BYTES = (b"", b"\0", b"\0\0", bytes(640), bytes(range(256)) * 40, bytes(300_000))


def fill(message: Message, rng: random.Random, depth: int = 0) -> None:
    """Sets some fields to values that are likely to be wrong in an interesting way."""
    F = FieldDescriptor
    pools = {
        F.CPPTYPE_INT32: INTEGERS,
        F.CPPTYPE_INT64: (*INTEGERS, (1 << 63) - 1, -(1 << 63)),
        F.CPPTYPE_UINT32: (0, 1, 16, 16000, (1 << 32) - 1),
        F.CPPTYPE_FLOAT: FLOATS,
        F.CPPTYPE_DOUBLE: FLOATS,
        F.CPPTYPE_BOOL: (True, False),
        F.CPPTYPE_ENUM: (0, 1, 2, 99, -1),
    }
    # One of each oneof: of several, only the last would count.
    chosen = [rng.choice(oneof.fields) for oneof in message.DESCRIPTOR.oneofs]
    for field in message.DESCRIPTOR.fields:
        if field not in chosen if field.containing_oneof else rng.random() < 0.4:
            continue
        if field.message_type and field.message_type.GetOptions().map_entry:
            getattr(message, field.name)[rng.choice(TEXTS)] = rng.choice(FLOATS)
            continue
        if field.message_type:
            target = getattr(message, field.name)
            target = target.add() if field.is_repeated else target
            target.SetInParent()
            if depth < 4:
                fill(target, rng, depth + 1)
            continue
        pool = BYTES if field.type == F.TYPE_BYTES else pools.get(field.cpp_type, TEXTS)
        value = rng.choice(pool)
        if field.is_repeated:
            getattr(message, field.name).append(value)
        else:
            setattr(message, field.name, value)


def good_first(kind: type[Message], rng: random.Random) -> Message | None:
    """A first request that gets past the gate, so that what follows is looked at."""
    audio = common_pb2.AudioFormat(sample_rate_hz=16000)
    if kind is a2f_pb2.AudioStream:
        header = a2f_pb2.AudioHeader(channel_count=1, samples_per_second=16000, bits_per_sample=16)
        return kind(audio_stream_header=a2f_pb2.AudioStreamHeader(audio_header=header))
    if "config" not in kind.DESCRIPTOR.fields_by_name:
        return None
    message = kind()
    message.config.SetInParent()
    if isinstance(message, conversation_pb2.ConverseRequest):
        config = message.config
        if rng.random() < 0.8:
            config.audio_in.CopyFrom(audio)
        if rng.random() < 0.5:
            config.tools.add(name="weather", description="Tells the weather.")
        if rng.random() < 0.5:
            config.tracks.extend(rng.sample((1, 2, 3), rng.randint(1, 3)))
    elif rng.random() < 0.8:
        message.config.audio.CopyFrom(audio)
    return message


def mutated(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(out) + 1)
        match rng.randrange(4):
            case 0:
                out[at : at + 1] = bytes((rng.randrange(256),))
            case 1:
                del out[at:]
            case 2:
                out[at:at] = rng.randbytes(rng.randint(1, 9))
            case _:
                out[at:at] = b"\xff" * rng.randint(1, 10)
    return bytes(out)


def requests(rpc: Rpc, rng: random.Random) -> Iterator[bytes]:
    if rpc.request is a2f_pb2.AudioStream and rng.random() < 0.3:
        # The only stream that is an error unless it ends in the right way.
        sound = a2f_pb2.AudioStream(audio_with_emotion=a2f_pb2.AudioWithEmotion(audio_buffer=bytes(640)))
        end = a2f_pb2.AudioStream(end_of_audio=a2f_pb2.AudioStream.EndOfAudio())
        for message in (good_first(rpc.request, rng), sound, end):
            data = message.SerializeToString()
            yield mutated(data, rng) if rng.random() < 0.1 else data
        return
    for i in range(rng.randint(0, 5) if rpc.requests else 1):
        message = good_first(rpc.request, rng) if i == 0 and rng.random() < 0.7 else None
        if message is None:
            message = rpc.request()
            fill(message, rng)
        data = message.SerializeToString()
        yield mutated(data, rng) if rng.random() < 0.3 else data


async def call(channel: aio.Channel, rpc: Rpc, rng: random.Random) -> tuple[StatusCode, str]:
    kind = ("stream" if rpc.requests else "unary") + ("_stream" if rpc.responses else "_unary")
    sent = list(requests(rpc, rng))
    given = iter(sent) if rpc.requests else sent[0]
    running = getattr(channel, kind)(rpc.path)(given, timeout=60)

    async def read_all() -> None:
        if rpc.responses:
            async for _ in running:
                pass
        else:
            await running

    try:
        async with asyncio.timeout(rng.choice((0.01, PATIENCE_S, PATIENCE_S))):
            await read_all()
    except TimeoutError:
        running.cancel()
        return StatusCode.CANCELLED, ""
    except aio.AioRpcError as error:
        if error.details() == CLIENTS_OWN:
            return StatusCode.CANCELLED, ""
        return error.code(), error.details() or ""
    return StatusCode.OK, ""


async def watch(channel: aio.Channel, session_id: str, rng: random.Random) -> tuple[StatusCode, str]:
    """Looks at a conversation that runs, with a request that is right or nearly so."""
    data = conversation_pb2.WatchRequest(session_id=session_id).SerializeToString()
    running = channel.unary_stream(WATCH)(data if rng.random() < 0.5 else mutated(data, rng))
    try:
        async with asyncio.timeout(0.05):
            async for _ in running:
                pass
    except TimeoutError:
        running.cancel()
    except aio.AioRpcError as error:
        return error.code(), error.details() or ""
    return StatusCode.OK, ""


async def fuzz(fake_bridge, count: int) -> Counter[tuple[str, StatusCode]]:
    codes: Counter[tuple[str, StatusCode]] = Counter()
    wrong: list[str] = []
    async with fake_bridge(max_conversations=AT_ONCE + 1) as (client, _fakes), client.converse() as talk:
        await client.say("Hello.")
        # The one worker that is started when it is first needed: it stays.
        async with client.converse(ConversationOptions(tracks=frozenset({Track.BODY}))) as moving:
            async for event in moving:
                if isinstance(event, Motion):
                    break
        tasks_before = len(asyncio.all_tasks())
        seeds = iter(range(count))

        async def caller() -> None:
            for seed in seeds:
                rng = random.Random(seed)
                rpc = RPCS[seed % len(RPCS)]
                if rpc.path == WATCH and rng.random() < 0.5:
                    code, text = await watch(client._channel, talk.started.session_id, rng)
                else:
                    code, text = await call(client._channel, rpc, rng)
                codes[rpc.path, code] += 1
                if code not in DOCUMENTED:
                    wrong.append(f"{rpc.path}, seed {seed}: {code.name}: {text}")

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(caller())
        assert wrong == []
        # As good as new: everything that was begun has ended, and the one conversation goes on.
        await talk.send_text("Hello.")
        async for event in talk:
            if isinstance(event, TurnState) and event.state is State.DONE:
                break
        assert np.any((await client.say("Hello.")).pcm)
        # ASYNC110: ends are seen from outside; no event tells them.
        async with asyncio.timeout(60):
            while (await client.server_info()).active_conversations > 1:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            while len(asyncio.all_tasks()) > tasks_before:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    return codes


async def test_random_requests_get_documented_statuses(fake_bridge, caplog, capsys):
    codes = await fuzz(fake_bridge, 1000)
    assert codes.total() == 1000
    # The test reaches both sides of the checks of every rpc that has any.
    for rpc in RPCS:
        assert codes[rpc.path, StatusCode.OK], rpc
        assert codes[rpc.path, StatusCode.INVALID_ARGUMENT] or codes[rpc.path, StatusCode.NOT_FOUND], rpc
    # Nothing went wrong in the server that no client saw.
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
    assert "call failed" not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.timeout(1200)
async def test_ten_thousand_random_requests_get_documented_statuses(fake_bridge, capsys):
    codes = await fuzz(fake_bridge, 10_000)
    assert codes.total() == 10_000
    by_code: Counter[str] = Counter()
    for (_, code), count in codes.items():
        by_code[code.name] += count
    with capsys.disabled():
        print(f"\n10,000 requests: {dict(by_code)}")  # noqa: T201  the figures are what the long run is for
