"""A microphone that can be switched off."""

from __future__ import annotations

import numpy as np

from taoxr_runtime.audio.protocols import Block, Deliver, Source


class MutableSource:
    """A source whose sound is silence while ``muted``; blocks keep coming, so that time goes on.

    Args:
        source: The microphone.

    Attributes:
        muted: May be set from any thread; counts from the next block on.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self.muted = False

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
            deliver(np.zeros_like(block) if self.muted else block)

        self._source.start(pass_on)

    def stop(self) -> None:
        """See ``Source``."""
        self._source.stop()

    def close(self) -> None:
        """See ``Source``."""
        self._source.close()
