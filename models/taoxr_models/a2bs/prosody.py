"""How a voice stresses: its pitch, and how far the brows go with it.

Speakers tend to raise their brows where they raise their voice (Cavé et al. 1996, "About the relationship
between eyebrow movements and F0 variations"; Flecha-García 2010, "Eyebrow raises in dialogue and their
relation to discourse structure, utterance function and pitch accents"). Which syllables are stressed is known
from the phonemes; how strongly the voice marks each of them is only in its sound.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.a2bs.coarticulation import Curve

HOP_S: Final = 0.01
"""Time between two values of a pitch track, which lie in the middle of the clause's blocks of this length."""
_WINDOW: Final = 4  # blocks; holds three periods of the lowest pitch, nearly
_LOWEST_HZ: Final = 65.0
_HIGHEST_HZ: Final = 400.0
# Pitch needs no more bandwidth than this.
_NARROW_HZ: Final = 5000
# A period is one when the sound after it resembles the sound before it this much.
_PERIODIC: Final = 0.5
# Of periods that do nearly as well the shortest is the right one: its multiples do, too.
_NEARLY: Final = 0.9
_QUIET: Final = 32768 * 10 ** (-45 / 20)

# Pitch counts against that of the time before: it falls along a clause, and is another for each voice.
_BEFORE_S: Final = 0.8
_SMOOTH_S: Final = 0.06
_ACCENT_SEMITONES: Final = 3.5
# Leaps of so many semitones are errors: a voice that cracks, or an octave taken for another.
_LEAP: Final = 8.0
_GAIN: Final = (0.35, 1.8)
CONTEXT_S: Final = 1.0
"""Audio before a moment that its gain depends on: `_BEFORE_S`, a smoothing and a window."""


@dataclass(frozen=True, slots=True)
class Pitch:
    """Pitch in time.

    Attributes:
        times: [n] seconds.
        hz: [n] pitch; 0 where there is none.
    """

    times: Curve
    hz: Curve


def pitch(pcm: NDArray[np.int16], sample_rate_hz: int, start: float = 0.0) -> Pitch:
    """Tracks the pitch of a voice by autocorrelation.

    The autocorrelation of a windowed piece is divided by that of its window (Boersma 1993, "Accurate
    short-term analysis of the fundamental frequency and the harmonics-to-noise ratio of a sampled sound").

    Args:
        pcm: [n] mono audio.
        sample_rate_hz: Its rate.
        start: Where in the clause it begins, in seconds.

    Returns:
        A value for each whole block of the clause in `pcm`, from the audio around it; silence is assumed
        before and after.
    """
    hop = max(1, round(sample_rate_hz * HOP_S))
    first_sample = round(start * sample_rate_hz)
    first = -(-first_sample // hop)
    pcm = pcm[first * hop - first_sample :]
    blocks = len(pcm) // hop
    step = max(d for d in range(1, max(1, sample_rate_hz // _NARROW_HZ) + 1) if hop % d == 0)
    narrow = pcm[: blocks * hop].reshape(-1, step).mean(axis=1, dtype=np.float64)
    rate, size = sample_rate_hz / step, hop // step
    length = _WINDOW * size
    aside = (length - size) // 2
    padded = np.pad(narrow, (aside, length - size - aside))
    if blocks == 0:
        return Pitch(np.zeros(0), np.zeros(0))
    pieces = np.lib.stride_tricks.sliding_window_view(padded, length)[::size]
    window = np.hanning(length)
    lags = np.arange(int(rate / _HIGHEST_HZ), int(rate / _LOWEST_HZ) + 2)
    bins = 1 << (2 * length - 1).bit_length()
    centred = (pieces - pieces.mean(axis=1, keepdims=True)) * window
    alike = _autocorrelation(centred, bins)
    likeness = alike[:, lags] / np.maximum(alike[:, :1], 1e-9)
    likeness /= (own := _autocorrelation(window[None], bins)[0])[lags] / own[0]
    peak = np.zeros_like(likeness, bool)
    peak[:, 1:-1] = (likeness[:, 1:-1] >= likeness[:, :-2]) & (likeness[:, 1:-1] > likeness[:, 2:])
    strength = np.where(peak, likeness, 0.0)
    best = strength.max(axis=1)
    chosen = np.argmax(strength >= np.maximum(_NEARLY * best, _PERIODIC)[:, None], axis=1)
    loud = np.sqrt((pieces**2).mean(axis=1)) > _QUIET
    voiced = (best >= _PERIODIC) & loud & (chosen > 0)
    i = np.clip(chosen, 1, len(lags) - 2)
    rows = np.arange(blocks)
    left, middle, right = (likeness[rows, i + k] for k in (-1, 0, 1))
    bend = left - 2.0 * middle + right
    shift = np.where(bend < 0.0, 0.5 * (left - right) / np.where(bend < 0.0, bend, 1.0), 0.0)
    hz = np.where(voiced, rate / (lags[i] + shift), 0.0)
    return Pitch((first + rows + 0.5) * hop / sample_rate_hz, hz)


def brow_gain(pcm: NDArray[np.int16], sample_rate_hz: int, times: Curve, start: float = 0.0) -> Curve:
    """Scale of the brows' lift from the rise of the pitch over that of the time before.

    Args:
        pcm: [n] audio with `CONTEXT_S` before the times and 0.1 s after them, as far as the clause goes.
        sample_rate_hz: Its rate.
        times: [n] seconds from the start of the clause.
        start: Where in the clause `pcm` begins, in seconds.

    Returns:
        [n] 0.35 where the pitch falls to 1.8 where it rises by `_ACCENT_SEMITONES`; 1 where it stays, or
        where there is none.
    """
    track = pitch(pcm, sample_rate_hz, start)
    if not len(track.hz) or not track.hz.any():
        return np.ones_like(times)
    semitones = np.where(track.hz > 0.0, 12.0 * np.log2(np.maximum(track.hz, 1.0)), np.nan)
    span = round(_BEFORE_S / HOP_S)
    before = np.lib.stride_tricks.sliding_window_view(
        np.pad(semitones, (span, 0), constant_values=np.nan), span
    )
    rise = semitones - _median(before[1:])
    voiced = np.abs(rise) < _LEAP
    rise = np.where(voiced, np.clip(rise / _ACCENT_SEMITONES, -1.0, 1.0), 0.0)
    window = np.hanning(2 * round(_SMOOTH_S / HOP_S) + 1)
    smooth = np.convolve(rise, window, mode="same") / np.maximum(np.convolve(voiced, window, "same"), 1.0)
    gain = np.interp(smooth, (-1.0, 0.0, 1.0), (_GAIN[0], 1.0, _GAIN[1]))
    return np.interp(times, track.times, gain)


def _autocorrelation(pieces: Curve, bins: int) -> Curve:
    return np.fft.irfft(np.abs(np.fft.rfft(pieces, bins, axis=1)) ** 2, bins, axis=1)


def _median(rows: Curve) -> Curve:
    """Median of each row of [n, k] without what is not a number; 0 where there is nothing else."""
    count = np.isfinite(rows).sum(axis=1)
    ordered = np.sort(rows, axis=1)  # what is not a number comes last
    middle = np.take_along_axis(ordered, np.maximum(count - 1, 0)[:, None] // 2, axis=1)[:, 0]
    return np.where(count > 0, middle, 0.0)
