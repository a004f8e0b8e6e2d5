"""Audio of any voice to frames, live. Provisional.

Feature rows (`features`) give class posteriors (`prototypes`), which mix the same articulation targets
that phoneme tracks use. The classes were fitted on one synthetic voice, so on other voices and in noisy
rooms the mouth opens and closes with the speech but often forms a wrong sound; a trained network replaces
this in a later release. That is why streams of `AudioAnimator` are described as provisional.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.a2bs.animate import Track, frame_times
from taoxr_models.a2bs.articulation import BY_NAME, CONTROL_INDEX, CONTROLS, SILENCE, TABLE
from taoxr_models.a2bs.coarticulation import target_vector
from taoxr_models.a2bs.features import FIRST_FRAME_S, FRAME_S, LOUDNESS, Features, Rows
from taoxr_models.a2bs.prototypes import Listener, Prototypes
from taoxr_models.a2bs.rig import arkit_weights
from taoxr_models.dsp.resample import To16k

LOOK_AHEAD_S: Final = 0.25
"""Frames follow their audio by this much, plus the size of the chunks."""

_CLASSES: Final = {row.name: i for i, row in enumerate(TABLE)}
_TARGETS: Final = np.stack([target_vector(row) for row in TABLE])
_SILENT: Final = _CLASSES[SILENCE.name]
_BILABIAL: Final = _CLASSES["p"]
_CLOSURE: Final = [CONTROL_INDEX[c] for c in BY_NAME["p"].hold]
_JAW: Final = CONTROL_INDEX["jawOpen"]
# Posterior from which on a closure (a pause) begins, and where it is complete.
_CLOSE_AT: Final = (0.25, 0.5)
_REST_AT: Final = (0.5, 0.8)
# Loudness relative to the speaker's loudest, in dB: below the first nobody speaks.
_GATE_DB: Final = (-36.0, -28.0)
_JAW_DB: Final = 30.0  # speech this much softer than the loudest has its jaw at the low end of the scale
_JAW_SCALE: Final = (0.6, 1.25)
# Closures and their neighbours last this many frames more on both sides, before smoothing rounds them off.
_WIDEN: Final = 4
_SMOOTH: Final = np.hanning(15)[1:-1] / np.hanning(15).sum()
_REACH: Final = _WIDEN + len(_SMOOTH) // 2


class AudioAnimator:
    """Frames of one clip.

    Args:
        prototypes: The classes.
        sample_rate_hz: Rate of the audio, 8000 to 48000.
        frame_rate: Frames per second.
    """

    def __init__(self, prototypes: Prototypes, sample_rate_hz: int, frame_rate: float) -> None:
        self._rate = sample_rate_hz
        self._frame_rate = frame_rate
        self._resampler = To16k(sample_rate_hz)
        self._features = Features(prototypes.cepstral_mean)
        self._listener = Listener(prototypes)
        self._taken = 0  # input samples
        self._told_us = 0  # frames before this time are out
        self._first = -_REACH  # feature frame of the first row below
        self._rows = _at_rest(_REACH)  # controls and closure per feature frame, not yet smoothed

    def push(self, samples: NDArray[np.int16]) -> Track:
        """Takes the next samples, [n]; returns the frames that are certain now."""
        self._taken += len(samples)
        self._take(self._features.push(self._resampler.push(samples)))
        return self._tell(self._seconds_ready())

    def finish(self) -> Track:
        """The remaining frames, to the end of the clip."""
        rest = self._resampler.push(np.zeros(0, np.int16), last=True)
        self._take(self._features.push(rest))
        self._take(self._features.finish())
        seconds = self._taken / self._rate
        # Silence behind the clip: the face is on its way to rest at its end.
        missing = max(0.0, seconds - self._seconds_ready()) / FRAME_S
        self._rows = np.concatenate([self._rows, _at_rest(_REACH + int(missing) + 2)])
        return self._tell(seconds)

    def _take(self, features: Rows) -> None:
        if len(features):
            posteriors = self._listener.push(features)
            self._rows = np.concatenate([self._rows, _rows(posteriors, features[:, LOUDNESS] * 10.0)])

    def _seconds_ready(self) -> float:
        """Time up to which smoothed rows exist."""
        if len(self._rows) <= 2 * _REACH:
            return 0.0
        return FIRST_FRAME_S + (self._first + len(self._rows) - 1 - _REACH) * FRAME_S

    def _tell(self, until: float) -> Track:
        until_us = max(self._told_us, round(until * 1e6))
        times_us = frame_times(self._told_us, until_us, self._frame_rate)
        self._told_us = until_us
        if len(times_us) == 0:
            return Track(times_us, np.zeros((0, arkit_weights(_TARGETS).shape[1]), np.float32))
        smoothed = _smoothed(self._rows)
        at = FIRST_FRAME_S + (self._first + _REACH + np.arange(len(smoothed))) * FRAME_S
        controls = np.empty((len(times_us), smoothed.shape[1]))
        for k in range(smoothed.shape[1]):
            controls[:, k] = np.interp(times_us * 1e-6, at, smoothed[:, k])
        done = max(0, int((until - FIRST_FRAME_S) / FRAME_S) - 1 - _REACH - self._first)
        self._rows = self._rows[done:]
        self._first += done
        return Track(times_us, arkit_weights(controls).astype(np.float32))


def _at_rest(count: int) -> Rows:
    return np.zeros((count, len(CONTROLS) + 1))


def _rows(posteriors: Rows, loudness_db: Rows) -> Rows:
    """Controls mixed from the targets, and in the last column how sure a bilabial closure is."""
    spoken = posteriors.copy()
    spoken[:, _SILENT] = 0.0
    controls = spoken @ _TARGETS
    loud = np.clip(1.0 + loudness_db / _JAW_DB, 0.0, 1.0)
    controls[:, _JAW] *= _JAW_SCALE[0] + (_JAW_SCALE[1] - _JAW_SCALE[0]) * loud
    rest = _ramp(posteriors[:, _SILENT], *_REST_AT)
    rest = np.maximum(rest, 1.0 - _ramp(loudness_db, *_GATE_DB))
    closed = _ramp(posteriors[:, _BILABIAL], *_CLOSE_AT)
    return np.column_stack([np.clip(controls, 0.0, 1.0) * (1.0 - rest)[:, None], closed * (1.0 - rest)])


def _smoothed(rows: Rows) -> Rows:
    """Controls with closures held, smoothed over time; `_REACH` rows fewer on each side."""
    wide = np.lib.stride_tricks.sliding_window_view(rows[:, -1], 2 * _WIDEN + 1).max(axis=1)
    controls = rows[_WIDEN : len(rows) - _WIDEN, :-1]
    windows = np.lib.stride_tricks.sliding_window_view(
        np.column_stack([controls, wide]), len(_SMOOTH), axis=0
    )
    smooth = windows @ _SMOOTH
    closed = smooth[:, -1:]
    out = smooth[:, :-1].copy()
    goal = _TARGETS[_BILABIAL, _CLOSURE]
    out[:, _CLOSURE] += closed * (goal - out[:, _CLOSURE])
    return out


def _ramp(x: Rows, low: float, high: float) -> Rows:
    return np.clip((x - low) / (high - low), 0.0, 1.0)
