"""Falling quiet within speech: seen at once, where the voice activity detector is slow to let go."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

# -30 dB of the loudest: the recordings of the benchmark fall so far 64 ms before the detector lets go, and
# 0.8 times a second within their speech, where a closure such as that of "t" is as quiet.
_QUIET: Final = 10 ** (-30 / 20)
# A door or a louder speaker is forgotten: 1.4 dB a second.
_DECAY: Final = 0.995


class Hush:
    """Loudness of the frames of one stream."""

    def __init__(self) -> None:
        self._loudest = 0.0
        self._quiet = False

    def falls(self, frame: NDArray[np.float32]) -> bool | None:
        """Takes the next 32 ms: True: it falls quiet, False: it is not quiet, None: it stays quiet."""
        level = float(np.sqrt(np.mean(frame * frame)))
        self._loudest = max(self._loudest * _DECAY, level)
        quiet, self._quiet = self._quiet, level < _QUIET * self._loudest
        return None if quiet and self._quiet else self._quiet
