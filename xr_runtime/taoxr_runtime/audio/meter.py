"""How loud the user is: a level meter for a microphone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from taoxr_runtime.audio.protocols import Block, Deliver, Source, clock_us

FLOOR_DBFS: Final = -90.0
"""Level of silence."""
_FALL_DB_PER_S: Final = 60.0
_FULL: Final = 32_768.0


class MeteredSource:
    """A source that tells how loud it is.

    Args:
        source: The microphone.
        clock: The time in microseconds.
    """

    def __init__(self, source: Source, clock: Callable[[], int] = clock_us) -> None:
        self._source, self._clock = source, clock
        self._heard = (FLOOR_DBFS, 0)

    @property
    def level_dbfs(self) -> float:
        """Level now: root mean square of a block against full scale, decibels, `FLOOR_DBFS` at least.

        It rises at once and falls by 60 dB a second, so that a meter can be read. A sine of full scale has
        −3. From any thread.
        """
        level, at_us = self._heard
        return max(level - _FALL_DB_PER_S * (self._clock() - at_us) / 1e6, FLOOR_DBFS)

    @property
    def description(self) -> str:
        """See ``Source``."""
        return self._source.description

    @property
    def problem(self) -> str:
        """See ``Source``."""
        return self._source.problem

    @property
    def rate_hz(self) -> int:
        """See ``Source``."""
        return self._source.rate_hz

    @property
    def spent(self) -> bool:
        """See ``Source``."""
        return self._source.spent

    def start(self, deliver: Deliver) -> None:
        """See ``Source``."""

        def pass_on(block: Block) -> None:
            level = _level_dbfs(block)
            if level >= self.level_dbfs:
                self._heard = (level, self._clock())
            deliver(block)

        self._source.start(pass_on)

    def stop(self) -> None:
        """See ``Source``."""
        self._source.stop()

    def close(self) -> None:
        """See ``Source``."""
        self._source.close()


def _level_dbfs(block: Block) -> float:
    power = float(np.mean(np.square(block.astype(np.float64) / _FULL))) if len(block) else 0.0
    return max(10 * math.log10(power), FLOOR_DBFS) if power > 0 else FLOOR_DBFS
