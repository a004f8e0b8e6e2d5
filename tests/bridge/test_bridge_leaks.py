"""Many turns and many connections leave neither memory nor tasks behind."""

import asyncio
import random
from typing import Any

import numpy as np
import psutil
import pytest
from grpc import aio

from taoxr.client import Conversation, ConversationOptions, InputMode, MediaChunk, State, TurnState, connect
from taoxr.client.channel import open_channel
from taoxr.v1 import common_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr.v1.conversation_pb2_grpc import ConversationServiceStub

pytestmark = pytest.mark.process

RATE = 16000
SPEECH = np.full(RATE // 10, 1000, np.int16)
AT_ONCE = 4


async def take_turn(conversation: Conversation, number: int) -> None:
    """One turn, typed or spoken, of a client that plays in no time."""
    if number % 2:
        await conversation.send_text(f"This is number {number}.")
    else:
        await conversation.send_audio(SPEECH)
        await conversation.end_of_user_turn()
    async for event in conversation:
        if isinstance(event, MediaChunk):
            await conversation.report_playback(event.turn_id, event.end_us)
        if isinstance(event, TurnState) and event.state.ended:
            assert event.state is State.DONE
            return


@pytest.mark.parametrize(
    ("turns", "growth"),
    # A short run tells less about what grows with every turn, so the heap's own fluctuation gets more room.
    [(100, 0.10), pytest.param(1000, 0.05, marks=(pytest.mark.slow, pytest.mark.timeout(1200)))],
)
async def test_memory_stays_where_it_is(fakes, start_bridge, tmp_path, capsys, turns: int, growth: float):
    for role in fakes.targets:
        await fakes.start(role)
    workers = [part for role, at in fakes.targets.items() for part in ("--worker", f"{role}={at}")]
    bridge = start_bridge(tmp_path, *workers, TAOXR_HOME=str(tmp_path / "home"))
    try:
        options = ConversationOptions(audio_in_hz=RATE, input_mode=InputMode.PUSH_TO_TALK)
        target = await asyncio.to_thread(bridge.wait_ready)
        process = psutil.Process(bridge.process.pid)
        async with connect(target) as client, client.converse(options) as conversation:
            # The history is full after some sixty turns, and with it what a turn can cost.
            for number in range(100):
                await take_turn(conversation, number)
            before = process.memory_info().rss
            for number in range(turns):
                await take_turn(conversation, number)
            grown = process.memory_info().rss / before - 1
        assert grown < growth
    finally:
        await asyncio.to_thread(bridge.stop)
        await fakes.stop_all()
    if turns > 100:
        with capsys.disabled():
            print(f"\n{turns} turns: {before >> 20} MiB, grown by {grown:.1%}")  # noqa: T201  a long run's figure


def first_requests(rng: random.Random) -> list[pb.ConverseRequest]:
    config = pb.ConversationConfig(audio_in=common_pb2.AudioFormat(sample_rate_hz=RATE))
    said = [
        pb.ConverseRequest(audio=pb.AudioInput(pcm=SPEECH.tobytes())),
        pb.ConverseRequest(text=pb.TextInput(text="Tell me a story.")),
        pb.ConverseRequest(interrupt=pb.Interrupt()),
        pb.ConverseRequest(end_of_user_turn=pb.EndOfUserTurn()),
        pb.ConverseRequest(audio=pb.AudioInput(pcm=bytes(640))),
        pb.ConverseRequest(ping=pb.Ping()),
    ]
    return [pb.ConverseRequest(config=config), *rng.choices(said, k=rng.randrange(6))]


async def connect_and_leave(target: str, rng: random.Random) -> None:
    """A client that says a few things, reads a few answers, and is gone in one of several ways."""
    async with open_channel(target) as channel:
        call: Any = ConversationServiceStub(channel).Converse()  # pyright: ignore[reportCallIssue]
        try:
            for request in first_requests(rng)[: rng.randint(0, 6)]:
                await call.write(request)
            if rng.random() < 0.3:
                await call.done_writing()
            async with asyncio.timeout(rng.uniform(0.0, 0.3)):
                for _ in range(rng.randrange(20)):
                    if await call.read() is aio.EOF:
                        break
        except (TimeoutError, aio.AioRpcError, asyncio.InvalidStateError):
            pass  # an end as good as any
        if rng.random() < 0.5:
            call.cancel()
        # Else the connection goes, with the call in it.


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.slow)])
async def test_connections_that_come_and_go_leave_no_task(fake_bridge, caplog, capsys, count: int):
    async with fake_bridge(max_conversations=AT_ONCE) as (client, fakes):
        fakes.llm.answer = lambda prompt: "One two three four five six seven eight nine. " * 3
        await connect_and_leave(fakes.bridge, random.Random(-1))
        await client.say("Hello.")
        before = len(asyncio.all_tasks())
        seeds = iter(range(count))

        async def visitor() -> None:
            for seed in seeds:
                await connect_and_leave(fakes.bridge, random.Random(seed))

        async with asyncio.TaskGroup() as visitors:
            for _ in range(AT_ONCE):
                visitors.create_task(visitor())
        # ASYNC110: ends are seen from outside; no event tells them.
        async with asyncio.timeout(60):
            while (await client.server_info()).active_conversations:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            while len(asyncio.all_tasks()) > before:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert len((await client.say("Hello.")).pcm)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
    assert "call failed" not in capsys.readouterr().out
