"""Steps in the middle of sound, which would click, fade."""

import numpy as np
from numpy.typing import NDArray


class Seams:
    """For one stream of blocks.

    Args:
        fade: Samples within which a step fades; 0 leaves it.
    """

    def __init__(self, fade: int) -> None:
        self._ramp: NDArray[np.float32] = np.linspace(1, 0, fade, endpoint=False, dtype=np.float32)
        self._places: list[int] = []
        self._last = 0.0
        self._rest = np.zeros(0, np.float32)

    def at(self, place: int) -> None:
        """There is a step before a sample of the next block to be mended, or before the block after it."""
        self._places.append(place)

    def mend(self, block: NDArray[np.int16]) -> NDArray[np.int16]:
        """The next block without its steps, int16 [n].

        What was heard before the step is held and taken away bit by bit, beside the sound that follows.
        """
        if not len(block):
            return block
        places, self._places = self._places, []
        if not len(self._ramp) or not (places or len(self._rest)):
            self._last = float(block[-1])
            return block
        sound = block.astype(np.float32)
        self._add(sound, 0, self._rest)
        for place in places:
            before = float(sound[place - 1]) if place else self._last
            sound[place:] = block[place:]
            step = np.float32(before - float(block[place]))
            self._add(sound, place, np.multiply(self._ramp, step, dtype=np.float32))
        self._last = float(sound[-1])
        return np.rint(sound).clip(-32_768, 32_767).astype(np.int16)

    def _add(self, sound: NDArray[np.float32], place: int, fading: NDArray[np.float32]) -> None:
        count = min(len(fading), len(sound) - place)
        sound[place : place + count] += fading[:count]
        self._rest = fading[count:]
