"""Turns, interruption, failures and limits, with fake workers behind a real bridge and real gRPC."""

import asyncio
from contextlib import suppress
from itertools import pairwise

import grpc
import numpy as np
import pytest

from taoxr.client import (
    Conversation,
    ConversationOptions,
    Event,
    MediaChunk,
    Notice,
    SessionStarted,
    State,
    TextDelta,
    TurnMetrics,
    TurnState,
)
from taoxr.errors import BusyError, InvalidInputError, TaoxrError, UnavailableError
from taoxr.v1 import conversation_pb2 as pb

pytestmark = pytest.mark.process


async def until(conversation: Conversation, *states: State) -> list[Event]:
    """Events up to and including the first of the states."""
    events: list[Event] = []
    async for event in conversation:
        events.append(event)
        if isinstance(event, TurnState) and event.state in states:
            return events
    raise AssertionError(f"the conversation ended without {states}: {events}")


def media(events: list[Event]) -> list[MediaChunk]:
    return [e for e in events if isinstance(e, MediaChunk)]


async def test_text_turn_sends_audio_with_its_frames(fake_bridge):
    async with fake_bridge() as (client, _fakes), client.converse() as conversation:
        await conversation.send_text("good morning to you. It is a fine day")
        events = await until(conversation, State.DONE)
    assert isinstance(events[0], SessionStarted)
    chunks = media(events)
    assert [c.last for c in chunks] == [False] * (len(chunks) - 1) + [True]
    assert chunks[0].start_us == 0
    for before, after in pairwise(chunks):
        assert after.start_us == before.end_us
    times = np.concatenate([c.frame_times_us for c in chunks])
    np.testing.assert_array_equal(times, np.round(np.arange(len(times)) * 1e6 / 30))
    assert times[-1] + 1e6 / 30 >= chunks[-1].end_us - 1
    for chunk in chunks:
        assert np.all((chunk.frame_times_us >= chunk.start_us) & (chunk.frame_times_us < chunk.end_us))
        assert chunk.frame_weights.shape == (len(chunk.frame_times_us), 52)
    text = "".join(e.text for e in events if isinstance(e, TextDelta))
    assert text == "You said good morning to you. It is a fine day."
    assert " ".join(c.clause_text for c in chunks if c.clause_text) == text
    assert events[-1].heard_text == text
    metrics = next(e for e in events if isinstance(e, TurnMetrics))
    order = ["llm_first_token", "first_clause", "tts_first_audio", "a2bs_first_frames", "first_media"]
    stages = [metrics.stages_ms[name] for name in order]
    assert stages == sorted(stages)
    assert "asr" not in metrics.stages_ms
    assert (metrics.prompt_tokens, metrics.reused_tokens) == (7, 3)
    seqs = [e.seq for e in events]
    assert seqs == list(range(1, len(seqs) + 1))


LONG = "One two three four five six seven eight nine ten. " * 8


async def first_media(conversation: Conversation) -> MediaChunk:
    async for event in conversation:
        if isinstance(event, MediaChunk):
            return event
    raise AssertionError("no media")


async def test_interrupt_ends_the_turn_and_the_next_one_works(fake_bridge):
    async with fake_bridge() as (client, fakes), client.converse() as conversation:
        fakes.llm.answer = lambda prompt: LONG
        await conversation.send_text("talk")
        chunk = await first_media(conversation)
        await conversation.interrupt(played_us=1_000_000)
        ended = (await until(conversation, State.INTERRUPTED))[-1]
        assert ended.heard_text == "One two three four"  # 15 letters of 60 ms; "five" ends at 1140 ms
        assert ended.epoch == chunk.epoch + 1
        fakes.llm.answer = lambda prompt: "Fine."
        await conversation.send_text("and now?")
        events = await until(conversation, State.DONE)
        assert all(e.epoch == ended.epoch and e.turn_id != chunk.turn_id for e in events)
        assert [c.clause_text for c in media(events)][:1] == ["Fine."]
        assert media(events)[0].start_us == 0
        history = [m.content for m in fakes.llm.requests[-1].messages[-3:]]
        assert history == ["talk", "One two three four", "and now?"]


async def test_new_text_interrupts(fake_bridge):
    async with fake_bridge() as (client, fakes), client.converse() as conversation:
        fakes.llm.answer = lambda prompt: LONG if prompt == "talk" else "Yes."
        await conversation.send_text("talk")
        first = await first_media(conversation)
        await conversation.send_text("stop")
        events = await until(conversation, State.DONE)
    states = [(e.turn_id, e.state) for e in events if isinstance(e, TurnState)]
    assert (first.turn_id, State.INTERRUPTED) in states
    after = states.index((first.turn_id, State.INTERRUPTED))
    assert all(turn_id != first.turn_id for turn_id, _ in states[after + 1 :])
    assert states[-1][1] is State.DONE


async def test_interrupt_while_thinking_cancels_the_language_model(fake_bridge):
    async with fake_bridge() as (client, fakes), client.converse() as conversation:
        fakes.llm.hold.clear()
        await conversation.send_text("talk")
        await fakes.llm.called.wait()
        await until(conversation, State.THINKING)
        await conversation.interrupt(played_us=0)
        ended = (await until(conversation, State.INTERRUPTED))[-1]
        assert ended.heard_text == ""
        fakes.llm.hold.set()
        await conversation.send_text("again")
        await until(conversation, State.DONE)
        assert fakes.llm.was_cancelled.is_set()


async def test_late_interrupt_is_ignored(fake_bridge):
    async with fake_bridge() as (client, _fakes), client.converse() as conversation:
        await conversation.interrupt(played_us=5)
        await conversation.send_text("hi")
        events = await until(conversation, State.DONE)
        assert {e.epoch for e in events} == {0}
        await conversation.interrupt(played_us=5)
        await conversation.send_text("hi")
        assert (await until(conversation, State.DONE))[-1].epoch == 0


async def test_media_stay_within_the_lead_of_reported_playback(fake_bridge):
    async with fake_bridge() as (client, fakes), client.converse() as conversation:
        fakes.llm.answer = lambda prompt: LONG
        await conversation.send_text("talk")
        newest, limit = 0, conversation.started.lead_us
        played = 0
        async for event in conversation:
            if not isinstance(event, MediaChunk):
                continue
            newest = event.end_us
            assert event.start_us <= played + limit or played == 0
            played = max(0, newest - 600_000)
            await conversation.report_playback(event.turn_id, played)
            if newest > 6_000_000:
                break
        # Reports say that playback runs ahead of the wall clock, so that 6 s of speech come at once.
        assert newest > 6_000_000


async def test_a_client_that_does_not_play_gets_no_more_than_the_lead(fake_bridge):
    async with fake_bridge() as (client, fakes), client.converse() as conversation:
        fakes.llm.answer = lambda prompt: LONG
        await conversation.send_text("talk")
        newest = 0
        while newest <= 1_100_000:
            newest = (await first_media(conversation)).end_us
            await conversation.report_playback(conversation.turn_id, 0)
        # What comes beyond, if anything does, comes at once.
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                while True:
                    newest = (await first_media(conversation)).end_us
        assert newest <= 1_200_000 + 160_000


async def test_worker_crash_fails_the_turn_and_the_next_works(fake_bridge):
    async with fake_bridge() as (client, fakes), client.converse() as conversation:
        fakes.llm.hold.clear()
        await conversation.send_text("talk")
        await until(conversation, State.THINKING)
        await fakes.stop("llm")
        events = await until(conversation, State.FAILED)
        notice = next(e for e in events if isinstance(e, Notice))
        assert notice.code is grpc.StatusCode.UNAVAILABLE
        assert isinstance(notice.error, UnavailableError)
        assert "llm" in str(notice.error)
        fakes.llm.hold.set()
        await fakes.start("llm")
        while (await client.server_info()).workers[1].state != "ready":
            pass
        await conversation.send_text("again")
        assert (await until(conversation, State.DONE))[-1].heard_text == "You said again."


async def test_second_conversation_is_refused_with_a_time_to_retry(fake_bridge):
    async with fake_bridge() as (client, _fakes):
        async with client.converse():
            with pytest.raises(BusyError) as refused:
                async with client.converse():
                    pass
            assert refused.value.retry_after_s > 0
            assert (await client.server_info()).active_conversations == 1
        # At once: the place is kept for a moment while the last conversation is taken down.
        async with client.converse() as conversation:
            await conversation.send_text("hi")
            await until(conversation, State.DONE)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"audio_in_hz": 7000}, "config.audio_in.sample_rate_hz"),
        ({"frame_rate": 500.0}, "config.frame_rate"),
        ({"frame_rate": float("nan")}, "config.frame_rate"),
        ({"space": "flame53"}, "config.space"),
        ({"temperature": -1.0}, "config.temperature"),
        ({"max_answer_tokens": 100_000}, "config.max_answer_tokens"),
        ({"system_prompt": "x" * 4001}, "config.system_prompt"),
        ({"history": (("user", ""),)}, "config.history[0].content"),
    ],
)
async def test_wrong_config_is_named(fake_bridge, options, field):
    async with fake_bridge() as (client, _fakes):
        with pytest.raises(InvalidInputError) as refused:
            async with client.converse(ConversationOptions(**options)):
                pass
        assert refused.value.field == field


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.ConverseRequest(), "payload"),
        (pb.ConverseRequest(config=pb.ConversationConfig()), "payload"),
        (pb.ConverseRequest(text=pb.TextInput(text=" ")), "text.text"),
        (pb.ConverseRequest(text=pb.TextInput(text="x" * 4001)), "text.text"),
        (pb.ConverseRequest(audio=pb.AudioInput(pcm=b"xyz")), "audio.pcm"),
        (pb.ConverseRequest(audio=pb.AudioInput(pcm=bytes(256 * 1024 + 2))), "audio.pcm"),
        (pb.ConverseRequest(interrupt=pb.Interrupt(played_us=-1)), "interrupt.played_us"),
        (pb.ConverseRequest(playback=pb.PlaybackReport(played_us=-1)), "playback.played_us"),
    ],
)
async def test_wrong_request_ends_the_stream_with_its_field(fake_bridge, request_, field):
    async with fake_bridge() as (client, _fakes):
        async with client.converse(ConversationOptions(audio_in_hz=16000)) as conversation:
            await conversation._send(request_)  # the client itself cannot send these
            with pytest.raises(InvalidInputError) as refused:
                await until(conversation, State.DONE)
            assert refused.value.field == field
        async with client.converse() as conversation:
            await conversation.send_text("still there?")
            await until(conversation, State.DONE)


async def test_first_request_must_be_config(fake_bridge):
    async with fake_bridge() as (client, _fakes):
        call = client._conversations.Converse()
        await call.write(pb.ConverseRequest(text=pb.TextInput(text="hi")))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call.read()
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_audio_without_audio_in_is_refused(fake_bridge):
    async with fake_bridge() as (client, _fakes), client.converse() as conversation:
        await conversation.send_audio(np.zeros(160, np.int16))
        with pytest.raises(InvalidInputError, match="audio_in"):
            await until(conversation, State.DONE)


async def test_half_close_finishes_the_turn_and_end_session_does_not(fake_bridge):
    async with fake_bridge() as (client, fakes):
        async with client.converse() as conversation:
            await conversation.send_text("hi")
            await conversation._call.done_writing()
            events = [event async for event in conversation]
            assert events[-1].state is State.DONE
        async with client.converse() as conversation:
            fakes.llm.answer = lambda prompt: LONG
            await conversation.send_text("talk")
            await first_media(conversation)
            await conversation.end()
            rest = [event async for event in conversation]
            assert not any(isinstance(e, TurnState) for e in rest)


async def test_idle_conversation_is_ended(fake_bridge):
    async with fake_bridge(idle_timeout_s=0.3) as (client, _fakes), client.converse() as conversation:
        with pytest.raises(TaoxrError, match="no request for"):
            await until(conversation, State.DONE)


async def test_client_that_goes_away_frees_its_place_and_stops_the_work(fake_bridge):
    async with fake_bridge() as (client, fakes):
        fakes.llm.hold.clear()
        async with client.converse() as conversation:
            await conversation.send_text("talk")
            await until(conversation, State.THINKING)
            await fakes.llm.called.wait()
        while (await client.server_info()).active_conversations:
            pass
        await fakes.llm.was_cancelled.wait()


async def test_answer_with_nothing_to_pronounce(fake_bridge):
    async with fake_bridge() as (client, fakes), client.converse() as conversation:
        fakes.llm.answer = lambda prompt: "... !"
        await conversation.send_text("hi")
        events = await until(conversation, State.DONE)
        assert media(events) == []
        assert "first_media" not in next(e for e in events if isinstance(e, TurnMetrics)).stages_ms


async def test_say_is_not_paced_and_checks_its_text(fake_bridge):
    async with fake_bridge() as (client, _fakes):
        async with asyncio.timeout(15):  # of about 20 s
            speech = await client.say(LONG, frame_rate=60)
        assert len(speech.pcm) / speech.sample_rate_hz > 15
        np.testing.assert_array_equal(
            speech.face.times_us, np.round(np.arange(len(speech.face.times_us)) * 1e6 / 60)
        )
        assert speech.phonemes[-1].end_us == len(speech.pcm) * 1_000_000 // speech.sample_rate_hz
        for text in ("", "x" * 4001):
            with pytest.raises(InvalidInputError, match="text"):
                await client.say(text)


async def test_animate_audio(fake_bridge):
    async with fake_bridge() as (client, _fakes):
        track = await client.animate_audio(np.zeros(48_000, np.int16), 48_000, frame_rate=25)
        assert not track.rig.provisional
        assert len(track.times_us) == 25
        with pytest.raises(InvalidInputError, match="sample_rate_hz"):
            await client.animate_audio(np.zeros(10, np.int16), 100)


async def test_a_clause_cut_in_the_middle_of_a_sentence_gets_no_pause(fake_bridge):
    async with fake_bridge(sentence_pause_ms=500) as (client, _fakes):
        speech = await client.say("one two three four five six seven eight nine. Ten.")
    letters = [(p.symbol, p.end_us - p.start_us) for p in speech.phonemes if p.symbol in ("t", "n", "_")]
    # No silence between "eight" and "nine", and a pause after each sentence.
    assert letters[-6:] == [
        ("t", 60_000), ("n", 60_000), ("n", 60_000), ("_", 500_000), ("n", 60_000), ("_", 500_000),
    ]  # fmt: skip
