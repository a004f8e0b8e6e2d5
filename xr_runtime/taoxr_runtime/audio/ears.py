"""What a voice is at each ear: how loud, how late, how dull. A sphere for a head.

The structural model of Brown and Duda (IEEE Transactions on Speech and Audio Processing 6(5), 1998) without
its echoes of shoulder, pinna and room; its delays are Woodworth's (Experimental Psychology, 1938). The ears
are at the ends of the head's diameter here, so that the difference of their delays is his formula.

Head frame: the middle between the ears, +X right, +Y up, −Z forward, metres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

HEAD_RADIUS_M: Final = 0.0875
SOUND_MS: Final = 343.0
"""Metres per second, in air of 20 °C."""
SHADOW_HZ: Final = SOUND_MS / HEAD_RADIUS_M / math.pi
"""Corner of the head's shadow, 1248 Hz: in Brown and Duda's terms the angular frequency 2 c/a."""
REFERENCE_M: Final = 1.0
"""From here the voice is as loud as it was written."""
NEAR_M: Final = 0.5
"""Nearer than this it gets no louder."""
REAR_HZ: Final = 3000.0
"""Sound from behind loses what is above, by the pinna's shadow."""
REAR_LOSS: Final = 0.6
"""How much of it right behind: 8 dB, about as measured ears do; the model's sphere alone has no back."""
_LEAST_SHADOW: Final = 0.1
_DARKEST: Final = math.radians(150)


@dataclass(frozen=True, slots=True)
class Heard:
    """A voice at the ears; pairs are (left, right).

    Attributes:
        gain: Of the distance; 1 at `REFERENCE_M`.
        dulled: Share of the sound above `REAR_HZ` that is lost, 0 to 1.
        delays_s: When sound comes to each ear, seconds after it comes to the middle of the head.
        highs: Gain of each ear well above `SHADOW_HZ`; well below it is 1.
    """

    gain: float
    dulled: float
    delays_s: tuple[float, float]
    highs: tuple[float, float]


def hear(mouth: tuple[float, float, float]) -> Heard:
    """What the ears get of a mouth.

    Args:
        mouth: Where it is in the head frame. Within the head directions fade, so that nothing jumps there.
    """
    distance = math.hypot(*mouth)
    x, _, z = (value / max(distance, HEAD_RADIUS_M) for value in mouth)
    angles = (math.acos(max(-x, -1.0)), math.acos(min(x, 1.0)))
    return Heard(
        REFERENCE_M / max(distance, NEAR_M),
        REAR_LOSS * max(z, 0.0),
        (_delay_s(angles[0]), _delay_s(angles[1])),
        (_highs(angles[0]), _highs(angles[1])),
    )


def _delay_s(angle: float) -> float:
    """Of an ear, the source being at an angle from the ear's axis: straight, or around the head."""
    around = angle - math.pi / 2
    return HEAD_RADIUS_M / SOUND_MS * (around if around > 0 else -math.cos(angle))


def _highs(angle: float) -> float:
    """Brown and Duda's alpha."""
    half = _LEAST_SHADOW / 2
    return 1 + half + (1 - half) * math.cos(angle / _DARKEST * math.pi)


class Listener:
    """Where the avatar's mouth is for the ears of who listens. One thread sets it, any thread reads it.

    Args:
        mouth: The avatar's, float64 [3], in its own frame, metres.

    Attributes:
        mouth: The same in the head frame of this module; a metre ahead until `look` is called.
    """

    # The middle between the ears from the middle between the eyes.
    _BEHIND_M: Final = 0.09
    _BELOW_M: Final = 0.03

    def __init__(self, mouth: NDArray[np.float64]) -> None:
        self._in_model = np.append(np.asarray(mouth, np.float64), 1.0)
        self.mouth: tuple[float, float, float] = (0.0, 0.0, -REFERENCE_M)

    def look(self, head: NDArray[np.float64]) -> None:
        """The listener has moved.

        Args:
            head: float64 [4, 4], the eyes' pose (middle between them, −Z ahead) in the avatar's frame.
        """
        x, y, z = (float(v) for v in head[:3, :3].T @ (self._in_model[:3] - head[:3, 3]))
        self.mouth = (x, y + self._BELOW_M, z - self._BEHIND_M)
