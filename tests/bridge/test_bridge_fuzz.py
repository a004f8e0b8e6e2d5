"""Random and mutated requests to every rpc get documented statuses, and nothing stays behind."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc import StatusCode, aio

from taoxr.v1 import animation_pb2, avatar_pb2, conversation_pb2, speech_pb2

pytestmark = pytest.mark.process

FILES = (animation_pb2, avatar_pb2, conversation_pb2, speech_pb2)
SERVICES = [s for f in FILES for s in f.DESCRIPTOR.services_by_name.values()]
METHODS = [method for service in SERVICES for method in service.methods_by_name.values()]
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
PATIENCE_S = 0.3
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
        F.CPPTYPE_FLOAT: FLOATS,
        F.CPPTYPE_DOUBLE: FLOATS,
        F.CPPTYPE_BOOL: (True, False),
        F.CPPTYPE_ENUM: (0, 1, 2, 99, -1),
    }
    for field in message.DESCRIPTOR.fields:
        if rng.random() < 0.4:
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


def requests(method: MethodDescriptor, rng: random.Random) -> Iterator[bytes]:
    kind = GetMessageClass(method.input_type)
    for i in range(rng.randint(0, 5) if method.client_streaming else 1):
        message = kind()
        fill(message, rng)
        if i == 0 and "config" in method.input_type.fields_by_name and rng.random() < 0.7:
            # Past the gate: a config that is right, so that what follows is looked at.
            message = kind()
            message.config.SetInParent()
            audio = next((f for f in ("audio", "audio_in") if hasattr(message.config, f)), None)
            if audio is not None and rng.random() < 0.8:
                getattr(message.config, audio).sample_rate_hz = 16000
        data = message.SerializeToString()
        yield mutated(data, rng) if rng.random() < 0.3 else data


async def call(channel: aio.Channel, method: MethodDescriptor, rng: random.Random) -> tuple[StatusCode, str]:
    name = f"/{method.containing_service.full_name}/{method.name}"
    kind = ("stream" if method.client_streaming else "unary") + (
        "_stream" if method.server_streaming else "_unary"
    )
    sent = list(requests(method, rng))
    given = iter(sent) if method.client_streaming else sent[0]
    running = getattr(channel, kind)(name)(given, timeout=10)

    async def read_all() -> None:
        if method.server_streaming:
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


async def fuzz(fake_bridge, count: int) -> Counter[StatusCode]:
    codes: Counter[StatusCode] = Counter()
    wrong: list[str] = []
    async with fake_bridge(max_conversations=AT_ONCE) as (client, _fakes):
        await client.say("Hello.")
        tasks_before = len(asyncio.all_tasks())
        seeds = iter(range(count))

        async def caller() -> None:
            for seed in seeds:
                rng = random.Random(seed)
                method = METHODS[seed % len(METHODS)]
                code, text = await call(client._channel, method, rng)
                codes[code] += 1
                if code not in DOCUMENTED:
                    wrong.append(f"{method.full_name}, seed {seed}: {code.name}: {text}")

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(caller())
        assert wrong == []
        # As good as new: everything that was begun has ended.
        assert np.any((await client.say("Hello.")).pcm)
        # ASYNC110: ends are seen from outside; no event tells them.
        async with asyncio.timeout(10):
            while (await client.server_info()).active_conversations:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            while len(asyncio.all_tasks()) > tasks_before:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    return codes


async def test_random_requests_get_documented_statuses(fake_bridge, caplog, capsys):
    codes = await fuzz(fake_bridge, 1000)
    assert codes.total() == 1000
    # The test reaches both sides of the checks.
    assert codes[StatusCode.INVALID_ARGUMENT] > 100
    assert codes[StatusCode.OK] > 50
    # Nothing went wrong in the server that no client saw.
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
    assert "call failed" not in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.timeout(1200)
async def test_ten_thousand_random_requests_get_documented_statuses(fake_bridge):
    assert (await fuzz(fake_bridge, 10_000)).total() == 10_000
