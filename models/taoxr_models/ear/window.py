"""What Whisper's encoder is given: the speech as it is, and the silence behind it in few places.

Whisper was trained on windows of 30 s, of which silence fills the rest. It takes as much time as speech, so
it is tempting to cut it off, at a price in words. Here it stays, but in ever longer pieces, each of which is
one place: at the mean of its positions, and heard as loudly as all that it stands for, by adding the
logarithm of their number to its attention scores ("proportional attention" of Bolya et al., "Token merging:
your ViT but faster", 2023). For 3 s of speech 270 places do the work of 1500; the distributions of tokens
differ by 0.008 nats from those of the whole window (0.025 if each piece is at one of its positions).
"""

from dataclasses import dataclass
from functools import cache
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Variable
from taoxr_models.dsp.resample import RATE
from taoxr_models.ear.logmel import log_mel

PLACES: Final = 1500
"""Places of a whole window, 20 ms each."""

_PLACE: Final = RATE * 30 // PLACES
Pieces = NDArray[np.int64]
"""Lengths of the pieces of silence in places, from the speech on; at least `PLACES` in all."""


def _pieces(*runs: tuple[int, int]) -> Pieces:
    """So many of each length, and the last one up to the end."""
    return np.concatenate([np.repeat(length, times) for times, length in runs])


COARSE: Final = _pieces((15, 1), (10, 2), (10, 4), (10, 8), (PLACES // 16 + 1, 16))
FINER: Final = _pieces((25, 1), (15, 2), (15, 4), (PLACES // 8 + 1, 8))
"""For models of many languages, which the coarse pieces mislead at times: they end too early, or take Italian
for Catalan."""
WHOLE: Final = _pieces((PLACES, 1))
"""As Whisper was trained: short audio takes about seven times as long."""

# Silence of which a spectrogram is made; further on, all of it is alike.
_QUIET: Final = RATE // 4
# The last places of a spectrogram hear its end.
_EDGE: Final = 3


@dataclass(frozen=True, slots=True)
class Window:
    """Input of the encoder, of n places.

    Attributes:
        mel: Log-mel spectrogram, [1, bands, t].
        source: Which of the spectrogram's t / 2 places each is, int32 [n].
        position: Where in the whole window each is, encoded, [n, width].
        log_count: Logarithm of the places that each stands for, [n].
    """

    mel: Variable
    source: Variable
    position: Variable
    log_count: Variable

    @classmethod
    def whole(cls, mel: NDArray[np.float32], width: int) -> Self:
        """Of a spectrogram [bands, t] as it is; t is even, at most 3000."""
        n = int(mel.shape[1]) // 2
        source = Variable.of(np.arange(n, dtype=np.int32))
        position, log_count = Variable.of(positions(width)[:n]), Variable.of(np.zeros(n, np.float32))
        return cls(Variable.of(np.ascontiguousarray(mel[None])), source, position, log_count)

    @classmethod
    def of(cls, samples: NDArray[np.float32], width: int, pieces: Pieces = COARSE) -> Self:
        """Of audio, and silence up to 30 s.

        Args:
            samples: [n] at 16 kHz in [-1, 1], less than 30 s.
            width: The encoder's.
            pieces: How the silence is cut.
        """
        mel = log_mel(np.pad(samples, (0, _QUIET)))
        mel = mel[:, : mel.shape[1] // 2 * 2]  # a strided layer halves the time
        speech = -(-len(samples) // _PLACE)
        starts, counts = _cut(pieces, speech)
        source = np.concatenate([np.arange(speech), starts])
        source = np.minimum(source, mel.shape[1] // 2 - _EDGE).astype(np.int32)
        table = positions(width)
        sums: NDArray[np.float32] = np.add.reduceat(table, starts, axis=0)
        position: NDArray[np.float32] = np.concatenate([table[:speech], sums / counts[:, None]]).astype(
            np.float32
        )
        log_count: NDArray[np.float32] = np.log(np.concatenate([np.ones(speech), counts])).astype(np.float32)
        return cls(
            Variable.of(np.ascontiguousarray(mel[None])),
            Variable.of(source),
            Variable.of(position),
            Variable.of(log_count),
        )


@cache
def positions(width: int) -> NDArray[np.float32]:
    """Whisper's encoding of the `PLACES` positions, [places, width]: sinusoids (Vaswani et al., 2017).

    Rounded as all weights are that come as float16.
    """
    frequencies = np.exp(-np.log(10000) / (width // 2 - 1) * np.arange(width // 2))
    angles = np.arange(PLACES)[:, None] * frequencies
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float16).astype(np.float32)


def _cut(pieces: Pieces, start: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the pieces of the silence from place `start` on begin, and how long they are."""
    starts = start + np.cumsum(pieces) - pieces
    starts = starts[starts < PLACES]
    return starts, np.minimum(pieces[: len(starts)], PLACES - starts)
