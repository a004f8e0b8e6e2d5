"""When each word was said, from the cross attention of Whisper's alignment heads.

The method of OpenAI's implementation ("Word-level timestamps in the multi-lingual model", 2022): the weights
of the heads that follow the audio, standardised and smoothed, are aligned by dynamic time warping (Sakoe and
Chiba, 1978). Times are as exact as the encoder's step of 20 ms; a word begins where the word before it ends.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

STEP_S: Final = 0.02
"""Seconds of one place of the encoded audio."""
_SMOOTH: Final = 7


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is written, without white space; times in seconds from the start of the piece."""

    text: str
    start_s: float
    end_s: float


def token_times(attention: NDArray[np.float32], places: int) -> NDArray[np.float64]:
    """When tokens begin.

    Args:
        attention: [heads, n, s]: weights of the input before each of n tokens, the end of the text the last.
        places: Places of the audio without its padding, at most s.

    Returns:
        Seconds, [n].
    """
    weights = attention[:, :, :places]
    weights = weights / np.maximum(weights.sum(axis=2, keepdims=True), 1e-9)
    spread = weights.std(axis=1, keepdims=True)
    weights = (weights - weights.mean(axis=1, keepdims=True)) / np.maximum(spread, 1e-9)
    padded = np.pad(weights, ((0, 0), (0, 0), (_SMOOTH // 2, _SMOOTH // 2)), mode="reflect")
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(padded, _SMOOTH, axis=2), axis=3)
    rows, columns = _warp(-smooth.mean(axis=0))
    first = np.concatenate([[True], np.diff(rows) > 0])
    return columns[first].astype(np.float64) * STEP_S


def words_of(pieces: list[str], times: NDArray[np.float64], end_s: float) -> list[Word]:
    """Joins tokens to words.

    Args:
        pieces: Text of each token; one that begins a word begins with a space.
        times: When each token and the end of the text begins, [len(pieces) + 1].
        end_s: End of the audio.
    """
    starts = [i for i, piece in enumerate(pieces) if i == 0 or piece.startswith(" ")]
    edges = [*starts, len(pieces)]
    words: list[Word] = []
    for start, end in pairwise(edges):
        text = "".join(pieces[start:end]).strip()
        if text:
            words.append(Word(text, float(min(times[start], end_s)), float(min(times[end], end_s))))
    return words


def _warp(cost: NDArray[np.floating]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Cheapest monotonic path through [n, m] from corner to corner: its rows and its columns."""
    n, m = cost.shape
    total = np.full((n + 1, m + 1), np.inf)
    total[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            total[i + 1, j + 1] = cost[i, j] + min(total[i, j], total[i, j + 1], total[i + 1, j])
    path = [(n - 1, m - 1)]
    while path[-1] != (0, 0):
        i, j = path[-1]
        steps = ((i - 1, j - 1), (i - 1, j), (i, j - 1))
        path.append(min(steps, key=lambda step: total[step[0] + 1, step[1] + 1]))
    rows, columns = zip(*reversed(path), strict=True)
    return np.array(rows), np.array(columns)
