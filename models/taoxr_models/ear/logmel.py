"""Whisper's input: log-mel spectrograms, in NumPy.

Radford et al., "Robust speech recognition via large-scale weak supervision", 2022.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_models.dsp.mel import mel_filters
from taoxr_models.dsp.resample import RATE

BANDS: Final = 80
HOP: Final = 160
_WINDOW: Final = 400
_FILTERS: Final = mel_filters(BANDS, _WINDOW, RATE, 0.0, RATE / 2)
_HANN: Final = np.hanning(_WINDOW + 1)[:-1].astype(np.float32)  # periodic


def log_mel(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Log-mel spectrogram, about 0.25 ms per second of audio.

    Args:
        samples: [n] at 16 kHz in [-1, 1]; more than 200.

    Returns:
        [80, n // 160]: frame k is centred on sample 160 k.
    """
    padded = np.pad(samples, _WINDOW // 2, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::HOP]
    spectrum = np.fft.rfft(windows[: len(samples) // HOP] * _HANN, axis=1)
    power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
    mel = np.log10(np.maximum(_FILTERS @ power.T, 1e-10))
    # 80 dB below the loudest point is silence; then about [-1, 1].
    return ((np.maximum(mel, mel.max() - 8.0) + 4.0) / 4.0).astype(np.float32)
