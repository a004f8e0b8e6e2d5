"""One conversation with the bridge: from commands to requests, from events to sound, face and captions."""

import asyncio
import time
from dataclasses import replace
from typing import Final

import numpy as np

from taoxr.client import (
    Client,
    Conversation,
    ConversationOptions,
    Event,
    InputMode,
    MediaChunk,
    Motion,
    Notice,
    SpeechActivity,
    State,
    Transcript,
    TurnMetrics,
    TurnState,
)
from taoxr.errors import ConnectionLostError, TaoxrError, UnavailableError
from taoxr_runtime.audio import SOURCE_HZ, Block, Source
from taoxr_runtime.audio.protocols import clock_us
from taoxr_runtime.live.commands import Ask, Command, Inbox, Interrupt, Say, Talk
from taoxr_runtime.live.memory import Memory
from taoxr_runtime.live.overheard import Overheard
from taoxr_runtime.live.report import Report
from taoxr_runtime.live.speech import Speech

_TICK_S: Final = 0.02
_REPORT_S: Final = 0.1
# When the avatar has only been called.
_CALLED: Final = "Yes?"
# What was said until the key went up is on its way for so long.
_TAIL_S: Final = 0.08


class Session:
    """Runs until the connection is lost or it is cancelled.

    Args:
        client: Whose conversation it is.
        conversation: An open conversation.
        options: What was asked for.
        speech: Voice and face.
        source: The user's voice.
        memory: What was said.
        report: Where it says what it is doing.
        inbox: What it is asked to do.
        overheard: Which events it does not take in.
    """

    def __init__(
        self, client: Client, conversation: Conversation, options: ConversationOptions, speech: Speech,
        source: Source, memory: Memory, report: Report, inbox: Inbox, overheard: Overheard,
    ) -> None:  # fmt: skip
        self._client = client
        self._conversation = conversation
        self._options = options
        self._mode = options.input_mode
        self._speech = speech
        self._source = source
        self._memory = memory
        self._report = report
        self._inbox = inbox
        self._overheard = overheard
        self._loop = asyncio.get_running_loop()
        self._blocks: asyncio.Queue[Block] = asyncio.Queue()
        # The avatar's turn that runs, the user's that is heard, and a question that no turn has taken up.
        self._turn_id = self._user_turn_id = ""
        self._asked: Ask | None = None
        self._talking = False
        # What the avatar says outside of turns: its newest name, what is being made of it, and the epoch of
        # the turns so far.
        self._announced, self._epoch = 0, 0
        self._saying: tuple[Say, asyncio.Task[None]] | None = None
        self._sent_us = self._sent_at_us = 0

    async def run(self) -> None:
        """Converses.

        Raises:
            TaoxrError: The bridge went away or refused something.
        """
        self._speech.restart(self._conversation.started.bones)
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                tasks.create_task(self._read())
                tasks.create_task(self._obey())
                tasks.create_task(self._send_voice())
                tasks.create_task(self._watch())
                if self._mode is InputMode.HANDS_FREE:
                    self._source.start(self._deliver)
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            self._source.stop()
            self._end_answer(self._memory.captions(self._speech.heard_us).avatar)
            if self._asked is not None:
                self._inbox.again(self._asked)
            if self._saying is not None:
                self._inbox.again(self._saying[0])
            self._speech.stop()

    # What the user does.

    async def _obey(self) -> None:
        while True:
            await self._carry_out(await self._inbox.first())
            self._inbox.done()

    async def _carry_out(self, command: Command) -> None:
        match command:
            case Ask(text=text):
                await self._hush()
                self._memory.said(text)
                # Not when it was typed: a question may have waited for the connection.
                self._report.user_ended(clock_us())
                # Before it is sent, for a turn may take it up while it is being sent.
                self._asked, self._report.thinking = command, True
                try:
                    await self._conversation.send_text(text)
                except BaseException:
                    self._asked = None  # it is among the commands still
                    raise
            case Say():
                await self._hush()
                # Beside the commands: what is said at length can be interrupted before all of it is made.
                self._saying = command, self._tasks.create_task(self._announce(command.text))
            case Talk(pressed=True):
                await self._hush()
                if not self._talking:
                    self._talking = self._report.listening = True
                    self._source.start(self._deliver)
            case Talk(at_us=at_us):
                await self._end_talk(at_us)
            case Interrupt():
                await self._hush()

    async def _end_talk(self, at_us: int) -> None:
        if not self._talking:
            return
        await asyncio.sleep(_TAIL_S)
        self._source.stop()
        self._talking = self._report.listening = False
        while not self._blocks.empty():
            await self._conversation.send_audio(self._blocks.get_nowait())
        self._report.user_ended(at_us)
        self._report.thinking = True
        await self._conversation.end_of_user_turn()

    async def _hush(self) -> None:
        """Stops the avatar, if it answers."""
        if self._saying is not None:
            self._saying[1].cancel()
            self._saying = None
        if self._announcing:
            self._speech.stop()
        if not self._turn_id:
            return
        heard_us = self._speech.heard_us
        heard = self._memory.captions(heard_us).avatar
        self._speech.stop()
        self._end_answer(heard)
        await self._conversation.interrupt(heard_us)

    async def _announce(self, text: str) -> None:
        self._announced += 1
        self._memory.begin()
        try:
            await self._say(text)
        except ConnectionLostError:
            raise  # it is said in the next conversation
        except TaoxrError as error:
            self._speech.stop()
            self._report.remark(f"“{text}” cannot be said: {error}")
        self._saying = None

    async def _say(self, text: str) -> None:
        wishes = self._options
        # Without gestures: what must be said does not depend on the worker that makes them.
        async for event in self._client.stream_say(
            text,
            frame_rate=wishes.frame_rate,
            speed=wishes.speed,
            seed=wishes.voice_seed,
            speaker=wishes.speaker,
        ):
            if isinstance(event, MediaChunk):
                chunk = replace(event, turn_id=self._announcement, epoch=self._epoch)
                self._memory.add(chunk)
                self._speech.add(chunk)

    @property
    def _announcement(self) -> str:
        return f"announcement-{self._announced}"

    @property
    def _announcing(self) -> bool:
        """Whether the avatar says something that belongs to no turn."""
        return self._speech.turn_id == self._announcement and not self._speech.finished

    def _end_answer(self, heard: str) -> None:
        self._memory.answered(heard)
        self._turn_id, self._report.thinking = "", False

    def _deliver(self, block: Block) -> None:
        """Takes a block from the source's thread."""
        try:
            self._loop.call_soon_threadsafe(self._blocks.put_nowait, block)
        except RuntimeError:
            return  # the loop is closed: nobody listens any more

    async def _send_voice(self) -> None:
        while True:
            block = await self._blocks.get()
            if self._announcing:
                block = np.zeros_like(block)  # the bridge does not know what its ear would hear
            await self._conversation.send_audio(block)
            self._sent_us += len(block) * 1_000_000 // SOURCE_HZ
            self._sent_at_us = clock_us()

    # What is heard, and what comes from the bridge.

    async def _watch(self) -> None:
        """Tells the bridge how far playback is, and notes what only the clock tells."""
        told: tuple[str, int] = ("", 0)
        next_report = 0.0
        while True:
            await asyncio.sleep(_TICK_S)
            self._report.check_devices()
            if self._talking and self._source.spent:
                await self._end_talk(clock_us())
            turn_id, heard_us = self._speech.turn_id, self._speech.heard_us
            if heard_us > 0 and turn_id != self._announcement:
                self._report.first_heard(turn_id, clock_us() - heard_us)
            due = time.monotonic() >= next_report or self._speech.finished
            if due and turn_id and turn_id == self._turn_id and (turn_id, heard_us) != told:
                told, next_report = (turn_id, heard_us), time.monotonic() + _REPORT_S
                await self._conversation.report_playback(turn_id, heard_us, self._speech.underruns)

    async def _read(self) -> None:
        async for event in self._conversation:
            self._epoch = max(self._epoch, event.epoch)
            if not self._overheard.hides(event):
                self._note(event)
            elif isinstance(event, Transcript):
                self._take(self._overheard.meant if event.is_final else None)
            elif isinstance(event, TurnState) and event.state is State.THINKING:
                await self._conversation.interrupt(0, forget=True)
        raise UnavailableError("the bridge ended the conversation")

    def _note(self, event: Event) -> None:
        match event:
            case MediaChunk():
                self._memory.add(event)
                self._speech.add(event)
            case TurnState():
                self._on_state(event)
            case Transcript():
                self._memory.said(event.text.strip())
            case SpeechActivity(started=started, offset_us=offset_us):
                if self._mode is InputMode.HANDS_FREE:
                    self._report.listening = started
                    if not started:
                        self._report.user_ended(self._sent_at_us - max(self._sent_us - offset_us, 0))
                        self._report.thinking = True
            case TurnMetrics(stages_ms=stages):
                self._report.stages(stages)
            case Motion():
                self._speech.move(clock_us(), event)
            case Notice(error=error):
                self._report.remark(str(error))
            case _:
                pass

    def _take(self, meant: str | None) -> None:
        """The user has said more than is meant for the avatar, which answers only that."""
        self._memory.said("")
        self._report.thinking = False
        if meant is not None:
            self._inbox.put(Ask(meant) if meant else Say(_CALLED))

    def _on_state(self, event: TurnState) -> None:
        match event.state:
            case State.LISTENING:
                self._user_turn_id = event.turn_id
            case State.THINKING:
                self._turn_id, self._user_turn_id, self._asked = event.turn_id, "", None
                self._report.thinking = True
                self._memory.begin()
            case State.DONE | State.INTERRUPTED | State.FAILED if event.turn_id == self._turn_id:
                if event.state is not State.DONE:
                    self._speech.stop(event.epoch)
                self._end_answer(event.heard_text)
            case State.DONE if event.turn_id == self._user_turn_id:
                # The user's turn ended without words.
                self._memory.said("")
                self._report.thinking = False
                self._report.remark("nothing was heard: speak up, or closer to the microphone")
            case State.FAILED if event.turn_id == self._user_turn_id:
                self._report.thinking = False
            case _:
                pass
