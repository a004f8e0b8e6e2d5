"""One conversation: what lives as long as its stream, and how that ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeAlias

from taoxr.errors import TaoxrError, UnavailableError
from taoxr.v1 import common_pb2
from taoxr.v1 import conversation_pb2 as pb
from taoxr_bridge.audience import Audience
from taoxr_bridge.body import Body
from taoxr_bridge.idle import IdleWatch
from taoxr_bridge.journal import Journal
from taoxr_bridge.listening import Listener
from taoxr_bridge.mind import Mind
from taoxr_bridge.motion import TRACKS
from taoxr_bridge.opening import opening
from taoxr_bridge.outbox import Outbox
from taoxr_bridge.requests import Requests
from taoxr_bridge.resume import Keeper, Origin
from taoxr_bridge.settings import Settings
from taoxr_bridge.supervisor import Supervisor
from taoxr_bridge.tasks import nursery
from taoxr_bridge.turn_taking import TurnTaking
from taoxr_bridge.voice import Voice

_OUTBOX: Final = 64
_Send: TypeAlias = Callable[[pb.ConverseResponse], Awaitable[None]]


class Session:
    """State of one conversation.

    Args:
        origin: Where it begins or goes on.
        config: First request, checked; belongs to the session from now on.
        rig: What frames mean.
        voice: Voice and face.
        supervisor: The workers.
        settings: Limits and defaults.
        journal: Where it is kept, so that it can be resumed.

    Attributes:
        audience: Who looks on.
        ended: Set when the stream is over and the journal knows of it.
    """

    def __init__(
        self,
        origin: Origin,
        config: pb.ConversationConfig,
        rig: common_pb2.RigDescription,
        voice: Voice,
        supervisor: Supervisor,
        settings: Settings,
        journal: Journal | None = None,
    ) -> None:
        self.audience = Audience()
        self.ended = asyncio.Event()
        self._started = opening(origin.session_id, config, rig, voice, settings)
        self._stopped: asyncio.Future[TaoxrError] = asyncio.get_running_loop().create_future()
        self._outbox = Outbox(_OUTBOX)
        self._mind = Mind(supervisor["llm"], config, settings)
        self._keeper = Keeper(journal, origin, config, self._mind.history)
        self._turns = TurnTaking(origin, self._mind, voice, self._keeper, self._outbox, settings.lead_us)
        self._listener: Listener | None = None
        if config.HasField("audio_in"):
            self._listener = Listener(self._turns, config, supervisor["ear"], settings)
            self._turns.ear = self._listener.ear
        self._body: Body | None = None
        if TRACKS & set(config.tracks):
            self._body = self._turns.body = Body(
                supervisor["motion"],
                config.tracks,
                seed=abs(config.seed),
                frame_rate=voice.frame_rate,
                sample_rate_hz=voice.sample_rate_hz,
                tell=lambda response: self._turns.tell("", response),
                notice=lambda error: self._turns.notice("", error),
                position_us=self._turns.position_us,
            )
        self._requests = Requests(self._turns, self._listener, self._body, self._update)
        self._idle = IdleWatch(
            settings.idle_timeout_s,
            lambda: self._turns.speaking,
            lambda left_s: self.announce_end(pb.GoingAway.REASON_IDLE, left_s),
        )

    async def run(self, requests: AsyncIterator[pb.ConverseRequest], send: _Send) -> None:
        """Converses until the client ends it; half-closing lets the current turn finish.

        Raises:
            InvalidInputError: A request has a wrong value.
            IdleError: No request came for too long.
        """
        await self._keeper.describe(self._started)
        if self._body is not None:
            await self._body.open(self._started)
        await self._turns.tell("", pb.ConverseResponse(session_started=self._started))
        try:
            ended = await self._converse(requests, send)
            # A connection that breaks can look like one that was half-closed, so only the word counts.
            if ended:
                self._keeper.forget()
        except BaseException:
            # The client may come back: what runs now is lost, but not what was said and heard.
            self._keeper.save(*self._turns.state())
            raise
        finally:
            await self._turns.close()
            if self._body is not None:
                self._body.close()
            self.audience.close()
            self.ended.set()

    def stop(self, error: TaoxrError) -> None:
        """Ends the stream with an error; the conversation can be resumed."""
        if not self._stopped.done():
            self._stopped.set_result(error)

    async def drain(self, within_s: float) -> None:
        """Ends the stream with the clause that is spoken, which may take so many seconds.

        The conversation can be resumed at the server that comes next.
        """
        await self.announce_end(pb.GoingAway.REASON_SHUTDOWN, within_s)
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._turns.finish_clause()
                await self._sent_or_ended()
        self.stop(UnavailableError("the server stops; resume the conversation when it is back"))

    async def announce_end(self, reason: pb.GoingAway.Reason.ValueType, left_s: float) -> None:
        """Tells the client that the stream ends in so many seconds, and why."""
        going = pb.GoingAway(reason=reason, time_left_us=round(left_s * 1e6))
        await self._turns.tell("", pb.ConverseResponse(going_away=going))

    async def _converse(self, requests: AsyncIterator[pb.ConverseRequest], send: _Send) -> bool:
        """Runs everything until the stream's end; True when the client said `end_session`."""
        async with nursery() as tasks:
            sending = tasks.create_task(self._send_all(send))
            running = [self._idle.run(), self._keeper.run(self._turns.state), self._wait_stopped()]
            if self._body is not None:
                running.append(self._body.run())
            helpers = [tasks.create_task(helper) for helper in running]
            self._turns.open(tasks)
            listener = self._listener
            ear = tasks.create_task(listener.ear.run()) if listener is not None else None
            ended = await self._read_all(requests)
            for helper in helpers:
                helper.cancel()
            self._turns.no_more_input()
            if ear is not None and listener is not None:
                if ended:
                    ear.cancel()
                else:
                    await listener.ear.close()
                    await ear
            if ended:
                self._turns.abandon()
            else:
                await self._turns.finish()
            await self._outbox.close()
            await sending
        return ended

    async def _read_all(self, requests: AsyncIterator[pb.ConverseRequest]) -> bool:
        """Handles requests; True when the client said `end_session`, False when it just closed."""
        async for request in requests:
            self._idle.alive()
            if not await self._requests.handle(request):
                return True
        return False

    def _update(self, update: pb.UpdateConfig) -> None:
        self._mind.update(update)
        self._keeper.save(*self._turns.state())

    async def _send_all(self, send: _Send) -> None:
        responses = self._outbox if self._body is None else self._body.dressed(self._outbox)
        async for response in responses:
            await send(response)
            self.audience.show(response)

    async def _wait_stopped(self) -> None:
        raise await self._stopped

    async def _sent_or_ended(self) -> None:
        # A client that has gone takes nothing any more.
        waiting = [asyncio.create_task(w) for w in (self._outbox.flushed(), self.ended.wait())]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
