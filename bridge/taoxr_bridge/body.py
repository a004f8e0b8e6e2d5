"""The body of one conversation: motion between the turns, and in the media of the turns.

It dresses the responses on their way to the client, in the order in which they leave. The voice never waits
for the body: when the worker is slow or gone, media go out without one until it is back.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable
from typing import Final

import structlog
from grpc import aio

from taoxr.errors import TaoxrError, UnavailableError
from taoxr.v1 import body_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr.worker.v1 import motion_pb2
from taoxr_bridge.motion import TRACKS, Mover, open_mover
from taoxr_bridge.speech import duration
from taoxr_bridge.worker import Worker

# Motion goes out in pieces of this length, so long before they are to be seen.
_PIECE_US: Final = 400_000
_LEAD_US: Final = 200_000
# Media wait so long for their body, once; then they go without one until the worker answers again.
_PATIENCE_S: Final = 0.2
# Between the turns nobody waits.
_QUIET_PATIENCE_S: Final = 1.0
_OPEN_S: Final = 5.0
_RETRY_S: Final = 0.5
# Within what the worker can take back.
_FARTHEST_BACK_US: Final = 14_000_000

_IDLE: Final = body_pb2.Motion.ACTIVITY_IDLE
_ACTIVITIES: Final = {
    pb.TurnState.STATE_LISTENING: body_pb2.Motion.ACTIVITY_LISTENING,
    pb.TurnState.STATE_THINKING: body_pb2.Motion.ACTIVITY_THINKING,
}
_MOVES: Final = {
    body_pb2.Motion.ACTIVITY_IDLE: motion_pb2.Advance.ACTIVITY_IDLE,
    body_pb2.Motion.ACTIVITY_LISTENING: motion_pb2.Advance.ACTIVITY_LISTENING,
    body_pb2.Motion.ACTIVITY_THINKING: motion_pb2.Advance.ACTIVITY_THINKING,
}
_AWAY: Final = "the motion worker is away or too slow: the avatar goes on without a body"
_FAILURES: Final = (aio.AioRpcError, TaoxrError, TimeoutError)


class Body:
    """Moves with one conversation.

    Args:
        worker: The motion worker.
        tracks: Tracks that the client wants.
        seed: Of all that moves.
        frame_rate: Frames per second.
        sample_rate_hz: Rate of the media's audio.
        tell: Sends a response.
        notice: Tells the client of an error that the conversation survives.
        position_us: How much of the turn that runs was heard.

    Attributes:
        wanted: Whether the client asked for a body; not only for cues.
    """

    def __init__(
        self,
        worker: Worker,
        tracks: Iterable[pb.Track.ValueType],
        *,
        seed: int,
        frame_rate: float,
        sample_rate_hz: int,
        tell: Callable[[pb.ConverseResponse], Awaitable[None]],
        notice: Callable[[TaoxrError], Awaitable[None]],
        position_us: Callable[[], int],
    ) -> None:
        self._worker = worker
        self._tracks: frozenset[pb.Track.ValueType] = frozenset(tracks) & TRACKS
        self.wanted = pb.TRACK_BODY in self._tracks
        self._seed = seed
        self._frame_rate = frame_rate
        self._sample_rate_hz = sample_rate_hz
        self._tell = tell
        self._notice = notice
        self._position_us = position_us
        self._mover: Mover | None = None
        self._began = time.monotonic()
        self._lock = asyncio.Lock()
        self._changed = asyncio.Event()
        self._activity: body_pb2.Motion.Activity.ValueType = _IDLE
        # Between the turns: the body's now is this on the session's clock.
        self._ahead_us = 0
        # The turn whose media go out, and where its clock's zero is on the body's.
        self._turn_id = ""
        self._zero_us: int | None = None
        self._cut_us: int | None = None
        self._floor_us = 0
        self._target: body_pb2.LookAt | None = None

    @property
    def shown(self) -> bool:
        """Whether it is sent; cues alone have none."""
        return pb.TRACK_BODY in self._tracks

    async def open(self, started: pb.SessionStarted) -> None:
        """Begins, and tells in `started` what will be sent: without a worker, nothing."""
        try:
            self._mover = await self._open(0)
        except TaoxrError as error:
            structlog.get_logger().warning("no body", kind=type(error).__name__)
            self._tracks = frozenset[pb.Track.ValueType]()
            return
        self._began = time.monotonic()
        started.tracks.extend(sorted(self._tracks))
        if self.shown:
            started.body.CopyFrom(self._mover.description)

    async def run(self) -> None:
        """Sends the motion between the turns, and opens the call to the worker again when it is lost."""
        if not self._tracks:
            await self._notice(UnavailableError(_AWAY))
        while self._tracks:
            if self._mover is None:
                await self._reopen()
            self._changed.clear()
            wait_s = await self._step()
            try:
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def close(self) -> None:
        """The conversation is over."""
        if self._mover is not None:
            self._mover.close()

    async def dressed(
        self, responses: AsyncIterable[pb.ConverseResponse]
    ) -> AsyncGenerator[pb.ConverseResponse]:
        """The responses with their body, on their way to the client."""
        async for response in responses:
            match response.WhichOneof("payload"):
                case "media":
                    await self._dress(response.turn_id, response.media)
                case "turn":
                    self._note(response.turn_id, response.turn.state)
                case "speech_activity" if response.speech_activity.kind == pb.SpeechActivity.KIND_STARTED:
                    self._be(body_pb2.Motion.ACTIVITY_LISTENING)
                case _:
                    pass
            yield response

    def interrupted(self, turn_id: str, played_us: int) -> None:
        """A turn was stopped when so much of it was heard: the body goes on from there."""
        if turn_id == self._turn_id:
            if self._zero_us is not None:
                self._cut_us = self._zero_us + played_us
            self._end_turn(self._now_us())
            self._be(_IDLE)

    async def play(self, action: body_pb2.PlayAction) -> None:
        """Plays a gesture; nothing while the worker is away."""
        await self._pass_on(motion_pb2.MoveRequest(action=action))

    async def look_at(self, target: body_pb2.LookAt) -> None:
        """Looks somewhere from now on."""
        self._target = target
        await self._pass_on(motion_pb2.MoveRequest(look_at=target))

    # Between the turns.

    def _be(self, activity: body_pb2.Motion.Activity.ValueType) -> None:
        self._activity = activity
        self._changed.set()

    def _note(self, turn_id: str, state: pb.TurnState.State.ValueType) -> None:
        if state in _ACTIVITIES:
            self._be(_ACTIVITIES[state])
        elif state != pb.TurnState.STATE_SPEAKING:
            self._be(_IDLE)
            if turn_id == self._turn_id:
                self._end_turn(self._now_us())

    async def _step(self) -> float:
        """Sends the next piece of motion if it is due; returns for how many seconds nothing is."""
        try:
            async with asyncio.timeout(_QUIET_PATIENCE_S), self._lock:
                piece = await self._piece()
        except _FAILURES as error:
            await self._lose(error)
            return 0.0
        if piece is not None and self.shown:
            await self._tell(pb.ConverseResponse(motion=piece))
        if self._mover is None or self._turn_id:
            return _RETRY_S
        return max(self._ahead_us - _LEAD_US - self._now_us(), 0) / 1e6

    async def _piece(self) -> body_pb2.Motion | None:
        mover = self._mover
        if mover is None or self._turn_id:
            return None
        now_us = self._now_us()
        if self._cut_us is not None:
            await self._cut(mover, self._cut_us)
        if self._ahead_us - _LEAD_US > now_us:
            return None
        # A loop that was held up does not make up for the time.
        self._ahead_us = max(self._ahead_us, now_us)
        activity = self._activity
        span = await mover.advance(_MOVES[activity], _PIECE_US, self._ahead_us)
        self._ahead_us += _PIECE_US
        return body_pb2.Motion(activity=activity, body=span.frames)

    def _end_turn(self, ends_us: int) -> None:
        """What was dressed of a turn is over at a time of the session: motion goes on from then."""
        self._turn_id, self._zero_us, self._ahead_us = "", None, ends_us
        self._changed.set()

    # In the turns.

    async def _dress(self, turn_id: str, media: pb.MediaChunk) -> None:
        begins, self._turn_id = turn_id != self._turn_id, turn_id
        try:
            async with asyncio.timeout(_PATIENCE_S), self._lock:
                if (mover := self._mover) is not None:
                    if begins or self._zero_us is None:
                        await self._begin_turn(mover, media.start_us)
                    await mover.dress(media, self._sample_rate_hz, self._tracks)
        except _FAILURES as error:
            del media.body[:], media.cues[:]
            await self._lose(error)
        if media.last:
            end_us = media.start_us + duration(media.pcm, self._sample_rate_hz)
            self._activity = _IDLE
            self._end_turn(self._now_us() + max(0, end_us - self._position_us()))

    async def _begin_turn(self, mover: Mover, start_us: int) -> None:
        """The media of a turn take the place of motion that was sent but is not seen yet."""
        early_us = max(0, self._ahead_us - self._now_us())
        await self._cut(mover, mover.now_us - early_us if self._cut_us is None else self._cut_us)
        self._zero_us = mover.now_us - start_us

    async def _cut(self, mover: Mover, at_us: int) -> None:
        self._cut_us = None
        at_us = min(max(at_us, mover.now_us - _FARTHEST_BACK_US, self._floor_us), mover.now_us)
        await mover.tell(motion_pb2.MoveRequest(cut=motion_pb2.Cut(at_us=at_us)))

    # The call.

    def _now_us(self) -> int:
        return round((time.monotonic() - self._began) * 1e6)

    async def _pass_on(self, request: motion_pb2.MoveRequest) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_S), self._lock:
                if self._mover is not None:
                    await self._mover.tell(request)
        except _FAILURES as error:
            await self._lose(error)

    async def _open(self, start_us: int) -> Mover:
        self._floor_us = start_us
        return await open_mover(
            self._worker, _OPEN_S, seed=self._seed, frame_rate=self._frame_rate, start_us=start_us
        )

    async def _reopen(self) -> None:
        """Waits for the worker and begins where the body would be now."""
        while self._mover is None:
            try:
                now_us = self._now_us()
                mover = await self._open(now_us)
                if self._target is not None:
                    await mover.tell(motion_pb2.MoveRequest(look_at=self._target))
            except _FAILURES:
                await asyncio.sleep(_RETRY_S)
            else:
                self._cut_us, self._ahead_us = None, self._now_us()
                self._mover = mover

    async def _lose(self, error: BaseException) -> None:
        """The worker is gone or too slow: goes on without it, and tells the client once."""
        mover, self._mover = self._mover, None
        self._cut_us = self._zero_us = None
        self._changed.set()
        if mover is None:
            return
        mover.close()
        structlog.get_logger().warning("body lost", kind=type(error).__name__)
        await self._notice(UnavailableError(f"{_AWAY} until it is back"))
