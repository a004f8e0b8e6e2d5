"""Runs the network along a stream: windows of 1.5 s, read 100 ms behind their end."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.a2bs.articulation import CONTROLS, TABLE
from taoxr_models.a2bs.hearing import HOP, Level, log_power, normalised
from taoxr_models.a2bs.network import FRAME, Heard, Network

LOOK_AHEAD: Final = 5
"""Frames of audio after the one that is read."""
HOP_FRAMES: Final = 4
"""A window is heard when this many new frames are there."""
_WINDOW: Final = 75
_BEFORE: Final = 50  # frames of a longer window that were read already
_MOST: Final = 250  # new frames at once: what a call may take while it holds the GIL


class Listener:
    """Hears one stream at 16 kHz.

    Args:
        network: Trunk and head.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._level = Level()
        self._levelled = 0  # spectrogram frames that the level has followed
        # Silence before the stream, so that every window is whole.
        self._samples = np.zeros(_WINDOW * FRAME, np.float32)
        self._first = -_WINDOW  # frame of the first sample above
        self.read = 0
        """Frames given out so far."""

    def push(self, samples: NDArray[np.float32]) -> Heard:
        """Takes samples [n] in [-1, 1]; returns the frames that are certain, as many as there are."""
        self._samples = np.concatenate([self._samples, samples])
        out: list[Heard] = []
        while (new := self._ready()) >= HOP_FRAMES:
            out.append(self._hear(min(new, _MOST)))
        return _joined(out)

    def finish(self, frames: int) -> Heard:
        """The frames that remain of a stream of ``frames``; silence follows it."""
        out: list[Heard] = []
        while (new := frames - self.read) > 0:
            missing = (frames + LOOK_AHEAD - self._first) * FRAME - len(self._samples)
            self._samples = np.pad(self._samples, (0, max(0, missing)))
            out.append(self._hear(min(new, _MOST)))
        return _joined(out)

    def _ready(self) -> int:
        return self._first + len(self._samples) // FRAME - LOOK_AHEAD - self.read

    def _hear(self, new: int) -> Heard:
        """Hears a window that ends after the next ``new`` frames and the look-ahead."""
        end = self.read + new + LOOK_AHEAD
        start = min(self.read - _BEFORE, end - _WINDOW)
        start = max(start, self._first)
        window = self._samples[(start - self._first) * FRAME : (end - self._first) * FRAME]
        power = log_power(window)
        fresh = power.shape[1] - max(0, end * FRAME // HOP - self._levelled)
        level = self._level.take(power[:, max(0, fresh) :])
        self._levelled = end * FRAME // HOP
        heard = self._network(normalised(power, level))[self.read - start : self.read - start + new]
        self.read += new
        keep = max(0, self.read - _WINDOW - self._first)
        self._samples = self._samples[keep * FRAME :]
        self._first += keep
        return heard


def _joined(parts: list[Heard]) -> Heard:
    if not parts:
        return Heard(*(np.zeros(shape, np.float32) for shape in ((0, len(TABLE)), (0, len(CONTROLS)), (0,))))
    return Heard(*(np.concatenate([getattr(p, f) for p in parts]) for f in ("sounds", "controls", "brow")))
