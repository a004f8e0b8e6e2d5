"""Ctrl-C that always works, and a word when the runtime hangs.

A call into a runtime that was stopped (SIGSTOP, a hung driver) does not return, and Python's signal handlers
do not run meanwhile. The C part of Python's signal handling does: it writes to a socket that another thread
reads.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final

from taoxr_runtime.xr import api

PATIENCE_S: Final = 3.0
"""After this long a call is said to hang: a frame takes 50 ms at most, a session's start a second."""
_GRACE_S: Final = 1.0
_TICK_S: Final = 0.1
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Watchdog:
    """Watches the calls into the runtime; a context manager, for the main thread.

    The first Ctrl-C (or SIGTERM) sets ``stop``. When the main thread is stuck in a call a second later, the
    process ends at once with exit status 130; a second Ctrl-C in Python code raises KeyboardInterrupt.

    Args:
        tell: Called with a line for the user, from another thread.

    Attributes:
        stop: Whether the user wants to end.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.stop = False
        self._tell = tell
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="xr-watchdog", daemon=True)
        self._ours, self._pythons = socket.socketpair()
        for end in (self._ours, self._pythons):
            end.setblocking(False)
        self._before: dict[int, Any] = {}
        self._wakeup = -1

    def __enter__(self) -> Watchdog:
        self._wakeup = signal.set_wakeup_fd(self._pythons.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._on_signal)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        self._done.set()
        self._thread.join()
        self._ours.close()
        self._pythons.close()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.stop:
            raise KeyboardInterrupt
        self.stop = True

    def _watch(self) -> None:
        reported: api.Call | None = None
        asked: float | None = None
        while not self._done.is_set():
            if self._signalled():
                asked = time.monotonic()
            call, now = api.current_call(), time.monotonic()
            if reported is not None and call is not reported:
                self._tell(f"the OpenXR runtime answers again (after {now - reported.since:.1f} s)")
                reported = None
            if call is None or now - call.since < _GRACE_S:
                continue
            if asked is not None and now - asked > _GRACE_S:
                self._tell(f"the OpenXR runtime does not return from {call.name}: ending without it")
                os._exit(130)  # no other way out of a call that does not return; our processes notice and end
            if reported is None and now - call.since > PATIENCE_S:
                self._tell(
                    f"the OpenXR runtime does not answer: {call.name} took {PATIENCE_S:.0f} s so far. "
                    "Is it stopped, or does it hang? Waiting; Ctrl-C ends"
                )
                reported = call

    def _signalled(self) -> bool:
        """Wait a little for a signal."""
        ready, _, _ = select.select([self._ours], [], [], _TICK_S)
        if not ready:
            return False
        with contextlib.suppress(BlockingIOError):
            return any(number in _SIGNALS for number in self._ours.recv(64))
        return False
