"""Greedy search: the best token of every frame."""

import copy
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np

from taoxr_models.ear.online.tokens import BLANK
from taoxr_models.ear.online.transducer import Floats, Transducer


@dataclass(frozen=True, slots=True)
class Found:
    """What a search has found so far in an utterance.

    Attributes:
        tokens: Ids.
        frames: Frame (40 ms) of each token since the utterance began.
        log_probs: Log probability of each token, at the confidence temperature.
        context_scores: What hotwords added for each token; empty without any.
        trailing_blanks: Frames since the last token.
    """

    tokens: tuple[int, ...]
    frames: tuple[int, ...]
    log_probs: tuple[float, ...]
    context_scores: tuple[float, ...]
    trailing_blanks: int


class Search(Protocol):
    """The search of one stream."""

    @property
    def found(self) -> Found:
        """The best so far."""
        ...

    def push(self, encoded: Floats) -> None:
        """Takes the next encoder frames, [n, width]."""
        ...

    def reset(self) -> bool:
        """Begins a new utterance, with the last tokens as context; false if there were none."""
        ...

    def copy(self) -> Self:
        """Another search that goes on from here; this one stays as it is."""
        ...


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search; names as in sherpa-onnx.

    Attributes:
        max_active_paths: Hypotheses that beam search keeps.
        blank_penalty: Taken off the blank's logit, so that fewer words get lost.
        temperature_scale: Divides logits for the tokens' confidence; the search itself ignores it.
    """

    max_active_paths: int = 4
    blank_penalty: float = 0.0
    temperature_scale: float = 2.0


def log_softmax(logits: Floats) -> Floats:
    """Over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@dataclass
class GreedySearch:
    """At most one token per frame, the likeliest.

    Args:
        model: The networks.
        unknown: Id that counts as blank; -1 for none.
        options: How.
    """

    model: Transducer
    unknown: int
    options: SearchOptions
    _context: list[int] = field(init=False)
    _decoded: Floats = field(init=False)

    def __post_init__(self) -> None:
        self._context = self._no_context()
        self._decoded = self.model.decode([self._context])
        self._begin()

    def _no_context(self) -> list[int]:
        # -1: before the beginning; embeds as zeros.
        return [-1] * (self.model.metadata.context_size - 1) + [BLANK]

    def _begin(self) -> None:
        self._tokens: list[int] = []
        self._frames: list[int] = []
        self._log_probs: list[float] = []
        self._trailing = 0
        self._frame = 0

    @property
    def found(self) -> Found:
        """The tokens so far."""
        return Found(tuple(self._tokens), tuple(self._frames), tuple(self._log_probs), (), self._trailing)

    def push(self, encoded: Floats) -> None:
        """Takes the next encoder frames, [n, width]."""
        for frame in encoded:
            logits = self.model.join(frame, self._decoded)[0]
            logits[BLANK] -= self.options.blank_penalty
            token = int(logits.argmax())
            if token in (BLANK, self.unknown):
                self._trailing += 1
            else:
                self._tokens.append(token)
                self._frames.append(self._frame)
                self._log_probs.append(float(log_softmax(logits / self.options.temperature_scale)[token]))
                self._trailing = 0
                self._context = [*self._context[1:], token]
                self._decoded = self.model.decode([self._context])
            self._frame += 1

    def reset(self) -> bool:
        """Begins a new utterance after the same context.

        After one without tokens the context is gone for the second token, but not for the first: sherpa-onnx
        keeps the decoder's output.
        """
        spoken = bool(self._tokens)
        if not spoken:
            self._context = self._no_context()
        self._begin()
        return spoken

    def copy(self) -> Self:
        """Another search that goes on from here."""
        made = copy.copy(self)
        made._tokens, made._frames, made._log_probs = self._tokens[:], self._frames[:], self._log_probs[:]
        return made
