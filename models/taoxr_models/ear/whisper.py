"""Whisper on MNN, in small steps.

MNN holds the GIL for a whole call, so a `Recognition` advances by single calls: one for the encoder, then
one for each token (2 to 8 ms). Between steps the worker answers others and may drop the recognition. The
encoder is the longest call of all: 100 to 150 ms for the usual 10 s of padded audio, 250 ms for a piece of
14 s, more on a busy machine; meanwhile the ear sees neither audio nor a cancel.
"""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from taoxr.engine import Module, Variable
from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.dsp.resample import RATE
from taoxr_models.ear.logmel import log_mel

MAX_SECONDS: Final = 25.0
"""Longest audio of one recognition."""

_WINDOW_S: Final = 30.0
# Whisper was trained on 30 s windows. Shorter padding is as good if the audio ends with 3 s of silence and
# lasts 10 s in all; with less it falls into loops.
_MIN_TAIL_S: Final = 3.0
_MIN_TOTAL_S: Final = 10.0
# Nobody says more tokens than this; a decoder that does has fallen into a loop.
_TOKENS_PER_S: Final = 7.0
_TOKENS_EXTRA: Final = 10
_MASKED: Final = np.float32(-1e9)
# A phrase of up to 12 tokens said four times in a row is a loop; "no, no, no, no" is not yet one.
_LOOP_LENGTHS: Final = range(1, 13)
_LOOP_TIMES: Final = 4
_LOOP_TOKENS: Final = 12


class Whisper:
    """The loaded model; share it between streams.

    Args:
        folder: Catalogue folder with encoder, decoder, embeddings, tokenizer and config.

    Raises:
        ModelError: A file is missing or not what it should be.
    """

    def __init__(self, folder: Path) -> None:
        self._encoder = Module(folder / "encoder.mnn", ["mel"], ["ck", "cv"])
        self._decoder = Module(
            folder / "decoder.mnn",
            ["x", "mask", "pk", "pv", "ck", "cv"],
            ["logits", "nk", "nv"],
            memory="low",  # int8 linears: four times as fast
        )
        self._embeddings: NDArray[np.generic] = np.load(folder / "token_embedding.npy")
        positions: NDArray[np.generic] = np.load(folder / "position_embedding.npy")
        self._positions = positions.astype(np.float32)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._start = self._special("<|startoftranscript|>")
        self._end = self._special("<|endoftext|>")
        self._no_timestamps = self._special("<|notimestamps|>")
        never = np.zeros(len(self._embeddings), np.bool_)
        never[config["suppress_ids"]] = True
        never[self._end + 1 :] = True  # all special tokens and timestamps
        self._never = never
        first = never.copy()
        first[config["suppress_ids_begin"]] = True
        self._never_first = first

    def recognise(self, samples: NDArray[np.float32]) -> "Recognition":
        """Prepares a recognition; nothing runs before its first step.

        Args:
            samples: [n] at 16 kHz in [-1, 1], at most `MAX_SECONDS`.

        Raises:
            InvalidInputError: The audio is empty or too long.
        """
        if not 0 < len(samples) <= MAX_SECONDS * RATE:
            expected = f"more than 0, at most {MAX_SECONDS:g} seconds"
            raise InvalidInputError("samples", f"{len(samples) / RATE:.1f} s", expected)
        return Recognition(self, samples)

    def decode(self, tokens: list[int]) -> str:
        """Text of tokens."""
        return self._tokenizer.decode(tokens).strip()

    def encode(self, samples: NDArray[np.float32], padded_s: float) -> tuple[Variable, Variable]:
        """Runs the encoder on audio with silence behind it.

        Returns:
            Keys and values of the cross attention, [4, 6, s, 64] each.
        """
        padding = max(0, round(padded_s * RATE) - len(samples))
        mel = log_mel(np.pad(samples, (0, padding)))
        mel = mel[:, : mel.shape[1] // 2 * 2]  # a strided layer halves the time
        keys, values = self._encoder.forward(Variable.of(np.ascontiguousarray(mel[None])))
        return keys, values

    def tokens(self, cross: tuple[Variable, Variable]) -> Generator[int]:
        """Greedy decoding: yields one token per step, ends at the end of the text or of the positions."""
        # The past starts as one masked entry: MNN's kernels do not take empty tensors.
        past = np.zeros((4, 6, 1, 64), np.float32)
        keys, values = Variable.of(past), Variable.of(past)
        length, position = 1, 0
        ids = [self._start, self._no_timestamps]
        never = self._never_first
        while position + len(ids) <= len(self._positions):
            x = self._embeddings[ids].astype(np.float32) + self._positions[position : position + len(ids)]
            mask = np.triu(np.full((len(ids), length + len(ids)), _MASKED), k=length + 1)
            mask[:, 0] = _MASKED
            logits, keys, values = self._decoder.forward(
                Variable.of(x[None]), Variable.of(mask), keys, values, *cross
            )
            length += len(ids)
            position += len(ids)
            scores = logits.numpy().ravel()
            scores[never] = -np.inf
            token = int(scores.argmax())
            if token == self._end:
                return
            yield token
            ids, never = [token], self._never

    def _special(self, text: str) -> int:
        token = self._tokenizer.token_to_id(text)
        if token is None:
            raise ModelError(f"tokenizer.json has no {text}; pull the model again")
        return token


class Recognition:
    """One piece of audio on its way to text.

    Attributes:
        done: True once `text` is final.
        text: The text so far.
    """

    def __init__(self, whisper: Whisper, samples: NDArray[np.float32]) -> None:
        self.done = False
        self.text = ""
        self._steps = self._run(whisper, samples)

    def step(self) -> None:
        """Runs one model call."""
        if next(self._steps, False) is False:
            self.done = True

    def _run(self, whisper: Whisper, samples: NDArray[np.float32]) -> Generator[None]:
        seconds = len(samples) / RATE
        cap = round(seconds * _TOKENS_PER_S) + _TOKENS_EXTRA
        short = min(max(seconds + _MIN_TAIL_S, _MIN_TOTAL_S), _WINDOW_S)
        for padded_s in (short, _WINDOW_S):
            cross = whisper.encode(samples, padded_s)
            yield
            tokens: list[int] = []
            looping = False
            for token in whisper.tokens(cross):
                tokens.append(token)
                looping = len(tokens) >= cap or repeated_tokens(tokens) > 0
                if looping:
                    break
                yield
            if not looping:
                break
        self.text = whisper.decode(tokens[: len(tokens) - repeated_tokens(tokens)])


def repeated_tokens(tokens: list[int]) -> int:
    """How many tokens at the end only repeat the phrase before them, when that is a loop, else 0."""
    for n in _LOOP_LENGTHS:
        times = max(_LOOP_TIMES, -(-_LOOP_TOKENS // n))
        tail = tokens[-times * n :]
        if len(tail) == times * n and tail == tail[:n] * times:
            return (times - 1) * n
    return 0
