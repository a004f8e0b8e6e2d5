"""Other voices, rooms and microphones: random changes of a batch of speech, on the device that trains."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from taoxr_models.dsp.mel import mel_filters
from taoxr_models.dsp.resample import RATE


def uniform(low: float, high: float, count: int, like: Tensor) -> Tensor:
    """Random numbers, [count], on the device of ``like``."""
    return torch.rand(count, device=like.device) * (high - low) + low


def stretch(samples: Tensor, positions: Tensor) -> Tensor:
    """Values between samples by a windowed sinc of 16 taps.

    Args:
        samples: [n], long.
        positions: [b, m] where to read, in samples.
    """
    base = positions.floor().long()
    taps = torch.arange(-7, 9, device=samples.device)
    at = (base[..., None] + taps).clamp(0, len(samples) - 1)
    distance = (positions - base).float()[..., None] - taps
    window = 0.5 * (1.0 + torch.cos(math.pi * (distance / 8.0).clamp(-1, 1)))
    return (samples[at] * torch.sinc(distance) * window).sum(-1)


def room(x: Tensor) -> Tensor:
    """Half of the rows in rooms: a decaying tail of noise, T60 0.1 to 0.5 s."""
    b, n = x.shape
    length = RATE // 2
    t60 = uniform(0.1, 0.5, b, x)[:, None]
    time = torch.arange(length, device=x.device) / RATE
    tail = torch.randn(b, length, device=x.device) * 10.0 ** (-3.0 * time / t60)
    tail = tail * (time > 0.002)
    level = uniform(0.05, 0.6, b, x) * (torch.rand(b, device=x.device) < 0.5)
    tail = tail * (level / tail.norm(dim=1))[:, None]
    tail[:, 0] = 1.0
    size = n + length
    return torch.fft.irfft(torch.fft.rfft(x, size) * torch.fft.rfft(tail, size), size)[:, :n]


def microphone(x: Tensor) -> Tensor:
    """A smooth random frequency response of +-8 dB, with a band limit for some rows."""
    b, n = x.shape
    f = torch.fft.rfftfreq(n, 1.0 / RATE, device=x.device)
    knots = (torch.rand(b, 7, device=x.device) - 0.5) * 16.0
    place = (torch.log2(f + 50.0) - math.log2(50.0)) / (math.log2(8050.0) - math.log2(50.0)) * 6.0
    low = place.floor().long().clamp(0, 5)
    part = place - low
    gain = knots[:, low] * (1.0 - part) + knots[:, low + 1] * part
    high = torch.where(torch.rand(b, device=x.device) < 0.3, uniform(3400, 7000, b, x), 9000.0)[:, None]
    bass = uniform(20, 200, b, x)[:, None]
    gain = gain - 24.0 * torch.log2((f + 1.0) / high).clamp(min=0.0)
    gain = gain - 12.0 * torch.log2(bass / (f + 1.0)).clamp(min=0.0)
    return torch.fft.irfft(torch.fft.rfft(x) * 10.0 ** (gain / 20.0), n)


def noise_like(x: Tensor) -> Tensor:
    """Noise of random colour, for some rows swelling, humming or crackling; unit power."""
    b, n = x.shape
    f = torch.fft.rfftfreq(n, 1.0 / RATE, device=x.device).clamp(min=60.0)
    slope = uniform(0.0, 1.3, b, x)[:, None]
    noise = torch.fft.irfft(torch.fft.rfft(torch.randn_like(x)) * f**-slope, n)
    noise = noise / noise.std(dim=1, keepdim=True)
    t = torch.arange(n, device=x.device) / RATE
    swell = 1.0 + 0.8 * torch.sin(2 * math.pi * uniform(0.3, 4.0, b, x)[:, None] * t)
    noise = torch.where((torch.rand(b, device=x.device) < 0.3)[:, None], noise * swell, noise)
    base = uniform(50.0, 400.0, b, x)[:, None]
    hum = sum((torch.sin(2 * math.pi * base * k * t + k) / k for k in (1, 2, 3, 5)), torch.zeros_like(x))
    noise = torch.where((torch.rand(b, device=x.device) < 0.15)[:, None], noise * 0.3 + hum, noise)
    clicks = (torch.rand_like(x) < 3.0 / RATE).float()
    ring = torch.randn(b, 800, device=x.device) * torch.exp(-torch.arange(800, device=x.device) / 120.0)
    size = n + 800
    crackle = torch.fft.irfft(torch.fft.rfft(clicks, size) * torch.fft.rfft(ring, size), size)[:, :n]
    noise = torch.where((torch.rand(b, device=x.device) < 0.15)[:, None], noise * 0.2 + 3.0 * crackle, noise)
    return noise / noise.std(dim=1, keepdim=True).clamp(min=1e-6)


class LogMel:
    """Whisper's spectrogram with the level that the running product would have found."""

    def __init__(self, device: torch.device) -> None:
        self._filters = torch.from_numpy(mel_filters(80, 400, RATE, 0.0, RATE / 2)).to(device)
        self._window = torch.hann_window(400, device=device)

    def power(self, x: Tensor) -> Tensor:
        """[b, n] to log10 mel power, [b, 80, n / 160]; a frame is centred on its sample."""
        padded = functional.pad(x[:, None], (200, 200), mode="reflect")[:, 0]
        spectrum = torch.stft(padded, 400, 160, window=self._window, center=False, return_complex=True)
        return (self._filters @ spectrum[..., : x.shape[1] // 160].abs() ** 2).clamp(min=1e-10).log10()
