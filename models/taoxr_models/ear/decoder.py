"""Whisper's decoder with its cache: tokens go in, several at once if they are known, scores come out."""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Module, Variable

_MASKED: Final = np.float32(-1e9)
_HEAD: Final = 64  # of every Whisper

Cross = tuple[Variable, Variable, Variable]
"""Keys and values of the cross attention, [layers, heads, s, 64] each, and the places' ``log_count``, [s]."""


class Decoder:
    """The loaded network; share it.

    Args:
        folder: Catalogue folder with the decoder and both embeddings.

    Raises:
        ModelError: A file is missing or MNN cannot load it.
    """

    def __init__(self, folder: Path) -> None:
        self.network = Module(
            folder / "decoder.mnn",
            ["x", "mask", "pk", "pv", "ck", "cv", "log_count"],
            ["logits", "nk", "nv", "attention"],
            memory="low",  # int8 linears: four times as fast
        )
        self.embeddings: NDArray[np.generic] = np.load(folder / "token_embedding.npy")
        positions: NDArray[np.generic] = np.load(folder / "position_embedding.npy")
        self.positions = positions.astype(np.float32)

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        return len(self.embeddings)


class Decoding:
    """The text of one encoded piece, so far.

    Args:
        decoder: The network.
        cross: The piece.
    """

    def __init__(self, decoder: Decoder, cross: Cross) -> None:
        self._decoder = decoder
        self._cross = cross
        layers = int(cross[0].raw.shape[0])
        width = decoder.embeddings.shape[1]
        # The past starts as one masked entry: MNN's kernels do not take empty tensors.
        past = np.zeros((layers, width // _HEAD, 1, _HEAD), np.float32)
        self._keys = self._values = Variable.of(past)
        self._mask = np.full(1, _MASKED, np.float32)
        self._position = 0

    @property
    def room(self) -> int:
        """How many more tokens fit."""
        return len(self._decoder.positions) - self._position

    def feed(self, ids: list[int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Appends tokens, at least one and at most `room`.

        Returns:
            For each of them the scores of the token after it, [n, vocabulary], and how much each alignment
            head looks at each place of the audio, [heads, n, s].
        """
        n, at = len(ids), self._position
        x = self._decoder.embeddings[ids].astype(np.float32) + self._decoder.positions[at : at + n]
        causal = np.triu(np.full((n, n), _MASKED), k=1)
        mask = np.concatenate([np.broadcast_to(self._mask, (n, len(self._mask))), causal], axis=1)
        logits, self._keys, self._values, attention = self._decoder.network.forward(
            Variable.of(x[None]), Variable.of(mask), self._keys, self._values, *self._cross
        )
        self._mask = np.concatenate([self._mask, np.zeros(n, np.float32)])
        self._position += n
        return logits.numpy()[0], attention.numpy()[0]

    def take_back(self, count: int) -> None:
        """Forgets the newest tokens; they stay in the cache, unseen."""
        if count:
            self._mask[-count:] = _MASKED
            self._position -= count
