"""How the next token is drawn from the logits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError, ModelError

# Answers are spoken and short; a longer memory would punish words like "the" all the time.
_PENALTY_WINDOW: Final = 64
# Copying an earlier answer is made unlikely from so many equal tokens on; equal openings count as so many.
_COPY_TOKENS: Final = 4
_COPY_GROWTH: Final = 1.5
_COPY_MOST: Final = 12


@dataclass(frozen=True)
class Sampling:
    """Sampling options.

    Attributes:
        temperature: Divides the logits; 0 always takes the likeliest token.
        top_k: Only the k likeliest tokens can be drawn.
        top_p: Of these, the fewest whose probabilities sum to at least this (nucleus sampling, Holtzman et
            al. 2019, arXiv:1904.09751).
        min_p: Only tokens at least this share as likely as the likeliest can be drawn (min-p sampling,
            Nguyen et al. 2024, arXiv:2407.01082); 0 allows all.
        repetition_penalty: Divides positive logits, multiplies negative ones, of tokens in the answer so
            far (CTRL, Keskar et al. 2019, arXiv:1909.05858); 1 is none.
        seed: The same seed draws the same answer.

    Raises:
        InvalidInputError: A value is out of range.
    """

    temperature: float = 0.0
    top_k: int = 40
    top_p: float = 0.9
    min_p: float = 0.0
    repetition_penalty: float = 1.1
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= 5.0:
            raise InvalidInputError("temperature", self.temperature, "0 to 5")
        if not 1 <= self.top_k <= 1000:
            raise InvalidInputError("top_k", self.top_k, "1 to 1000")
        if not 0.0 < self.top_p <= 1.0:
            raise InvalidInputError("top_p", self.top_p, "above 0, at most 1")
        if not 0.0 <= self.min_p < 1.0:
            raise InvalidInputError("min_p", self.min_p, "0 to below 1")
        if not (math.isfinite(self.repetition_penalty) and 0.5 <= self.repetition_penalty <= 2.0):
            raise InvalidInputError("repetition_penalty", self.repetition_penalty, "0.5 to 2")


class Sampler:
    """Draws the tokens of one answer.

    Args:
        options: How to draw.
        banned: Ids that are never drawn.
        earlier: Earlier answers of the conversation. Small models like to give them again, so a token that
            would go on copying one loses logits, the more the longer the copy is already (after DRY
            sampling, github.com/oobabooga/text-generation-webui/pull/5677); not with a penalty of 1.
    """

    def __init__(
        self, options: Sampling, banned: Sequence[int] = (), earlier: Sequence[Sequence[int]] = ()
    ) -> None:
        self._options = options
        self._banned = np.array(sorted(banned), dtype=np.int64)
        self._random = np.random.default_rng(options.seed % 2**64)
        # By a token of theirs, the places after it; None stands for the beginning.
        self._after: dict[int | None, list[tuple[Sequence[int], int]]] = {}
        for answer in earlier if options.repetition_penalty != 1.0 else ():
            for at in range(len(answer)):
                self._after.setdefault(answer[at - 1] if at else None, []).append((answer, at))
        self._answer: list[int] = []

    def pick(self, logits: NDArray[np.float32], *, exact: bool = False) -> int:
        """The next token.

        Args:
            logits: float32 ``[vocabulary]``; left as it is.
            exact: Takes the likeliest token, and does not mind repetitions.

        Raises:
            ModelError: No token has a finite logit.
        """
        options = self._options
        scores = logits.copy()
        scores[self._banned] = -np.inf
        if not exact and self._answer and options.repetition_penalty != 1.0:
            seen = np.array(sorted(set(self._answer[-_PENALTY_WINDOW:])), dtype=np.int64)
            values = scores[seen]
            penalty = np.float32(options.repetition_penalty)
            scores[seen] = np.where(values > 0, values / penalty, values * penalty)
        for next_token, length in ({} if exact else self._copied()).items():
            scores[next_token] -= _COPY_GROWTH ** (min(length, _COPY_MOST) - _COPY_TOKENS)
        best = int(np.argmax(scores))
        if not math.isfinite(float(scores[best])):  # also when any is NaN: argmax then finds it
            raise ModelError("the language model's logits are not finite")
        token = best if exact or options.temperature == 0.0 else self._draw(scores)
        self._answer.append(token)
        return token

    def _copied(self) -> dict[int, int]:
        """Tokens that would go on copying an earlier answer, and how long the copy is already."""
        mine = self._answer
        lengths: dict[int, int] = {}
        for answer, at in self._after.get(mine[-1] if mine else None, ()):
            length = 0
            while length < min(at, len(mine)) and answer[at - 1 - length] == mine[-1 - length]:
                length += 1
            if length == at == len(mine):
                length += _COPY_TOKENS
            if length >= _COPY_TOKENS:
                token = answer[at]
                lengths[token] = max(lengths.get(token, 0), length)
        return lengths

    def _draw(self, scores: NDArray[np.float32]) -> int:
        k = min(self._options.top_k, scores.size)
        ids = np.argpartition(scores, -k)[-k:]
        ids = ids[np.argsort(-scores[ids], kind="stable")]
        likely = scores[ids].astype(np.float64)
        weights: NDArray[np.float64] = np.exp((likely - likely[0]) / self._options.temperature)
        cumulative = np.cumsum(weights / np.sum(weights))
        kept = min(int(np.searchsorted(cumulative, self._options.top_p - 1e-12)) + 1, k)
        kept = min(kept, int(np.count_nonzero(weights >= self._options.min_p)))
        point = self._random.random() * float(cumulative[kept - 1])
        # Rounding may put the point on the last edge.
        return int(ids[min(int(np.searchsorted(cumulative, point, side="right")), kept - 1)])
