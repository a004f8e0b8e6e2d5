"""A conversation on one KV cache: prompt, prefix reuse, prefill in steps, decoding token by token."""

import re
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Llm
from taoxr.engine.module import Memory
from taoxr.errors import InvalidInputError
from taoxr_models.llm.sampling import Sampler, Sampling
from taoxr_models.llm.vocabulary import TextDecoder, read_vocabulary

# Prompt and answer together. SmolLM2 knows 8192, but a CPU reads 2048 in 6 s when nothing can be reused.
CONTEXT_TOKENS: Final = 2048
DEFAULT_ANSWER_TOKENS: Final = 160
MAX_ANSWER_TOKENS: Final = 1024
MAX_MESSAGES: Final = 1000
MAX_MESSAGE_CHARS: Final = 8000
# Marks, role name and the template's own system message share out to less than this per message.
_TEMPLATE_TOKENS: Final = 16

# A step holds the GIL. Throughput is at its best from 16 tokens a step on.
_STEP_S: Final = 0.06
_MAX_STEP_TOKENS: Final = 64
_TILE: Final = 4
_TAIL_TOKENS: Final = 16

# What a person says must not end their turn and begin another.
_SPECIAL_TEXT: Final = re.compile(r"<\|[^|<>]*\|>")


@dataclass(frozen=True)
class Message:
    """One turn of the conversation; ``role`` is ``system``, ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True)
class Started:
    """The prompt has been read; times in microseconds."""

    prompt_tokens: int
    reused_tokens: int
    dropped_messages: int
    prefill_us: int


@dataclass(frozen=True)
class Text:
    """The next whole characters of the answer."""

    text: str


@dataclass(frozen=True)
class Finished:
    """The answer has ended by itself (``stop``) or at the token limit (``length``)."""

    reason: Literal["stop", "length"]
    tokens: int
    decode_us: int


Step = Started | Text | Finished | None


@dataclass(frozen=True)
class Prompt:
    """Token ids of a conversation, and how many of its oldest turns did not fit."""

    ids: tuple[int, ...]
    dropped_messages: int


class ChatModel:
    """A chat model with its cache; for one thread at a time.

    Args:
        folder: The model's folder (verified).
        memory: See `taoxr.engine.llm.Llm`.
    """

    def __init__(self, folder: Path, *, memory: Memory = "low") -> None:
        self._vocabulary = read_vocabulary(folder)
        self._llm = Llm(folder, len(self._vocabulary.pieces), memory=memory)
        self._banned = tuple(self._vocabulary.specials - self._vocabulary.stops)
        self._dropped = 0
        self._costs: dict[str, int] = {}
        question = self.prompt([Message("user", "")]).ids
        last_end = max((i for i, t in enumerate(question) if t in self._vocabulary.stops), default=0)
        self._opening = question[last_end:]  # from the end of a turn up to the answer's first token
        self._tokens_per_s = _TAIL_TOKENS / _STEP_S

    def warm_up(self) -> None:
        """Runs both graphs (prefill, decode) once, so that the first turn is as fast as the others."""
        logits = self._llm.feed(self.prompt([Message("user", "Hello.")]).ids)
        self._llm.feed([int(np.argmax(logits))])
        self._llm.rewind(0)

    def prompt(self, messages: Sequence[Message], answer_tokens: int = DEFAULT_ANSWER_TOKENS) -> Prompt:
        """The conversation in the model's chat template.

        When it does not fit, the oldest turns after the system message are dropped, at once down to half
        of the room, so that the next turns can reuse the cache again.

        Raises:
            InvalidInputError: There are no messages, or the last one does not fit alone.
        """
        if not 0 < len(messages) <= MAX_MESSAGES:
            raise InvalidInputError("messages", f"{len(messages)} messages", f"1 to {MAX_MESSAGES}")
        messages = [Message(m.role, _SPECIAL_TEXT.sub("", m.content)) for m in messages]
        first = 1 if messages[0].role == "system" else 0
        costs = [self._cost(i, m) for i, m in enumerate(messages)]
        room = CONTEXT_TOKENS - answer_tokens
        self._dropped = _dropped(messages[first:], costs[first:], room - sum(costs[:first]), self._dropped)
        kept = [*messages[:first], *messages[first + self._dropped :]]
        ids = self._llm.encode(self._llm.render([(m.role, m.content) for m in kept]))
        return Prompt(tuple(ids), self._dropped)

    def _cost(self, index: int, message: Message) -> int:
        """Tokens of a message in the prompt, at most."""
        text = message.content
        if len(text) > MAX_MESSAGE_CHARS:
            raise InvalidInputError(
                f"messages[{index}].content", f"{len(text)} characters", f"at most {MAX_MESSAGE_CHARS}"
            )
        if text not in self._costs:
            if len(self._costs) > 2 * MAX_MESSAGES:
                self._costs.clear()
            self._costs[text] = len(self._llm.encode(text)) + _TEMPLATE_TOKENS
        return self._costs[text]

    def answer(self, prompt: Prompt, sampling: Sampling, max_tokens: int) -> Generator[Step]:
        """Reads the prompt and generates, in steps of about 60 ms at most.

        Closing the generator between two steps leaves the cache consistent: it holds exactly the tokens
        that `Llm.tokens` says.

        Yields:
            None after a step without news, then `Started`, `Text` ..., `Finished`.
        """
        begun = time.perf_counter()
        # The last token is always fed, since its logits are needed.
        reused = _common_length(self._llm.tokens, prompt.ids[:-1])
        self._llm.rewind(reused)
        logits = yield from self._prefill(prompt.ids[reused:])
        yield Started(len(prompt.ids), reused, prompt.dropped_messages, _us_since(begun))

        begun = time.perf_counter()
        sampler = Sampler(sampling, self._banned, self._answers(prompt.ids))
        decoder = TextDecoder(self._vocabulary)
        for count in range(max_tokens):
            token = sampler.pick(logits)
            if token in self._vocabulary.stops:
                yield Finished("stop", count, _us_since(begun))
                return
            text = decoder.push(token)
            if text:
                yield Text(text)
            # Kept in the cache even for the last one: the next prompt will contain it.
            logits = self._llm.feed([token])
            yield None
        yield Finished("length", max_tokens, _us_since(begun))

    def _answers(self, ids: Sequence[int]) -> list[Sequence[int]]:
        """The earlier answers in a prompt."""
        opening = self._opening
        ends = [i for i, token in enumerate(ids) if token in self._vocabulary.stops]
        answers: list[Sequence[int]] = []
        for end, next_end in pairwise(ends):
            start = end + len(opening)
            if tuple(ids[end:start]) == opening:
                answers.append(ids[start:next_end])
        return answers

    def _prefill(self, ids: Sequence[int]) -> Generator[Step, None, NDArray[np.float32]]:
        # The sizes of the steps depend on the machine's load; the logits must not. MNN's int8 kernels work
        # on tiles of rows: steps of whole tiles are bit-equal however they are cut, and the rest of a tile
        # is always read in a last step of the same size.
        tail = len(ids) if len(ids) < _TAIL_TOKENS + _TILE else _TAIL_TOKENS + len(ids) % _TILE
        body = len(ids) - tail
        at = 0
        while at < body:
            tiles = round(min(self._tokens_per_s * _STEP_S, _MAX_STEP_TOKENS) / _TILE)
            chunk = ids[at : min(at + max(tiles, 1) * _TILE, body)]
            begun = time.perf_counter()
            self._llm.feed(chunk)
            # Half of the new rate: one slow step of a busy machine is not the rule.
            self._tokens_per_s += 0.5 * (len(chunk) / (time.perf_counter() - begun) - self._tokens_per_s)
            at += len(chunk)
            yield None
        return self._llm.feed(ids[body:])


def _dropped(turns: Sequence[Message], costs: Sequence[int], room: int, before: int) -> int:
    """How many of the oldest turns to leave out; a conversation goes on best where the user speaks.

    Args:
        turns: Without the system message.
        costs: Tokens of each.
        room: Tokens that they may take.
        before: What was left out of the prompt before; kept while it fits, for the cache's sake.
    """
    if sum(costs) <= room:
        return 0
    starts = [i for i, turn in enumerate(turns) if i > 0 and turn.role == "user"]
    if before in starts and sum(costs[before:]) <= room:
        return before
    for start in starts:
        if sum(costs[start:]) <= room // 2:
            return start
    last = starts[-1] if starts else 0
    if sum(costs[last:]) > room:
        raise InvalidInputError(
            "messages", f"a last turn of about {sum(costs[last:])} tokens", f"at most {room}"
        )
    return last


def _common_length(a: Sequence[int], b: Sequence[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _us_since(begun: float) -> int:
    return round((time.perf_counter() - begun) * 1e6)
