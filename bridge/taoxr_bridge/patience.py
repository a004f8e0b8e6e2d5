"""How long a call waits for its client: to make room for a response, and to send the next request."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from taoxr.errors import StalledError, TaoxrError
from taoxr_bridge.idle import IdleError


class Patience:
    """Ends a call whose client makes it wait for too long.

    One timer per call looks at when the wait that goes on began, since a timer per message costs more
    than all else that is done with it.

    Args:
        room_s: Longest wait for room for one response.
        request_s: Longest wait for one request; None for ever.
    """

    def __init__(self, room_s: float, request_s: float | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._room_s = room_s
        self._request_s = request_s
        self._write_began: float | None = None
        self._read_began: float | None = None

    def wait_for_room(self) -> None:
        """A response is being written."""
        self._write_began = self._loop.time()

    def got_room(self) -> None:
        """The response has been written."""
        self._write_began = None

    def wait_for_request(self) -> None:
        """The handler wants the next request."""
        self._read_began = self._loop.time()

    def got_request(self) -> None:
        """The request has come."""
        self._read_began = None

    @asynccontextmanager
    async def limited(self) -> AsyncGenerator[None]:
        """Ends the block when the client makes it wait for too long.

        Raises:
            StalledError: The client made no room for a response.
            IdleError: The client sent no request.
        """
        timeout = asyncio.timeout(None)
        timer: asyncio.TimerHandle | None = None
        error: TaoxrError | None = None

        def look() -> None:
            nonlocal error, timer
            now = self._loop.time()
            left, error = self._left(now)
            if error is None:
                timer = self._loop.call_later(left, look)
            else:
                timeout.reschedule(now)

        try:
            async with timeout:
                look()
                yield
        except TimeoutError:
            if error is None or not timeout.expired():
                raise
            raise error from None
        finally:
            if timer is not None:
                timer.cancel()

    def _left(self, now: float) -> tuple[float, TaoxrError | None]:
        """Seconds until one of the waits may be too long; what to say when one is."""
        room_left = self._room_s - (0.0 if self._write_began is None else now - self._write_began)
        if room_left <= 0:
            text = f"the client has read nothing for {self._room_s:g} s; open a new call and read on"
            return 0.0, StalledError(text)
        if self._request_s is None:
            return room_left, None
        request_left = self._request_s - (0.0 if self._read_began is None else now - self._read_began)
        if request_left <= 0:
            return 0.0, IdleError(f"no request for {self._request_s:g} s: the call has ended; make a new one")
        return min(room_left, request_left), None
