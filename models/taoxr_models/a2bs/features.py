"""Cepstral features of a stream, made independent of level and voice as far as that is possible live.

Mel-frequency cepstral coefficients (Davis and Mermelstein, 1980) with causal gain control and causal
cepstral mean normalisation, and loudness relative to the speaker's loudest; each row holds a frame and some
of its neighbours, since many sounds are told from how they move.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.dsp.mel import mel_filters
from taoxr_models.dsp.resample import RATE

Rows = NDArray[np.float64]

HOP: Final = 160
WINDOW: Final = 400
FRAME_S: Final = HOP / RATE
FIRST_FRAME_S: Final = 0.5 * WINDOW / RATE
"""Time of the middle of frame 0."""
COEFFICIENTS: Final = 12
_FEATURES: Final = COEFFICIENTS + 1  # and loudness
REACH: Final = 9
"""A row needs this many frames after its own."""
_STEP: Final = 3  # frames between the neighbours in a row
DIMENSIONS: Final = _FEATURES * (2 * REACH // _STEP + 1)
LOUDNESS: Final = _FEATURES * (REACH // _STEP) + COEFFICIENTS
"""Column with the frame's own loudness, in units of 10 dB, 0 at the loudest."""

_FFT: Final = 512
_BANDS: Final = 24
# Telephone band: 8 kHz input has no more, and one set of prototypes must serve every input rate.
_LOW_HZ: Final = 100.0
_HIGH_HZ: Final = 3900.0
_PRE_EMPHASIS: Final = 0.97
_FILTERS: Final = mel_filters(_BANDS, _FFT, RATE, _LOW_HZ, _HIGH_HZ).astype(np.float64)
_HAMMING: Final = np.hamming(WINDOW)
# Filters have unit area in Hz; with this, white noise has the same power in each band as its samples.
_TO_FULL_SCALE: Final = RATE / _FFT / np.mean(_HAMMING**2)

# Levels are in dB of full scale after pre-emphasis, which takes about 12 dB from speech. The gain control's
# level jumps up to loud frames and falls by this much per second.
_LEVEL_FALL_DB_PER_S: Final = 3.0
_INITIAL_LEVEL_DB: Final = -45.0
_LEAST_LEVEL_DB: Final = -62.0
# The noise floor falls at once to quiet frames and rises by this much per second; what is hardly above it is
# silence.
_NOISE_RISE_DB_PER_S: Final = 4.0
_LEAST_NOISE_DB: Final = -80.0
_ABOVE_NOISE_DB: Final = 8.0
_FLOOR_DB: Final = -45.0  # relative to the level: quieter detail is noise
# Frames this loud relative to the level feed the running mean, with this time constant.
_MEAN_ABOVE_DB: Final = -25.0
_MEAN_S: Final = 3.0


def _cosines() -> Rows:
    """DCT-II rows 1 to 12, orthonormal, [12, bands]."""
    k = np.arange(1, COEFFICIENTS + 1)[:, None]
    n = np.arange(_BANDS) + 0.5
    return np.sqrt(2.0 / _BANDS) * np.cos(np.pi * k * n / _BANDS)


_DCT: Final = _cosines()


class Features:
    """Feature rows of one stream at 16 kHz, one for each 10 ms.

    Args:
        mean: [12] cepstral mean to start from: the average over voices.
    """

    def __init__(self, mean: Rows) -> None:
        self._mean = mean.copy()
        self._level_db = _INITIAL_LEVEL_DB
        self._noise_db = _INITIAL_LEVEL_DB
        self._samples = np.zeros(0)
        self._last = 0.0  # sample before, for the pre-emphasis
        self._frames = np.zeros((0, _FEATURES))  # those that rows still need
        self._started = False

    @property
    def mean(self) -> Rows:
        """The running cepstral mean, [12]."""
        return self._mean

    def push(self, samples: NDArray[np.float32]) -> Rows:
        """Takes samples [n] in [-1, 1]; returns the rows that are complete, [m, DIMENSIONS]."""
        x = samples.astype(np.float64)
        if len(x):
            emphasised = x - _PRE_EMPHASIS * np.concatenate([[self._last], x[:-1]])
            self._last = float(x[-1])
            self._samples = np.concatenate([self._samples, emphasised])
        count = max(0, (len(self._samples) - WINDOW) // HOP + 1)
        if count == 0:
            return np.zeros((0, DIMENSIONS))
        windows = np.lib.stride_tricks.sliding_window_view(self._samples, WINDOW)[::HOP][:count]
        spectra = np.abs(np.fft.rfft(windows * _HAMMING, _FFT, axis=1)) ** 2 / WINDOW
        mel = spectra @ _FILTERS.T * _TO_FULL_SCALE
        self._samples = self._samples[count * HOP :].copy()
        self._frames = np.concatenate([self._frames, [self._normalise(band) for band in mel]])
        return self._complete()

    def finish(self) -> Rows:
        """The last rows, as if the last frame went on, [m, DIMENSIONS]."""
        if len(self._frames) == 0:
            return np.zeros((0, DIMENSIONS))
        self._frames = np.concatenate([self._frames, np.repeat(self._frames[-1:], REACH, axis=0)])
        return self._complete()

    def _normalise(self, mel: Rows) -> Rows:
        """One frame: cepstrum less its running mean, and loudness relative to the level."""
        energy_db = 10.0 * np.log10(mel.mean() + 1e-12)
        fallen = self._level_db - _LEVEL_FALL_DB_PER_S * FRAME_S
        self._level_db = max(fallen, energy_db, _LEAST_LEVEL_DB)
        risen = self._noise_db + _NOISE_RISE_DB_PER_S * FRAME_S
        self._noise_db = max(min(risen, energy_db), _LEAST_NOISE_DB)
        quiet = energy_db < self._noise_db + _ABOVE_NOISE_DB
        loudness = _FLOOR_DB if quiet else max(energy_db - self._level_db, _FLOOR_DB)
        relative = mel / 10.0 ** (self._level_db / 10.0)
        cepstrum = _DCT @ np.log(relative + 10.0 ** (_FLOOR_DB / 10.0))
        if loudness > _MEAN_ABOVE_DB:
            self._mean += (cepstrum - self._mean) * (FRAME_S / _MEAN_S)
        return np.append(cepstrum - self._mean, loudness / 10.0)

    def _complete(self) -> Rows:
        """Rows whose neighbours are there; keeps what the next ones need."""
        if not self._started:
            self._frames = np.concatenate([np.repeat(self._frames[:1], REACH, axis=0), self._frames])
            self._started = True
        count = max(0, len(self._frames) - 2 * REACH)
        shifted = [self._frames[k : k + count] for k in range(0, 2 * REACH + 1, _STEP)]
        self._frames = self._frames[count:]
        return np.concatenate(shifted, axis=1)
