"""How long the stages of a turn took."""

import time
from collections.abc import Callable

from taoxr.v1.conversation_pb2 import TurnMetrics


class Stages:
    """Times since the end of the user's turn; a stage that is marked twice keeps its first time.

    Args:
        began: When the user's turn ended, on `clock`.
        clock: Seconds on a monotonic clock.
    """

    def __init__(self, began: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._began = began
        self._clock = clock
        self.metrics = TurnMetrics()

    def join(self, begun: "Stages") -> None:
        """Counts from the beginning of `begun`, whose stages came before: these ran before it was known."""
        for stage in list(self.metrics.stages_ms):
            self.metrics.stages_ms[stage] += (self._began - begun._began) * 1000
        self._began = begun._began
        self.metrics.stages_ms.update(begun.metrics.stages_ms)

    def mark(self, stage: str) -> None:
        """The stage has come to its result now."""
        if stage not in self.metrics.stages_ms:
            self.mark_again(stage)

    def mark_again(self, stage: str) -> None:
        """The stage has come to its newest result now."""
        self.metrics.stages_ms[stage] = (self._clock() - self._began) * 1000
