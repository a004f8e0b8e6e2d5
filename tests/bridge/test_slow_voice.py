"""A voice that is slower than real time, as the client of a real bridge sees it."""

import asyncio

import pytest

from taoxr.client import MediaChunk, Notice, TurnMetrics

pytestmark = pytest.mark.process

ANSWER = (
    "This is one rather long clause that a slow voice has to say to its end. And this is one more of them."
)


async def ask(client) -> list:
    events = []
    async with client.converse() as conversation:
        await conversation.send_text("Hello.")
        async for event in conversation:
            events.append(event)
            if isinstance(event, MediaChunk):  # played in no time
                await conversation.report_playback(event.turn_id, event.end_us)
            if isinstance(event, TurnMetrics):
                return events
    raise AssertionError("the stream ended")


async def test_a_slow_voice_is_told_once_and_its_clauses_come_whole(fake_bridge):
    async with fake_bridge() as (client, fakes):
        fakes.llm.answer = lambda _prompt: ANSWER
        fakes.tts.piece = 2205  # 0.1 s each, made in at least 0.15 s

        async def slowly() -> None:
            await asyncio.sleep(0.15)

        fakes.tts.pace = slowly
        events = await ask(client)
    notices = [e for e in events if isinstance(e, Notice)]
    assert len(notices) == 1
    assert "seconds of speech in a second" in str(notices[0].error)
    media = [e for e in events if isinstance(e, MediaChunk)]
    assert " ".join(e.clause_text for e in media if e.clause_text) == ANSWER
    # When a clause begins, a good part of it is made: it was not sent chunk by chunk as it was made.
    assert events.index(notices[0]) < events.index(media[0])


async def test_a_fast_voice_is_not_held_back(fake_bridge):
    async with fake_bridge() as (client, fakes):
        fakes.llm.answer = lambda _prompt: ANSWER
        events = await ask(client)
    assert not [e for e in events if isinstance(e, Notice)]
    assert [e for e in events if isinstance(e, MediaChunk)][-1].last
