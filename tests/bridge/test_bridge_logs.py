"""What the bridge writes about its users at level info and above: ids, counts and times, no words."""

import asyncio
import json

import numpy as np
import pytest

from taoxr.client import ConversationOptions, InputMode, MediaChunk, State, TurnState, connect
from taoxr.errors import InvalidInputError

pytestmark = pytest.mark.process

RATE = 16000
WORDS = ("Zebedee", "Quagmire", "Xanadu", "Ozymandias", "Jabberwock", "Bandersnatch")


async def until_end(conversation) -> State:
    async for event in conversation:
        if isinstance(event, MediaChunk):
            await conversation.report_playback(event.turn_id, event.end_us)
        if isinstance(event, TurnState) and event.state.ended:
            return event.state
    raise AssertionError("the conversation ended")


async def test_no_word_of_a_user_is_logged(fakes, start_bridge, tmp_path):
    typed, spoken, thought, said, wrong, persona = WORDS
    fakes.llm.answer = lambda prompt: f"My answer is {thought}."
    fakes.ear.text = f"my doctor is called {spoken}"
    for role in fakes.targets:
        await fakes.start(role)
    workers = [part for role, at in fakes.targets.items() for part in ("--worker", f"{role}={at}")]
    bridge = start_bridge(tmp_path, *workers, TAOXR_HOME=str(tmp_path / "home"), TAOXR_LOG_LEVEL="INFO")
    try:
        options = ConversationOptions(
            audio_in_hz=RATE, input_mode=InputMode.PUSH_TO_TALK, system_prompt=f"You are {persona}."
        )
        async with connect(await asyncio.to_thread(bridge.wait_ready)) as client:
            async with client.converse(options) as conversation:
                await conversation.send_text(f"I live with {typed}.")
                assert await until_end(conversation) is State.DONE
                await conversation.send_audio(np.full(RATE // 10, 1000, np.int16))
                await conversation.end_of_user_turn()
                assert await until_end(conversation) is State.DONE
                await conversation.send_text(f"And with {typed}.")
                await conversation.send_text(f"And with {typed} alone.")
                assert await until_end(conversation) is State.INTERRUPTED
                assert await until_end(conversation) is State.DONE
                await fakes.stop("llm")
                await conversation.send_text(f"Where is {typed}?")
                # A failure is logged too, and what failed.
                assert await until_end(conversation) is State.FAILED
                token = conversation.started.resume_token
            await client.say(f"Say {said}.")
            for text in (wrong * 1000, " "):
                with pytest.raises(InvalidInputError):
                    await client.say(text)
    finally:
        await asyncio.to_thread(bridge.stop)
        await fakes.stop_all()
    lines = [json.loads(line) for line in bridge.log.read_text().splitlines() if line.startswith("{")]
    events = [line["event"] for line in lines]
    for event in ("turn done", "turn interrupted", "turn failed", "call refused"):
        assert event in events
    log = bridge.log.read_text().lower()
    assert token
    assert token.lower() not in log
    assert [word for word in WORDS if word.lower() in log] == []
