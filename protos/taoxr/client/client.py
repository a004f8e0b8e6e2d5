"""The Python client of the bridge."""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from grpc import aio
from numpy.typing import NDArray

from taoxr.client import animation, avatars, events, from_proto, speech
from taoxr.client.avatars import Avatar, AvatarRig
from taoxr.client.body import NO_BODY, TRACK_TO_PROTO, Track, joined
from taoxr.client.channel import open_channel
from taoxr.client.clips import AnimatedText, FaceTrack, Speech, SpokenText
from taoxr.client.conversation import Conversation, ConversationOptions
from taoxr.client.resume import resumed
from taoxr.errors import UnavailableError
from taoxr.rpc import error_of
from taoxr.v1 import animation_pb2, speech_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr.v1.conversation_pb2_grpc import ConversationServiceStub


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
        self._channel = channel

    def converse(self, options: ConversationOptions | None = None) -> Conversation:
        """A conversation, to be entered with ``async with``."""
        return Conversation(self._conversations, options or ConversationOptions())

    def resume(
        self, lost: Conversation, *, patience_s: float = 60.0
    ) -> AbstractAsyncContextManager[Conversation]:
        """Goes on with a conversation whose connection was lost, here or at another bridge of the machine.

        ``async with client.resume(lost) as conversation`` tries until the bridge is there and ready. What
        was said is remembered; `SessionStarted.lost_turn` says which turn was broken off.

        Args:
            lost: The conversation; its own block may be left already.
            patience_s: How long to try.

        Raises:
            NotFoundError: It has ended, or was lost too long ago: begin a new one.
            UnavailableError: The bridge did not come back in time, or keeps no journal.
        """
        return resumed(lost, self.converse, patience_s)

    async def watch(self, session_id: str) -> AsyncGenerator[events.Event]:
        """What another client's conversation is told, from now on, `SessionStarted` first.

        Args:
            session_id: `SessionStarted.session_id` of that conversation.

        Raises:
            NotFoundError: No such conversation runs.
            StalledError: This watcher was too slow; watch again.
        """
        started: events.SessionStarted | None = None
        call = self._conversations.Watch(pb.WatchRequest(session_id=session_id))
        try:
            async for response in call:
                event = from_proto.event_from_proto(response.response, started)
                if isinstance(event, events.SessionStarted):
                    started = event
                if event is not None:
                    yield event
        except aio.AioRpcError as error:
            raise error_of(error) from error
        finally:
            call.cancel()

    async def stream_say(
        self,
        text: str,
        *,
        frame_rate: float = 0.0,
        tracks: frozenset[Track] = frozenset(),
        speed: float = 0.0,
        seed: int = 0,
        speaker: str = "",
    ) -> AsyncIterator[events.SessionStarted | events.MediaChunk | events.Motion]:
        """Speaks `text` (at most 4,000 characters): `SessionStarted`, then chunks as they are made.

        With `Track.BODY` the last one is a `Motion` on their clock, in which the body comes to rest. For the
        arguments see `say`.
        """
        started: events.SessionStarted | None = None
        wanted = [TRACK_TO_PROTO[track] for track in sorted(tracks)]
        request = pb.SayRequest(
            text=text, frame_rate=frame_rate, tracks=wanted, speed=speed, seed=seed, speaker=speaker
        )
        call = self._conversations.Say(request)
        try:
            async for response in call:
                if response.WhichOneof("payload") == "started":
                    started = from_proto.session_from_proto(response.started)
                    yield started
                elif response.WhichOneof("payload") == "motion":
                    yield from_proto.motion_from_proto(response.motion)
                elif started is not None:
                    yield from_proto.media_from_proto(response.media, started)
        except aio.AioRpcError as error:
            raise error_of(error) from error
        finally:
            call.cancel()

    async def say(
        self,
        text: str,
        *,
        frame_rate: float = 0.0,
        tracks: frozenset[Track] = frozenset(),
        speed: float = 0.0,
        seed: int = 0,
        speaker: str = "",
        on_progress: Callable[[int], None] | None = None,
    ) -> Speech:
        """Speaks `text` (at most 4,000 characters) and returns the whole of it.

        Args:
            text: What to say.
            frame_rate: Frames per second; 0 is the default of 30.
            tracks: What is wanted beside the voice and the face.
            speed: Speaking rate, 0.5 to 2; 0 is the voice's own.
            seed: Varies intonation and rhythm; 0 to 4,294,967,295.
            speaker: Name or number, of a voice that has several; empty is the first.
            on_progress: Called with the length in microseconds of what is made.
        """
        started: events.SessionStarted | None = None
        chunks: list[events.MediaChunk] = []
        rest = NO_BODY
        async for event in self.stream_say(
            text, frame_rate=frame_rate, tracks=tracks, speed=speed, seed=seed, speaker=speaker
        ):
            if isinstance(event, events.SessionStarted):
                started = event
            elif isinstance(event, events.Motion):
                rest = event.body
            else:
                chunks.append(event)
                if on_progress is not None:
                    on_progress(event.end_us)
        if started is None:
            raise UnavailableError("the server ended without an answer; look at its log")
        no_frames = np.zeros((0, len(started.rig.names)), np.float32)
        face = FaceTrack(
            started.rig,
            np.concatenate([np.zeros(0, np.int64), *(c.frame_times_us for c in chunks)]),
            np.concatenate([no_frames, *(c.frame_weights for c in chunks)]),
        )
        pcm = np.concatenate([np.zeros(0, np.int16), *(c.pcm for c in chunks)])
        return Speech(
            pcm,
            started.audio_out_hz,
            face,
            tuple(p for c in chunks for p in c.phonemes),
            started.bones,
            joined([*(c.body for c in chunks), rest]),
            tuple(cue for c in chunks for cue in c.cues),
        )

    async def animate_audio(
        self,
        pcm: NDArray[np.int16],
        sample_rate_hz: int,
        *,
        frame_rate: float = 0.0,
        on_progress: Callable[[int], None] | None = None,
    ) -> FaceTrack:
        """Lips for any voice.

        Args:
            pcm: int16 [n], mono.
            sample_rate_hz: 8000 to 48000.
            frame_rate: Frames per second; 0 is the default of 30.
            on_progress: Called with the time in microseconds up to which there are frames.
        """
        return await animation.animate_audio(self._channel, pcm, sample_rate_hz, frame_rate, on_progress)

    async def animate_text(
        self, text: str, *, frame_rate: float = 0.0, tracks: frozenset[Track] = frozenset()
    ) -> AnimatedText:
        """The face of a text as the server's voice would speak it.

        Args:
            text: What would be said; at most 4,000 characters.
            frame_rate: Frames per second; 0 is the default of 30.
            tracks: What is wanted beside the face.
        """
        wanted = [TRACK_TO_PROTO[track] for track in sorted(tracks)]
        request = animation_pb2.AnimateTextRequest(text=text, frame_rate=frame_rate, tracks=wanted)
        return await animation.animate_text(self._channel, request)

    async def synthesize(
        self, text: str, *, speed: float = 0.0, seed: int = 0, speaker: str = ""
    ) -> SpokenText:
        """Speaks `text` (at most 4,000 characters) without a face; for the other arguments see `say`."""
        request = speech_pb2.SynthesizeRequest(text=text, speed=speed, seed=seed, speaker=speaker)
        return await speech.synthesize(self._channel, request)

    def recognize(
        self,
        audio: AsyncIterable[NDArray[np.int16]],
        sample_rate_hz: int,
        *,
        push_to_talk: bool = False,
        partials: bool = False,
        endpoint_silence_ms: int = 0,
        language: str = "",
        word_times: bool = False,
    ) -> AsyncGenerator[events.SpeechActivity | events.Transcript]:
        """Recognises speech as it comes; close the generator early with ``contextlib.aclosing``.

        Args:
            audio: int16 [n], mono, in pieces of any length; its end ends the recognition.
            sample_rate_hz: 8000 to 48000.
            push_to_talk: All of it is one utterance; otherwise silence ends an utterance.
            partials: Tells transcripts of an utterance that still goes on.
            endpoint_silence_ms: Silence that ends an utterance, up to 5,000; 0 is the server's default.
            language: BCP 47 tag such as "de"; empty lets a multilingual recogniser find out.
            word_times: Final transcripts tell when each word was said.

        Yields:
            What is heard; times count from the first sample.
        """
        config = speech.recognize_config(
            sample_rate_hz,
            push_to_talk=push_to_talk,
            partials=partials,
            endpoint_silence_ms=endpoint_silence_ms,
            language=language,
            word_times=word_times,
        )
        return speech.recognize(self._channel, audio, config)

    async def avatars(self) -> tuple[Avatar, ...]:
        """The avatars that the server gives away, the default one first."""
        return await avatars.list_avatars(self._channel)

    async def avatar_rig(self, avatar_id: str = "") -> AvatarRig:
        """What drives an avatar; an empty id means the default one."""
        return await avatars.get_rig(self._channel, avatar_id)

    async def avatar(self, avatar_id: str = "") -> Avatar:
        """One of `avatars`; an empty id means the default one.

        Raises:
            NotFoundError: There is none of this name.
        """
        return await avatars.find_avatar(self._channel, avatar_id)

    async def download_avatar(
        self,
        path: Path,
        avatar_id: str = "",
        *,
        patience_s: float = 0.0,
        on_progress: Callable[[int], None] | None = None,
    ) -> Avatar:
        """Downloads an avatar to `path`, complete and verified or not at all.

        What was loaded before the connection broke, or the call was cancelled, stays in a hidden file beside
        `path`; the next call goes on from there.

        Args:
            path: The `.nnr` file to write or replace; its folder must exist.
            avatar_id: Which avatar; empty means the default one.
            patience_s: How long to try to go on by itself after the connection broke.
            on_progress: Called with the number of bytes that are there.

        Returns:
            The avatar.

        Raises:
            NotFoundError: There is none of this name.
            UnavailableError: The connection broke and did not come back.
        """
        return await avatars.download(
            self._channel, path, avatar_id, patience_s=patience_s, on_progress=on_progress
        )

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
