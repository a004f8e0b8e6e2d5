"""``taoxr.v1.ConversationService``."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final

from grpc import aio

from taoxr import __version__
from taoxr.errors import BusyError, InvalidInputError, NotFoundError, UnavailableError
from taoxr.v1 import common_pb2, conversation_pb2_grpc
from taoxr.v1 import conversation_pb2 as pb
from taoxr.worker.v1 import a2bs_pb2
from taoxr_bridge import calls, resume, validation
from taoxr_bridge.journal import Journal
from taoxr_bridge.metrics import Metrics
from taoxr_bridge.motion import body_of_text
from taoxr_bridge.session import Session
from taoxr_bridge.settings import Settings
from taoxr_bridge.speech import chunks_of, start_speech
from taoxr_bridge.stages import Stages
from taoxr_bridge.supervisor import Supervisor
from taoxr_bridge.tasks import nursery
from taoxr_bridge.voice import Style, Voice, open_voice

# A rough guess at how long somebody else's conversation goes on.
_RETRY_S: Final = 5.0
# A client that opens a conversation right after its last one finds that one still being taken down.
_HANDOVER_S: Final = 0.5
# A client has its first request ready when it calls.
_CONFIG_S: Final = 10.0


class ConversationService(conversation_pb2_grpc.ConversationServiceServicer):
    """Conversations, as many at once as the settings allow.

    Args:
        supervisor: The workers.
        settings: Limits and defaults.
        journal: Keeps conversations, so that they can be resumed; None: they cannot.
        metrics: Counts them.

    Attributes:
        sessions: The conversations that run, by their id.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        settings: Settings,
        journal: Journal | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._workers = supervisor
        self._settings = settings
        self._journal = journal
        self._metrics = metrics or Metrics()
        self.sessions: dict[str, Session] = {}
        self._active = 0
        self._freed = asyncio.Event()

    # The generated base class knows only generators; grpc.aio also takes a coroutine that writes
    # by itself, and only in one of those may a task group live as long as the call.
    async def Converse(  # noqa: N802  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request_iterator: AsyncIterator[pb.ConverseRequest], context: Any
    ) -> None:
        """Runs one conversation."""
        config = await _first_config(request_iterator)
        face = await calls.describe_rig(self._workers["a2bs"], self._settings.worker_wait_s)
        validation.check_config(config, face.rig.space)
        if config.resume_token:
            await self._take_over(config.resume_token)
        async with self._place():
            style = Style(config.speed, config.voice_seed, config.speaker)
            voice = await self._voice("config.", config.frame_rate, style, face)
            origin = resume.begin(self._journal)
            if token := config.resume_token:
                origin, config = resume.go_on(token, await resume.find(self._journal, token), config)
            if origin.session_id in self.sessions:
                raise BusyError("another stream has just resumed this conversation", _RETRY_S)
            session = Session(origin, config, face.rig, voice, self._workers, self._settings, self._journal)
            self.sessions[origin.session_id] = session
            try:
                await session.run(request_iterator, _sender(context, self._metrics))
            finally:
                del self.sessions[origin.session_id]

    async def Watch(  # noqa: N802  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request: pb.WatchRequest, context: Any
    ) -> None:
        """Shows a conversation to somebody else."""
        session = self.sessions.get(request.session_id)
        if session is None:
            raise NotFoundError(f"no conversation {request.session_id[:40]!r} runs here")
        with session.audience.watch() as watcher:
            async for response in watcher:
                await context.write(pb.WatchResponse(response=response))

    async def Say(  # noqa: N802  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request: pb.SayRequest, context: Any
    ) -> None:
        """Speaks a text, as fast as the client takes it."""
        validation.check_text("text", request.text)
        validation.check_tracks("tracks", request.tracks)
        validation.check_speed("speed", request.speed)
        style = Style(request.speed, request.seed, request.speaker)
        face = await calls.describe_rig(self._workers["a2bs"], self._settings.worker_wait_s)
        voice = await self._voice("", request.frame_rate, style, face)
        face.rig.frame_rate = voice.frame_rate
        audio = common_pb2.AudioFormat(sample_rate_hz=voice.sample_rate_hz)
        started = pb.SessionStarted(audio_out=audio, rig=face.rig, tracks=(pb.TRACK_FACE,))
        async with body_of_text(self._workers["motion"], request.tracks, voice) as body:
            body.describe(started)
            await context.write(pb.SayResponse(started=started))
            async with nursery() as tasks:
                spoken = start_speech(tasks, request.text, voice, Stages(time.monotonic()))
                async with aclosing(chunks_of(spoken, lambda _clause: None)) as chunks:
                    async for chunk in chunks:
                        await body.dress(chunk)
                        await context.write(pb.SayResponse(media=chunk))
            if (rest := await body.rest()) is not None:
                await context.write(pb.SayResponse(motion=rest))

    async def GetServerInfo(  # noqa: N802
        self, request: pb.GetServerInfoRequest, context: Any
    ) -> pb.GetServerInfoResponse:
        """Tells what the bridge and its workers do."""
        return pb.GetServerInfoResponse(
            version=__version__,
            workers=await asyncio.gather(*(w.info() for w in self._workers.workers.values())),
            max_conversations=self._settings.max_conversations,
            active_conversations=self._active,
        )

    async def _take_over(self, token: str) -> None:
        """Ends the stream that still holds a conversation, if its loss was not noticed yet."""
        saved = await resume.find(self._journal, token)
        if (session := self.sessions.get(saved.session_id)) is not None:
            session.stop(UnavailableError("the conversation was resumed on another connection"))
            await session.ended.wait()

    @asynccontextmanager
    async def _place(self) -> AsyncGenerator[None]:
        most = self._settings.max_conversations
        try:
            async with asyncio.timeout(_HANDOVER_S):
                while self._active >= most:
                    self._freed.clear()
                    await self._freed.wait()
        except TimeoutError:
            raise BusyError(f"all {most} conversations are taken; try again later", _RETRY_S) from None
        self._active += 1
        try:
            with self._metrics.conversation():
                yield
        finally:
            self._active -= 1
            self._freed.set()

    async def _voice(
        self, prefix: str, frame_rate: float, style: Style, face: a2bs_pb2.DescribeRigResponse
    ) -> Voice:
        return await open_voice(
            self._workers["tts"],
            self._workers["a2bs"],
            self._settings,
            frame_rate=validation.frame_rate(f"{prefix}frame_rate", frame_rate),
            style=style,
            field=f"{prefix}speaker",
            whole_clauses=face.whole_clauses,
        )


async def _first_config(requests: AsyncIterator[pb.ConverseRequest]) -> pb.ConversationConfig:
    try:
        async with asyncio.timeout(_CONFIG_S):
            first = await anext(requests, None)
    except TimeoutError:
        raise InvalidInputError("payload", "no request", f"config within {_CONFIG_S:.0f} s") from None
    if first is None or first.WhichOneof("payload") != "config":
        given = "no request" if first is None else first.WhichOneof("payload")
        raise InvalidInputError("payload", given, "config as the first request")
    return first.config


def _sender(context: Any, metrics: Metrics) -> Callable[[pb.ConverseResponse], Awaitable[None]]:
    async def send(response: pb.ConverseResponse) -> None:
        try:
            await context.write(response)
        except aio.BaseError as error:
            # gRPC is about to cancel the call; this may be seen first.
            raise UnavailableError("the client has gone") from error
        if response.HasField("metrics"):
            metrics.turn(response.metrics)

    return send
