"""One conversation: requests come in, the user is heard, turns are taken, interrupted and remembered."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import structlog

from taoxr.errors import InvalidInputError, TaoxrError, UnavailableError
from taoxr.rpc import status_of
from taoxr.v1 import common_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr.worker.v1 import ear_pb2, llm_pb2
from taoxr_bridge import calls, validation
from taoxr_bridge.ear import Ear
from taoxr_bridge.history import History
from taoxr_bridge.outbox import Outbox
from taoxr_bridge.pacing import Pacer
from taoxr_bridge.settings import Settings
from taoxr_bridge.speech import Voice
from taoxr_bridge.stages import Stages
from taoxr_bridge.supervisor import Supervisor
from taoxr_bridge.tasks import nursery
from taoxr_bridge.turn import Thinker, Turn

_OUTBOX: Final = 64
# A fixed default, so that runs repeat.
_SEED: Final = 1


class IdleError(TaoxrError):
    """A conversation had no request for too long."""


@dataclass(slots=True)
class _Speaking:
    """The avatar's turn that runs."""

    turn: Turn
    task: asyncio.Task[None]


class Session:
    """State of one conversation.

    Args:
        session_id: Name for logs.
        config: First request, checked.
        rig: What frames mean.
        voice: Voice and face.
        supervisor: The workers.
        settings: Limits and defaults.
    """

    _tasks: asyncio.TaskGroup
    _warming: asyncio.Task[None]

    def __init__(
        self,
        session_id: str,
        config: pb.ConversationConfig,
        rig: common_pb2.RigDescription,
        voice: Voice,
        supervisor: Supervisor,
        settings: Settings,
    ) -> None:
        self._id = session_id
        self._config = config
        self._rig = rig
        self._voice = voice
        self._workers = supervisor
        self._settings = settings
        self._log = structlog.get_logger().bind(session=session_id)
        self._outbox = Outbox(_OUTBOX)
        persona = config.system_prompt or settings.persona
        examples = () if config.system_prompt else settings.examples
        self._history = History(persona, examples, config.history, settings.history_chars)
        self._push_to_talk = config.input_mode == pb.INPUT_MODE_PUSH_TO_TALK
        self._ear = self._make_ear() if config.HasField("audio_in") else None
        self._epoch = 0
        self._turns = 0
        self._speaking: _Speaking | None = None
        # Name of the user's turn that is heard, or empty; and when the newest one ended.
        self._listening = ""
        self._user_ended = time.monotonic()
        # Requests and the ear's results come from two tasks; turns change under this lock.
        self._turn_lock = asyncio.Lock()
        self._last_request = time.monotonic()

    async def run(
        self,
        requests: AsyncIterator[pb.ConverseRequest],
        send: Callable[[pb.ConverseResponse], Awaitable[None]],
    ) -> None:
        """Converses until the client ends it; half-closing lets the current turn finish.

        Raises:
            InvalidInputError: A request has a wrong value.
            IdleError: No request came for too long.
        """
        await self._tell("", pb.ConverseResponse(session_started=self._started()))
        async with nursery() as tasks:
            self._tasks = tasks
            sending = tasks.create_task(self._send_all(send))
            idle = tasks.create_task(self._watch_idle())
            self._warming = tasks.create_task(self._warm_up())
            ear = tasks.create_task(self._ear.run()) if self._ear is not None else None
            ended = await self._read_all(requests)
            idle.cancel()
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
                    await self._speaking.task
            await self._outbox.close()
            await sending

    # Requests.

    async def _read_all(self, requests: AsyncIterator[pb.ConverseRequest]) -> bool:
        """Handles requests; True when the client said `end_session`, False when it just closed."""
        async for request in requests:
            self._last_request = time.monotonic()
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
        await ear.feed(bytes(len(pcm)) if deaf else pcm)

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

            thinker = Thinker(self._workers["llm"], self._prompt(), self._settings.worker_wait_s)
            turn = Turn(turn_id, thinker, self._voice, Pacer(self._settings.lead_us), stages, emit)
            task = self._tasks.create_task(self._run_turn(turn), name=turn_id)
            self._speaking = _Speaking(turn, task)

    async def _warm_up(self) -> None:
        """Lets the language model read the persona while the user still thinks of what to say."""
        request = self._prompt()
        request.messages.add(role=common_pb2.ROLE_USER, content="Hello")
        request.max_tokens = 1
        try:
            async with aclosing(calls.generate(self._workers["llm"], request, 1.0)) as responses:
                async for _ in responses:
                    pass
        except TaoxrError as error:  # the first turn will find out by itself
            self._log.info("warm-up failed", kind=type(error).__name__)

    async def _run_turn(self, turn: Turn) -> None:
        began = time.monotonic()
        try:
            await turn.run()
        except TaoxrError as error:
            heard = turn.heard()
            await self._notice(turn.turn_id, error)
            await self._tell_state(turn.turn_id, pb.TurnState.STATE_FAILED, heard)
            self._log.warning("turn failed", turn=turn.turn_id, kind=type(error).__name__)
        else:
            heard = turn.heard(turn.pacer.sent_us)
            self._log.info("turn done", turn=turn.turn_id, seconds=round(time.monotonic() - began, 2))
        self._history.add_assistant(heard)

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
        await self._tell_state(turn.turn_id, pb.TurnState.STATE_INTERRUPTED, heard)
        self._log.info("turn interrupted", turn=turn.turn_id, heard_chars=len(heard))

    async def _barge_in(self) -> None:
        async with self._turn_lock:
            if (speaking := self._active()) is not None:
                await self._interrupt(speaking)

    def _active(self) -> _Speaking | None:
        """The avatar's turn, unless it is over."""
        if self._speaking is not None and self._speaking.task.done():
            self._speaking = None
        return self._speaking

    def _prompt(self) -> llm_pb2.GenerateRequest:
        config, settings = self._config, self._settings
        return llm_pb2.GenerateRequest(
            messages=self._history.messages(),
            max_tokens=config.max_answer_tokens or settings.max_answer_tokens,
            temperature=config.temperature if config.HasField("temperature") else settings.temperature,
            top_k=settings.top_k,
            top_p=settings.top_p,
            repetition_penalty=settings.repetition_penalty,
            seed=config.seed or _SEED,
        )

    def _next_turn_id(self) -> str:
        self._turns += 1
        return f"turn-{self._turns}"

    # Responses.

    def _started(self) -> pb.SessionStarted:
        rig = common_pb2.RigDescription()
        rig.CopyFrom(self._rig)
        rig.frame_rate = self._voice.frame_rate
        return pb.SessionStarted(
            session_id=self._id,
            audio_in=self._config.audio_in if self._config.HasField("audio_in") else None,
            audio_out=common_pb2.AudioFormat(sample_rate_hz=self._voice.sample_rate_hz),
            rig=rig,
            lead_us=self._settings.lead_us,
        )

    async def _tell(self, turn_id: str, response: pb.ConverseResponse) -> None:
        response.turn_id, response.epoch = turn_id, self._epoch
        await self._outbox.put_now(response)

    async def _tell_state(self, turn_id: str, state: pb.TurnState.State.ValueType, heard: str = "") -> None:
        await self._tell(turn_id, pb.ConverseResponse(turn=pb.TurnState(state=state, heard_text=heard)))

    async def _notice(self, turn_id: str, error: TaoxrError) -> None:
        await self._tell(turn_id, pb.ConverseResponse(notice=status_of(error)))

    async def _send_all(self, send: Callable[[pb.ConverseResponse], Awaitable[None]]) -> None:
        async for response in self._outbox:
            await send(response)

    async def _watch_idle(self) -> None:
        limit = self._settings.idle_timeout_s
        # ASYNC110: this waits for a time that keeps moving away, which no event tells.
        while (idle := time.monotonic() - self._last_request) < limit or self._active() is not None:  # noqa: ASYNC110
            await asyncio.sleep(max(limit - idle, 1.0))
        raise IdleError(f"no request for {limit:.0f} s: the conversation has ended; open a new one")
