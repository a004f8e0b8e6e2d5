"""Calls to the model workers, with the exceptions of taoxr and patience for a worker that restarts."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Generic, TypeAlias, TypeVar

from grpc import aio

from taoxr.errors import BusyError, UnavailableError
from taoxr.rpc import connection_lost, error_of
from taoxr.worker.v1 import a2bs_pb2, ear_pb2, llm_pb2, tts_pb2
from taoxr.worker.v1.a2bs_pb2_grpc import A2bsServiceStub
from taoxr.worker.v1.ear_pb2_grpc import EarServiceStub
from taoxr.worker.v1.llm_pb2_grpc import LlmServiceStub
from taoxr.worker.v1.tts_pb2_grpc import TtsServiceStub
from taoxr_bridge.worker import Worker

# Longest wait for one answer; a worker that needs so long has something wrong with it.
_CALL_S: Final = 60.0
_BUSY_POLL_S: Final = 0.02

RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")


class Exchange(Generic[RequestT, ResponseT]):
    """A stream to a worker that runs: put requests in, iterate over the responses.

    Args:
        call: The call, in the form without an iterator of requests.
    """

    def __init__(self, call: Any) -> None:
        self._call = call

    async def put(self, request: RequestT) -> None:
        """Sends a request; waits while there is no room for it."""
        with suppress(asyncio.InvalidStateError):  # the call is over: whoever reads it is told why
            await self._call.write(request)

    async def close(self) -> None:
        """No more requests come."""
        await self._call.done_writing()

    def __aiter__(self) -> AsyncIterator[ResponseT]:
        return self._call.__aiter__()


AudioAnimation: TypeAlias = Exchange[a2bs_pb2.AnimateAudioRequest, a2bs_pb2.AnimateAudioResponse]


@asynccontextmanager
async def calling(worker: Worker, wait_s: float) -> AsyncGenerator[None]:
    """Waits until the worker is ready, and translates what a call in the block raises.

    Raises:
        UnavailableError: The worker is down, or stopped during the call.
        TaoxrError: What the worker raised.
    """
    await worker.ready(wait_s)
    try:
        yield
    except aio.AioRpcError as error:
        # A worker that stops cancels its calls, if it gets round to it.
        if connection_lost(error):
            await worker.lost()
            raise UnavailableError(
                f"the {worker.role} worker stopped during the call and is being restarted; try again"
            ) from error
        raise error_of(error) from error


async def synthesize(
    tts: Worker, request: tts_pb2.SynthesizeRequest, wait_s: float
) -> AsyncGenerator[tts_pb2.SynthesizeResponse]:
    """Speaks one clause, piece by piece."""
    async with calling(tts, wait_s):
        call = TtsServiceStub(tts.channel).Synthesize(request, metadata=tts.metadata)
        try:
            # No deadline for all of it: it lasts as long as whoever hears it takes.
            while True:
                async with asyncio.timeout(_CALL_S):
                    response = await call.read()
                if not isinstance(response, tts_pb2.SynthesizeResponse):  # the end
                    return
                yield response
        except TimeoutError:
            raise UnavailableError(f"the tts worker has not answered for {_CALL_S:.0f} s") from None
        finally:
            call.cancel()


async def animate_phonemes(
    a2bs: Worker, request: a2bs_pb2.AnimatePhonemesRequest, wait_s: float
) -> a2bs_pb2.AnimatePhonemesResponse:
    """Makes the frames of a span of a clause."""
    async with calling(a2bs, wait_s):
        stub = A2bsServiceStub(a2bs.channel)
        return await stub.AnimatePhonemes(request, timeout=_CALL_S, metadata=a2bs.metadata)


async def describe_rig(a2bs: Worker, wait_s: float) -> a2bs_pb2.DescribeRigResponse:
    """Says what the numbers in a frame mean."""
    async with calling(a2bs, wait_s):
        request = a2bs_pb2.DescribeRigRequest()
        stub = A2bsServiceStub(a2bs.channel)
        return await stub.DescribeRig(request, timeout=_CALL_S, metadata=a2bs.metadata)


@asynccontextmanager
async def animating_audio(a2bs: Worker, wait_s: float) -> AsyncGenerator[AudioAnimation]:
    """Makes frames for any voice, as the audio comes, for the length of the block."""
    async with calling(a2bs, wait_s):
        # types-grpcio knows only the form with an iterator of requests.
        call: Any = A2bsServiceStub(a2bs.channel).AnimateAudio(metadata=a2bs.metadata)  # pyright: ignore[reportCallIssue]
        try:
            yield Exchange(call)
        finally:
            call.cancel()


async def generate(
    llm: Worker, request: llm_pb2.GenerateRequest, wait_s: float
) -> AsyncGenerator[llm_pb2.GenerateResponse]:
    """Streams an answer.

    The call before it may have been cancelled a moment ago and still finish its token; so "busy" is
    asked again until `wait_s` is over.

    Raises:
        BusyError: Somebody else uses the model.
    """
    deadline = time.monotonic() + wait_s
    while True:
        try:
            async with calling(llm, wait_s):
                call = LlmServiceStub(llm.channel).Generate(request, metadata=llm.metadata)
                try:
                    async for response in call:
                        yield response
                finally:
                    call.cancel()
            return
        except BusyError:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(_BUSY_POLL_S)


async def listen(
    ear: Worker, requests: AsyncIterator[ear_pb2.ListenRequest], wait_s: float
) -> AsyncGenerator[ear_pb2.ListenResponse]:
    """Hears speech in audio as it comes."""
    async with calling(ear, wait_s):
        call = EarServiceStub(ear.channel).Listen(requests, metadata=ear.metadata)
        try:
            async for response in call:
                yield response
        finally:
            call.cancel()
