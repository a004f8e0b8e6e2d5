"""Timers and reminders that the avatar speaks about when they are due."""

import heapq
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import Field

from taoxr.client import Tool, as_tool

_MOST: Final = 100

Minutes = Annotated[float, Field(gt=0, le=1440)]
Words = Annotated[str, Field(min_length=1, max_length=200)]


class Timers:
    """What is set, until it is due; safe to use from any threads.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[tuple[float, int, str]] = []
        self._count = 0

    def set_timer(self, minutes: Minutes) -> str:
        """Starts a timer that rings after some minutes."""
        length = f"{minutes:g} minute{'' if minutes == 1 else 's'}"
        return f"The timer rings at {self._add(minutes, f'Your timer of {length} is over.')}."

    def set_reminder(self, minutes: Minutes, text: Words) -> str:
        """Reminds of something after some minutes."""
        return f"I will remind you at {self._add(minutes, f'You wanted to be reminded: {text.strip()}.')}."

    def tools(self) -> tuple[Tool, ...]:
        """What the language model may call."""
        return as_tool(self.set_timer), as_tool(self.set_reminder)

    def due(self) -> str | None:
        """What is to be said about the oldest that is due, once; None when nothing is."""
        with self._lock:
            if self._waiting and self._waiting[0][0] <= self._clock():
                return heapq.heappop(self._waiting)[2]
        return None

    def _add(self, minutes: float, words: str) -> str:
        """When it will be, such as "12:05"."""
        with self._lock:
            if len(self._waiting) >= _MOST:
                raise ValueError(f"there are {_MOST} timers already")
            self._count += 1  # equal times stay in order
            heapq.heappush(self._waiting, (self._clock() + minutes * 60, self._count, words))
        return f"{datetime.now() + timedelta(minutes=minutes):%H:%M}"
