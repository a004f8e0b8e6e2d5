"""The user's voice over the avatar's: what stops it, what does not, and what goes on after a false alarm."""

import asyncio
import time

import numpy as np
import pytest

from taoxr.client import (
    Conversation,
    ConversationOptions,
    Event,
    InputMode,
    MediaChunk,
    SpeechActivity,
    State,
    TextDelta,
    Transcript,
    TurnMetrics,
    TurnState,
)
from taoxr_bridge.barge_in import is_back_channel
from taoxr_bridge.stages import Stages

pytestmark = pytest.mark.process

SPEECH = np.full(1600, 500, np.int16)  # 100 ms at 16 kHz
SILENCE = np.zeros(1600, np.int16)
HANDS_FREE = ConversationOptions(audio_in_hz=16000)
TWICE = "One two three four five six seven eight nine ten. One two three four five six seven eight nine ten."
LONG = "One two three four five six seven eight nine ten. " * 8


async def until(conversation: Conversation, kind: type[Event], **fields: object) -> list[Event]:
    events: list[Event] = []
    async for event in conversation:
        events.append(event)
        if isinstance(event, kind) and all(getattr(event, k) == v for k, v in fields.items()):
            return events
    raise AssertionError(f"the conversation ended without {kind} {fields}: {events}")


async def say(conversation: Conversation) -> None:
    await conversation.send_audio(SPEECH)
    await conversation.send_audio(SILENCE)


def states(events: list[Event]) -> list[tuple[str, State]]:
    return [(e.turn_id, e.state) for e in events if isinstance(e, TurnState)]


@pytest.mark.parametrize(
    "text",
    ["Mm-hm.", "Mm-hmm", "Mhm.", "Uh-huh.", "Uh huh", "Okay.", "Oh, I see.", "Yeah, yeah.", "Wow!", ""],
)
def test_back_channels(text: str) -> None:
    assert is_back_channel(text)


@pytest.mark.parametrize(
    "text", ["Stop.", "No.", "Wait.", "Yes, but why?", "Okay, tell me more.", "You see, I think so", "Paris"]
)
def test_what_wants_the_floor(text: str) -> None:
    assert not is_back_channel(text)


@pytest.mark.parametrize("words", ["Mm-hm.", ""])
@pytest.mark.parametrize("mode", ["speech", "words"])
async def test_a_back_channel_or_a_click_does_not_stop_the_avatar(fake_bridge, words: str, mode: str) -> None:
    async with fake_bridge(barge_in=mode) as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.ear.text, fakes.ear.sustained = words, mode == "words"
        await conversation.send_text("talk to me please")
        answer = (await until(conversation, MediaChunk))[-1].turn_id
        await say(conversation)
        events = await until(conversation, TurnState, turn_id=answer, state=State.DONE)
    assert {e.epoch for e in events} == {0}
    assert events[-1].heard_text == "You said talk to me please."
    mine = [e for e in events if e.turn_id != answer]
    assert states(mine)[-1][1] is State.DONE
    assert len(fakes.llm.requests) == 1


async def test_in_silence_a_back_channel_is_an_answer(fake_bridge) -> None:
    async with fake_bridge() as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.ear.text = "Yes."
        await say(conversation)
        events = await until(conversation, TurnState, state=State.DONE)
    assert events[-1].heard_text == "You said Yes.."


@pytest.mark.parametrize("words", ["Mm-hm.", ""])
async def test_after_a_false_alarm_the_avatar_goes_on_where_it_was_heard(fake_bridge, words: str) -> None:
    async with fake_bridge(barge_in="speech") as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.llm.answer = lambda prompt: TWICE
        fakes.ear.text = words
        await conversation.send_text("talk")
        first = (await until(conversation, MediaChunk))[-1]
        await conversation.report_playback(first.turn_id, 1_000_000)
        await until(conversation, MediaChunk, start_us=1_920_000)
        await say(conversation)
        cut = (await until(conversation, TurnState, turn_id=first.turn_id, state=State.INTERRUPTED))[-1]
        assert cut.heard_text == "One two three four"
        events = await until(conversation, MediaChunk)
        again = events[-1].turn_id
        assert again != first.turn_id
        while not isinstance(events[-1], TurnState) or events[-1].turn_id != again:
            events.append(await anext(aiter(conversation)))
            if isinstance(events[-1], MediaChunk):
                await conversation.report_playback(again, events[-1].end_us)
        rest = events[-1].heard_text
        assert f"{cut.heard_text} {rest}" == TWICE
        assert len(fakes.llm.requests) == 1  # nobody thought again
        fakes.llm.answer = lambda prompt: "Fine."
        await conversation.send_text("and now?")
        await until(conversation, TurnState, state=State.DONE)
        history = [m.content for m in fakes.llm.requests[-1].messages[-3:]]
    assert history == ["talk", TWICE, "and now?"]


@pytest.mark.parametrize("words", ["Mm-hm.", ""])
async def test_the_end_of_a_long_answer_is_thought_during_a_false_alarm(fake_bridge, words: str) -> None:
    async with fake_bridge() as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.llm.answer = lambda prompt: LONG.strip()
        fakes.llm.hold.clear()
        fakes.llm.hold_after = 15
        fakes.ear.text = words
        await conversation.send_text("talk")
        first = (await until(conversation, MediaChunk))[-1]
        await until(conversation, MediaChunk, start_us=480_000)  # nobody hears what has not come
        await conversation.report_playback(first.turn_id, 500_000)
        await say(conversation)
        cut = (await until(conversation, TurnState, turn_id=first.turn_id, state=State.INTERRUPTED))[-1]
        again = (await until(conversation, MediaChunk))[-1]
        fakes.llm.hold.set()  # 65 words are thought only now
        events: list[Event] = [again]
        while not (
            isinstance(events[-1], TurnState) and events[-1].state is State.DONE and events[-1].heard_text
        ):
            if isinstance(events[-1], MediaChunk):
                await conversation.report_playback(events[-1].turn_id, events[-1].end_us)
            events.append(await anext(aiter(conversation)))
        assert f"{cut.heard_text} {events[-1].heard_text}" == LONG.strip()
        assert len(fakes.llm.requests) == 1
        assert not fakes.llm.was_cancelled.is_set()


@pytest.mark.parametrize("stable", ["", "Stop it now."])
async def test_thinking_ends_when_the_alarm_was_true(fake_bridge, stable: str) -> None:
    async with fake_bridge() as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.llm.hold.clear()
        fakes.llm.hold_after = 15
        fakes.llm.answer = lambda prompt: LONG.strip() if prompt == "talk" else "Fine."
        fakes.ear.text, fakes.ear.stable = "Stop it now.", stable
        await conversation.send_text("talk")
        await until(conversation, MediaChunk)
        await conversation.send_audio(SPEECH)
        await until(conversation, TurnState, state=State.INTERRUPTED)
        await conversation.send_audio(SILENCE)
        async with asyncio.timeout(60):
            await fakes.llm.was_cancelled.wait()
        fakes.llm.hold.set()
        events = await until(conversation, TurnState, state=State.DONE)
    assert events[-1].heard_text == "Fine."


async def test_a_real_interruption_is_answered_and_not_resumed(fake_bridge) -> None:
    async with fake_bridge(barge_in="speech") as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.llm.answer = lambda prompt: LONG if prompt == "talk" else "Fine."
        await conversation.send_text("talk")
        await until(conversation, MediaChunk)
        await say(conversation)
        events = await until(conversation, TurnState, state=State.DONE)
    assert events[-1].heard_text == "Fine."
    assert fakes.llm.requests[-1].messages[-1].content == "hello there"


async def test_the_ear_is_told_what_the_loudspeaker_plays_and_when_it_stops(fake_bridge) -> None:
    async with fake_bridge() as (client, fakes), client.converse(HANDS_FREE) as conversation:
        await conversation.send_audio(SILENCE)
        fakes.llm.answer = lambda prompt: LONG
        await conversation.send_text("talk")
        first = (await until(conversation, MediaChunk))[-1]
        await until(conversation, MediaChunk)
        await conversation.interrupt(played_us=0)
        await until(conversation, TurnState, state=State.INTERRUPTED)
        await say(conversation)  # in order behind what was told
        await until(conversation, SpeechActivity, started=True)
    played = fakes.ear.played
    assert played[0].pcm == first.pcm.astype("<i2").tobytes()
    assert played[0].text == first.clause_text
    assert played[0].sample_rate_hz == first.sample_rate_hz
    assert played[0].offset_us == 100_000
    assert 0 < played[1].offset_us - played[0].offset_us <= 160_000
    assert fakes.ear.stopped == [100_000]


@pytest.mark.parametrize(
    "options",
    [
        ConversationOptions(audio_in_hz=16000, echo_cancelled=True),
        ConversationOptions(audio_in_hz=16000, input_mode=InputMode.PUSH_TO_TALK),
    ],
)
async def test_no_playback_for_an_ear_without_echo(fake_bridge, options) -> None:
    async with fake_bridge() as (client, fakes), client.converse(options) as conversation:
        await conversation.send_text("talk")
        await until(conversation, TurnState, state=State.DONE)
        await say(conversation)
        await until(conversation, SpeechActivity, started=True)
    assert not fakes.ear.played


async def test_an_answer_is_drafted_unheard_and_published(fake_bridge) -> None:
    async with fake_bridge() as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.ear.stable = "hello there"
        await conversation.send_audio(SPEECH)
        await until(conversation, Transcript, text="hello there")
        await fakes.llm.called.wait()
        async with asyncio.timeout(60):
            await fakes.tts.spoke.wait()
        ended = time.monotonic()
        await conversation.send_audio(SILENCE)
        events = await until(conversation, TurnState, state=State.DONE)
        took_ms = (time.monotonic() - ended) * 1000
    assert events[-1].heard_text == "You said hello there."
    assert len(fakes.llm.requests) == 1
    final = next(i for i, e in enumerate(events) if isinstance(e, Transcript))
    assert not any(isinstance(e, TextDelta | MediaChunk) for e in events[:final])
    assert [s for _, s in states(events)] == [State.THINKING, State.SPEAKING, State.DONE]
    stages = next(e for e in events if isinstance(e, TurnMetrics)).stages_ms
    assert stages["llm_first_token"] < stages["asr"] <= stages["first_media"] <= took_ms


async def test_a_draft_of_other_words_is_dropped_unheard(fake_bridge) -> None:
    async with fake_bridge() as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.ear.stable = "hello"
        await say(conversation)
        events = await until(conversation, TurnState, state=State.DONE)
        assert events[-1].heard_text == "You said hello there."
        assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "You said hello there."
        fakes.ear.stable = ""
        await conversation.send_text("again")
        await until(conversation, TurnState, state=State.DONE)
        history = [m.content for m in fakes.llm.requests[-1].messages[-3:]]
    assert history == ["hello there", "You said hello there.", "again"]


async def test_drafts_can_be_switched_off(fake_bridge) -> None:
    async with fake_bridge(speculate=False) as (client, fakes), client.converse(HANDS_FREE) as conversation:
        fakes.ear.stable = "hello"
        await say(conversation)
        await until(conversation, TurnState, state=State.DONE)
    assert len(fakes.llm.requests) == 1


def test_stages_of_a_draft_count_from_the_end_of_the_user_turn() -> None:
    now = 10.0
    drafted = Stages(10.0, lambda: now)
    now = 10.1
    drafted.mark("llm_first_token")
    ended = Stages(9.8, lambda: now)
    now = 10.3
    ended.mark("asr")
    drafted.join(ended)
    now = 10.4
    drafted.mark("first_media")
    found = {name: round(ms) for name, ms in drafted.metrics.stages_ms.items()}
    assert found == {"llm_first_token": 300, "asr": 500, "first_media": 600}
