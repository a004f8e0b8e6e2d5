"""What the avatar says outside of turns, with a scripted bridge: cut off while it is made, lost, refused."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from taoxr import arkit
from taoxr.client import ConversationOptions, InputMode, MediaChunk, State, TurnState
from taoxr.errors import ConnectionLostError, InvalidInputError, TaoxrError
from taoxr_runtime.audio import NullSink, NullSource
from taoxr_runtime.live.commands import Ask, Command, Inbox, Interrupt, Say
from taoxr_runtime.live.memory import Memory
from taoxr_runtime.live.overheard import Overheard
from taoxr_runtime.live.report import Report
from taoxr_runtime.live.session import Session
from taoxr_runtime.live.speech import Speech

pytestmark = pytest.mark.unit

RATE = 22_050
DEADLINE_S = 30


class Bridge:
    """Client and conversation in one: says the first second of a text, and waits if it has no answer."""

    started = SimpleNamespace(bones=None)

    def __init__(self) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self.cancelled: list[str] = []
        self.answer: TaoxrError | None = None

    async def stream_say(self, text: str, **wishes: Any) -> AsyncIterator[MediaChunk]:
        self.said.append(text)
        times = np.arange(0, 1_000_000, 33_333, np.int64)
        weights = np.zeros((len(times), len(arkit.NAMES)), np.float32)
        yield MediaChunk(0, "", 0, 0, RATE, np.full(RATE, 3000, np.int16), times, weights, 0, text, (), False)
        try:
            if self.answer is not None:
                raise self.answer
            await asyncio.Event().wait()
        finally:
            if self.answer is None:
                self.cancelled.append(text)

    async def send_text(self, text: str) -> None:
        self.asked.append(text)

    async def interrupt(self, heard_us: int) -> None:
        raise AssertionError("no turn runs")

    def __aiter__(self) -> "Bridge":
        return self

    async def __anext__(self) -> Any:
        await asyncio.Event().wait()


class Quick(Bridge):
    """Takes up a question while it is still being sent."""

    def __init__(self) -> None:
        super().__init__()
        self.events: asyncio.Queue[Any] = asyncio.Queue()
        self.taken: Callable[[], object] = lambda: True

    async def send_text(self, text: str) -> None:
        await super().send_text(text)
        await self.events.put(TurnState(1, "turn-1", 0, State.THINKING, ""))
        while not self.taken():  # noqa: ASYNC110  the session has no event for it
            await asyncio.sleep(0)

    async def __anext__(self) -> Any:
        return await self.events.get()


class Broken(Bridge):
    """Cannot be asked."""

    async def send_text(self, text: str) -> None:
        raise ConnectionLostError("gone")


class Stage:
    """A session with the scripted bridge."""

    def __init__(self, bridge: Any = None) -> None:
        sink, source = NullSink(), NullSource()
        self.bridge: Any = bridge or Bridge()
        self.inbox = Inbox(asyncio.get_running_loop())
        self.report = Report(sink, source)
        self.speech = Speech(sink)
        options = ConversationOptions(input_mode=InputMode.PUSH_TO_TALK)
        self.session = Session(
            self.bridge, self.bridge, options, self.speech, source, Memory(), self.report, self.inbox,
            Overheard(None),
        )  # fmt: skip
        self.task = asyncio.create_task(self.session.run())

    def put(self, *commands: Command) -> None:
        for command in commands:
            self.inbox.put(command)

    async def until(self, true: Callable[[], object]) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while not true():  # noqa: ASYNC110  what is waited for has no events
                await asyncio.sleep(0.001)

    async def end(self) -> None:
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task

    async def left(self) -> Command | None:
        """The first command that the next conversation would carry out."""
        try:
            async with asyncio.timeout(0):
                return await self.inbox.first()
        except TimeoutError:
            return None


async def test_an_interrupt_is_obeyed_while_the_words_are_still_made() -> None:
    stage = Stage()
    stage.put(Say("Your timer is over."))
    await stage.until(lambda: stage.speech.turn_id)
    stage.put(Interrupt())
    await stage.until(lambda: not stage.speech.turn_id)
    assert stage.bridge.cancelled == ["Your timer is over."]
    await stage.end()
    assert await stage.left() is None, "it was heard enough of"


async def test_a_question_and_other_words_take_the_place_of_words_that_are_still_made() -> None:
    stage = Stage()
    for words in ("One.", "Two."):
        stage.put(Say(words))
        await stage.until(lambda words=words: words in stage.bridge.said)
    stage.put(Ask("Who are you?"))
    await stage.until(lambda: stage.bridge.asked)
    await stage.until(lambda: "Two." in stage.bridge.cancelled)
    assert not stage.speech.turn_id
    await stage.end()
    assert await stage.left() == Ask("Who are you?"), "no turn has taken it up"


async def test_a_question_that_a_turn_took_up_at_once_is_not_asked_again() -> None:
    bridge = Quick()
    stage = Stage(bridge)
    bridge.taken = lambda: stage.session._turn_id
    stage.put(Ask("Who are you?"))
    await stage.until(lambda: stage.session._turn_id and not stage.inbox._commands)
    await stage.end()
    assert bridge.asked == ["Who are you?"]
    assert await stage.left() is None


async def test_a_question_that_could_not_be_sent_is_asked_once_in_the_next_conversation() -> None:
    stage = Stage(Broken())
    stage.put(Ask("Who are you?"))
    with pytest.raises(ConnectionLostError):
        await asyncio.wait_for(stage.task, DEADLINE_S)
    assert list(stage.inbox._commands) == [Ask("Who are you?")]


async def test_words_that_cannot_be_said_are_told_once_and_dropped() -> None:
    stage = Stage()
    stage.bridge.answer = InvalidInputError("text", "…", "words")
    stage.put(Say("…"))
    await stage.until(lambda: stage.report.remarks)
    stage.put(Ask("Who are you?"))
    await stage.until(lambda: stage.bridge.asked)
    assert [remark.text for remark in stage.report.remarks] == [
        "“…” cannot be said: text: got '…', expected words"
    ]
    assert not stage.speech.speaking
    assert stage.bridge.said == ["…"]
    await stage.end()


async def test_words_that_a_lost_connection_cut_off_are_said_in_the_next_conversation() -> None:
    stage = Stage()
    stage.bridge.answer = ConnectionLostError("gone")
    stage.put(Say("Your timer is over."))
    with pytest.raises(ConnectionLostError):
        await asyncio.wait_for(stage.task, DEADLINE_S)
    assert await stage.left() == Say("Your timer is over.")


def test_a_sound_device_that_goes_and_comes_back_is_told_each_time() -> None:
    sink, source = NullSink(), NullSource()
    report = Report(sink, source)
    report.check_devices()
    assert not report.remarks
    for _ in range(2):
        sink.problem = "the sound device is gone"
        report.check_devices()
        report.check_devices()
        sink.problem = ""
        report.check_devices()
        report.check_devices()
    told = ["the sound device is gone", "the sound device 'no sound' works again"]
    assert [remark.text for remark in report.remarks] == told * 2
