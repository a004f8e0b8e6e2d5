"""The avatar as somebody to talk with: everything that the frame loop must not wait for."""

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from taoxr import arkit
from taoxr.client import (
    Client,
    Conversation,
    ConversationOptions,
    InputMode,
    Track,
    connect,
    private_bridge,
)
from taoxr.client.channel import access_from_environment, no_answer
from taoxr.errors import (
    BusyError,
    ConnectionLostError,
    InvalidInputError,
    NotFoundError,
    TaoxrError,
    UnavailableError,
)
from taoxr_runtime.animation import Activity
from taoxr_runtime.animation.body_player import HumanoidPose
from taoxr_runtime.audio import Sink, Source
from taoxr_runtime.audio.protocols import clock_us
from taoxr_runtime.live.commands import Ask, Command, Inbox, Interrupt, Say, Talk
from taoxr_runtime.live.memory import Memory
from taoxr_runtime.live.overheard import Addressed, Overheard
from taoxr_runtime.live.report import Report
from taoxr_runtime.live.session import Session
from taoxr_runtime.live.speech import Speech
from taoxr_runtime.live.status import ACTIVITIES, Captions, CompanionState, Remark

LONGEST_TEXT: Final = 4000
"""Characters that may be asked at once; the bridge's limit."""
_FIRST_DELAY_S: Final = 0.5
_LONGEST_DELAY_S: Final = 8.0
_JOIN_S: Final = 30.0

_log = logging.getLogger(__name__)


class Companion:
    """A conversation on a thread of its own; a context manager.

    While it has no bridge it keeps trying to get one; when the bridge comes back, the conversation goes
    on where it was. All methods may be called from any thread, and none of them waits.

    Args:
        target: ``host:port`` of a running bridge; None starts one of its own, and starts it again when
            it dies.
        sink: Where the voice goes; whoever made it closes it.
        source: The user's voice; whoever made it closes it.
        hands_free: Whether the bridge hears when the user's turns begin and end; else `talk` says so.
        options: More wishes; audio, mode and history are set here. None wishes for a body.
        addressed: Which of the spoken words are meant for the avatar; None: all are. The others get no
            answer and no caption. See ``live.overheard``.
    """

    def __init__(
        self,
        target: str | None,
        sink: Sink,
        source: Source,
        *,
        hands_free: bool = False,
        options: ConversationOptions | None = None,
        addressed: Addressed | None = None,
    ) -> None:
        if hands_free and not source.rate_hz:
            why = source.problem or "this source hears nothing"
            raise UnavailableError(f"hands-free needs a microphone or a recording; {why}")
        self._target = target
        self._source = source
        self._options = replace(
            options or ConversationOptions(tracks=frozenset({Track.BODY, Track.CUES})),
            audio_in_hz=source.rate_hz,
            input_mode=InputMode.HANDS_FREE if hands_free else InputMode.PUSH_TO_TALK,
        )
        self._overheard = Overheard(addressed)
        self._speech = Speech(sink)
        self._memory = Memory()
        self._report = Report(sink, source)
        self._loop = asyncio.new_event_loop()
        self._inbox = Inbox(self._loop)
        self._session_id = self._resume_token = ""  # of the last conversation
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._main, name="companion", daemon=True)
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        self._report.check_devices()
        self._task = self._loop.create_task(self._run())
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task = self._task
        assert task is not None, "entered before"
        if self._thread.is_alive():
            with suppress(RuntimeError):  # it has just ended by itself
                self._loop.call_soon_threadsafe(task.cancel)
            self._thread.join(_JOIN_S)
            if self._thread.is_alive():
                raise UnavailableError(f"the conversation did not end within {_JOIN_S:.0f} s")
        if self._failure is not None and error is None:
            raise self._failure

    # What the user does.

    def ask(self, text: str) -> None:
        """The user says a text, as soon as there is a connection; stops the avatar if it speaks.

        Raises:
            InvalidInputError: Nothing to say, or too much.
        """
        self._put(Ask(_checked(text)))

    def say(self, text: str) -> None:
        """The avatar says a text as it is, as soon as there is a connection; stops what it was saying.

        Meanwhile it hears nothing, for the bridge cannot tell this voice from the user's.

        Raises:
            InvalidInputError: Nothing to say, or too much.
        """
        self._put(Say(_checked(text)))

    def talk(self, pressed: bool) -> None:
        """The user begins (True) or stops (False) to speak; does nothing hands-free."""
        if self._options.input_mode is InputMode.HANDS_FREE:
            return
        if not self._source.rate_hz:
            if pressed:
                self._report.remark(self._source.problem or "there is no microphone: type instead")
            return
        self._put(Talk(pressed, clock_us()))

    def interrupt(self) -> None:
        """The user has heard enough of the answer."""
        self._put(Interrupt())

    def _put(self, command: Command) -> None:
        self._inbox.put(command)

    # What there is to show.

    @property
    def state(self) -> CompanionState:
        """What the avatar is doing."""
        report = self._report
        if not report.connected:
            return CompanionState.STARTING if report.connected is None else CompanionState.DISCONNECTED
        if report.listening:
            return CompanionState.LISTENING
        if self._speech.speaking:
            return CompanionState.SPEAKING
        waiting = report.thinking and not self._speech.finished
        return CompanionState.THINKING if waiting else CompanionState.IDLE

    @property
    def session_id(self) -> str:
        """Name of the conversation, for `taoxr.client.Client.watch`; it stays when it is resumed."""
        return self._session_id

    @property
    def activity(self) -> Activity:
        """What the avatar is doing, as far as its body shows it."""
        return ACTIVITIES[self.state]

    @property
    def notices(self) -> tuple[Remark, ...]:
        """What the user should know, oldest first; the last few."""
        return self._report.remarks

    def captions(self) -> Captions:
        """What the user said, and the answer as far as it was heard."""
        return self._memory.captions(self._speech.heard_us)

    def latency_ms(self) -> dict[str, float]:
        """Milliseconds from the end of the user's turn, by stage.

        The stages of ``TurnMetrics``, and "first_heard": until the first sound of the answer.
        """
        return self._report.latency_ms()

    def face(self, now_us: int, ahead_us: int = 0) -> NDArray[np.float32]:
        """The speaking face, float32 [52].

        Args:
            now_us: Display time on any steady clock, never decreasing.
            ahead_us: How long from now the face will be seen; the sound heard then decides.
        """
        return self._speech.face(now_us, ahead_us)

    def body(self, now_us: int, ahead_us: int = 0) -> HumanoidPose | None:
        """The body's pose; None before it has one. Arguments as in `face`."""
        return self._speech.body(now_us, ahead_us)

    # The conversation's thread.

    def _main(self) -> None:
        assert self._task is not None, "set before the thread starts"
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            pass
        except Exception as error:  # noqa: BLE001  handed to the thread that leaves the block
            _log.exception("the conversation failed")
            self._failure = error
            self._report.remark(f"the conversation failed: {type(error).__name__}: {error}")
        finally:
            self._report.connected = False
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _run(self) -> None:
        """Converses, and opens the conversation again whenever it was lost."""
        self._delay_s = _FIRST_DELAY_S
        while True:
            wait_s = self._delay_s
            try:
                async with self._bridge() as client:
                    await self._converse(client)
            except TaoxrError as error:
                if isinstance(error, BusyError):
                    wait_s = max(wait_s, error.retry_after_s)
                self._report.connected = False
                self._report.remark(f"{self._told(error)}; trying again")
            self._delay_s = min(2 * self._delay_s, _LONGEST_DELAY_S)
            await asyncio.sleep(wait_s)

    def _told(self, error: TaoxrError) -> str:
        """What to tell the user of an error that ended a conversation."""
        if not isinstance(error, ConnectionLostError):
            return str(error)
        _log.info("connection lost: %s", error)
        return no_answer(self._target, error)

    @asynccontextmanager
    async def _bridge(self) -> AsyncGenerator[Client]:
        if self._target is not None:
            async with connect(self._target, **access_from_environment()) as client:
                yield client
            return
        async with private_bridge() as target, connect(target) as client:
            yield client

    async def _converse(self, client: Client) -> None:
        async with AsyncExitStack() as stack:
            conversation = await self._open(client, stack)
            self._session_id = conversation.started.session_id
            self._resume_token = conversation.started.resume_token
            names = conversation.started.rig.names
            if names != arkit.NAMES:
                raise InvalidInputError(
                    "rig.blendshape_names", names[:3], "the 52 ARKit names in canonical order"
                )
            self._report.new_conversation()
            self._inbox.keep_questions()
            self._report.connected = True
            self._delay_s = _FIRST_DELAY_S
            lost = conversation.started.lost_turn
            if lost is not None and lost.heard_text:
                self._report.remark("the answer was cut off; ask on, or ask again")
            elif lost is not None and lost.user_text:
                self._inbox.ask_again(lost.user_text)
            session = Session(
                client, conversation, self._options, self._speech, self._source, self._memory, self._report,
                self._inbox, self._overheard,
            )  # fmt: skip
            await session.run()

    async def _open(self, client: Client, stack: AsyncExitStack) -> Conversation:
        """The conversation that was lost, or a new one that is told what was said before."""
        if self._resume_token:
            lost = replace(self._options, system_prompt="", history=(), resume_token=self._resume_token)
            try:
                return await stack.enter_async_context(client.converse(lost))
            except NotFoundError:  # it has ended, or this is the bridge of another machine
                _log.info("the conversation cannot be resumed")
        fresh = replace(self._options, history=self._memory.history())
        return await stack.enter_async_context(client.converse(fresh))


def _checked(text: str) -> str:
    words = text.strip()
    if not words or len(words) > LONGEST_TEXT:
        raise InvalidInputError("text", text[:80], f"1 to {LONGEST_TEXT} characters")
    return words
