"""Whose turn it is: the avatar's turns begin, are interrupted, end and are remembered."""

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import structlog

from taoxr.errors import TaoxrError
from taoxr.rpc import status_of
from taoxr.v1 import conversation_pb2 as pb
from taoxr.v1 import tools_pb2
from taoxr_bridge.barge_in import is_back_channel
from taoxr_bridge.body import Body
from taoxr_bridge.draft import Draft, Held, same_words
from taoxr_bridge.ear import Ear
from taoxr_bridge.mind import Mind
from taoxr_bridge.outbox import Outbox
from taoxr_bridge.pacing import Pacer
from taoxr_bridge.resume import Keeper, Origin
from taoxr_bridge.stages import Stages
from taoxr_bridge.thought import Rest, Thinks
from taoxr_bridge.turn import Turn
from taoxr_bridge.voice import Voice


@dataclass(slots=True)
class _Speaking:
    """The avatar's newest turn; `over` once it is in the history, from when nothing can stop it."""

    turn: Turn
    task: asyncio.Task[None]
    over: bool = False


class TurnTaking:
    """The avatar's turns in one conversation; the `Floor` of its listener.

    Args:
        origin: Where the conversation begins or goes on.
        mind: What the language model is told; its history grows with every turn.
        voice: Voice and face.
        keeper: Saves every change.
        outbox: What is sent to the client.
        lead_us: How far ahead of playback media may go out, in microseconds.

    Attributes:
        ear: Hears what is played, so that it can tell echo from the user; None without a microphone.
        body: Learns where a turn was stopped; None without one.
    """

    _tasks: asyncio.TaskGroup
    _warming: asyncio.Task[None]

    def __init__(
        self, origin: Origin, mind: Mind, voice: Voice, keeper: Keeper, outbox: Outbox, lead_us: int
    ) -> None:
        self.ear: Ear | None = None
        self.body: Body | None = None
        self._mind = mind
        self._voice = voice
        self._keeper = keeper
        self._outbox = outbox
        self._lead_us = lead_us
        self._log = structlog.get_logger().bind(session=origin.session_id)
        self._epoch = origin.epoch
        self._turns = origin.turns
        self._speaking: _Speaking | None = None
        # The rest of an answer that the user's voice has cut off, until it is known whether that was meant.
        self._cut: Rest | None = None
        self._draft: Draft | None = None
        # Requests and the ear's results come from two tasks; turns change under this lock.
        self._turn_lock = asyncio.Lock()

    # The length of a stream.

    def open(self, tasks: asyncio.TaskGroup) -> None:
        """The stream has begun: turns run in `tasks` from now on."""
        self._tasks = tasks
        self._warming = tasks.create_task(self._mind.warm_up())

    def no_more_input(self) -> None:
        """No request comes any more."""
        self._warming.cancel()

    async def finish(self) -> None:
        """Waits for the end of the newest turn."""
        if self._speaking is not None:
            await asyncio.wait([self._speaking.task])

    def abandon(self) -> None:
        """Stops the newest turn, whose end nobody wants to know."""
        if self._speaking is not None:
            self._speaking.task.cancel()

    async def close(self) -> None:
        """The stream is over."""
        await self._drop_draft()
        await self._drop_cut()

    # Where the conversation stands.

    @property
    def speaking(self) -> bool:
        """Whether the avatar's turn runs."""
        return self._active() is not None

    def _active(self) -> _Speaking | None:
        """The avatar's turn, unless it is over."""
        return None if self._speaking is None or self._speaking.over else self._speaking

    def state(self) -> tuple[int, int, Turn | None]:
        """What the journal wants to know: epoch, turns, and the turn that runs."""
        speaking = self._active()
        return self._epoch, self._turns, None if speaking is None else speaking.turn

    def position_us(self) -> int:
        """How much of the turn that runs was heard; 0 when none does."""
        speaking = self._active()
        return 0 if speaking is None else speaking.turn.pacer.position_us()

    def next_turn_id(self) -> str:
        """Name for a new turn."""
        self._turns += 1
        return f"turn-{self._turns}"

    # Turns begin.

    async def take_turn(self, user_text: str, stages: Stages, turn_id: str = "") -> None:
        """The user has said something: stops the avatar if it speaks, and lets it answer."""
        async with self._turn_lock:
            if (speaking := self._active()) is not None:
                await self._interrupt(speaking)
            await self._drop_cut()
            turn_id = turn_id or self.next_turn_id()
            self._mind.history.add_user(user_text, turn_id)
            draft = self._draft
            if draft is not None and draft.turn.turn_id == turn_id and same_words(draft.text, user_text):
                self._draft = None
                draft.turn.stages.join(stages)
                self._start(draft.turn, draft.publish())
                return
            await self._drop_draft()
            turn = self._turn(turn_id, self._mind.thinker(), stages)
            self._start(turn, turn.run())

    async def prepare(self, user_text: str, turn_id: str) -> None:
        """The user has probably said that: drafts the answer. An empty text drops the draft."""
        async with self._turn_lock:
            if self._draft is not None and user_text and same_words(self._draft.text, user_text):
                return
            await self._drop_draft()
            if self._cut is not None and is_back_channel(user_text):
                return  # it asks the avatar to go on, which still thinks
            if user_text and self._active() is None:
                if self._cut is not None:
                    await self._cut.thought.drop()  # the language model is needed
                self._warming.cancel()
                held = Held(self._outbox.put)
                turn = self._turn(turn_id, self._mind.thinker(user_text), Stages(time.monotonic()), held)
                turn.public.clear()
                self._draft = Draft(user_text, turn, held)

    async def false_alarm(self) -> bool:
        """Says what is left of the turn that the user's voice has cut off; False when nothing is."""
        async with self._turn_lock:
            rest = self._cut
            if rest is None or rest.empty or self._active() is not None:
                await self._drop_cut()
                return False
            await self._drop_draft()
            self._cut = None
            turn = self._turn(self.next_turn_id(), rest, Stages(time.monotonic()))
            self._start(turn, turn.run())
            return True

    def _turn(self, turn_id: str, thinker: Thinks, stages: Stages, held: Held | None = None) -> Turn:
        epoch = self._epoch
        put = self._outbox.put if held is None else held.emit

        async def emit(response: pb.ConverseResponse) -> None:
            response.turn_id, response.epoch = turn_id, epoch
            await put(response)
            if response.HasField("media") and self.ear is not None:
                media, ahead_us = response.media, response.media.start_us - turn.pacer.position_us()
                self.ear.play(media.pcm, self._voice.sample_rate_hz, media.clause_text, ahead_us)

        turn = Turn(turn_id, thinker, self._voice, Pacer(self._lead_us), stages, emit)
        return turn

    def _start(self, turn: Turn, work: Coroutine[Any, Any, None]) -> None:
        self._warming.cancel()
        task = self._tasks.create_task(self._run_turn(turn, work), name=turn.turn_id)
        self._speaking = _Speaking(turn, task)
        self._keeper.save(*self.state())

    async def _drop_draft(self) -> None:
        draft, self._draft = self._draft, None
        if draft is not None:
            await draft.drop()

    async def _drop_cut(self) -> None:
        cut, self._cut = self._cut, None
        if cut is not None:
            await cut.thought.drop()

    async def _run_turn(self, turn: Turn, work: Coroutine[Any, Any, None]) -> None:
        began = time.monotonic()
        try:
            await work
        except TaoxrError as error:
            heard, state = turn.heard(), pb.TurnState.STATE_FAILED
            self._log.warning("turn failed", turn=turn.turn_id, kind=type(error).__name__)
            await self.notice(turn.turn_id, error)
        else:
            heard, state = turn.heard(turn.pacer.sent_us), pb.TurnState.STATE_DONE
            self._log.info("turn done", turn=turn.turn_id, seconds=round(time.monotonic() - began, 2))
        if self._speaking is not None:
            self._speaking.over = True
        self._mind.history.add_assistant(heard, turn.tool_uses, turn.turn_id)
        # A client that knows of the end can rely on it: the journal first.
        await self._keeper.saved(*self.state())
        await self._tell_state(turn.turn_id, state, heard)

    # While the avatar speaks.

    def played(self, turn_id: str, played_us: int) -> None:
        """The client has played so much of a turn; ignored unless that one runs."""
        if (speaking := self._active()) is not None and speaking.turn.turn_id == turn_id:
            speaking.turn.pacer.report(played_us)

    def tool_answered(self, result: tools_pb2.ToolResult) -> None:
        """The client has answered a tool call."""
        self._mind.tools.answer(result)

    async def interrupt(self, turn_id: str, played_us: int, forget: bool = False) -> None:
        """The client wants the avatar to be quiet; an empty `turn_id` means whatever turn runs.

        Args:
            turn_id: The turn.
            played_us: What was heard of it.
            forget: The turn was never meant; one that is over is forgotten, too.
        """
        async with self._turn_lock:
            await self._drop_cut()
            speaking = self._active()
            # One that names another turn came too late: that turn is over.
            if speaking is not None and turn_id in ("", speaking.turn.turn_id):
                await self._interrupt(speaking, played_us, forget)
            elif forget and turn_id:
                self._mind.history.forget(turn_id)
                await self._keeper.saved(*self.state())

    async def barge_in(self) -> None:
        """The user's voice stops the avatar, until it is known what it said."""
        async with self._turn_lock:
            if (speaking := self._active()) is not None:
                await self._drop_cut()
                speaking.turn.think_on()
                heard = await self._interrupt(speaking)
                self._cut = speaking.turn.rest(heard)

    async def finish_clause(self) -> None:
        """Ends the avatar's turn with the clause that is spoken, and waits for that."""
        if (speaking := self._active()) is not None:
            speaking.turn.finish_clause()
            await asyncio.wait([speaking.task])

    async def _interrupt(
        self, speaking: _Speaking, played_us: int | None = None, forget: bool = False
    ) -> str:
        """Stops a turn; nothing of it is sent after this. The lock is held. Returns what was heard of it."""
        speaking.task.cancel()
        await asyncio.wait([speaking.task])
        if not speaking.task.cancelled():
            return speaking.turn.heard(speaking.turn.pacer.sent_us)  # it came to its end just before
        turn = speaking.turn
        heard = turn.heard(played_us)
        await self._outbox.drop(turn.turn_id)
        self._epoch += 1
        if self.ear is not None:
            self.ear.stop_playback()
        if self.body is not None:
            self.body.interrupted(turn.turn_id, turn.pacer.position_us() if played_us is None else played_us)
        self._mind.history.add_assistant(heard, turn.tool_uses, turn.turn_id)
        if forget:
            self._mind.history.forget(turn.turn_id)
        speaking.over = True
        self._keeper.save(*self.state())
        await self._tell_state(turn.turn_id, pb.TurnState.STATE_INTERRUPTED, heard)
        self._log.info("turn interrupted", turn=turn.turn_id, heard_chars=len(heard))
        return heard

    # Responses.

    async def tell(self, turn_id: str, response: pb.ConverseResponse) -> None:
        """Sends a response, ahead of nothing but those that wait."""
        response.turn_id, response.epoch = turn_id, self._epoch
        await self._outbox.put_now(response)

    async def notice(self, turn_id: str, error: TaoxrError) -> None:
        """Sends an error that the conversation survives."""
        await self.tell(turn_id, pb.ConverseResponse(notice=status_of(error)))

    async def _tell_state(self, turn_id: str, state: pb.TurnState.State.ValueType, heard: str = "") -> None:
        await self.tell(turn_id, pb.ConverseResponse(turn=pb.TurnState(state=state, heard_text=heard)))
