"""One side of a conversation in the terminal: asks, shows and plays the answers, goes on after a loss."""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taoxr.client.cli_common import console
from taoxr.client.conversation import Conversation
from taoxr.client.events import Event, GoingAway, Leaving, MediaChunk, State, TurnState
from taoxr.client.sound import Microphone, Speaker
from taoxr.client.talk_view import LiveView, PlainView
from taoxr.errors import ConnectionLostError, TaoxrError, UnavailableError

_REPORT_S: Final = 0.1

Question: TypeAlias = str | NDArray[np.int16]
Questions: TypeAlias = AsyncIterator[Question]


@dataclass(slots=True)
class Answer:
    """The sound of one turn."""

    chunks: list[MediaChunk] = field(default_factory=list[MediaChunk])


class Talker:
    """Asks, and yields the answers as they end.

    Args:
        source: A microphone that is listened to all the time, or questions that are asked one by one: text,
            or speech at `ConversationOptions.audio_in_hz`.
        view: Shows what happens.
        speaker: Plays the answers, if any.
    """

    def __init__(
        self, source: Microphone | Questions, view: PlainView | LiveView, speaker: Speaker | None
    ) -> None:
        self._source = source
        self._view = view
        self._speaker = speaker
        self._played_turn = ""
        # Asked, and not answered yet.
        self._open: Question | None = None

    async def converse(self, conversation: Conversation) -> AsyncGenerator[Answer]:
        """Converses until there are no more questions; what a lost conversation left open is asked again.

        Args:
            conversation: A running one, or after a `ConnectionLostError` the one that goes on with it.

        Raises:
            ConnectionLostError: It was lost; a conversation that resumes it can be given next.
            UnavailableError: The bridge ended it.
        """
        lost = conversation.started.lost_turn
        if lost is not None and lost.heard_text:
            console.print("[yellow]notice:[/] the answer was cut off; ask on, or ask again")
            self._open = None
        elif lost is not None and self._open is None:
            self._open = lost.user_text or None
        async with aclosing(aiter(conversation)) as events:
            if not isinstance(self._source, Microphone):
                answers = self._ask(self._source, conversation, events)
            else:
                answers = self._speak(self._source, conversation, events)
            try:
                async with aclosing(answers):
                    async for answer in answers:
                        yield answer
            except ConnectionLostError:
                if self._speaker is not None:
                    self._speaker.stop()
                raise

    async def _ask(
        self, questions: Questions, conversation: Conversation, events: AsyncGenerator[Event]
    ) -> AsyncGenerator[Answer]:
        while True:
            if self._open is None and (question := await anext(questions, None)) is not None:
                self._open = question
            if self._open is None:
                return
            await _send(conversation, self._open)
            with self._view:
                answer = await self._follow(conversation, events)
            self._open = None
            yield answer

    async def _speak(
        self, microphone: Microphone, conversation: Conversation, events: AsyncGenerator[Event]
    ) -> AsyncGenerator[Answer]:
        async def listen() -> None:
            async for block in microphone:
                await conversation.send_audio(block)

        if self._open is not None:
            await _send(conversation, self._open)
            self._open = None
        listening = asyncio.create_task(listen())
        try:
            with self._view:
                while True:
                    yield await self._follow(conversation, events)
        finally:
            await _end(listening)

    async def _follow(self, conversation: Conversation, events: AsyncGenerator[Event]) -> Answer:
        """Shows and plays one turn as it comes."""
        answer = Answer()
        stopping = False
        async with self._reporting(conversation):
            async for event in events:
                self._view.show(event)
                match event:
                    case MediaChunk():
                        self._play(event, first=not answer.chunks)
                        answer.chunks.append(event)
                    case GoingAway(reason=Leaving.SHUTDOWN):
                        stopping = True
                    case TurnState(state=state) if state.ended:
                        if self._speaker is not None and state is not State.DONE:
                            self._speaker.stop()
                        return answer
                    case _:
                        pass
        if stopping:
            raise ConnectionLostError("the bridge stops")
        raise UnavailableError("the bridge ended the conversation; look at its log")

    def _play(self, chunk: MediaChunk, *, first: bool) -> None:
        if self._speaker is None:
            return
        if first:
            self._speaker.begin(chunk.sample_rate_hz)
            self._played_turn = chunk.turn_id
        self._speaker.write(chunk.pcm, chunk.end_us, last=chunk.last)

    @asynccontextmanager
    async def _reporting(self, conversation: Conversation) -> AsyncGenerator[None]:
        """Tells the bridge what was heard, so that it knows where an interruption cuts the answer."""
        if self._speaker is None:
            yield
            return
        reporting = asyncio.create_task(self._report(self._speaker, conversation))
        try:
            yield
        finally:
            await _end(reporting)

    async def _report(self, speaker: Speaker, conversation: Conversation) -> None:
        before = speaker.heard_us
        while True:
            await asyncio.sleep(_REPORT_S)
            heard_us = speaker.heard_us
            if heard_us != before:
                before = heard_us
                await conversation.report_playback(self._played_turn, heard_us)


async def recorded(questions: Sequence[NDArray[np.int16]]) -> Questions:
    """Recordings, one after the other."""
    for question in questions:
        yield question


async def typed() -> Questions:
    """The lines of stdin as they are typed.

    Read by a daemon thread, since nothing can interrupt the reading: Ctrl-C would wait for Enter.
    """
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    stdin = sys.stdin  # as it is now: tests replace it

    def read() -> None:
        # RuntimeError: the loop has ended, and with it the conversation.
        with suppress(RuntimeError):
            for line in stdin:
                loop.call_soon_threadsafe(lines.put_nowait, line.rstrip("\n"))
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="typed-lines", daemon=True).start()
    if stdin.isatty():
        console.print("[dim]type and press Enter; Ctrl-D ends[/]")
    while True:
        if stdin.isatty():
            console.print("[bold]>[/] ", end="")
        if (line := await lines.get()) is None:
            return
        if line.strip():
            yield line


async def _send(conversation: Conversation, question: Question) -> None:
    if isinstance(question, str):
        await conversation.send_text(question)
    else:
        await conversation.send_audio(question)
        await conversation.end_of_user_turn()


async def _end(task: asyncio.Task[None]) -> None:
    """Cancels a task that only serves another; a failure of the conversation is that one's to tell."""
    task.cancel()
    with suppress(asyncio.CancelledError, TaoxrError):
        await task
