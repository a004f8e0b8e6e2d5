"""The Python client of the bridge."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from grpc import aio
from numpy.typing import NDArray

from taoxr.client import events
from taoxr.client.channel import open_channel
from taoxr.client.conversation import Conversation, ConversationOptions
from taoxr.errors import UnavailableError
from taoxr.rpc import error_of
from taoxr.v1 import animation_pb2, common_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr.v1.animation_pb2_grpc import AnimationServiceStub
from taoxr.v1.conversation_pb2_grpc import ConversationServiceStub

_AUDIO_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True, eq=False)
class FaceTrack:
    """Frames of a clip.

    Attributes:
        rig: What the columns mean.
        times_us: int64 [k], microseconds since the clip's first sample.
        weights: float32 [k, names of the rig].
    """

    rig: events.Rig
    times_us: NDArray[np.int64]
    weights: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Speech:
    """A spoken text.

    Attributes:
        pcm: int16 [n], mono.
        sample_rate_hz: Rate of `pcm`.
        face: Frames on the clock of `pcm`.
        phonemes: Phonemes on the clock of `pcm`.
    """

    pcm: NDArray[np.int16]
    sample_rate_hz: int
    face: FaceTrack
    phonemes: tuple[events.Phoneme, ...]


@dataclass(frozen=True, slots=True)
class Worker:
    """State of one model worker; see ``WorkerInfo`` in conversation.proto."""

    role: str
    model: str
    state: str
    restarts: int
    rss_bytes: int
    pid: int


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a bridge is doing."""

    version: str
    workers: tuple[Worker, ...]
    max_conversations: int
    active_conversations: int


class Client:
    """A connection to a bridge; made by `connect`.

    Every method raises a `TaoxrError` when the server refuses the input or is not there.
    """

    def __init__(self, channel: aio.Channel) -> None:
        self._conversations = ConversationServiceStub(channel)
        self._animation = AnimationServiceStub(channel)

    def converse(self, options: ConversationOptions | None = None) -> Conversation:
        """A conversation, to be entered with ``async with``."""
        return Conversation(self._conversations, options or ConversationOptions())

    async def stream_say(
        self, text: str, *, frame_rate: float = 0.0
    ) -> AsyncIterator[events.SessionStarted | events.MediaChunk]:
        """Speaks `text` (at most 4,000 characters): `SessionStarted`, then chunks as they are made."""
        started: events.SessionStarted | None = None
        call = self._conversations.Say(pb.SayRequest(text=text, frame_rate=frame_rate))
        try:
            async for response in call:
                if response.WhichOneof("payload") == "started":
                    started = events.session_from_proto(response.started)
                    yield started
                elif started is not None:
                    yield events.media_from_proto(response.media, started)
        except aio.AioRpcError as error:
            raise error_of(error) from error
        finally:
            call.cancel()

    async def say(self, text: str, *, frame_rate: float = 0.0) -> Speech:
        """Speaks `text` (at most 4,000 characters) and returns the whole of it."""
        started: events.SessionStarted | None = None
        chunks: list[events.MediaChunk] = []
        async for event in self.stream_say(text, frame_rate=frame_rate):
            if isinstance(event, events.SessionStarted):
                started = event
            else:
                chunks.append(event)
        if started is None:
            raise UnavailableError("the server ended without an answer; look at its log")
        no_frames = np.zeros((0, len(started.rig.names)), np.float32)
        face = FaceTrack(
            started.rig,
            np.concatenate([np.zeros(0, np.int64), *(c.frame_times_us for c in chunks)]),
            np.concatenate([no_frames, *(c.frame_weights for c in chunks)]),
        )
        pcm = np.concatenate([np.zeros(0, np.int16), *(c.pcm for c in chunks)])
        return Speech(pcm, started.audio_out_hz, face, tuple(p for c in chunks for p in c.phonemes))

    async def animate_audio(
        self, pcm: NDArray[np.int16], sample_rate_hz: int, *, frame_rate: float = 0.0
    ) -> FaceTrack:
        """Lips for any voice.

        Args:
            pcm: int16 [n], mono.
            sample_rate_hz: 8000 to 48000.
            frame_rate: Frames per second; 0 is the default of 30.
        """
        data = pcm.astype("<i2", copy=False).tobytes()
        config = animation_pb2.AnimateAudioConfig(
            audio=common_pb2.AudioFormat(sample_rate_hz=sample_rate_hz), frame_rate=frame_rate
        )

        accepted = asyncio.Event()

        async def requests() -> AsyncIterator[animation_pb2.AnimateAudioRequest]:
            yield animation_pb2.AnimateAudioRequest(config=config)
            # A write that races with a refusal would hide the server's status behind gRPC's own error.
            await accepted.wait()
            for start in range(0, len(data), _AUDIO_BYTES):
                yield animation_pb2.AnimateAudioRequest(pcm=data[start : start + _AUDIO_BYTES])

        rig: events.Rig | None = None
        frames: list[common_pb2.Frame] = []
        call = self._animation.AnimateAudio(requests())
        try:
            async for response in call:
                if response.WhichOneof("payload") == "started":
                    rig = events.rig_from_proto(response.started)
                    accepted.set()
                else:
                    frames.extend(response.frames.frames)
        except aio.AioRpcError as error:
            raise error_of(error) from error
        finally:
            call.cancel()
        if rig is None:
            raise UnavailableError("the server ended without an answer; look at its log")
        return FaceTrack(rig, *events.frames_from_proto(frames, len(rig.names)))

    async def server_info(self) -> ServerInfo:
        """What the bridge can do and how its workers are."""
        try:
            info = await self._conversations.GetServerInfo(pb.GetServerInfoRequest(), timeout=10)
        except aio.AioRpcError as error:
            raise error_of(error) from error
        workers = tuple(
            Worker(w.role, w.model, w.state, w.restarts, w.rss_bytes, w.pid) for w in info.workers
        )
        return ServerInfo(info.version, workers, info.max_conversations, info.active_conversations)


@asynccontextmanager
async def connect(
    target: str,
    *,
    tls_ca: Path | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    token: str | None = None,
) -> AsyncGenerator[Client]:
    """Connects to a bridge; the first call finds out whether it is there.

    Args:
        target: "host:port".
        tls_ca: PEM file with the authority that signed the server's certificate; turns TLS on.
        tls_cert: PEM file with the client's own certificate, for a server that wants one.
        tls_key: PEM file with the key of `tls_cert`.
        token: Secret that the server wants.

    Raises:
        InvalidInputError: A file cannot be read, or a certificate comes without its key.
    """
    async with open_channel(
        target, tls_ca=tls_ca, tls_cert=tls_cert, tls_key=tls_key, token=token
    ) as channel:
        yield Client(channel)
