"""The part of a stream's audio that may still be needed."""

import numpy as np
from numpy.typing import NDArray


class Recording:
    """Samples by their index in the stream; old ones can be dropped."""

    def __init__(self) -> None:
        self._chunks: list[NDArray[np.float32]] = []
        self._start = 0
        self._end = 0

    @property
    def end(self) -> int:
        """Samples taken so far."""
        return self._end

    def append(self, samples: NDArray[np.float32]) -> None:
        """Takes the next samples, [n]."""
        if len(samples):
            self._chunks.append(samples)
            self._end += len(samples)

    def cut(self, start: int, end: int) -> NDArray[np.float32]:
        """A copy of the samples from start to end, as far as they are there, [m]."""
        if len(self._chunks) > 1:
            self._chunks = [np.concatenate(self._chunks)]
        whole = self._chunks[0] if self._chunks else np.zeros(0, np.float32)
        return whole[max(0, start - self._start) : max(0, end - self._start)].copy()

    def forget_before(self, index: int) -> None:
        """Drops the samples before an index."""
        while self._chunks and self._start + len(self._chunks[0]) <= index:
            self._start += len(self._chunks.pop(0))
        if self._chunks and self._start < index:
            self._chunks[0] = self._chunks[0][index - self._start :]
            self._start = index
