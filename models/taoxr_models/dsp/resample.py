"""PCM at any rate in, float samples at 16 kHz out."""

from typing import Final

import numpy as np
import soxr  # pyright: ignore[reportMissingTypeStubs]  the extension behind it is typed
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError

RATE: Final = 16_000
MIN_RATE: Final = 8_000
MAX_RATE: Final = 48_000


def check_rate(sample_rate_hz: int, field: str = "sample_rate_hz") -> int:
    """The rate itself.

    Raises:
        InvalidInputError: It is not accepted on input.
    """
    if not MIN_RATE <= sample_rate_hz <= MAX_RATE:
        raise InvalidInputError(field, sample_rate_hz, f"{MIN_RATE} to {MAX_RATE}")
    return sample_rate_hz


def samples_of(pcm: bytes, field: str = "pcm") -> NDArray[np.int16]:
    """Mono s16le bytes as samples, [n].

    Raises:
        InvalidInputError: Half a sample is left over.
    """
    if len(pcm) % 2:
        raise InvalidInputError(field, f"{len(pcm)} bytes", "an even number of bytes: whole 16-bit samples")
    return np.frombuffer(pcm, dtype="<i2")


class To16k:
    """Resamples a stream chunk by chunk; output time equals input time (no shift).

    Args:
        sample_rate_hz: Rate of the input.
    """

    def __init__(self, sample_rate_hz: int) -> None:
        check_rate(sample_rate_hz)
        same = sample_rate_hz == RATE
        self._stream = None if same else soxr.ResampleStream(sample_rate_hz, RATE, 1, dtype="float32")

    def push(self, samples: NDArray[np.int16], *, last: bool = False) -> NDArray[np.float32]:
        """Takes int16 samples [n], returns those of the output that are ready, [m] in [-1, 1).

        Args:
            samples: Next input samples.
            last: The stream ends here; what the filter still holds comes out.
        """
        scaled = samples.astype(np.float32) / 32768.0
        if self._stream is None:
            return scaled
        return np.asarray(self._stream.resample_chunk(scaled, last=last), dtype=np.float32)
