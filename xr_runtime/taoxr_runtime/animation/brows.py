"""Brows that go up with the words that are stressed.

Speakers raise them now and then, every few seconds, beginning a little before a stressed syllable
(Flecha-García, "Eyebrow raises in dialogue and their relation to discourse structure, utterance function and
pitch accents in English", 2010).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from taoxr import arkit
from taoxr.client import Cue, CueKind
from taoxr_runtime.animation.curves import Follower, smoothstep

Weights = npt.NDArray[np.float32]

SPACING_US: Final = 1_500_000
"""Of two raises at least."""
_LEAST_STRENGTH: Final = 0.7
_BEFORE_US: Final = 160_000
_AFTER_US: Final = 380_000
_SETTLE_S: Final = 0.12
# How far each shape goes at full strength.
_SHAPES: Final = {"browInnerUp": 0.45, "browOuterUpLeft": 0.35, "browOuterUpRight": 0.35}


class BrowBeats:
    """Raises for the turn that is heard."""

    def __init__(self) -> None:
        self._turn_id = ""
        self._raises: list[tuple[int, float]] = []
        self._height = Follower(0.0, _SETTLE_S)
        self._last_us: int | None = None

    def add(self, turn_id: str, cues: Sequence[Cue]) -> None:
        """Takes in what begins next in a turn; a new turn takes the place of the one before."""
        if turn_id != self._turn_id:
            self._turn_id, self._raises = turn_id, []
        for cue in cues:
            apart = not self._raises or cue.time_us - self._raises[-1][0] >= SPACING_US
            if cue.kind is CueKind.STRESS and cue.strength >= _LEAST_STRENGTH and apart:
                self._raises.append((cue.time_us, cue.strength))

    def forget(self) -> None:
        """The turn is not heard any more; brows that are up come down."""
        self._turn_id, self._raises = "", []

    def onto(self, face: Weights, now_us: int, media_us: int | None) -> Weights:
        """The face with the brows as they are.

        Args:
            face: float32 [52].
            now_us: Display time, never decreasing, microseconds.
            media_us: Position of the audio heard at that time; None when nothing plays.
        """
        seconds = 0.0 if self._last_us is None else (now_us - self._last_us) / 1e6
        self._last_us = now_us
        height = float(self._height.step(0.0 if media_us is None else self._wanted(media_us), seconds))
        if height < 1e-3:
            return face
        raised = face.copy()
        for name, most in _SHAPES.items():
            index = arkit.INDEX[name]
            raised[index] = min(raised[index] + most * height, 1.0)
        return raised

    def _wanted(self, media_us: int) -> float:
        return max((strength * _shape(media_us - at) for at, strength in self._raises), default=0.0)


def _shape(age_us: int) -> float:
    """Of one raise, 0 to 1, so long after the stress begins; it begins before."""
    return float(smoothstep(1 + age_us / _BEFORE_US) * (1 - smoothstep(age_us / _AFTER_US)))
