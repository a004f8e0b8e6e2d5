"""One conversation with the avatar: send text or audio, iterate over the events."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, cast

import grpc
import numpy as np
from grpc import aio
from numpy.typing import NDArray

from taoxr.client import body, events, from_proto
from taoxr.client.tools import Tool, as_tool, result_of
from taoxr.errors import TaoxrError, UnavailableError
from taoxr.rpc import error_of
from taoxr.v1 import common_pb2, tools_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr.v1.conversation_pb2_grpc import ConversationServiceStub


class InputMode(StrEnum):
    """How a spoken turn of the user ends: found by the server, or said by the client."""

    HANDS_FREE = "hands_free"
    PUSH_TO_TALK = "push_to_talk"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationOptions:
    """Wishes of the client; None (or 0 or "") leaves a choice to the server.

    Attributes:
        audio_in_hz: Rate of the audio that will be sent, 8000 to 48000; 0 when only text is sent.
        input_mode: How a spoken turn of the user ends.
        system_prompt: Replaces the default persona when not empty.
        history: Earlier turns, oldest first: pairs of "user" or "assistant" and text.
        frame_rate: Frames per second, 10 to 120; 0 is the default of 30.
        space: Coefficient space that the client's rig takes.
        max_answer_tokens: Most tokens in an answer.
        seed: Seed of the sampler.
        temperature: Sampling temperature, 0 is greedy.
        partial_transcripts: Whether transcripts come while the user still speaks.
        echo_cancelled: True when the avatar's voice is not in the audio that will be sent: the client cancels
            echo, or the user wears headphones. Otherwise the server keeps the avatar from hearing itself.
        tools: Functions that the avatar may call, at most 16; see `taoxr.client.tools`. They are called while
            the events are iterated.
        tool_timeout_s: How long a call may take, 0.1 to 120; 0 is the default of 10 s.
        speed: Speaking rate, 0.5 to 2; 0 is the voice's own.
        speaker: Name or number, of a voice that has several; empty is the first.
        voice_seed: Varies intonation and rhythm of the voice.
        resume_token: `SessionStarted.resume_token` of a conversation to go on with; `history` and
            `system_prompt` are then its own, and must be empty here.
        tracks: What is sent beside the voice and the face.
    """

    audio_in_hz: int = 0
    input_mode: InputMode = InputMode.HANDS_FREE
    system_prompt: str = ""
    history: tuple[tuple[str, str], ...] = ()
    frame_rate: float = 0.0
    space: str = "arkit52"
    max_answer_tokens: int = 0
    seed: int = 0
    temperature: float | None = None
    partial_transcripts: bool = True
    echo_cancelled: bool = False
    tools: tuple[Tool | Callable[..., Any], ...] = ()
    tool_timeout_s: float = 0.0
    speed: float = 0.0
    speaker: str = ""
    voice_seed: int = 0
    resume_token: str = field(default="", repr=False)
    tracks: frozenset[body.Track] = frozenset()


_ROLES: Final = {"user": common_pb2.ROLE_USER, "assistant": common_pb2.ROLE_ASSISTANT}
_MODES: Final = {
    InputMode.HANDS_FREE: pb.INPUT_MODE_HANDS_FREE,
    InputMode.PUSH_TO_TALK: pb.INPUT_MODE_PUSH_TO_TALK,
}
# The largest piece of audio sent in one request: 100 ms at 48 kHz, far below the server's limit.
_AUDIO_SAMPLES: Final = 4800
# grpc.aio's call classes cannot be subscripted at run time.
_Call: TypeAlias = "aio.StreamStreamCall[pb.ConverseRequest, pb.ConverseResponse]"


def config_to_proto(options: ConversationOptions) -> pb.ConversationConfig:
    """The first request's payload."""
    return pb.ConversationConfig(
        audio_in=common_pb2.AudioFormat(sample_rate_hz=options.audio_in_hz) if options.audio_in_hz else None,
        input_mode=_MODES[options.input_mode],
        system_prompt=options.system_prompt,
        history=[common_pb2.ChatMessage(role=_ROLES[role], content=text) for role, text in options.history],
        frame_rate=options.frame_rate,
        space=options.space,
        max_answer_tokens=options.max_answer_tokens,
        seed=options.seed,
        temperature=options.temperature,
        partial_transcripts=options.partial_transcripts,
        echo_cancelled=options.echo_cancelled,
        tools=[as_tool(tool).to_proto() for tool in options.tools],
        tool_timeout_us=round(options.tool_timeout_s * 1e6),
        speed=options.speed,
        speaker=options.speaker,
        voice_seed=options.voice_seed,
        resume_token=options.resume_token,
        tracks=[body.TRACK_TO_PROTO[track] for track in sorted(options.tracks)],
    )


class Conversation:
    """A running conversation; made by `Client.converse`, used as an async context manager.

    Iterating gives the events in order and ends when the conversation has ended. Events of an
    interrupted turn are dropped, so everything that arrives may be played.

    Raises:
        TaoxrError: (while sending or iterating) The server refused the input or went away.

    Attributes:
        options: What was asked for.
        started: What was negotiated; valid inside the ``async with`` block.
    """

    def __init__(self, stub: ConversationServiceStub, options: ConversationOptions) -> None:
        self._stub = stub
        self.options = options
        self._call: _Call | None = None
        self._write_lock = asyncio.Lock()
        self._epoch = 0
        self._interrupted: set[str] = set()
        self._turn_id = ""
        self._started: events.SessionStarted | None = None
        self._replay_started = True
        self._tools = {tool.name: tool for tool in map(as_tool, options.tools)}
        self._working: set[asyncio.Task[None]] = set()

    @property
    def started(self) -> events.SessionStarted:
        """What was negotiated; stays when the conversation is over."""
        if self._started is None:
            raise UnavailableError("the conversation has not started: use `async with`")
        return self._started

    @property
    def turn_id(self) -> str:
        """The avatar's newest turn, or empty."""
        return self._turn_id

    async def __aenter__(self) -> Self:
        # types-grpcio knows only the form with an iterator of requests.
        self._call = call = cast("_Call", self._stub.Converse())  # pyright: ignore[reportCallIssue]
        try:
            await self._send(pb.ConverseRequest(config=config_to_proto(self.options)))
            event = await self._read()
            if not isinstance(event, events.SessionStarted):
                raise UnavailableError(f"the server began with {event!r}, expected session_started")
        except BaseException:
            call.cancel()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._working:
            task.cancel()
        if self._call is not None:
            self._call.cancel()

    async def send_text(self, text: str) -> None:
        """The user says `text`; while the avatar speaks, this interrupts it."""
        await self._send(pb.ConverseRequest(text=pb.TextInput(text=text)))

    async def send_audio(self, pcm: NDArray[np.int16]) -> None:
        """More of the user's voice: int16 [n], mono, at `ConversationOptions.audio_in_hz`."""
        for start in range(0, len(pcm), _AUDIO_SAMPLES):
            piece = pcm[start : start + _AUDIO_SAMPLES].astype("<i2", copy=False).tobytes()
            await self._send(pb.ConverseRequest(audio=pb.AudioInput(pcm=piece)))

    async def end_of_user_turn(self) -> None:
        """The user has finished speaking (push to talk)."""
        await self._send(pb.ConverseRequest(end_of_user_turn=pb.EndOfUserTurn()))

    async def interrupt(self, played_us: int, *, forget: bool = False) -> None:
        """Stops the current turn, of which `played_us` microseconds were heard.

        What still arrives of that turn, apart from its final state, is dropped.

        Args:
            played_us: What was heard.
            forget: The turn is not told to the language model later, nor kept.
        """
        if self._turn_id:
            self._interrupted.add(self._turn_id)
        interrupt = pb.Interrupt(turn_id=self._turn_id, played_us=played_us, forget=forget)
        await self._send(pb.ConverseRequest(interrupt=interrupt))

    async def report_playback(self, turn_id: str, played_us: int, underruns: int = 0) -> None:
        """Tells how far playback of a turn has come; the server paces by it."""
        report = pb.PlaybackReport(turn_id=turn_id, played_us=played_us, underruns=underruns)
        await self._send(pb.ConverseRequest(playback=report))

    async def answer_tool(self, call_id: str, *, output: str = "", error: str = "") -> None:
        """Tells what came of a `ToolCall` of a tool without `Tool.run`.

        Args:
            call_id: `ToolCall.call_id`.
            output: What came out, at most 4,000 characters.
            error: Or why it failed, at most 1,000 characters.
        """
        result = tools_pb2.ToolResult(call_id=call_id)
        if error:
            result.error = error
        else:
            result.output = output
        await self._send(pb.ConverseRequest(tool_result=result))

    async def mute(self, muted: bool) -> None:
        """Switches the microphone off or on: audio that is sent while it is off counts as silence."""
        await self._send(pb.ConverseRequest(mute=pb.Mute(muted=muted)))

    async def update(
        self,
        *,
        system_prompt: str | None = None,
        max_answer_tokens: int | None = None,
        temperature: float | None = None,
    ) -> None:
        """Changes the conversation from the next turn on; None leaves a setting as it is.

        An empty `system_prompt` is the server's persona again. Sound, input mode and frames cannot change:
        open the conversation again for that, with `SessionStarted.resume_token`.
        """
        update = pb.UpdateConfig(
            system_prompt=system_prompt, max_answer_tokens=max_answer_tokens, temperature=temperature
        )
        await self._send(pb.ConverseRequest(update_config=update))

    async def play_action(self, action: body.Action) -> None:
        """Asks for a gesture, now; needs `Track.BODY`."""
        await self._send(pb.ConverseRequest(play_action=body.action_to_proto(action)))

    async def look_at(self, target: Sequence[float] | None) -> None:
        """Where the avatar shall look from now on: x, y, z in its space, in metres; needs `Track.BODY`.

        None: straight ahead, with glances of its own. See docs/body.md for the space.
        """
        await self._send(pb.ConverseRequest(look_at=body.look_at_to_proto(target)))

    async def ping(self) -> None:
        """Asks for a `Pong`; also a sign of life that keeps an idle conversation."""
        ping = pb.Ping(client_time_us=time.monotonic_ns() // 1000)
        await self._send(pb.ConverseRequest(ping=ping))

    async def end(self) -> None:
        """Ends the conversation; what is left of the current turn is not sent."""
        await self._send(pb.ConverseRequest(end_session=pb.EndSession()))

    async def __aiter__(self) -> AsyncGenerator[events.Event]:
        if self._replay_started:
            self._replay_started = False
            yield self.started
        while (event := await self._read()) is not None:
            yield event

    async def _send(self, request: pb.ConverseRequest) -> None:
        call = self._running_call()
        # grpc.aio allows one write at a time.
        async with self._write_lock:
            try:
                await call.write(request)
            except aio.AioRpcError as error:
                raise error_of(error) from error
            except asyncio.InvalidStateError as error:  # the call is over: its status says why
                await _raise_status(call)
                raise UnavailableError("the conversation has ended; nothing more can be sent") from error

    async def _read(self) -> events.Event | None:
        """The next event, or None at the end of the stream."""
        call = self._running_call()
        while True:
            try:
                response: Any = await call.read()
            except aio.AioRpcError as error:
                raise error_of(error) from error
            if not isinstance(response, pb.ConverseResponse):  # grpc.aio.EOF
                await _raise_status(call)
                return None
            event = from_proto.event_from_proto(response, self._started)
            if isinstance(event, events.SessionStarted):
                self._started = event
            if event is not None and not self._stale(event):
                if isinstance(event, events.ToolCall):
                    self._use_tool(response.tool_call)
                return event

    def _use_tool(self, call: tools_pb2.ToolCall) -> None:
        tool = self._tools.get(call.name)
        if tool is not None and tool.run is None:
            return  # whoever iterates answers it
        task = asyncio.create_task(self._answer_with(tool, call), name=call.call_id)
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def _answer_with(self, tool: Tool | None, call: tools_pb2.ToolCall) -> None:
        if tool is None:
            result = tools_pb2.ToolResult(call_id=call.call_id, error=f"there is no tool {call.name} here")
        else:
            result = await result_of(tool, call)
        with suppress(TaoxrError):  # the conversation is over, and whoever iterates learns why
            await self._send(pb.ConverseRequest(tool_result=result))

    def _stale(self, event: events.Event) -> bool:
        if event.epoch < self._epoch:
            return True
        self._epoch = event.epoch
        if isinstance(event, events.TextDelta | events.MediaChunk) or (
            isinstance(event, events.TurnState)
            and event.state in (events.State.THINKING, events.State.SPEAKING)
        ):
            self._turn_id = event.turn_id
        ended = isinstance(event, events.TurnState) and event.state.ended
        return event.turn_id in self._interrupted and not ended

    def _running_call(self) -> "_Call":
        if self._call is None:
            raise UnavailableError("the conversation has not started: use `async with`")
        return self._call


async def _raise_status(call: "_Call") -> None:
    """Raises what the status of a call that is over stands for, if it is an error."""
    code = await call.code()
    if code is not grpc.StatusCode.OK:
        trailing = await call.trailing_metadata()
        raise error_of(aio.AioRpcError(code, aio.Metadata(), trailing, await call.details()))
