"""Is somebody speaking: Silero VAD on MNN."""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Module, Variable

FRAME: Final = 512
"""Samples of one frame at 16 kHz: 32 ms."""
_CONTEXT: Final = 64


def load_vad(folder: Path) -> Module:
    """Loads the network; its state lives in `VoiceActivity`, so streams can share it."""
    return Module(folder / "vad.mnn", ["input", "state"], ["output", "stateN"])


class VoiceActivity:
    """Probability of speech for the frames of one stream.

    Args:
        network: From `load_vad`.
    """

    def __init__(self, network: Module) -> None:
        self._network = network
        self._state = Variable.of(np.zeros((2, 1, 128), np.float32))
        self._context = np.zeros(_CONTEXT, np.float32)

    def probability(self, frame: NDArray[np.float32]) -> float:
        """Takes the next `FRAME` samples at 16 kHz; about 0.05 ms."""
        window = np.concatenate([self._context, frame])[None]
        output, self._state = self._network.forward(Variable.of(window), self._state)
        self._context = frame[-_CONTEXT:].copy()
        return float(output.numpy().ravel()[0])
