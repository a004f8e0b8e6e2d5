"""The twin of `binaural` in float64, sample by sample as the formulas are written; slow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.audio.binaural import KNEE, follow, low_pass, settings
from taoxr_runtime.audio.ears import REAR_HZ, SHADOW_HZ, hear


def render(
    blocks: Sequence[NDArray[np.int16]], mouths: Sequence[tuple[float, float, float]], rate_hz: int
) -> NDArray[np.float64]:
    """What both ears hear, not rounded.

    Args:
        blocks: int16 [n], one after the other; silence is worked on like sound.
        mouths: Where the mouth is during each block, head frame, metres; the first also before.
        rate_hz: Samples per second.

    Returns:
        float64 [samples, 2], full scale being 1.
    """
    now = settings(hear(mouths[0]), rate_hz)
    rear, shadow = _LowPass(REAR_HZ, rate_hz), _LowPass(SHADOW_HZ, rate_hz)
    dry: list[float] = []
    low: list[float] = []
    out: list[list[float]] = []
    for block, mouth in zip(blocks, mouths, strict=True):
        before = now
        now = before + follow(len(block), rate_hz) * (settings(hear(mouth), rate_hz) - before)
        for i, sample in enumerate(block):
            value = before + (i + 1) / len(block) * (now - before)
            x = float(sample) / 32_767
            dry.append(x - value[6] * (x - rear.step(x)))
            low.append(shadow.step(dry[-1]))
            out.append(
                [
                    _bend(value[2 + e] * _late(dry, value[e]) + value[4 + e] * _late(low, value[e]))
                    for e in (0, 1)
                ]
            )
    return np.array(out)


class _LowPass:
    """A recursion of the first order."""

    def __init__(self, corner_hz: float, rate_hz: int) -> None:
        self._gain, self._pole = low_pass(corner_hz, rate_hz)
        self._x = self._y = 0.0

    def step(self, x: float) -> float:
        self._y = self._gain * (x + self._x) + self._pole * self._y
        self._x = x
        return self._y


def _late(sound: Sequence[float], delay: float) -> float:
    """The value so many samples ago, by the cubic through the four samples around."""
    place = len(sound) - 1 - delay
    first = int(np.floor(place))
    total = 0.0
    for k in range(first - 1, first + 3):
        weight = 1.0
        for other in range(first - 1, first + 3):
            if other != k:
                weight *= (place - other) / (k - other)
        total += weight * (sound[k] if 0 <= k < len(sound) else 0.0)
    return total


def _bend(x: float) -> float:
    if abs(x) <= KNEE:
        return x
    return float(np.sign(x) * (KNEE + (1 - KNEE) * np.tanh((abs(x) - KNEE) / (1 - KNEE))))
