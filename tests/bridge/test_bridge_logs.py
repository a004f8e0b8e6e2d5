"""What a bridge writes to its log: ids and counts, never what somebody said."""

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from taoxr.client import ConversationOptions, InputMode, State, TurnState, connect
from taoxr.errors import InvalidInputError, TaoxrError

pytestmark = pytest.mark.process

WORD = "Zebedee"


async def until_done(conversation: Any) -> None:
    async with asyncio.timeout(20):
        async for event in conversation:
            if isinstance(event, TurnState) and event.state in (State.DONE, State.FAILED):
                return


async def test_the_log_holds_no_words_of_users(fake_workers, start_bridge, tmp_path):
    async with fake_workers() as fakes:
        fakes.ear.text = f"my doctor is {WORD}"
        workers = [f"--worker={role}={target}" for role, target in fakes.targets.items()]
        bridge = start_bridge(tmp_path, *workers, TAOXR_LOG_LEVEL="INFO", TAOXR_HOME=str(tmp_path / "home"))
        options = ConversationOptions(
            audio_in_hz=16000,
            input_mode=InputMode.PUSH_TO_TALK,
            system_prompt=f"You are {WORD}.",
            history=(("user", f"I am {WORD}"), ("assistant", f"Hello {WORD}")),
        )
        async with connect(await asyncio.to_thread(bridge.wait_ready)) as client:
            async with client.converse(options) as conversation:
                await conversation.send_text(f"tell {WORD}")
                await until_done(conversation)
                await conversation.send_audio(np.full(1600, 3000, np.int16))
                await conversation.end_of_user_turn()
                await until_done(conversation)
                await fakes.stop("tts")  # what fails is logged
                await conversation.send_text(f"again {WORD}")
                await until_done(conversation)
                await fakes.start("tts")
            # Refused, and with a resumable conversation lost: both are logged.
            with pytest.raises(InvalidInputError):
                await client.say(WORD * 1000)
            with pytest.raises(TaoxrError):
                async with client.converse(ConversationOptions(resume_token=f"{WORD}{WORD}")):
                    pass
        await asyncio.to_thread(bridge.stop)
    log = bridge.log.read_text()
    events = {json.loads(line)["event"] for line in log.splitlines() if line.startswith("{")}
    assert {"worker", "call refused"} <= events
    assert len(fakes.llm.requests) >= 3
    assert WORD not in log
