"""Turns, interruption, failures and limits, with fake workers behind a real bridge and real gRPC."""

import asyncio

import grpc
import numpy as np
import pytest
from taoxr.client import (
    Conversation,
    ConversationOptions,
    Event,
    MediaChunk,
    SessionStarted,
    State,
    TextDelta,
    TurnMetrics,
    TurnState,
)

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
    async with fake_bridge() as (client, fakes), client.converse() as conversation:
        await conversation.send_text("good morning to you. It is a fine day")
        events = await until(conversation, State.DONE)
    assert isinstance(events[0], SessionStarted)
    chunks = media(events)
    assert [c.last for c in chunks] == [False] * (len(chunks) - 1) + [True]
    assert chunks[0].start_us == 0
    for before, after in zip(chunks, chunks[1:], strict=False):
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
