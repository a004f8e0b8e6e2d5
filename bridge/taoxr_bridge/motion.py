"""A call to the motion worker: the body of one conversation, and what it adds to media."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

from grpc import aio

from taoxr.errors import UnavailableError
from taoxr.rpc import error_of
from taoxr.v1 import body_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr.worker.v1 import motion_pb2
from taoxr.worker.v1.motion_pb2_grpc import MotionServiceStub
from taoxr_bridge import calls
from taoxr_bridge.speech import duration, shifted
from taoxr_bridge.voice import Voice
from taoxr_bridge.worker import Worker

_Activity: TypeAlias = motion_pb2.Advance.Activity.ValueType
TRACKS: Final[frozenset[pb.Track.ValueType]] = frozenset((pb.TRACK_BODY, pb.TRACK_CUES))
"""The tracks that the motion worker makes."""
_REST_US: Final = 1_500_000
# grpc.aio's call classes cannot be subscripted at run time.
_Call: TypeAlias = "aio.StreamStreamCall[motion_pb2.MoveRequest, motion_pb2.MoveResponse]"


class Mover:
    """An open call; made by `open_mover`. One request at a time.

    Args:
        call: The call, after its first response.
        description: What the frames mean.
        start_us: Where the body's clock begins.

    Attributes:
        now_us: The body's clock.
    """

    def __init__(self, call: _Call, description: body_pb2.BodyDescription, start_us: int) -> None:
        self._call = call
        self.description = description
        self.now_us = start_us

    async def tell(self, request: motion_pb2.MoveRequest) -> None:
        """Sends a request that has no answer.

        Raises:
            grpc.aio.AioRpcError: The worker is gone, or refused something.
        """
        try:
            await self._call.write(request)
        except asyncio.InvalidStateError as error:  # the call is over
            raise UnavailableError("the motion worker ended the call") from error
        if request.HasField("cut"):
            self.now_us = request.cut.at_us

    async def advance(
        self, activity: _Activity, duration_us: int, clock_offset_us: int
    ) -> motion_pb2.MovedSpan:
        """Lets time go on; frames and cues are on the clock on which the body's now is `clock_offset_us`.

        Raises:
            grpc.aio.AioRpcError: The worker is gone, or refused something.
        """
        advance = motion_pb2.Advance(
            activity=activity, duration_us=duration_us, clock_offset_us=clock_offset_us
        )
        await self.tell(motion_pb2.MoveRequest(advance=advance))
        response = await _next(self._call)
        self.now_us += duration_us
        return response.span

    async def dress(
        self, media: pb.MediaChunk, sample_rate_hz: int, tracks: frozenset[pb.Track.ValueType]
    ) -> None:
        """Adds the body and the cues of a chunk, as far as they are among `tracks`.

        Raises:
            grpc.aio.AioRpcError: The worker is gone, or refused something.
        """
        if media.phonemes:
            phonemes = [shifted(p, -media.start_us) for p in media.phonemes]
            clause = motion_pb2.SpeakClause(text=media.clause_text, phonemes=phonemes)
            await self.tell(motion_pb2.MoveRequest(speak=clause))
        length_us = duration(media.pcm, sample_rate_hz)
        if length_us <= 0:
            return
        span = await self.advance(motion_pb2.Advance.ACTIVITY_TALKING, length_us, media.start_us)
        if pb.TRACK_BODY in tracks:
            media.body.extend(span.frames)
        if pb.TRACK_CUES in tracks:
            media.cues.extend(span.cues)

    def close(self) -> None:
        """Ends the call."""
        self._call.cancel()


async def open_mover(
    worker: Worker, wait_s: float, *, seed: int, frame_rate: float, start_us: int = 0
) -> Mover:
    """Opens a call.

    Args:
        worker: The motion worker.
        wait_s: How long to wait for a worker that starts.
        seed: Of all that moves.
        frame_rate: Frames per second.
        start_us: Where the body's clock begins.

    Raises:
        UnavailableError: The worker is down, or does not answer.
    """
    await worker.ready(wait_s)
    # types-grpcio knows only the form with an iterator of requests.
    call: _Call = MotionServiceStub(worker.channel).Move(metadata=worker.metadata)  # pyright: ignore[reportCallIssue]
    config = motion_pb2.MoveConfig(seed=seed, frame_rate=frame_rate, start_us=start_us)
    try:
        async with asyncio.timeout(wait_s):
            await call.write(motion_pb2.MoveRequest(config=config))
            response = await _next(call)
    except aio.AioRpcError as error:
        raise error_of(error) from error
    except TimeoutError as error:
        call.cancel()
        raise UnavailableError("the motion worker does not answer") from error
    except BaseException:
        call.cancel()
        raise
    return Mover(call, response.started, start_us)


class TextBody:
    """The body of a text that is spoken; made by `body_of_text`.

    Args:
        mover: Moves it; None when no track needs it.
        tracks: What is wanted.
        sample_rate_hz: Rate of the audio.
    """

    def __init__(
        self, mover: Mover | None, tracks: frozenset[pb.Track.ValueType], sample_rate_hz: int
    ) -> None:
        self._mover = mover
        self._tracks = tracks
        self._sample_rate_hz = sample_rate_hz
        self._end_us = 0

    @property
    def description(self) -> body_pb2.BodyDescription | None:
        """What the body's frames mean; None without a body."""
        return self._mover.description if self._mover and pb.TRACK_BODY in self._tracks else None

    def describe(self, started: pb.SessionStarted) -> None:
        """Tells what will be sent."""
        started.tracks.extend(sorted(self._tracks))
        if self.description is not None:
            started.body.CopyFrom(self.description)

    async def dress(self, media: pb.MediaChunk) -> None:
        """Adds the body and the cues of the next chunk."""
        self._end_us = media.start_us + duration(media.pcm, self._sample_rate_hz)
        if self._mover is not None:
            await self._mover.dress(media, self._sample_rate_hz, self._tracks)

    async def rest(self) -> body_pb2.Motion | None:
        """How it comes to rest after the text; None without a body."""
        if self._mover is None or self.description is None:
            return None
        span = await self._mover.advance(motion_pb2.Advance.ACTIVITY_IDLE, _REST_US, self._end_us)
        return body_pb2.Motion(activity=body_pb2.Motion.ACTIVITY_IDLE, body=span.frames)


@asynccontextmanager
async def body_of_text(
    worker: Worker, tracks: Iterable[pb.Track.ValueType], voice: Voice
) -> AsyncGenerator[TextBody]:
    """The body of one text, for the length of the block.

    Raises:
        UnavailableError: A track needs the worker, and it is down or stopped during the block.
    """
    wanted = frozenset(tracks) & TRACKS
    if not wanted:
        yield TextBody(None, wanted, voice.sample_rate_hz)
        return
    mover = await open_mover(worker, voice.wait_s, seed=0, frame_rate=voice.frame_rate)
    try:
        async with calls.calling(worker, voice.wait_s):
            yield TextBody(mover, wanted, voice.sample_rate_hz)
    finally:
        mover.close()


async def _next(call: _Call) -> motion_pb2.MoveResponse:
    response = await call.read()
    if not isinstance(response, motion_pb2.MoveResponse):  # grpc.aio.EOF
        raise UnavailableError("the motion worker ended the call")
    return response
