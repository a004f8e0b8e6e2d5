"""What the lips network hears: Whisper's spectrogram with automatic gain instead of a look at the whole clip.

Whisper scales each recording by its loudest point (Radford et al., 2022). Live there is no whole recording;
so a running level takes that place: it jumps up to loud sounds and falls slowly.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.dsp.mel import mel_filters
from taoxr_models.dsp.resample import RATE

BANDS: Final = 80
HOP: Final = 160
HOP_S: Final = HOP / RATE
_WINDOW: Final = 400
_FILTERS: Final = mel_filters(BANDS, _WINDOW, RATE, 0.0, RATE / 2)
_HANN: Final = np.hanning(_WINDOW + 1)[:-1].astype(np.float32)  # periodic

# Levels are log10 of mel power: 1 is 10 dB.
USUAL_LEVEL: Final = 1.0
"""Loudest point of speech at about -22 dBFS."""
LEAST_LEVEL: Final = USUAL_LEVEL - 3.0
"""Softer than this the gain goes no further up."""
FLOOR: Final = 8.0
"""What is this far below the level is silence."""
_FALL_PER_S: Final = 0.15
SILENT: Final = -10.0
"""What `log_power` says of zeros."""


def log_power(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """log10 of mel power, [80, n // 160]; frame k is centred on sample 160 k.

    Args:
        samples: [n] at 16 kHz in [-1, 1]; more than 200.
    """
    padded = np.pad(samples, _WINDOW // 2, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::HOP]
    spectra = np.fft.rfft(windows * _HANN, axis=1)[: len(samples) // HOP].astype(np.complex64)
    return np.log10(np.maximum(_FILTERS @ (np.abs(spectra) ** 2).T, 10.0**SILENT)).astype(np.float32)


def normalised(power: Any, level: Any) -> Any:
    """Spectrogram as Whisper takes it, about [-1, 1.5]; for arrays and tensors alike.

    Args:
        power: Of `log_power`.
        level: The speaker's level.
    """
    return ((power - level).clip(-FLOOR) + (USUAL_LEVEL + 4.0)) / 4.0


class Level:
    """The running level of a stream."""

    def __init__(self) -> None:
        self.value: float = LEAST_LEVEL

    def take(self, power: NDArray[np.float32]) -> float:
        """Follows the next frames, [80, n]; returns the level after them."""
        count = power.shape[1]
        fallen = self.value - _FALL_PER_S * HOP_S * count
        if count:
            since = HOP_S * np.arange(count - 1, -1, -1, dtype=np.float64)
            fallen = max(fallen, float(np.max(power.max(axis=0) - _FALL_PER_S * since)))
        self.value = max(fallen, LEAST_LEVEL)
        return self.value
