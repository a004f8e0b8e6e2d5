"""Audio of any voice to frames, live.

The network (`taoxr_models.a2bs.network`) gives the teacher's curves and how sure it is of each sound. Curves
alone are averages over what might have been said and never quite close the lips; so, as with phonemes,
closures, lip to teeth and rest are held on top, from the probabilities.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.arkit import INDEX
from taoxr_models.a2bs.animate import Track, frame_times
from taoxr_models.a2bs.articulation import BY_NAME, CONTROL_INDEX, CONTROLS, SILENCE, TABLE
from taoxr_models.a2bs.coarticulation import target_vector
from taoxr_models.a2bs.listener import HOP_FRAMES, LOOK_AHEAD, Heard, Listener
from taoxr_models.a2bs.network import FRAME, FRAME_S
from taoxr_models.a2bs.rig import arkit_weights, raise_brows
from taoxr_models.dsp.resample import RATE, To16k

Rows = NDArray[np.float64]

_INDEX: Final = {row.name: i for i, row in enumerate(TABLE)}
# Sound, and between which probabilities its hold sets in; closure has the last word.
_HOLDS: Final = (("f", 0.2, 0.45), ("p", 0.3, 0.6))
_REST: Final = (0.4, 0.75)
# Stops are silent too: the face goes to rest once silence has lasted, over as many frames again.
_REST_AFTER: Final = 4
# Holds last this many frames more on both sides, and all curves are rounded off over this many.
_WIDEN: Final = 1
_SMOOTH: Final = np.array([0.25, 0.5, 0.25])
_REACH: Final = _WIDEN + len(_SMOOTH) // 2  # not above AHEAD, or frames come later
DELAY_S: Final = (LOOK_AHEAD + HOP_FRAMES) * FRAME_S
"""Frames follow their audio by at most this much, plus the size of the chunks."""


class AudioAnimator:
    """Frames of one clip.

    Args:
        listener: Fresh, of this clip.
        sample_rate_hz: Rate of the audio, 8000 to 48000.
        frame_rate: Frames per second.
    """

    def __init__(self, listener: Listener, sample_rate_hz: int, frame_rate: float) -> None:
        self._rate = sample_rate_hz
        self._frame_rate = frame_rate
        self._resampler = To16k(sample_rate_hz)
        self._listener = listener
        self._taken = 0  # input samples
        self._told_us = 0  # frames before this time are out
        self._first = -_REACH  # network frame of the first row below
        self._rows = _at_rest(_REACH)
        self._ahead = _at_rest(0)  # rows after them, which will be heard again
        self._calm = _Calm()

    def push(self, samples: NDArray[np.int16]) -> Track:
        """Takes the next samples, [n]; returns the frames that are certain now."""
        self._taken += len(samples)
        self._take(self._listener.push(self._resampler.push(samples)))
        return self._tell(self._seconds_ready())

    def finish(self) -> Track:
        """The remaining frames, to the end of the clip."""
        self._take(self._listener.push(self._resampler.push(np.zeros(0, np.int16), last=True)))
        seconds = self._taken / self._rate
        self._take(self._listener.finish(int(seconds * RATE) // FRAME + 1))
        # Silence behind the clip: the face is on its way to rest at its end.
        missing = max(0.0, seconds - self._seconds_ready()) / FRAME_S
        self._rows = np.concatenate([self._rows, _at_rest(_REACH + int(missing) + 2)])
        self._ahead = _at_rest(0)
        return self._tell(seconds)

    def _take(self, heard: Heard) -> None:
        if len(heard.brow):
            self._rows = np.concatenate([self._rows, self._calm.push(_rows(heard))])
            self._ahead = self._calm.peek(_rows(self._listener.ahead))

    def _seconds_ready(self) -> float:
        """Time up to which smoothed rows exist."""
        return max(0.0, (self._first + len(self._rows) + len(self._ahead) - 1 - _REACH) * FRAME_S)

    def _tell(self, until: float) -> Track:
        until_us = max(self._told_us, round(until * 1e6))
        times_us = frame_times(self._told_us, until_us, self._frame_rate)
        self._told_us = until_us
        if len(times_us) == 0:
            return Track(times_us, np.zeros((0, len(INDEX)), np.float32))
        smoothed = _smoothed(np.concatenate([self._rows, self._ahead]))
        at = (self._first + _REACH + np.arange(len(smoothed))) * FRAME_S
        rows = np.empty((len(times_us), smoothed.shape[1]))
        for k in range(smoothed.shape[1]):
            rows[:, k] = np.interp(times_us * 1e-6, at, smoothed[:, k])
        weights = arkit_weights(rows[:, :-1])
        raise_brows(weights, rows[:, -1])
        done = max(0, int(until / FRAME_S) - 1 - _REACH - self._first)
        self._rows = self._rows[done:]
        self._first += done
        return Track(times_us, weights.astype(np.float32))


class _Calm:
    """Keeps the mouth as it is in short silence, and lets it rest in a long one."""

    def __init__(self) -> None:
        self._silence = [1.0] * _REST_AFTER  # of the last frames
        self._lasting = [1.0] * _REST_AFTER
        self._held: Rows = np.zeros(len(CONTROLS) + 1)

    def peek(self, rows: Rows) -> Rows:
        """What `push` would return."""
        state = self._silence, self._lasting, self._held
        out = self.push(rows)
        self._silence, self._lasting, self._held = state
        return out

    def push(self, rows: Rows) -> Rows:
        """Takes rows whose last column is silence; returns them with rest in its place."""
        out = rows.copy()
        spoken = slice(0, len(self._held))
        for row in out:
            self._silence = [*self._silence[1:], float(row[-1])]
            self._lasting = [*self._lasting[1:], min(self._silence)]
            rest = sum(self._lasting) / _REST_AFTER
            row[spoken] += row[-1] * (self._held - row[spoken])
            row[-1] = rest
            self._held = row[spoken] * (1.0 - rest)
        return out


def _at_rest(count: int) -> Rows:
    rows = np.zeros((count, len(CONTROLS) + 1 + len(_HOLDS) + 1))
    rows[:, -1] = 1.0
    return rows


def _rows(heard: Heard) -> Rows:
    """Controls, brow, and how far each hold and rest apply; one row per frame."""
    holds = [_ramp(heard.sounds[:, _INDEX[name]], low, high) for name, low, high in _HOLDS]
    rest = _ramp(heard.sounds[:, _INDEX[SILENCE.name]], *_REST)
    return np.column_stack([heard.controls, heard.brow, *holds, rest]).astype(np.float64)


def _smoothed(rows: Rows) -> Rows:
    """Controls and brow with holds and rest, smoothed; `_REACH` rows fewer on each side."""
    n = len(CONTROLS)
    held = np.lib.stride_tricks.sliding_window_view(rows[:, n + 1 : -1], 2 * _WIDEN + 1, axis=0).max(axis=-1)
    inner = np.column_stack([rows[_WIDEN:-_WIDEN, : n + 1], held, rows[_WIDEN:-_WIDEN, -1]])
    smooth = np.lib.stride_tricks.sliding_window_view(inner, len(_SMOOTH), axis=0) @ _SMOOTH
    out = smooth[:, : n + 1].copy()
    for k, (name, _, _) in enumerate(_HOLDS):
        amount = smooth[:, n + 1 + k, None]
        columns = [CONTROL_INDEX[c] for c in BY_NAME[name].hold]
        out[:, columns] += amount * (target_vector(BY_NAME[name])[columns] - out[:, columns])
    return np.clip(out * (1.0 - smooth[:, -1:]), 0.0, 1.0)


def _ramp(x: NDArray[np.float32], low: float, high: float) -> NDArray[np.float32]:
    return np.clip((x - low) / (high - low), 0.0, 1.0)
