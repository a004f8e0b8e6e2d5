"""What the conversation is doing and how long things took; written by it, read by the stage."""

import threading
from collections import deque
from typing import Final

from taoxr_runtime.audio import Sink, Source
from taoxr_runtime.audio.protocols import clock_us
from taoxr_runtime.live.status import Remark

_REMARKS: Final = 20


class Report:
    """Safe to read from any thread.

    Args:
        sink: Asked for its problems.
        source: The same.

    Attributes:
        connected: Whether there is a conversation; None before the first.
        listening: Whether the user speaks.
        thinking: Whether the user waits for an answer to begin, or for its rest.
    """

    def __init__(self, sink: Sink, source: Source) -> None:
        self.connected: bool | None = None
        self.listening = False
        self.thinking = False
        self._devices = (sink, source)
        self._problems = ["", ""]
        self._lock = threading.Lock()
        self._remarks: deque[Remark] = deque(maxlen=_REMARKS)
        self._latency_ms: dict[str, float] = {}
        self._user_ended_us: int | None = None
        self._heard_turn = ""

    def remark(self, text: str) -> None:
        """Tells the user something; the same thing twice in a row is told once."""
        with self._lock:
            if not self._remarks or self._remarks[-1].text != text:
                self._remarks.append(Remark(clock_us(), text))

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """The last things told, oldest first."""
        with self._lock:
            return tuple(self._remarks)

    def check_devices(self) -> None:
        """Tells of sound devices that have a problem that they had not before, or have it no more."""
        for i, device in enumerate(self._devices):
            problem = device.problem
            if problem and problem != self._problems[i]:
                self.remark(problem)
            elif self._problems[i] and not problem:
                self.remark(f"the sound device {device.description!r} works again")
            self._problems[i] = problem

    def user_ended(self, at_us: int) -> None:
        """The user's turn ended at a time of the machine's steady clock: latencies count from here."""
        with self._lock:
            self._user_ended_us = at_us

    def first_heard(self, turn_id: str, at_us: int) -> None:
        """A turn was first heard at a time; only the first call for each turn counts."""
        with self._lock:
            if turn_id != self._heard_turn and self._user_ended_us is not None:
                self._heard_turn = turn_id
                self._latency_ms["first_heard"] = (at_us - self._user_ended_us) / 1e3

    def stages(self, stages_ms: dict[str, float]) -> None:
        """Takes the bridge's figures of a turn."""
        with self._lock:
            self._latency_ms = {
                **stages_ms,
                **{k: v for k, v in self._latency_ms.items() if k == "first_heard"},
            }

    def new_conversation(self) -> None:
        """Turns are counted from the start again."""
        with self._lock:
            self._heard_turn = ""
            self.listening = self.thinking = False

    def latency_ms(self) -> dict[str, float]:
        """Milliseconds by stage of the last turn."""
        with self._lock:
            return dict(self._latency_ms)
