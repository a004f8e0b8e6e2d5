"""Spoken turns with a fake ear: transcripts, barge-in rules, push-to-talk, a lost ear."""

import time

import grpc
import numpy as np
import pytest

from taoxr.client import (
    Conversation,
    ConversationOptions,
    Event,
    InputMode,
    MediaChunk,
    Notice,
    SpeechActivity,
    State,
    Transcript,
    TurnMetrics,
    TurnState,
)

pytestmark = pytest.mark.process

SPEECH = np.full(1600, 500, np.int16)  # 100 ms at 16 kHz
SILENCE = np.zeros(1600, np.int16)
HANDS_FREE = ConversationOptions(audio_in_hz=16000)
LONG = "One two three four five six seven eight nine ten. " * 8


async def until(conversation: Conversation, kind: type[Event], **fields: object) -> list[Event]:
    """Events up to and including the first of a kind with the given fields."""
    events: list[Event] = []
    async for event in conversation:
        events.append(event)
        if isinstance(event, kind) and all(getattr(event, k) == v for k, v in fields.items()):
            return events
    raise AssertionError(f"the conversation ended without {kind} {fields}: {events}")


async def say(conversation: Conversation) -> None:
    await conversation.send_audio(SPEECH)
    await conversation.send_audio(SILENCE)


async def test_spoken_turn(fake_bridge):
    async with fake_bridge() as (client, _fakes), client.converse(HANDS_FREE) as conversation:
        await conversation.send_audio(SILENCE)
        await say(conversation)
        events = await until(conversation, TurnState, state=State.DONE)
    [started, stopped] = [e for e in events if isinstance(e, SpeechActivity)]
    assert (started.started, started.offset_us) == (True, 100_000)
    assert (stopped.started, stopped.offset_us) == (False, 200_000)
    partial, final = (e for e in events if isinstance(e, Transcript))
    assert (partial.text, partial.is_final, final.text, final.is_final) == (
        "hello",
        False,
        "hello there",
        True,
    )
    states = [e.state for e in events if isinstance(e, TurnState)]
    assert states == [State.LISTENING, State.THINKING, State.SPEAKING, State.DONE]
    assert len({e.turn_id for e in events[1:]}) == 1
    assert events[-1].heard_text == "You said hello there."
    assert "asr" in next(e for e in events if isinstance(e, TurnMetrics)).stages_ms


async def test_partials_only_when_asked_for(fake_bridge):
    options = ConversationOptions(audio_in_hz=16000, partial_transcripts=False)
    async with fake_bridge() as (client, _fakes), client.converse(options) as conversation:
        await say(conversation)
        events = await until(conversation, TurnState, state=State.DONE)
    assert [e.is_final for e in events if isinstance(e, Transcript)] == [True]


async def test_no_words_is_nobodys_turn(fake_bridge):
    async with fake_bridge() as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.ear.text = ""
        await say(conversation)
        events = await until(conversation, TurnState, state=State.DONE)
        assert events[-1].heard_text == ""
        assert not fakes.llm.requests


async def test_push_to_talk_ends_with_the_button(fake_bridge):
    options = ConversationOptions(audio_in_hz=16000, input_mode=InputMode.PUSH_TO_TALK)
    async with fake_bridge() as (client, fakes), client.converse(options) as conversation:
        await say(conversation)
        await until(conversation, SpeechActivity, started=True)
        assert not fakes.llm.requests
        released = time.monotonic()
        await conversation.end_of_user_turn()
        events = await until(conversation, TurnMetrics)
        took_ms = (time.monotonic() - released) * 1000
    assert 0 <= events[-1].stages_ms["asr"] <= took_ms


@pytest.mark.parametrize("barge_in", ["speech", "words"])
async def test_barge_in(fake_bridge, barge_in):
    async with fake_bridge(barge_in=barge_in) as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.llm.answer = lambda prompt: LONG
        await conversation.send_text("talk")
        media = (await until(conversation, MediaChunk))[-1]
        if barge_in == "speech":
            await conversation.send_audio(SPEECH)
        else:
            await say(conversation)
        events = await until(conversation, TurnState, state=State.INTERRUPTED)
        assert events[-1].turn_id == media.turn_id
        assert events[-1].epoch == media.epoch + 1
        if barge_in == "speech":
            assert not any(isinstance(e, Transcript) for e in events)


async def test_words_are_needed_where_the_voice_alone_shall_not_interrupt(fake_bridge):
    async with fake_bridge(barge_in="words") as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.ear.text = ""  # a cough
        await conversation.send_text("talk to me please")
        await until(conversation, MediaChunk)
        await say(conversation)
        events = await until(
            conversation, TurnState, state=State.DONE, heard_text="You said talk to me please."
        )
        assert any(isinstance(e, SpeechActivity) for e in events)
        assert {e.epoch for e in events} == {0}


async def test_half_duplex_hears_nothing_while_the_avatar_speaks(fake_bridge):
    async with fake_bridge(barge_in="none") as (client, _fakes), client.converse(HANDS_FREE) as conversation:
        await conversation.send_text("talk")
        await until(conversation, MediaChunk)
        await say(conversation)
        events = await until(conversation, TurnState, state=State.DONE)
        assert not any(isinstance(e, SpeechActivity) for e in events)
        await say(conversation)
        heard = (await until(conversation, SpeechActivity, started=True))[-1]
        assert heard.offset_us == 200_000  # the clock went on meanwhile


async def test_lost_ear_is_told_and_comes_back(fake_bridge):
    async with fake_bridge() as (client, fakes), client.converse(HANDS_FREE) as conversation:
        await conversation.send_audio(SPEECH)
        await until(conversation, Transcript)
        await fakes.stop("ear")
        events = await until(conversation, TurnState, state=State.FAILED)
        notice = next(e for e in events if isinstance(e, Notice))
        assert notice.code is grpc.StatusCode.UNAVAILABLE
        await conversation.send_text("can you still answer?")
        await until(conversation, TurnState, state=State.DONE)
        # What is said before the ear is back is heard when it is, on the same clock.
        await conversation.send_audio(SILENCE)
        await say(conversation)
        await fakes.start("ear")
        heard = (await until(conversation, SpeechActivity, started=True))[-1]
        assert heard.offset_us == 200_000
        await until(conversation, TurnState, state=State.DONE)


async def test_the_rest_of_words_is_not_heard_by_the_next_ear(fake_bridge):
    options = ConversationOptions(audio_in_hz=16000, input_mode=InputMode.PUSH_TO_TALK)
    async with fake_bridge() as (client, fakes), client.converse(options) as conversation:
        await conversation.send_audio(SPEECH)
        await until(conversation, Transcript)
        await fakes.stop("ear")
        await until(conversation, TurnState, state=State.FAILED)
        await fakes.start("ear")
        while fakes.ear.streams < 2:
            await conversation.send_audio(SPEECH)
        await say(conversation)
        await conversation.end_of_user_turn()
        await say(conversation)
        await conversation.end_of_user_turn()
        events = await until(conversation, TurnState, state=State.DONE)
        [final] = [e for e in events if isinstance(e, Transcript) and e.is_final]
        assert final.end_us - final.start_us == 200_000


async def test_words_begun_before_the_ear_was_lost_are_lost_and_the_next_are_not(fake_bridge):
    options = ConversationOptions(audio_in_hz=16000, input_mode=InputMode.PUSH_TO_TALK)
    async with fake_bridge() as (client, fakes), client.converse(options) as conversation:
        await conversation.send_audio(SPEECH)
        await until(conversation, Transcript)
        await fakes.stop("ear")
        await until(conversation, TurnState, state=State.FAILED)
        await say(conversation)
        await conversation.end_of_user_turn()
        for _ in range(120):  # 12 s, of which the newest 10 are kept
            await conversation.send_audio(SPEECH)
        await conversation.end_of_user_turn()
        await fakes.start("ear")
        events = await until(conversation, TurnState, state=State.DONE)
        [final] = [e for e in events if isinstance(e, Transcript) and e.is_final]
        assert (final.start_us, final.end_us) == (300_000 + 2_000_000, 300_000 + 12_000_000)
