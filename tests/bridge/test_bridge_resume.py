"""Conversations that go on after their connection, or the bridge itself, was lost."""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from taoxr.client import ConversationOptions, MediaChunk, Pong, State, TurnState, connect
from taoxr.errors import InvalidInputError, NotFoundError, UnavailableError
from taoxr_bridge import server
from taoxr_bridge.journal import Journal

pytestmark = pytest.mark.process

LONG = "One two three four five six seven eight nine ten. " * 8


async def until(conversation, state):
    async for event in conversation:
        if isinstance(event, TurnState) and event.state is state:
            return event
    raise AssertionError(f"the conversation ended without {state}")


async def first_media(conversation):
    async for event in conversation:
        if isinstance(event, MediaChunk):
            return event
    raise AssertionError("no media")


class BridgeProcess:
    """`taoxr serve` with workers elsewhere, which can be killed and started again."""

    def __init__(self, folder: Path, targets: dict[str, str]) -> None:
        self.folder = folder
        self.targets = targets
        self.process = None

    async def start(self, port: str = "0") -> str:
        ready = self.folder / "ready.json"
        ready.unlink(missing_ok=True)
        workers = [part for role, at in self.targets.items() for part in ("--worker", f"{role}={at}")]
        with (self.folder / "log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "taoxr_bridge", "--port", port, "--ready-file", str(ready), *workers),
                env=os.environ | {"TAOXR_HOME": str(self.folder / "home")},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        while not ready.exists():
            assert self.process.returncode is None, (self.folder / "log").read_text()
            await asyncio.sleep(0.02)
        return json.loads(ready.read_text())["target"]

    async def end(self, number: int) -> None:
        self.process.send_signal(number)
        await self.process.wait()


@pytest.fixture
async def bridge_process(fake_workers, tmp_path):
    async with fake_workers() as fakes:
        bridge = BridgeProcess(tmp_path, fakes.targets)
        yield bridge, fakes
        if bridge.process is not None and bridge.process.returncode is None:
            await bridge.end(signal.SIGTERM)


def told(fakes) -> list[str]:
    """What the language model was told of the conversation last."""
    return [m.content for m in fakes.llm.requests[-1].messages][-3:]


async def test_killed_bridge_comes_back_and_the_conversation_goes_on(bridge_process):
    bridge, fakes = bridge_process
    options = ConversationOptions(system_prompt="You are Ann.", max_answer_tokens=33)
    async with connect(await bridge.start()) as client, client.converse(options) as conversation:
        started = conversation.started
        assert started.resume_token
        assert started.resume_window_us == 300_000_000
        assert not started.resumed
        await conversation.send_text("my name is Bo")
        await until(conversation, State.DONE)
        fakes.llm.answer = lambda prompt: LONG
        await conversation.send_text("tell me a story")
        await first_media(conversation)
        await bridge.end(signal.SIGKILL)
        with pytest.raises(UnavailableError):
            await until(conversation, State.DONE)
    fakes.llm.answer = lambda prompt: "Fine."
    resumed = ConversationOptions(resume_token=started.resume_token)
    async with connect(await bridge.start()) as client:
        async with client.converse(resumed) as conversation:
            again = conversation.started
            assert again.resumed
            assert again.resume_token == started.resume_token
            assert again.session_id == started.session_id
            assert again.lost_turn.turn_id == "turn-2"
            assert again.lost_turn.user_text == "tell me a story"
            assert LONG.startswith(again.lost_turn.heard_text)
            await conversation.send_text("who am I?")
            done = await until(conversation, State.DONE)
            assert (done.turn_id, done.epoch) == ("turn-3", 1)
            request = fakes.llm.requests[-1]
            messages = [m.content for m in request.messages]
            assert messages[:4] == [
                "You are Ann.", "my name is Bo", "You said my name is Bo.", "tell me a story",
            ]  # fmt: skip
            assert messages[-1] == "who am I?"
            assert request.max_tokens == 33
            await conversation.end()
            await conversation_end(conversation)
        # Ended by its client, so it is over; begun anew, there is nothing left of it.
        with pytest.raises(NotFoundError, match="resume_token"):
            async with client.converse(resumed):
                pass
    files = list((bridge.folder / "home" / "bridge").iterdir())
    assert files
    assert not any(started.resume_token.encode() in p.read_bytes() for p in files)


async def conversation_end(conversation) -> None:
    async for _ in conversation:
        pass


async def test_what_was_heard_before_the_kill_is_remembered(bridge_process):
    bridge, fakes = bridge_process
    fakes.llm.answer = lambda prompt: LONG
    async with connect(await bridge.start()) as client, client.converse() as conversation:
        token = conversation.started.resume_token
        await conversation.send_text("tell me a story")
        async for event in conversation:
            # 3.2 s on the wall clock: the journal has seen at least two seconds of it.
            if isinstance(event, MediaChunk) and event.end_us > 4_400_000:
                break
        await bridge.end(signal.SIGKILL)
    fakes.llm.answer = lambda prompt: "Fine."
    async with (
        connect(await bridge.start()) as client,
        client.converse(ConversationOptions(resume_token=token)) as conversation,
    ):
        lost = conversation.started.lost_turn
        assert lost.heard_text.startswith("One two three")
        await conversation.send_text("go on")
        await until(conversation, State.DONE)
        assert told(fakes) == ["tell me a story", lost.heard_text, "go on"]


async def test_dropped_connection_is_taken_over_at_once(fake_bridge):
    async with fake_bridge() as (client, fakes):
        fakes.llm.answer = lambda prompt: LONG
        async with client.converse() as old:
            await old.send_text("talk")
            await first_media(old)
            await old.report_playback(old.turn_id, 1_000_000)
            options = ConversationOptions(resume_token=old.started.resume_token)
            # The server has not noticed that anything is wrong with the old stream: there is none.
            async with client.converse(options) as new:
                assert new.started.lost_turn.turn_id == old.turn_id
                assert new.started.lost_turn.user_text == "talk"
                with pytest.raises(UnavailableError, match="resumed on another connection"):
                    await until(old, State.DONE)
                fakes.llm.answer = lambda prompt: "Fine."
                await new.send_text("and now?")
                await until(new, State.DONE)
                assert (await client.server_info()).active_conversations == 1


async def test_cancelled_stream_resumes_with_what_was_heard(fake_bridge):
    async with fake_bridge() as (client, fakes):
        fakes.llm.answer = lambda prompt: LONG
        async with client.converse() as conversation:
            await conversation.send_text("talk")
            async for event in conversation:
                if isinstance(event, MediaChunk) and event.end_us > 1_000_000:
                    break
            await conversation.report_playback(conversation.turn_id, 1_000_000)
            await conversation.ping()
            async for event in conversation:
                if isinstance(event, Pong):  # so the report has come
                    break
        async with client.resume(conversation) as conversation:
            assert conversation.started.lost_turn.heard_text == "One two three four"
            assert (await client.server_info()).active_conversations == 1


async def test_reconnecting_waits_for_the_bridge_and_keeps_a_conversation_without_a_lost_turn(bridge_process):
    bridge, fakes = bridge_process
    async with connect(await bridge.start()) as client, client.converse() as conversation:
        await conversation.send_text("my name is Bo")
        await until(conversation, State.DONE)
        await bridge.end(signal.SIGKILL)
    async with connect(target := await bridge.start()) as client, client.resume(conversation) as again:
        assert again.started.lost_turn is None
        await again.update(system_prompt="You are Ann.", temperature=0.7)
        await again.send_text("a")
        await until(again, State.DONE)
        await bridge.end(signal.SIGKILL)
        restart = asyncio.create_task(bridge.start(target.rpartition(":")[2]))
        async with client.resume(again, patience_s=30) as third:
            assert await restart == target
            await third.send_text("b")
            assert (await until(third, State.DONE)).turn_id == "turn-3"
        request = fakes.llm.requests[-1]
        assert request.messages[0].content == "You are Ann."
        assert request.messages[1].content == "my name is Bo"
        assert request.temperature == pytest.approx(0.7)


async def test_talking_in_the_terminal_goes_on_after_the_bridge_was_killed(bridge_process):
    bridge, fakes = bridge_process
    target = await bridge.start()
    program = "from taoxr.cli import main; main()"
    talking = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, "talk", "--text", "--silent", "--target", target),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert talking.stdin
    assert talking.stdout
    assert talking.stderr
    talking.stdin.write(b"one\n")
    assert await talking.stdout.readline() == b"You said one.\n"
    # Killed at rest: the next line finds nobody, waits, and is asked again.
    await bridge.end(signal.SIGKILL)
    talking.stdin.write(b"two\n")
    await bridge.start(target.rpartition(":")[2])
    assert await talking.stdout.readline() == b"You said two.\n", await talking.stderr.read()
    assert told(fakes) == ["one", "You said one.", "two"]
    # Stopped in an answer: what was not heard to its end is told.
    fakes.llm.answer = lambda prompt: LONG
    talking.stdin.write(b"three\n")
    await talking.stdout.readexactly(20)
    await bridge.end(signal.SIGKILL)
    await bridge.start(target.rpartition(":")[2])
    fakes.llm.answer = lambda prompt: "Four."
    talking.stdin.write(b"four\n")
    talking.stdin.close()
    rest, notes = await talking.communicate()
    assert await talking.wait() == 0
    assert rest.endswith(b"Four.\n")
    assert notes.count(b"waiting for the bridge") == 2


async def test_tokens_that_resume_nothing(fake_bridge, monkeypatch, tmp_path):
    now = 1000.0

    @asynccontextmanager
    async def journal(keep_s: float) -> AsyncGenerator[Journal]:
        timeless = Journal(tmp_path / "journal", keep_s, lambda: now)
        await timeless.open()
        yield timeless
        await timeless.close()

    monkeypatch.setattr(server, "open_journal", journal)
    async with fake_bridge(resume_s=60) as (client, _fakes):
        async with client.converse() as conversation:
            token = conversation.started.resume_token
            for wrong in ({"history": (("user", "x"),)}, {"system_prompt": "x"}):
                with pytest.raises(InvalidInputError, match=f"config.{next(iter(wrong))}"):
                    async with client.converse(ConversationOptions(resume_token=token, **wrong)):
                        pass
            with pytest.raises(NotFoundError):
                async with client.converse(ConversationOptions(resume_token=token + "x")):
                    pass
            now += 61  # while it runs, a conversation does not age
            await conversation.send_text("it felt nothing of that")
            await until(conversation, State.DONE)
            assert token not in repr(conversation.started)
        async with client.resume(conversation):
            pass
        while (await client.server_info()).active_conversations:
            pass
        now += 61
        with pytest.raises(NotFoundError):
            async with client.resume(conversation, patience_s=0):
                pass


async def test_without_a_journal_there_is_no_token(fake_bridge):
    async with fake_bridge(resume_s=0) as (client, _fakes):
        async with client.converse() as conversation:
            assert conversation.started.resume_token == ""
            assert "resume" not in conversation.started.capabilities
        with pytest.raises(UnavailableError, match="journal"):
            async with client.resume(conversation):
                pass
        with pytest.raises(NotFoundError):
            async with client.converse(ConversationOptions(resume_token="x")):
                pass


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
async def test_a_bridge_killed_at_random_moments_forgets_nothing_that_was_finished(bridge_process, kills):
    bridge, fakes = bridge_process
    moments = random.Random(kills)
    fakes.llm.answer = lambda prompt: "One two three four five six seven." if "kill" in prompt else "Fine."
    lost = None
    finished: list[str] = []
    for i in range(kills):
        async with connect(await bridge.start()) as client:
            async with client.resume(lost) if lost else client.converse() as conversation:
                await conversation.send_text(f"question {i}")
                await until(conversation, State.DONE)
                finished += [f"question {i}", "Fine."]
                await conversation.send_text("kill")
                killing = asyncio.create_task(kill_after(bridge, moments.uniform(0, 2.5)))
                with pytest.raises(UnavailableError):
                    await conversation_end(conversation)
                await killing
            lost = conversation
    async with connect(await bridge.start()) as client, client.resume(lost) as conversation:
        await conversation.send_text("and?")
        await until(conversation, State.DONE)
        said = [m.content for m in fakes.llm.requests[-1].messages]
        kept = [text for text in said if text.startswith("question") or text == "Fine."]
        assert kept[-len(finished) :] == finished[-len(kept) :]
        assert int((conversation.turn_id).removeprefix("turn-")) == 2 * kills + 1


async def kill_after(bridge: BridgeProcess, delay_s: float) -> None:
    await asyncio.sleep(delay_s)
    await bridge.end(signal.SIGKILL)
