"""Runs the network along a stream: windows of 1.5 s, read 100 ms behind their end."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.a2bs.articulation import CONTROLS, TABLE
from taoxr_models.a2bs.hearing import BANDS, HOP, SILENT, Level, log_power, normalised
from taoxr_models.a2bs.network import FRAME, Heard, Network

LOOK_AHEAD: Final = 5
"""Frames of audio after the one that is read."""
AHEAD: Final = 2
HOP_FRAMES: Final = 4
"""A window is heard when this many new frames are there."""
_WINDOW: Final = 75
_HOPS: Final = FRAME // HOP
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
        # Silence before the stream, so that every window is whole.
        self._samples = np.zeros(_WINDOW * FRAME, np.float32)
        self._first = -_WINDOW  # frame of the first sample above
        self._power = np.full((BANDS, _WINDOW * _HOPS), SILENT, np.float32)  # from the first sample on
        self.read = 0
        """Frames given out so far."""
        self.ahead = _joined([])
        """What the last window said of the next `AHEAD` frames: good enough to round off those before."""

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
        start = max(min(self.read - _BEFORE, end - _WINDOW), self._first)
        power = self._spectrogram((end - self._first) * _HOPS)
        heard = self._network(normalised(power[:, (start - self._first) * _HOPS :], self._level.value))
        after = self.read - start + new
        self.ahead = heard[after : after + AHEAD]
        heard = heard[after - new : after]
        self.read += new
        keep = max(0, self.read - _WINDOW - self._first)
        self._samples = self._samples[keep * FRAME :]
        self._power = self._power[:, keep * _HOPS :]
        self._first += keep
        return heard

    def _spectrogram(self, count: int) -> NDArray[np.float32]:
        """The first ``count`` columns; those that are there already are not made again."""
        done = self._power.shape[1]
        if count > done:
            # Two columns before the new ones lie in the padding, and the last will be made again: it is
            # partly padding too.
            fresh = log_power(self._samples[(done - 2) * HOP : count * HOP])[:, 2:]
            self._level.take(fresh)
            self._power = np.concatenate([self._power, fresh[:, :-1]], axis=1)
            return np.concatenate([self._power, fresh[:, -1:]], axis=1)
        return self._power[:, :count]


def _joined(parts: list[Heard]) -> Heard:
    if not parts:
        return Heard(*(np.zeros(shape, np.float32) for shape in ((0, len(TABLE)), (0, len(CONTROLS)), (0,))))
    return Heard(*(np.concatenate([getattr(p, f) for p in parts]) for f in ("sounds", "controls", "brow")))
