"""Mel filter banks."""

import numpy as np
from numpy.typing import NDArray


def hz_to_mel(hz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slaney's mel scale: linear below 1 kHz, logarithmic above (Auditory Toolbox, 1998)."""
    log_part = 15.0 + 27.0 * np.log(np.maximum(hz, 1e-9) / 1000.0) / np.log(6.4)
    return np.where(hz < 1000.0, hz * 3.0 / 200.0, log_part)


def mel_to_hz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inverse of `hz_to_mel`."""
    return np.where(mel < 15.0, mel * 200.0 / 3.0, 1000.0 * np.exp((mel - 15.0) * np.log(6.4) / 27.0))


def mel_filters(bands: int, fft_size: int, rate: int, low_hz: float, high_hz: float) -> NDArray[np.float32]:
    """Triangular filters of unit area in Hz (Slaney's normalisation).

    Returns:
        [bands, fft_size // 2 + 1], to multiply power spectra with.
    """
    bins = np.fft.rfftfreq(fft_size, 1.0 / rate)
    low, high = hz_to_mel(np.array([low_hz, high_hz]))
    edges = mel_to_hz(np.linspace(float(low), float(high), bands + 2))
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising = (bins - left) / (centre - left)
    falling = (right - bins) / (right - centre)
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    return (triangles * 2.0 / (right - left)).astype(np.float32)
