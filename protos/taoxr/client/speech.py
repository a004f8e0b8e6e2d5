"""The client's side of ``taoxr.v1.SpeechService``."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable
from contextlib import suppress
from typing import Any, Final, Protocol, cast

import numpy as np
from grpc import aio
from numpy.typing import NDArray

from taoxr.client import events, from_proto
from taoxr.client.clips import SpokenText
from taoxr.errors import UnavailableError
from taoxr.rpc import error_of
from taoxr.v1 import common_pb2
from taoxr.v1 import conversation_pb2 as conversation
from taoxr.v1 import speech_pb2 as pb
from taoxr.v1.speech_pb2_grpc import SpeechServiceStub

_AUDIO_SAMPLES: Final = 32 * 1024


class _Call(Protocol):
    """The part of grpc.aio's ``StreamStreamCall`` that is used; types-grpcio lacks reading and writing."""

    def read(self) -> Awaitable[Any]: ...
    def write(self, request: pb.RecognizeRequest) -> Awaitable[None]: ...
    def done_writing(self) -> Awaitable[None]: ...
    def cancel(self) -> bool: ...


async def recognize(
    channel: aio.Channel, audio: AsyncIterable[NDArray[np.int16]], config: pb.RecognizeConfig
) -> AsyncGenerator[events.SpeechActivity | events.Transcript]:
    """Hears `audio`; see `taoxr.client.Client.recognize`."""
    # types-grpcio knows only the form with an iterator of requests.
    call = cast("_Call", SpeechServiceStub(channel).Recognize())  # pyright: ignore[reportCallIssue]
    sending: asyncio.Task[None] | None = None
    try:
        await _write(call, pb.RecognizeRequest(config=config))
        while isinstance(response := await call.read(), pb.RecognizeResponse):
            match response.WhichOneof("payload"):
                case "started":
                    sending = asyncio.create_task(_send(call, audio))
                case "speech_activity":
                    yield from_proto.speech_activity_from_proto(response.speech_activity)
                case "transcript":
                    yield from_proto.transcript_from_proto(response.transcript)
                case _:
                    pass  # a newer server's
        if sending is not None:
            await sending
    except aio.AioRpcError as error:
        raise error_of(error) from error
    except asyncio.CancelledError:
        # Where the audio fails, the call is cancelled, and that is seen first.
        if sending is not None and sending.done() and not sending.cancelled():
            error = sending.exception()
            if error is not None:
                raise error from None
        raise
    finally:
        call.cancel()
        if sending is not None:
            sending.cancel()
            await asyncio.wait([sending])


async def _send(call: _Call, audio: AsyncIterable[NDArray[np.int16]]) -> None:
    try:
        async for pcm in audio:
            for start in range(0, len(pcm), _AUDIO_SAMPLES):
                piece = pcm[start : start + _AUDIO_SAMPLES].astype("<i2", copy=False).tobytes()
                await _write(call, pb.RecognizeRequest(pcm=piece))
        with suppress(asyncio.InvalidStateError):  # the call is over
            await call.done_writing()
    except BaseException:
        call.cancel()
        raise


async def _write(call: _Call, request: pb.RecognizeRequest) -> None:
    # A call that is over says by its status why; the reader finds it.
    with suppress(aio.AioRpcError, asyncio.InvalidStateError):
        await call.write(request)


async def synthesize(channel: aio.Channel, request: pb.SynthesizeRequest) -> SpokenText:
    """Speaks a text; see `taoxr.client.Client.synthesize`."""
    rate = 0
    chunks: list[pb.SpeechChunk] = []
    call = SpeechServiceStub(channel).Synthesize(request)
    try:
        async for response in call:
            if response.WhichOneof("payload") == "started":
                rate = response.started.sample_rate_hz
            else:
                chunks.append(response.chunk)
    except aio.AioRpcError as error:
        raise error_of(error) from error
    finally:
        call.cancel()
    if rate == 0:
        raise UnavailableError("the server ended without an answer; look at its log")
    pcm = np.frombuffer(b"".join(c.pcm for c in chunks), "<i2").astype(np.int16, copy=False)
    return SpokenText(pcm, rate, tuple(from_proto.phoneme_from_proto(p) for c in chunks for p in c.phonemes))


def recognize_config(
    sample_rate_hz: int,
    *,
    push_to_talk: bool,
    partials: bool,
    endpoint_silence_ms: int,
    language: str,
    word_times: bool,
) -> pb.RecognizeConfig:
    """The first request of a recognition."""
    mode = conversation.INPUT_MODE_PUSH_TO_TALK if push_to_talk else conversation.INPUT_MODE_HANDS_FREE
    return pb.RecognizeConfig(
        audio=common_pb2.AudioFormat(sample_rate_hz=sample_rate_hz),
        input_mode=mode,
        partial_transcripts=partials,
        endpoint_silence_ms=endpoint_silence_ms,
        language=language,
        word_times=word_times,
    )
