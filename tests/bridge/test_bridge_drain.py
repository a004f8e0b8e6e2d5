"""A bridge that is told to stop: it says so, finishes the clause, and is gone in time."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import grpc
import pytest
from grpc import aio

from taoxr.client.channel import open_channel
from taoxr.client.private_bridge import private_bridge
from taoxr.errors import UnavailableError
from taoxr.rpc import error_of
from taoxr.v1 import conversation_pb2 as pb
from taoxr.v1.conversation_pb2_grpc import ConversationServiceStub

pytestmark = pytest.mark.process

# Three clauses of about 2.5 s each.
ANSWER = (
    "One two three four five six seven eight nine. Ten eleven twelve thirteen fourteen. "
    "Fifteen sixteen seventeen eighteen nineteen."
)
# Far more than a busy machine needs, and less than the 15 s after which the bridge would be killed.
SOON_S = 10.0


@asynccontextmanager
async def bridge_process(fakes: Any) -> AsyncGenerator[tuple[aio.Channel, AsyncExitStack]]:
    """A channel to a bridge in a process of its own; closing the stack sends it SIGTERM."""
    async with AsyncExitStack() as stack:
        stack.push_async_callback(fakes.stop_all)
        for role in fakes.targets:
            await fakes.start(role)
        workers = [f"--worker={role}={target}" for role, target in fakes.targets.items()]
        running = await stack.enter_async_context(AsyncExitStack())
        target = await running.enter_async_context(private_bridge(arguments=workers))
        yield await stack.enter_async_context(open_channel(target)), running


async def test_sigterm_is_announced_and_the_clause_finished(fakes, monkeypatch):
    monkeypatch.setenv("TAOXR_BRIDGE_DRAIN_TIMEOUT_S", "12")
    fakes.llm.answer = lambda prompt: ANSWER
    async with bridge_process(fakes) as (channel, running):
        call = ConversationServiceStub(channel).Converse()
        await call.write(pb.ConverseRequest(config=pb.ConversationConfig()))
        await call.write(pb.ConverseRequest(text=pb.TextInput(text="go on")))
        responses: list[pb.ConverseResponse] = []
        while not responses or not responses[-1].HasField("media"):
            responses.append(await call.read())
        stopping = asyncio.create_task(running.aclose())
        while True:
            try:
                response = await call.read()
            except aio.AioRpcError as error:
                end = error
                break
            assert response is not aio.EOF
            responses.append(response)
        await stopping
    (going,) = [r.going_away for r in responses if r.HasField("going_away")]
    assert going.reason == pb.GoingAway.REASON_SHUTDOWN
    assert going.time_left_us == 12_000_000
    chunks = [r.media for r in responses if r.HasField("media")]
    assert {chunk.clause for chunk in chunks} == {0}
    assert [chunk.last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    states = [r.turn for r in responses if r.HasField("turn")]
    assert states[-1].state == pb.TurnState.STATE_DONE
    assert ANSWER.startswith(states[-1].heard_text.strip())
    assert states[-1].heard_text.strip() == chunks[0].clause_text
    error = error_of(end)
    assert isinstance(error, UnavailableError)
    assert "resume" in str(error)


async def test_an_idle_conversation_ends_at_once(fakes, monkeypatch):
    monkeypatch.setenv("TAOXR_BRIDGE_DRAIN_TIMEOUT_S", "60")
    async with bridge_process(fakes) as (channel, running):
        call = ConversationServiceStub(channel).Converse()
        await call.write(pb.ConverseRequest(config=pb.ConversationConfig()))
        started = await call.read()
        assert started.HasField("session_started")
        began = time.monotonic()
        await running.aclose()
        assert time.monotonic() - began < SOON_S
        assert (await call.read()).going_away.reason == pb.GoingAway.REASON_SHUTDOWN
        assert await call.code() is grpc.StatusCode.UNAVAILABLE


async def test_a_thought_that_never_ends_does_not_hold_the_bridge_up(fakes, monkeypatch):
    monkeypatch.setenv("TAOXR_BRIDGE_DRAIN_TIMEOUT_S", "0.5")
    fakes.llm.hold.clear()
    async with bridge_process(fakes) as (channel, running):
        call = ConversationServiceStub(channel).Converse()
        await call.write(pb.ConverseRequest(config=pb.ConversationConfig()))
        await call.write(pb.ConverseRequest(text=pb.TextInput(text="go on")))
        await fakes.llm.called.wait()
        began = time.monotonic()
        await running.aclose()
        assert time.monotonic() - began < SOON_S
        with pytest.raises(aio.AioRpcError) as raised:
            async for _ in call:
                pass
        assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
