"""What a conversation can do beside turns: mute, changes, pings, watchers, and an announced end."""

import asyncio
import contextlib

import numpy as np
import pytest

from taoxr.client import (
    ConversationOptions,
    GoingAway,
    Leaving,
    MediaChunk,
    Pong,
    SessionStarted,
    SpeechActivity,
    State,
    TextDelta,
    TurnState,
)
from taoxr.errors import BusyError, InvalidInputError, NotFoundError, StalledError, TaoxrError
from taoxr.v1 import conversation_pb2 as pb
from taoxr_bridge.audience import Audience

pytestmark = pytest.mark.process

LOUD = np.full(3200, 1000, np.int16)
QUIET = np.zeros(3200, np.int16)


async def until(conversation, kind, state=None):
    """Events up to and including the first of a kind."""
    events = []
    async for event in conversation:
        events.append(event)
        if isinstance(event, kind) and (state is None or event.state is state):
            return events
    raise AssertionError(f"the conversation ended without {kind}: {events}")


async def test_ping_comes_back(fake_bridge):
    async with fake_bridge() as (client, _fakes), client.converse() as conversation:
        await conversation.ping()
        pong = (await until(conversation, Pong))[-1]
        assert pong.server_time_us > 1_700_000_000_000_000
        assert pong.client_time_us > 0


async def test_idle_end_is_announced_and_any_request_prevents_it(fake_bridge):
    async with fake_bridge(idle_timeout_s=0.8) as (client, _fakes), client.converse() as conversation:
        assert conversation.started.idle_timeout_us == 800_000
        going = (await until(conversation, GoingAway))[-1]
        assert going.reason is Leaving.IDLE
        assert going.time_left_us == 200_000
        await conversation.ping()
        events = await until(conversation, GoingAway)
        assert isinstance(events[0], Pong)  # and not the end
        with pytest.raises(TaoxrError, match="no request for"):
            await until(conversation, TurnState)


async def test_an_answer_longer_than_the_idle_time_is_finished(fake_bridge):
    async with fake_bridge(idle_timeout_s=0.3) as (client, _fakes), client.converse() as conversation:
        await conversation.send_text("one two three four five")  # about 1.7 s of answer
        events = await until(conversation, GoingAway)
        assert [e.state for e in events if isinstance(e, TurnState)][-1] is State.DONE


async def test_muted_microphone_is_not_heard(fake_bridge):
    options = ConversationOptions(audio_in_hz=16000)
    async with fake_bridge() as (client, fakes), client.converse(options) as conversation:
        await conversation.mute(True)
        await conversation.send_audio(LOUD)
        await conversation.send_audio(QUIET)
        await conversation.mute(False)
        await conversation.send_audio(LOUD)
        started = (await until(conversation, SpeechActivity))[-1]
        assert started.offset_us == 400_000  # the loud part before was not heard
        # Muting in the middle of a word ends what was being said, though no silence follows.
        await conversation.mute(True)
        await until(conversation, TurnState, State.DONE)
        assert fakes.llm.requests[-1].messages[-1].content == fakes.ear.text


async def test_mute_without_a_microphone_is_refused(fake_bridge):
    async with fake_bridge() as (client, _fakes), client.converse() as conversation:
        await conversation.mute(True)
        with pytest.raises(InvalidInputError, match="audio_in"):
            await until(conversation, TurnState)


async def test_update_holds_from_the_next_turn_and_leaves_the_rest(fake_bridge):
    options = ConversationOptions(temperature=0.5)
    async with (
        fake_bridge(persona="You are Joe.", examples=()) as (client, fakes),
        client.converse(options) as conversation,
    ):
        requests = []
        changes = [{}, {"system_prompt": "Be Ann.", "max_answer_tokens": 9}, {"temperature": 0.0}]
        for change in [*changes, {"system_prompt": ""}]:
            await conversation.update(**change)
            await conversation.send_text("hi")
            await until(conversation, TurnState, State.DONE)
            request = fakes.llm.requests[-1]
            requests.append((request.messages[0].content, request.max_tokens, request.temperature))
        assert requests == [
            ("You are Joe.", 80, 0.5), ("Be Ann.", 9, 0.5), ("Be Ann.", 9, 0.0), ("You are Joe.", 9, 0.0),
        ]  # fmt: skip
        assert [m.content for m in request.messages[1:]] == ["hi", "You said hi."] * 3 + ["hi"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"system_prompt": "x" * 4001}, "update_config.system_prompt"),
        ({"temperature": float("nan")}, "update_config.temperature"),
        ({"max_answer_tokens": -1}, "update_config.max_answer_tokens"),
    ],
)
async def test_wrong_update_is_named(fake_bridge, change, field):
    async with fake_bridge() as (client, _fakes), client.converse() as conversation:
        await conversation.update(**change)
        with pytest.raises(InvalidInputError) as refused:
            await until(conversation, TurnState)
        assert refused.value.field == field


async def test_watchers_see_what_the_client_sees(fake_bridge):
    async with fake_bridge() as (client, _fakes), contextlib.AsyncExitStack() as stack:
        conversation = await stack.enter_async_context(client.converse())
        watching = [client.watch(conversation.started.session_id) for _ in range(3)]
        for watch in watching:
            started = await anext(watch)
            assert isinstance(started, SessionStarted)
            assert started.resume_token == ""
            assert started.rig == conversation.started.rig
        await watching[2].aclose()
        await conversation.ping()
        await conversation.send_text("good morning to you")
        told = (await until(conversation, TurnState, State.DONE))[1:]
        await conversation.end()
        assert [e async for e in conversation] == []
        told = [e for e in told if not isinstance(e, Pong)]
        for watch in watching[:2]:
            seen = [e async for e in watch]  # ends with the conversation
            assert [(type(e), e.seq, e.turn_id) for e in seen] == [(type(e), e.seq, e.turn_id) for e in told]
            assert [e for e in seen if isinstance(e, TextDelta)] == [
                e for e in told if isinstance(e, TextDelta)
            ]
            media = [(e.pcm.tobytes(), e.frame_weights.tobytes()) for e in seen if isinstance(e, MediaChunk)]
            assert media == [
                (e.pcm.tobytes(), e.frame_weights.tobytes()) for e in told if isinstance(e, MediaChunk)
            ]


async def test_watching_what_does_not_run_is_refused(fake_bridge):
    async with fake_bridge() as (client, _fakes):
        with pytest.raises(NotFoundError, match="no-such"):
            await anext(client.watch("no-such"))
        async with client.converse() as conversation:
            session_id = conversation.started.session_id
            assert isinstance(await anext(client.watch(session_id)), SessionStarted)
        while (await client.server_info()).active_conversations:
            pass
        with pytest.raises(NotFoundError):
            await anext(client.watch(session_id))


def _response(size: int) -> pb.ConverseResponse:
    return pb.ConverseResponse(media=pb.MediaChunk(pcm=bytes(size)))


async def test_slow_watcher_is_dropped_and_the_others_are_not():
    audience = Audience()
    with pytest.raises(BusyError), audience.watch():
        pass
    audience.show(pb.ConverseResponse(session_started=pb.SessionStarted(resume_token="secret")))
    with audience.watch() as slow, audience.watch() as quick:
        reading = aiter(quick)
        assert not (await anext(reading)).session_started.resume_token
        for _ in range(30):
            audience.show(_response(20_000))
            assert len((await anext(reading)).media.pcm) == 20_000
        with pytest.raises(StalledError, match="watch again"):
            async for _ in slow:
                pass
        audience.close()
        assert [r async for r in reading] == []


async def test_an_audience_has_a_limit():
    audience = Audience()
    audience.show(pb.ConverseResponse(session_started=pb.SessionStarted()))
    with contextlib.ExitStack() as stack:
        for _ in range(16):
            stack.enter_context(audience.watch())
        with pytest.raises(BusyError, match="16"):
            stack.enter_context(audience.watch())


async def test_a_watcher_that_reads_nothing_costs_the_conversation_nothing(fake_bridge):
    async with fake_bridge() as (client, fakes), client.converse() as conversation:
        watch = client.watch(conversation.started.session_id)
        await anext(watch)
        fakes.llm.answer = lambda prompt: "One two three four five six seven."
        async with asyncio.timeout(60):
            await conversation.send_text("go")
            await until(conversation, TurnState, State.DONE)
        await watch.aclose()
