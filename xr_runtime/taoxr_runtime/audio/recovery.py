"""Sound devices that went away are opened again when they are back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, TypeAlias

FIRST_DELAY_S: Final = 0.5
LONGEST_DELAY_S: Final = 8.0

Wait: TypeAlias = Callable[[float], bool]
"""Waits so many seconds at most; returns whether to give up."""


class Retry:
    """Attempts something on a thread of its own until it succeeds, each time after twice as long a wait.

    Args:
        attempt: Returns whether it succeeded; must not raise.
        name: Of the thread.
        wait: Waits between attempts; None: for that time, or until `close`.
    """

    def __init__(self, attempt: Callable[[], bool], name: str, wait: Wait | None = None) -> None:
        self._attempt, self._name = attempt, name
        self._closed = threading.Event()
        self._wait = wait or self._closed.wait
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._wanted = False

    def start(self) -> None:
        """Begins to attempt it, unless that is under way; never waits."""
        with self._lock:
            self._wanted = True
            if self._closed.is_set() or self._thread is not None:
                return
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Attempts it no more; waits for an attempt that is under way."""
        self._closed.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        delay_s = FIRST_DELAY_S
        while not (self._wait(delay_s) or self._closed.is_set()):
            with self._lock:
                self._wanted = False
            # Not with the lock: the attempt takes those that callers of `start` hold.
            succeeded = self._attempt()
            with self._lock:
                if succeeded and not self._wanted:
                    self._thread = None
                    return
            delay_s = FIRST_DELAY_S if succeeded else min(2 * delay_s, LONGEST_DELAY_S)


class Streams:
    """Opens and closes the sound streams of this process.

    PortAudio looks for devices when it starts, so one that was plugged in later is found only after it was
    started anew; that ends every stream, so it is done only while none of ours is open.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[Any] = []

    def look(self, library: Any) -> None:
        """Looks for devices anew, if no stream is open.

        Args:
            library: What ``sounddevice`` offers.
        """
        with self._lock:
            if not self._open:
                # There is no public way.
                library._terminate()
                library._initialize()

    def open(self, make: Callable[[], Any]) -> Any:
        """The stream that ``make`` opens."""
        with self._lock:
            stream = make()
            self._open.append(stream)
            return stream

    def close(self, stream: Any) -> None:
        """Closes it."""
        with self._lock:
            self._open.remove(stream)
            stream.close(ignore_errors=True)


STREAMS: Final = Streams()
