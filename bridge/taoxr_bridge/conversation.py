"""``taoxr.v1.ConversationService``."""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final

from grpc import aio

from taoxr import __version__
from taoxr.errors import BusyError, InvalidInputError, UnavailableError
from taoxr.v1 import common_pb2, conversation_pb2_grpc
from taoxr.v1 import conversation_pb2 as pb
from taoxr_bridge import calls, validation
from taoxr_bridge.session import Session
from taoxr_bridge.settings import Settings
from taoxr_bridge.speech import Voice, chunks_of, open_voice, start_speech
from taoxr_bridge.stages import Stages
from taoxr_bridge.supervisor import Supervisor
from taoxr_bridge.tasks import nursery

# A rough guess at how long somebody else's conversation goes on.
_RETRY_S: Final = 5.0
# A client that opens a conversation right after its last one finds that one still being taken down.
_HANDOVER_S: Final = 0.5


class ConversationService(conversation_pb2_grpc.ConversationServiceServicer):
    """Conversations, as many at once as the settings allow."""

    def __init__(self, supervisor: Supervisor, settings: Settings) -> None:
        self._workers = supervisor
        self._settings = settings
        self._active = 0
        self._freed = asyncio.Event()

    # The generated base class knows only generators; grpc.aio also takes a coroutine that writes
    # by itself, and only in one of those may a task group live as long as the call.
    async def Converse(  # noqa: N802  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request_iterator: AsyncIterator[pb.ConverseRequest], context: Any
    ) -> None:
        """Runs one conversation."""
        async with self._place():
            first = await anext(request_iterator, None)
            if first is None or first.WhichOneof("payload") != "config":
                given = "no request" if first is None else first.WhichOneof("payload")
                raise InvalidInputError("payload", given, "config as the first request")
            rig = (await calls.describe_rig(self._workers["a2bs"], self._settings.worker_wait_s)).rig
            validation.check_config(first.config, rig.space)
            voice = await self._voice("config.frame_rate", first.config.frame_rate)
            session = Session(uuid.uuid4().hex[:12], first.config, rig, voice, self._workers, self._settings)
            await session.run(request_iterator, _sender(context))

    async def Say(  # noqa: N802  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request: pb.SayRequest, context: Any
    ) -> None:
        """Speaks a text, as fast as the client takes it."""
        validation.check_text("text", request.text)
        voice = await self._voice("frame_rate", request.frame_rate)
        rig = (await calls.describe_rig(self._workers["a2bs"], self._settings.worker_wait_s)).rig
        rig.frame_rate = voice.frame_rate
        audio = common_pb2.AudioFormat(sample_rate_hz=voice.sample_rate_hz)
        await context.write(pb.SayResponse(started=pb.SessionStarted(audio_out=audio, rig=rig)))
        async with nursery() as tasks:
            spoken = start_speech(tasks, request.text, voice, Stages(time.monotonic()))
            async with aclosing(chunks_of(spoken, lambda _clause: None)) as chunks:
                async for chunk in chunks:
                    await context.write(pb.SayResponse(media=chunk))

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
            yield
        finally:
            self._active -= 1
            self._freed.set()

    async def _voice(self, field: str, frame_rate: float) -> Voice:
        frame_rate = validation.frame_rate(field, frame_rate)
        tts, a2bs = self._workers["tts"], self._workers["a2bs"]
        return await open_voice(tts, a2bs, self._settings, frame_rate=frame_rate)


def _sender(context: Any) -> Callable[[pb.ConverseResponse], Awaitable[None]]:
    async def send(response: pb.ConverseResponse) -> None:
        try:
            await context.write(response)
        except aio.BaseError as error:
            # gRPC is about to cancel the call; this may be seen first.
            raise UnavailableError("the client has gone") from error

    return send
