"""The stage's conversation goes on after its bridge was killed and started again: real bridge processes."""

import asyncio
import shutil
import signal
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from taoxr_runtime.audio import NullSink, NullSource
from taoxr_runtime.live import Companion, CompanionState

pytestmark = pytest.mark.process

LONG = "One two three four five six seven eight nine ten. " * 8


class Bridge:
    """A bridge with workers elsewhere, which starts again at the same port."""

    def __init__(self, start: Any, folder: Path, targets: dict[str, str]) -> None:
        self.home = folder / "home"
        self.target = "127.0.0.1:0"
        self._make = start
        self._folder = folder
        self._workers = [f"--worker={role}={target}" for role, target in targets.items()]
        self._running: Any = None

    async def start(self) -> None:
        port = self.target.rpartition(":")[2]
        self._running = self._make(self._folder, "--port", port, *self._workers, TAOXR_HOME=str(self.home))
        self.target = await asyncio.to_thread(self._running.wait_ready)

    async def end(self, number: int) -> None:
        self._running.process.send_signal(number)
        await asyncio.to_thread(self._running.process.wait, 60)


@pytest.fixture
async def talk(
    fake_workers: Any, start_bridge: Any, tmp_path: Path
) -> AsyncGenerator[tuple[Companion, Any, Bridge]]:
    """Somebody to talk with, the workers behind, and the bridge between."""
    async with fake_workers() as fakes:
        bridge = Bridge(start_bridge, tmp_path, fakes.targets)
        await bridge.start()
        try:
            with Companion(bridge.target, NullSink(), NullSource()) as companion:
                yield companion, fakes, bridge
        finally:
            await bridge.end(signal.SIGTERM)


async def until(condition: Callable[[], object], companion: Companion) -> None:
    try:
        async with asyncio.timeout(120):
            while not condition():  # noqa: ASYNC110  another thread's
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError((companion.state, companion.captions(), companion.notices)) from None


async def answer(companion: Companion, question: str) -> None:
    companion.ask(question)
    await until(lambda: companion.captions().user == question, companion)
    await until(lambda: companion.state is CompanionState.IDLE and companion.captions().avatar, companion)


async def restart(bridge: Bridge, companion: Companion) -> None:
    await bridge.end(signal.SIGKILL)
    await until(lambda: companion.state is CompanionState.DISCONNECTED, companion)
    await bridge.start()


def told(fakes: Any) -> list[str]:
    """What the language model was told of the conversation last, the persona and its examples left out."""
    messages = [m.content for m in fakes.llm.requests[-1].messages]
    return messages[messages.index("my name is Bo") :]


async def test_killed_in_the_middle_of_an_answer(talk):
    companion, fakes, bridge = talk
    await answer(companion, "my name is Bo")
    session = companion.session_id
    fakes.llm.answer = lambda prompt: LONG
    companion.ask("tell me a story")
    await until(lambda: len(companion.captions().avatar.split()) > 8, companion)
    await restart(bridge, companion)
    fakes.llm.answer = lambda prompt: f"You said {prompt}."
    await answer(companion, "who am I?")
    assert companion.session_id == session
    assert "the answer was cut off; ask on, or ask again" in [n.text for n in companion.notices]
    messages = told(fakes)
    assert messages[:3] == ["my name is Bo", "You said my name is Bo.", "tell me a story"]
    assert LONG.startswith(messages[3].strip())
    assert 0 < len(messages[3]) < len(LONG)
    assert messages[4:] == ["who am I?"]


async def test_killed_before_the_answer_began(talk):
    companion, fakes, bridge = talk
    await answer(companion, "my name is Bo")
    session, asked = companion.session_id, len(fakes.llm.requests)
    fakes.llm.hold.clear()
    companion.ask("who am I?")
    await until(lambda: len(fakes.llm.requests) > asked, companion)
    await until(lambda: companion.captions().user == "who am I?", companion)
    await restart(bridge, companion)
    fakes.llm.hold.set()
    # Nobody asks again: the question was not lost.
    await until(lambda: companion.state is CompanionState.IDLE and companion.captions().avatar, companion)
    assert companion.captions() == ("who am I?", "You said who am I?.")
    assert companion.session_id == session
    assert told(fakes)[:2] == ["my name is Bo", "You said my name is Bo."]


async def test_a_bridge_that_knows_nothing_is_told_what_was_said(talk):
    companion, fakes, bridge = talk
    await answer(companion, "my name is Bo")
    session = companion.session_id
    await bridge.end(signal.SIGKILL)
    shutil.rmtree(bridge.home)
    await bridge.start()
    await answer(companion, "who am I?")
    assert companion.session_id != session
    assert told(fakes) == ["my name is Bo", "You said my name is Bo.", "who am I?"]
