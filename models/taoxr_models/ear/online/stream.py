"""One stream of audio to recognise."""

import numpy as np
from numpy.typing import NDArray

from taoxr_models.ear.online.features import FeatureOptions, Features
from taoxr_models.ear.online.search import Search
from taoxr_models.ear.online.transducer import States


class OnlineStream:
    """Made by `OnlineRecognizer.create_stream`.

    Args:
        options: How features are made.
        search: The stream's search.
        states: The encoder's first states.

    Attributes:
        search: The stream's search.
        states: The encoder's states.
        start: Feature frame at which the utterance began.
        processed: Frames of the utterance that are decoded.
        segment: Number of the utterance.
    """

    def __init__(self, options: FeatureOptions, search: Search, states: States) -> None:
        self._features = Features(options)
        self.search = search
        self.states = states
        self.start = 0
        self.processed = 0
        self.segment = 0

    def accept_waveform(self, sample_rate: float, waveform: NDArray[np.float32]) -> None:
        """Takes the next samples.

        Args:
            sample_rate: Their rate in Hz; audio at another rate than the model's is resampled.
            waveform: [n] in [-1, 1].

        Raises:
            InvalidInputError: The rate has changed, or `input_finished` was called before.
        """
        self._features.accept(sample_rate, np.asarray(waveform, np.float32))

    def input_finished(self) -> None:
        """The audio is over: what is left of it becomes frames."""
        self._features.finish()

    @property
    def frames_ready(self) -> int:
        """Frames since the utterance began."""
        return self._features.ready - self.start

    def rest(self) -> NDArray[np.float32]:
        """The frames that are not decoded yet, [n, bins]."""
        return self.window(self.frames_ready - self.processed)

    def window(self, size: int) -> NDArray[np.float32]:
        """The next frames to decode, [size, bins]."""
        return self._features.frames(self.start + self.processed, size)
