"""The log-mel spectrogram against a plain one in float64, written from the definition."""

import numpy as np
import pytest

from taoxr_models.dsp.mel import mel_filters
from taoxr_models.ear.logmel import log_mel

pytestmark = pytest.mark.parity

TOLERANCE = 2e-4


def mel(hz: float) -> float:
    return hz * 3 / 200 if hz < 1000 else 15 + 27 * np.log(hz / 1000) / np.log(6.4)


def hz(mel_value: float) -> float:
    return mel_value * 200 / 3 if mel_value < 15 else 1000 * 6.4 ** ((mel_value - 15) / 27)


def triangle(f: float, left: float, centre: float, right: float) -> float:
    if not left < f < right:
        return 0.0
    height = 2 / (right - left)
    return height * ((f - left) / (centre - left) if f <= centre else (right - f) / (right - centre))


def plain_log_mel(x: np.ndarray) -> np.ndarray:
    edges = [hz(k * mel(8000) / 81) for k in range(82)]
    bins = [k * 40.0 for k in range(201)]
    filters = np.array([[triangle(f, *edges[b : b + 3]) for f in bins] for b in range(80)])
    n = np.arange(400)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * n / 400)
    fourier = np.exp(-2j * np.pi * np.outer(np.arange(201), n) / 400)
    padded = np.concatenate([x[200:0:-1], x, x[-2:-202:-1]])
    frames = [padded[k * 160 : k * 160 + 400] * window for k in range(len(x) // 160)]
    power = np.abs(fourier @ np.array(frames).T) ** 2
    logs = np.log10(np.maximum(filters @ power, 1e-10))
    return (np.maximum(logs, logs.max() - 8) + 4) / 4


@pytest.mark.parametrize("seconds", [0.5, 1.003])
def test_log_mel(seconds: float) -> None:
    rng = np.random.default_rng(0)
    t = np.arange(round(seconds * 16000)) / 16000
    x = 0.3 * np.sin(2 * np.pi * (200 + 900 * t) * t) + 0.01 * rng.standard_normal(len(t))
    x[: len(x) // 5] = 0.0
    got = log_mel(x.astype(np.float32))
    assert got.dtype == np.float32
    assert got.shape == (80, len(t) // 160)
    np.testing.assert_allclose(got, plain_log_mel(x), atol=TOLERANCE)


def test_filters_have_unit_area() -> None:
    # Bands wide enough for the bins to sample them well.
    filters = mel_filters(20, 4096, 16000, 100.0, 8000.0)
    np.testing.assert_allclose(filters.sum(axis=1) * 16000 / 4096, 1.0, atol=0.05)
