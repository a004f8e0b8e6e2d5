"""The face of a turn: coefficient frames on the turn's media clock, sampled at any time."""

from typing import Final

import numpy as np
import numpy.typing as npt

from taoxr import arkit
from taoxr.errors import InvalidInputError
from taoxr_runtime.animation.curves import smoothstep

Weights = npt.NDArray[np.float32]

REST_US: Final = 150_000
"""Time the face takes to come to rest when a track ends, runs dry or is interrupted."""
ONSET_US: Final = 50_000
"""Time in which a new track takes over from what the face showed before; short, so that the
first bilabial of a sentence still closes the lips."""


class Face:
    """Holds the frames of the current turn and shows the face of the audio heard now.

    Frames of an old epoch are dropped. When there is nothing to show (no turn, the track has
    ended, frames are late, the turn was interrupted) the face eases to rest; when frames come
    (again), it eases into them. So the output is continuous whatever arrives.
    """

    def __init__(self, size: int = len(arkit.NAMES)) -> None:
        """Args: number of coefficients per frame."""
        self._size = size
        self._times = np.zeros(256, np.int64)
        self._frames = np.zeros((256, size), np.float32)
        self._count = 0
        self._turn: str = ""
        self._epoch: int = 0
        self._source: tuple[int, str] | None = None
        self._shown = np.zeros(size, np.float32)
        self._from = self._shown
        self._change_us = -(10**15)

    @property
    def epoch(self) -> int:
        """Highest epoch seen."""
        return self._epoch

    @property
    def latest_us(self) -> int | None:
        """Time of the last frame held of the current turn, in media microseconds."""
        return int(self._times[self._count - 1]) if self._count else None

    def add(self, turn_id: str, epoch: int, times_us: npt.NDArray[np.int64], weights: Weights) -> bool:
        """Takes frames in; those of a new turn replace the track of the one before.

        Args:
            turn_id: Turn the frames belong to.
            epoch: Their epoch.
            times_us: int64 [k], media microseconds, increasing and after all frames held.
            weights: float32 [k, size], each in [0, 1].

        Returns:
            False when the epoch is old and the frames were dropped.

        Raises:
            InvalidInputError: On a wrong shape, values that are not finite, or times out of order.
        """
        if epoch < self._epoch:
            return False
        k = len(times_us)
        if weights.shape != (k, self._size):
            raise InvalidInputError("weights", weights.shape, f"shape ({k}, {self._size})")
        if not np.isfinite(weights).all():
            raise InvalidInputError("weights", "NaN or infinity", "finite values")
        if epoch > self._epoch or turn_id != self._turn:
            self._epoch, self._turn, self._count = epoch, turn_id, 0
        if k == 0:
            return True
        last = self.latest_us
        if (k > 1 and (np.diff(times_us) <= 0).any()) or (last is not None and times_us[0] <= last):
            raise InvalidInputError("times_us", times_us[:3].tolist(), f"increasing times after {last}")
        self._reserve(self._count + k)
        self._times[self._count : self._count + k] = times_us
        self._frames[self._count : self._count + k] = np.clip(weights, 0.0, 1.0)
        self._count += k
        return True

    def interrupt(self, epoch: int | None = None) -> None:
        """Drops the track; the face eases to rest. Frames older than ``epoch`` are refused from now on."""
        self._count = 0
        self._turn = ""
        if epoch is not None:
            self._epoch = max(self._epoch, epoch)

    def sample(self, now_us: int, media_us: int | None) -> Weights:
        """The face to draw.

        Args:
            now_us: Display time on any steady clock, never decreasing, in microseconds.
            media_us: Position of the audio heard at that time; None when nothing plays.

        Returns:
            float32 [size].
        """
        target = self._track_at(media_us)
        source = None if target is None else (self._epoch, self._turn)
        if source != self._source:
            self._source, self._from, self._change_us = source, self._shown, now_us
        ease = REST_US if target is None else ONSET_US
        goal = np.zeros(self._size, np.float32) if target is None else target
        mix = np.float32(smoothstep((now_us - self._change_us) / ease))
        self._shown = (self._from * (1 - mix) + goal * mix).astype(np.float32, copy=False)
        return self._shown

    def drawn_us(self, media_us: int) -> int | None:
        """Media time of the face that ``sample`` draws at ``media_us``: earlier when frames are late."""
        last = self.latest_us
        return None if last is None else min(media_us, last)

    def _track_at(self, media_us: int | None) -> Weights | None:
        if media_us is None or self._count == 0:
            return None
        times = self._times[: self._count]
        if media_us >= times[-1]:
            # The last frame stands for its own period.
            period = times[-1] - times[-2] if self._count > 1 else 33_333
            return self._frames[self._count - 1] if media_us < times[-1] + period else None
        if media_us <= times[0]:
            return self._frames[0]
        i = int(np.searchsorted(times, media_us, side="right"))
        mix = np.float32((media_us - times[i - 1]) / (times[i] - times[i - 1]))
        return self._frames[i - 1] * (1 - mix) + self._frames[i] * mix

    def _reserve(self, count: int) -> None:
        while count > len(self._times):
            self._times = np.concatenate([self._times, np.zeros_like(self._times)])
            self._frames = np.concatenate([self._frames, np.zeros_like(self._frames)])
