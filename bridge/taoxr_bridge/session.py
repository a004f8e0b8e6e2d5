"""One conversation: requests come in, the user is heard, turns are taken, interrupted and remembered."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import structlog

from taoxr.errors import InvalidInputError, TaoxrError, UnavailableError
from taoxr.rpc import status_of
from taoxr.v1 import common_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr_bridge import validation
from taoxr_bridge.audience import Audience
from taoxr_bridge.draft import Draft, Held
from taoxr_bridge.idle import IdleWatch
from taoxr_bridge.journal import Journal
from taoxr_bridge.listening import Listener
from taoxr_bridge.mind import Mind
from taoxr_bridge.opening import opening, pong
from taoxr_bridge.outbox import Outbox
from taoxr_bridge.pacing import Pacer
from taoxr_bridge.resume import Keeper, Origin
from taoxr_bridge.settings import Settings
from taoxr_bridge.speech import Voice
from taoxr_bridge.stages import Stages
from taoxr_bridge.supervisor import Supervisor
from taoxr_bridge.tasks import nursery
from taoxr_bridge.turn import Recital, Thinker, Turn

_OUTBOX: Final = 64
_Send: TypeAlias = Callable[[pb.ConverseResponse], Awaitable[None]]


@dataclass(slots=True)
class _Speaking:
    """The avatar's newest turn; `over` once it is in the history, from when nothing can stop it."""

    turn: Turn
    task: asyncio.Task[None]
    over: bool = False


class Session:
    """State of one conversation.

    Args:
        origin: Where it begins or goes on.
        config: First request, checked; belongs to the session from now on.
        rig: What frames mean.
        voice: Voice and face.
        supervisor: The workers.
        settings: Limits and defaults.
        journal: Where it is kept, so that it can be resumed.

    Attributes:
        audience: Who looks on.
        ended: Set when the stream is over and the journal knows of it.
    """

    _tasks: asyncio.TaskGroup
    _warming: asyncio.Task[None]

    def __init__(
        self,
        origin: Origin,
        config: pb.ConversationConfig,
        rig: common_pb2.RigDescription,
        voice: Voice,
        supervisor: Supervisor,
        settings: Settings,
        journal: Journal | None = None,
    ) -> None:
        self._id = origin.session_id
        self._config = config
        self._rig = rig
        self._voice = voice
        self._workers = supervisor
        self._settings = settings
        self._log = structlog.get_logger().bind(session=self._id)
        self._outbox = Outbox(_OUTBOX)
        self.audience = Audience()
        self.ended = asyncio.Event()
        self._stopped: asyncio.Future[TaoxrError] = asyncio.get_running_loop().create_future()
        self._mind = Mind(supervisor["llm"], config, settings)
        self._history = self._mind.history
        self._keeper = Keeper(journal, origin, config, self._history)
        self._muted = False
        hears = config.HasField("audio_in")
        self._listener = Listener(self, config, supervisor["ear"], settings) if hears else None
        self._epoch = origin.epoch
        self._turns = origin.turns
        self._speaking: _Speaking | None = None
        # The rest of an answer that the user's voice has cut off, until it is known whether that was meant.
        self._cut = ""
        self._draft: Draft | None = None
        # Requests and the ear's results come from two tasks; turns change under this lock.
        self._turn_lock = asyncio.Lock()
        self._idle = IdleWatch(
            settings.idle_timeout_s,
            lambda: self._active() is not None,
            lambda left_s: self.announce_end(pb.GoingAway.REASON_IDLE, left_s),
        )

    async def run(self, requests: AsyncIterator[pb.ConverseRequest], send: _Send) -> None:
        """Converses until the client ends it; half-closing lets the current turn finish.

        Raises:
            InvalidInputError: A request has a wrong value.
            IdleError: No request came for too long.
        """
        started = opening(self._id, self._config, self._rig, self._voice, self._settings)
        await self._keeper.describe(started)
        await self.tell("", pb.ConverseResponse(session_started=started))
        try:
            ended = await self._converse(requests, send)
            # A connection that breaks can look like one that was half-closed, so only the word counts.
            if ended:
                self._keeper.forget()
        except BaseException:
            # The client may come back: what runs now is lost, but not what was said and heard.
            lost = self._speaking
            self._keeper.save(self._epoch, self._turns, lost.turn if lost and not lost.over else None)
            raise
        finally:
            await self._drop_draft()
            self.audience.close()
            self.ended.set()

    def stop(self, error: TaoxrError) -> None:
        """Ends the stream with an error; the conversation can be resumed."""
        if not self._stopped.done():
            self._stopped.set_result(error)

    async def drain(self, within_s: float) -> None:
        """Ends the stream with the clause that is spoken, which may take so many seconds.

        The conversation can be resumed at the server that comes next.
        """
        await self.announce_end(pb.GoingAway.REASON_SHUTDOWN, within_s)
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                if (speaking := self._active()) is not None:
                    speaking.turn.finish_clause()
                    await asyncio.wait([speaking.task])
                await self._sent_or_ended()
        self.stop(UnavailableError("the server stops; resume the conversation when it is back"))

    async def _sent_or_ended(self) -> None:
        # A client that has gone takes nothing any more.
        waiting = [asyncio.create_task(w) for w in (self._outbox.flushed(), self.ended.wait())]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()

    async def announce_end(self, reason: pb.GoingAway.Reason.ValueType, left_s: float) -> None:
        """Tells the client that the stream ends in so many seconds, and why."""
        going = pb.GoingAway(reason=reason, time_left_us=round(left_s * 1e6))
        await self.tell("", pb.ConverseResponse(going_away=going))

    async def _wait_stopped(self) -> None:
        raise await self._stopped

    async def _converse(self, requests: AsyncIterator[pb.ConverseRequest], send: _Send) -> bool:
        async with nursery() as tasks:
            self._tasks = tasks
            sending = tasks.create_task(self._send_all(send))
            running = (self._idle.run(), self._keeper.run(self._state), self._wait_stopped())
            helpers = [tasks.create_task(helper) for helper in running]
            self._warming = tasks.create_task(self._mind.warm_up())
            listener = self._listener
            ear = tasks.create_task(listener.ear.run()) if listener is not None else None
            ended = await self._read_all(requests)
            for helper in helpers:
                helper.cancel()
            self._warming.cancel()
            if ear is not None and listener is not None:
                if ended:
                    ear.cancel()
                else:
                    await listener.ear.close()
                    await ear
            if self._speaking is not None:
                if ended:
                    self._speaking.task.cancel()
                else:
                    await asyncio.wait([self._speaking.task])
            await self._outbox.close()
            await sending
        return ended

    # Requests.

    async def _read_all(self, requests: AsyncIterator[pb.ConverseRequest]) -> bool:
        """Handles requests; True when the client said `end_session`, False when it just closed."""
        async for request in requests:
            self._idle.alive()
            match request.WhichOneof("payload"):
                case "audio":
                    validation.check_pcm("audio.pcm", request.audio.pcm)
                    await self._require_ear("audio").hear(request.audio.pcm, muted=self._muted)
                case "text":
                    validation.check_text("text.text", request.text.text)
                    await self.take_turn(request.text.text.strip(), Stages(time.monotonic()))
                case "interrupt":
                    await self._on_interrupt(request.interrupt)
                case "playback":
                    validation.check_played("playback.played_us", request.playback.played_us)
                    if (speaking := self._active()) and speaking.turn.turn_id == request.playback.turn_id:
                        speaking.turn.pacer.report(request.playback.played_us)
                case "end_of_user_turn":
                    await self._require_ear("end_of_user_turn").end_turn()
                case "mute":
                    await self._on_mute(request.mute.muted)
                case "update_config":
                    validation.check_update(request.update_config)
                    self._mind.update(request.update_config)
                    self._keeper.save(*self._state())
                case "ping":
                    await self.tell("", pb.ConverseResponse(pong=pong(request.ping)))
                case "end_session":
                    return True
                case other:
                    raise InvalidInputError(
                        "payload", other, "one of the payloads but config, which comes first"
                    )
        return False

    async def _on_mute(self, muted: bool) -> None:
        listener = self._require_ear("mute")
        if muted and not self._muted:
            await listener.mute()
        self._muted = muted

    async def _on_interrupt(self, interrupt: pb.Interrupt) -> None:
        validation.check_played("interrupt.played_us", interrupt.played_us)
        async with self._turn_lock:
            self._cut = ""
            speaking = self._active()
            # One that names another turn came too late: that turn is over.
            if speaking is not None and interrupt.turn_id in ("", speaking.turn.turn_id):
                await self._interrupt(speaking, interrupt.played_us)

    def _require_ear(self, field: str) -> Listener:
        if self._listener is None:
            raise InvalidInputError(field, "a request", "none, or config.audio_in in the first request")
        return self._listener

    # Turns.

    @property
    def speaking(self) -> bool:
        """Whether the avatar's turn runs."""
        return self._active() is not None

    async def take_turn(self, user_text: str, stages: Stages, turn_id: str = "") -> None:
        """The user has said something: stops the avatar if it speaks, and lets it answer."""
        async with self._turn_lock:
            if (speaking := self._active()) is not None:
                await self._interrupt(speaking)
            self._cut = ""
            self._history.add_user(user_text)
            draft = self._draft
            if draft is not None and (draft.text, draft.turn.turn_id) == (user_text, turn_id):
                self._draft = None
                draft.turn.stages.join(stages)
                self._start(draft.turn, draft.publish())
                return
            await self._drop_draft()
            turn = self._turn(turn_id or self.next_turn_id(), self._mind.thinker(), stages)
            self._start(turn, turn.run())

    async def prepare(self, user_text: str, turn_id: str) -> None:
        """The user has probably said that: drafts the answer. An empty text drops the draft."""
        async with self._turn_lock:
            if self._draft is not None and self._draft.text == user_text:
                return
            await self._drop_draft()
            if user_text and self._active() is None:
                self._warming.cancel()
                held = Held(self._outbox.put)
                turn = self._turn(turn_id, self._mind.thinker(user_text), Stages(time.monotonic()), held)
                turn.public.clear()
                self._draft = Draft(user_text, turn, held)

    async def false_alarm(self) -> bool:
        """Says what is left of the turn that the user's voice has cut off; False when nothing is."""
        async with self._turn_lock:
            rest, self._cut = self._cut, ""
            if not any(c.isalnum() for c in rest) or self._active() is not None:
                return False
            await self._drop_draft()
            turn = self._turn(self.next_turn_id(), Recital(rest), Stages(time.monotonic()))
            self._start(turn, turn.run())
            return True

    def _turn(
        self, turn_id: str, thinker: Thinker | Recital, stages: Stages, held: Held | None = None
    ) -> Turn:
        epoch = self._epoch
        put = self._outbox.put if held is None else held.emit

        async def emit(response: pb.ConverseResponse) -> None:
            response.turn_id, response.epoch = turn_id, epoch
            await put(response)
            if response.HasField("media") and self._listener is not None:
                media, ahead_us = response.media, response.media.start_us - turn.pacer.position_us()
                self._listener.ear.play(media.pcm, self._voice.sample_rate_hz, media.clause_text, ahead_us)

        turn = Turn(turn_id, thinker, self._voice, Pacer(self._settings.lead_us), stages, emit)
        return turn

    def _start(self, turn: Turn, work: Coroutine[Any, Any, None]) -> None:
        self._warming.cancel()
        task = self._tasks.create_task(self._run_turn(turn, work), name=turn.turn_id)
        self._speaking = _Speaking(turn, task)
        self._keeper.save(*self._state())

    async def _drop_draft(self) -> None:
        draft, self._draft = self._draft, None
        if draft is not None:
            await draft.drop()

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
        self._history.add_assistant(heard)
        # A client that knows of the end can rely on it: the journal first.
        await self._keeper.saved(*self._state())
        await self._tell_state(turn.turn_id, state, heard)

    async def _interrupt(self, speaking: _Speaking, played_us: int | None = None) -> str:
        """Stops a turn; nothing of it is sent after this. The lock is held. Returns what was heard of it."""
        speaking.task.cancel()
        await asyncio.wait([speaking.task])
        if not speaking.task.cancelled():
            return speaking.turn.heard(speaking.turn.pacer.sent_us)  # it came to its end just before
        turn = speaking.turn
        heard = turn.heard(played_us)
        await self._outbox.drop(turn.turn_id)
        self._epoch += 1
        if self._listener is not None:
            self._listener.ear.stop_playback()
        self._history.add_assistant(heard)
        speaking.over = True
        self._keeper.save(*self._state())
        await self._tell_state(turn.turn_id, pb.TurnState.STATE_INTERRUPTED, heard)
        self._log.info("turn interrupted", turn=turn.turn_id, heard_chars=len(heard))
        return heard

    async def barge_in(self) -> None:
        """The user's voice stops the avatar, until it is known what it said."""
        async with self._turn_lock:
            if (speaking := self._active()) is not None:
                heard = await self._interrupt(speaking)
                self._cut = speaking.turn.rest(heard)

    def _active(self) -> _Speaking | None:
        """The avatar's turn, unless it is over."""
        return None if self._speaking is None or self._speaking.over else self._speaking

    def _state(self) -> tuple[int, int, Turn | None]:
        """What the journal wants to know: epoch, turns, and the turn that runs."""
        speaking = self._active()
        return self._epoch, self._turns, None if speaking is None else speaking.turn

    def next_turn_id(self) -> str:
        """Name for a new turn."""
        self._turns += 1
        return f"turn-{self._turns}"

    # Responses.

    async def tell(self, turn_id: str, response: pb.ConverseResponse) -> None:
        """Sends a response, ahead of nothing but those that wait."""
        response.turn_id, response.epoch = turn_id, self._epoch
        await self._outbox.put_now(response)

    async def _tell_state(self, turn_id: str, state: pb.TurnState.State.ValueType, heard: str = "") -> None:
        await self.tell(turn_id, pb.ConverseResponse(turn=pb.TurnState(state=state, heard_text=heard)))

    async def notice(self, turn_id: str, error: TaoxrError) -> None:
        """Sends an error that the conversation survives."""
        await self.tell(turn_id, pb.ConverseResponse(notice=status_of(error)))

    async def _send_all(self, send: _Send) -> None:
        async for response in self._outbox:
            await send(response)
            self.audience.show(response)
