"""One conversation: requests come in, the user is heard, turns are taken, interrupted and remembered."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

import structlog

from taoxr.errors import InvalidInputError, TaoxrError, UnavailableError
from taoxr.rpc import status_of
from taoxr.v1 import common_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr.worker.v1 import ear_pb2
from taoxr_bridge import validation
from taoxr_bridge.audience import Audience
from taoxr_bridge.ear import Ear
from taoxr_bridge.idle import IdleWatch
from taoxr_bridge.journal import Journal
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
from taoxr_bridge.turn import Turn

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
        self._push_to_talk = config.input_mode == pb.INPUT_MODE_PUSH_TO_TALK
        self._ear = self._make_ear() if config.HasField("audio_in") else None
        self._epoch = origin.epoch
        self._turns = origin.turns
        self._speaking: _Speaking | None = None
        # Name of the user's turn that is heard, or empty; and when the newest one ended.
        self._listening = ""
        self._user_ended = time.monotonic()
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
        await self._tell("", pb.ConverseResponse(session_started=started))
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
                await self._outbox.flushed()
        self.stop(UnavailableError("the server stops; resume the conversation when it is back"))

    async def announce_end(self, reason: pb.GoingAway.Reason.ValueType, left_s: float) -> None:
        """Tells the client that the stream ends in so many seconds, and why."""
        going = pb.GoingAway(reason=reason, time_left_us=round(left_s * 1e6))
        await self._tell("", pb.ConverseResponse(going_away=going))

    async def _wait_stopped(self) -> None:
        raise await self._stopped

    async def _converse(self, requests: AsyncIterator[pb.ConverseRequest], send: _Send) -> bool:
        async with nursery() as tasks:
            self._tasks = tasks
            sending = tasks.create_task(self._send_all(send))
            running = (self._idle.run(), self._keeper.run(self._state), self._wait_stopped())
            helpers = [tasks.create_task(helper) for helper in running]
            self._warming = tasks.create_task(self._mind.warm_up())
            ear = tasks.create_task(self._ear.run()) if self._ear is not None else None
            ended = await self._read_all(requests)
            for helper in helpers:
                helper.cancel()
            self._warming.cancel()
            if ear is not None and self._ear is not None:
                if ended:
                    ear.cancel()
                else:
                    await self._ear.close()
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
                    await self._hear(request.audio.pcm)
                case "text":
                    validation.check_text("text.text", request.text.text)
                    await self._take_turn(request.text.text.strip(), Stages(time.monotonic()))
                case "interrupt":
                    await self._on_interrupt(request.interrupt)
                case "playback":
                    validation.check_played("playback.played_us", request.playback.played_us)
                    if (speaking := self._active()) and speaking.turn.turn_id == request.playback.turn_id:
                        speaking.turn.pacer.report(request.playback.played_us)
                case "end_of_user_turn":
                    await self._require_ear("end_of_user_turn").end_utterance()
                    self._user_ended = time.monotonic()
                case "mute":
                    await self._on_mute(request.mute.muted)
                case "update_config":
                    validation.check_update(request.update_config)
                    self._mind.update(request.update_config)
                    self._keeper.save(*self._state())
                case "ping":
                    await self._tell("", pb.ConverseResponse(pong=pong(request.ping)))
                case "end_session":
                    return True
                case other:
                    raise InvalidInputError(
                        "payload", other, "one of the payloads but config, which comes first"
                    )
        return False

    async def _hear(self, pcm: bytes) -> None:
        ear = self._require_ear("audio")
        validation.check_pcm("audio.pcm", pcm)
        deaf = self._settings.barge_in == "none" and not self._push_to_talk and self._active() is not None
        await ear.feed(bytes(len(pcm)) if deaf or self._muted else pcm)

    async def _on_mute(self, muted: bool) -> None:
        ear = self._require_ear("mute")
        if muted and not self._muted and self._listening:
            # The client may send nothing more, in which no silence could be heard.
            await ear.end_utterance()
        self._muted = muted

    async def _on_interrupt(self, interrupt: pb.Interrupt) -> None:
        validation.check_played("interrupt.played_us", interrupt.played_us)
        async with self._turn_lock:
            speaking = self._active()
            # One that names another turn came too late: that turn is over.
            if speaking is not None and interrupt.turn_id in ("", speaking.turn.turn_id):
                await self._interrupt(speaking, interrupt.played_us)

    def _require_ear(self, field: str) -> Ear:
        if self._ear is None:
            raise InvalidInputError(field, "a request", "none, or config.audio_in in the first request")
        return self._ear

    # What the ear hears.

    def _make_ear(self) -> Ear:
        config = ear_pb2.ListenConfig(
            sample_rate_hz=self._config.audio_in.sample_rate_hz,
            push_to_talk=self._push_to_talk,
            partials=self._config.partial_transcripts,
            endpoint_silence_ms=self._settings.endpoint_silence_ms,
        )
        return Ear(self._workers["ear"], config, self._settings.worker_wait_s, self._on_heard, self._on_deaf)

    async def _on_heard(self, response: ear_pb2.ListenResponse) -> None:
        match response.WhichOneof("payload"):
            case "speech_started":
                await self._on_speech_started(response.speech_started.offset_us)
            case "speech_stopped":
                await self._on_speech_stopped(response.speech_stopped.offset_us)
            case "utterance":
                await self._on_utterance(response.utterance)
            case _:
                pass

    async def _on_speech_started(self, offset_us: int) -> None:
        turn_id = await self._listen()
        activity = pb.SpeechActivity(kind=pb.SpeechActivity.KIND_STARTED, offset_us=offset_us)
        await self._tell(turn_id, pb.ConverseResponse(speech_activity=activity))
        if self._settings.barge_in == "speech":
            await self._barge_in()

    async def _on_speech_stopped(self, offset_us: int) -> None:
        turn_id = await self._listen()
        if not self._push_to_talk and self._ear is not None:
            self._user_ended = self._ear.arrival(offset_us)
        activity = pb.SpeechActivity(kind=pb.SpeechActivity.KIND_STOPPED, offset_us=offset_us)
        await self._tell(turn_id, pb.ConverseResponse(speech_activity=activity))

    async def _on_utterance(self, said: ear_pb2.Utterance) -> None:
        turn_id = await self._listen()
        transcript = pb.Transcript(
            text=said.text, is_final=said.is_final, start_us=said.start_us, end_us=said.end_us
        )
        await self._tell(turn_id, pb.ConverseResponse(transcript=transcript))
        text = said.text.strip()
        if not said.is_final:
            if text and self._settings.barge_in == "words":
                await self._barge_in()
            return
        self._listening = ""
        if text:
            stages = Stages(self._user_ended)
            stages.mark("asr")
            await self._take_turn(text, stages, turn_id)
        else:
            # The detector was wrong, or the words could not be made out: nobody's turn.
            await self._tell_state(turn_id, pb.TurnState.STATE_DONE)

    async def _listen(self) -> str:
        """The user's turn that is heard, begun if need be."""
        if not self._listening:
            self._listening = self._next_turn_id()
            await self._tell_state(self._listening, pb.TurnState.STATE_LISTENING)
        return self._listening

    async def _on_deaf(self, error: UnavailableError) -> None:
        turn_id, self._listening = self._listening, ""
        await self._notice(turn_id, error)
        if turn_id:
            await self._tell_state(turn_id, pb.TurnState.STATE_FAILED)

    # Turns.

    async def _take_turn(self, user_text: str, stages: Stages, turn_id: str = "") -> None:
        """The user has said something: stops the avatar if it speaks, and lets it answer."""
        async with self._turn_lock:
            self._warming.cancel()
            if (speaking := self._active()) is not None:
                await self._interrupt(speaking)
            self._history.add_user(user_text)
            turn_id = turn_id or self._next_turn_id()
            epoch = self._epoch

            async def emit(response: pb.ConverseResponse) -> None:
                response.turn_id, response.epoch = turn_id, epoch
                await self._outbox.put(response)

            turn = Turn(
                turn_id, self._mind.thinker(), self._voice, Pacer(self._settings.lead_us), stages, emit
            )
            task = self._tasks.create_task(self._run_turn(turn), name=turn_id)
            self._speaking = _Speaking(turn, task)
            self._keeper.save(*self._state())

    async def _run_turn(self, turn: Turn) -> None:
        began = time.monotonic()
        try:
            await turn.run()
        except TaoxrError as error:
            heard, state = turn.heard(), pb.TurnState.STATE_FAILED
            self._log.warning("turn failed", turn=turn.turn_id, kind=type(error).__name__)
            await self._notice(turn.turn_id, error)
        else:
            heard, state = turn.heard(turn.pacer.sent_us), pb.TurnState.STATE_DONE
            self._log.info("turn done", turn=turn.turn_id, seconds=round(time.monotonic() - began, 2))
        if self._speaking is not None:
            self._speaking.over = True
        self._history.add_assistant(heard)
        # A client that knows of the end can rely on it: the journal first.
        await self._keeper.saved(*self._state())
        await self._tell_state(turn.turn_id, state, heard)

    async def _interrupt(self, speaking: _Speaking, played_us: int | None = None) -> None:
        """Stops a turn; nothing of it is sent after this. The lock is held."""
        speaking.task.cancel()
        await asyncio.wait([speaking.task])
        if not speaking.task.cancelled():
            return  # it came to its end just before
        turn = speaking.turn
        heard = turn.heard(played_us)
        await self._outbox.drop(turn.turn_id)
        self._epoch += 1
        self._history.add_assistant(heard)
        speaking.over = True
        self._keeper.save(*self._state())
        await self._tell_state(turn.turn_id, pb.TurnState.STATE_INTERRUPTED, heard)
        self._log.info("turn interrupted", turn=turn.turn_id, heard_chars=len(heard))

    async def _barge_in(self) -> None:
        async with self._turn_lock:
            if (speaking := self._active()) is not None:
                await self._interrupt(speaking)

    def _active(self) -> _Speaking | None:
        """The avatar's turn, unless it is over."""
        return None if self._speaking is None or self._speaking.over else self._speaking

    def _state(self) -> tuple[int, int, Turn | None]:
        """What the journal wants to know: epoch, turns, and the turn that runs."""
        speaking = self._active()
        return self._epoch, self._turns, None if speaking is None else speaking.turn

    def _next_turn_id(self) -> str:
        self._turns += 1
        return f"turn-{self._turns}"

    # Responses.

    async def _tell(self, turn_id: str, response: pb.ConverseResponse) -> None:
        response.turn_id, response.epoch = turn_id, self._epoch
        await self._outbox.put_now(response)

    async def _tell_state(self, turn_id: str, state: pb.TurnState.State.ValueType, heard: str = "") -> None:
        await self._tell(turn_id, pb.ConverseResponse(turn=pb.TurnState(state=state, heard_text=heard)))

    async def _notice(self, turn_id: str, error: TaoxrError) -> None:
        await self._tell(turn_id, pb.ConverseResponse(notice=status_of(error)))

    async def _send_all(self, send: _Send) -> None:
        async for response in self._outbox:
            await send(response)
            self.audience.show(response)
