"""The end of a conversation that nobody uses, announced before it comes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from taoxr.errors import TaoxrError

_LONGEST_NOTICE_S: Final = 30.0
_BUSY_POLL_S: Final = 1.0


class IdleError(TaoxrError):
    """A conversation had no request for too long."""


class IdleWatch:
    """Ends a conversation without requests; while the avatar speaks it does not.

    Args:
        limit_s: How long without a request.
        busy: Whether the avatar speaks.
        announce: Tells the client that the end comes in so many seconds, unless a request comes.
    """

    def __init__(
        self, limit_s: float, busy: Callable[[], bool], announce: Callable[[float], Awaitable[None]]
    ) -> None:
        self._limit_s = limit_s
        self._notice_s = min(_LONGEST_NOTICE_S, limit_s / 4)
        self._busy = busy
        self._announce = announce
        self._last = time.monotonic()

    def alive(self) -> None:
        """A request came."""
        self._last = time.monotonic()

    async def run(self) -> None:
        """Watches until it is cancelled.

        Raises:
            IdleError: The conversation is over.
        """
        announced = 0.0
        while True:
            left = self._last + self._limit_s - time.monotonic()
            if left > self._notice_s:
                await asyncio.sleep(left - self._notice_s)
            elif self._busy():
                await asyncio.sleep(min(_BUSY_POLL_S, self._notice_s))
            elif announced != self._last:
                # After a long answer too, the client gets the whole notice.
                self._last = announced = max(self._last, time.monotonic() + self._notice_s - self._limit_s)
                await self._announce(self._notice_s)
            elif left > 0:
                await asyncio.sleep(left)
            else:
                raise IdleError(
                    f"no request for {self._limit_s:.0f} s: the conversation has ended; open a new one"
                )
