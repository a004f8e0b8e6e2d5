"""Mono sound for two ears: delays and filters that follow the listener's head. See `ears` for the model.

The head's shadow, (1 + α s/2ω₀) / (1 + s/2ω₀), is α + (1 − α) of one low-pass whose corner never moves. So
the sound is low-passed once, and each ear mixes it with what was not; only gains and delays change when the
head moves, and they change from sample to sample, so that nothing clicks.
"""

from __future__ import annotations

import math
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.audio.ears import HEAD_RADIUS_M, REAR_HZ, SHADOW_HZ, SOUND_MS, Heard, Listener, hear

FOLLOW_S: Final = 0.012
"""Time constant with which gains and delays follow the head; poses come in steps, once a picture."""
KNEE: Final = 0.8
"""Part of full scale above which sound is bent, not cut: at the ear a voice is up to four times as loud."""
_FULL: Final = 32_767.0
# What a low-pass forgets, as part of full scale.
_FORGOTTEN: Final = 1e-7
# A cubic through four samples needs one after the place and two before.
_AFTER: Final = 2
_BEFORE: Final = 2


class Spread(Protocol):
    """Mono sound to the channels of a device."""

    @property
    def channels(self) -> int:
        """How many there are."""
        ...

    def render(self, mono: NDArray[np.int16]) -> NDArray[np.int16]:
        """The next block, int16 [n] to [n, channels]."""
        ...


class Flat:
    """The same from everywhere: one channel."""

    channels = 1

    def render(self, mono: NDArray[np.int16]) -> NDArray[np.int16]:
        """See `Spread`."""
        return mono[:, None]


class Binaural:
    """Two channels, left and right, for headphones; for one thread.

    Everything is about 0.3 ms late (the way around half a head). How long sound is under way from the mouth
    is left out: the picture is not late either.

    Args:
        rate_hz: Samples per second.
        listener: Where the mouth is.
    """

    channels = 2

    def __init__(self, rate_hz: int, listener: Listener) -> None:
        self._listener = listener
        self._rate = rate_hz
        self._rear, self._shadow = response(REAR_HZ, rate_hz), response(SHADOW_HZ, rate_hz)
        self._reach = math.ceil(latest(rate_hz)) + _BEFORE
        self._raw = np.zeros(len(self._rear) - 1, np.float32)
        self._dulled = np.zeros(self._reach + len(self._shadow) - 1, np.float32)
        self._now = settings(hear(listener.mouth), rate_hz)

    def render(self, mono: NDArray[np.int16]) -> NDArray[np.int16]:
        """See `Spread`."""
        target = settings(hear(self._listener.mouth), self._rate)
        if not (mono.any() or self._raw.any() or self._dulled.any()):
            self._now = target
            return np.zeros((len(mono), 2), np.int16)
        before = self._now
        self._now = before + follow(len(mono), self._rate) * (target - before)
        ramp = np.arange(1, len(mono) + 1)[:, None] / len(mono)
        values = before + ramp * (self._now - before)
        dry, low = self._filter(mono, values[:, 6].astype(np.float32))
        out = np.empty((len(mono), 2), np.int16)
        for ear in (0, 1):
            out[:, ear] = self._ear(dry, low, values[:, ear::2])
        return out

    def _filter(
        self, mono: NDArray[np.int16], dulled: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The sound dulled by the pinna, and that in the head's shadow; each with `_reach` samples before."""
        fresh = np.multiply(mono, 1 / _FULL, dtype=np.float32)
        raw = np.concatenate([self._raw, fresh])
        sound = np.concatenate([self._dulled, fresh - dulled * (fresh - _convolve(raw, self._rear))])
        self._raw, self._dulled = raw[len(mono) :], sound[len(mono) :]
        return sound[len(self._shadow) - 1 :], _convolve(sound, self._shadow)

    def _ear(
        self, dry: NDArray[np.float32], low: NDArray[np.float32], values: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        """One ear's sound, in units of int16, from its delays and gains, float64 [n, 3 or more]."""
        place = self._reach + np.arange(len(values)) - values[:, 0]
        first = place.astype(np.int64)
        weights = cubic((place - first).astype(np.float32))
        taps = first[:, None] + np.arange(-1, 3)
        highs, lows = values[:, 1].astype(np.float32), values[:, 2].astype(np.float32)
        sound = highs * np.einsum("nk,nk->n", dry[taps], weights)
        sound += lows * np.einsum("nk,nk->n", low[taps], weights)
        return np.rint(_FULL * bend(sound))


def spread(rate_hz: int, listener: Listener | None) -> Spread:
    """What a sink needs: for a listener two channels, else one."""
    return Flat() if listener is None else Binaural(rate_hz, listener)


def response(corner_hz: float, rate_hz: int) -> NDArray[np.float32]:
    """Impulse response of a first-order low-pass (bilinear transform), float32 [n], as far as it is heard.

    Args:
        corner_hz: Where it is 3 dB down.
        rate_hz: Samples per second.
    """
    gain, pole = low_pass(corner_hz, rate_hz)
    count = math.ceil(math.log(_FORGOTTEN) / math.log(pole))
    taps = gain * (1 + pole) * pole ** np.arange(-1.0, count - 1)
    taps[0] = gain
    return taps.astype(np.float32)


def low_pass(corner_hz: float, rate_hz: int) -> tuple[float, float]:
    """Gain and pole of y[n] = gain (x[n] + x[n−1]) + pole y[n−1]."""
    k = math.tan(math.pi * min(corner_hz / rate_hz, 0.45))
    return k / (1 + k), (1 - k) / (1 + k)


def settings(heard: Heard, rate_hz: int) -> NDArray[np.float64]:
    """What is to follow the head smoothly.

    Returns:
        float64 [7]: delays in samples, gains of the sound, gains of its low-passed part (left and right of
        each), share of the highs lost.
    """
    ahead = HEAD_RADIUS_M / SOUND_MS * rate_hz + _AFTER
    direct = [heard.gain * highs for highs in heard.highs]
    lows = [heard.gain * (1 - highs) for highs in heard.highs]
    delays = [ahead + delay * rate_hz for delay in heard.delays_s]
    return np.array([*delays, *direct, *lows, heard.dulled])


def latest(rate_hz: int) -> float:
    """The longest delay of `settings`, samples."""
    return HEAD_RADIUS_M / SOUND_MS * (1 + math.pi / 2) * rate_hz + _AFTER


def follow(count: int, rate_hz: int) -> float:
    """How much of the way to a new place is gone in a block of ``count`` samples."""
    return 1 - math.exp(-count / (FOLLOW_S * rate_hz))


def cubic(part: NDArray[np.float32]) -> NDArray[np.float32]:
    """Lagrange's weights of the samples at −1, 0, 1 and 2 for places between 0 and 1: [n] to [n, 4].

    See Laakso et al., Splitting the Unit Delay, IEEE Signal Processing Magazine 13(1), 1996.
    """
    d, one, two = part, part - 1, part - 2
    past = part + 1
    weights = [-d * one * two / 6, past * one * two / 2, -past * d * two / 2, past * d * one / 6]
    return np.stack(weights, axis=1).astype(np.float32, copy=False)


def bend(sound: NDArray[np.float32]) -> NDArray[np.float32]:
    """Sound within full scale: as it is up to `KNEE`, and smoothly less than it is above."""
    size = np.abs(sound)
    if size.max(initial=0) <= KNEE:
        return sound
    bent = KNEE + (1 - KNEE) * np.tanh((size - KNEE) / (1 - KNEE))
    return np.where(size > KNEE, np.copysign(bent, sound), sound).astype(np.float32)


def _convolve(sound: NDArray[np.float32], taps: NDArray[np.float32]) -> NDArray[np.float32]:
    """Where all of the response fits, float32 [n − taps + 1]."""
    return np.convolve(sound, taps, "valid").astype(np.float32, copy=False)
