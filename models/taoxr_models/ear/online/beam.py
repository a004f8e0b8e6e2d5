"""Modified beam search: several hypotheses, at most one token per frame each.

Kuang et al. 2022, "Pruned RNN-T for fast, memory-efficient ASR training", as decoded in icefall and
sherpa-onnx: hypotheses with the same tokens are one, their probabilities added.
"""

import copy
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from taoxr_models.ear.online.hotwords import ContextGraph, State
from taoxr_models.ear.online.search import Found, SearchOptions, log_softmax
from taoxr_models.ear.online.tokens import BLANK
from taoxr_models.ear.online.transducer import Floats, Transducer


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One way to read the audio so far.

    Attributes:
        tokens: Ids; the first ``context_size`` are the context before the utterance.
        log_prob: Total, boosts included.
        found: The utterance's tokens and their details.
        state: How much of which hotword has been heard; None without hotwords.
    """

    tokens: tuple[int, ...]
    log_prob: float
    frames: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    context_scores: tuple[float, ...] = ()
    trailing_blanks: int = 0
    state: State | None = None

    @property
    def normalised(self) -> float:
        """Log probability per token: without it, short hypotheses win."""
        return self.log_prob / len(self.tokens)


class BeamSearch:
    """Modified beam search of one stream.

    Args:
        model: The networks.
        unknown: Id that counts as blank; -1 for none.
        options: How.
        graph: Hotwords, or None.
    """

    def __init__(
        self, model: Transducer, unknown: int, options: SearchOptions, graph: ContextGraph | None
    ) -> None:
        self._model = model
        self._unknown = unknown
        self._options = options
        self._graph = graph
        self._frame = 0
        self._hypotheses = [self._empty()]

    def _empty(self) -> Hypothesis:
        context = (-1,) * (self._model.metadata.context_size - 1) + (BLANK,)
        return Hypothesis(context, 0.0, state=self._root)

    @property
    def _root(self) -> State | None:
        return None if self._graph is None else self._graph.root

    @property
    def _best(self) -> Hypothesis:
        return max(self._hypotheses, key=lambda h: h.normalised)

    @property
    def found(self) -> Found:
        """The best hypothesis."""
        best = self._best
        tokens = best.tokens[self._model.metadata.context_size :]
        return Found(tokens, best.frames, best.log_probs, best.context_scores, best.trailing_blanks)

    def push(self, encoded: Floats) -> None:
        """Takes the next encoder frames, [n, width]."""
        for frame in encoded:
            self._hypotheses = self._advance(frame)
            self._frame += 1

    def reset(self) -> bool:
        """Begins a new utterance, from no context and from each hypothesis's last tokens.

        So does sherpa-onnx; the former, whose probability is 1, mostly wins.
        """
        size = self._model.metadata.context_size
        spoken = len(self._best.tokens) > size
        first = self._empty()
        kept = {first.tokens: first}
        for h in self._hypotheses if spoken else ():
            _merge(kept, Hypothesis(h.tokens[-size:], h.log_prob, state=self._root))
        self._hypotheses = list(kept.values())
        self._frame = 0
        return spoken

    def copy(self) -> Self:
        """Another search that goes on from here."""
        return copy.copy(self)  # hypotheses are never changed, only replaced

    def _advance(self, frame: Floats) -> list[Hypothesis]:
        old, size = self._hypotheses, self._model.metadata.context_size
        logits = self._model.join(frame, self._model.decode([h.tokens[-size:] for h in old]))
        confidence = log_softmax(logits / self._options.temperature_scale)
        logits[:, BLANK] -= self._options.blank_penalty
        total = log_softmax(logits) + np.array([[h.log_prob] for h in old], np.float32)
        paths = min(self._options.max_active_paths, total.size)
        flat = total.ravel()
        best = np.argpartition(-flat, paths - 1)[:paths]
        merged: dict[tuple[int, ...], Hypothesis] = {}
        for place in map(int, best[np.argsort(-flat[best])]):
            row, token = divmod(place, total.shape[1])
            _merge(merged, self._extended(old[row], token, float(flat[place]), float(confidence[row, token])))
        return list(merged.values())

    def _extended(self, old: Hypothesis, token: int, log_prob: float, confidence: float) -> Hypothesis:
        if token in (BLANK, self._unknown):
            return replace(old, log_prob=log_prob, trailing_blanks=old.trailing_blanks + 1)
        boosts, state = old.context_scores, old.state
        if self._graph is not None:
            gained, state = self._graph.step(old.state or self._graph.root, token)
            log_prob += gained
            boosts = (*boosts, gained)
        return Hypothesis(
            (*old.tokens, token),
            log_prob,
            (*old.frames, self._frame),
            (*old.log_probs, confidence),
            boosts,
            0,
            state,
        )


def _merge(into: dict[tuple[int, ...], Hypothesis], new: Hypothesis) -> None:
    """Adds a hypothesis; of two with the same tokens the first stays, with both probabilities."""
    known = into.get(new.tokens)
    if known is not None:
        new = replace(known, log_prob=float(np.logaddexp(known.log_prob, new.log_prob)))
    into[new.tokens] = new
