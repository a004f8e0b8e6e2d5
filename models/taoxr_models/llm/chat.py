"""A conversation on one KV cache: prefix reuse, prefill in steps, decoding token by token."""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Llm
from taoxr.engine.module import Memory
from taoxr_models.llm.choice import ToolChooser
from taoxr_models.llm.prompt import Choice, Prompt, PromptMaker
from taoxr_models.llm.reader import MARKS, AnswerReader, ModelCall
from taoxr_models.llm.sampling import Sampler, Sampling
from taoxr_models.llm.settings import read_settings
from taoxr_models.llm.template import Message, Template, Tool, read_template
from taoxr_models.llm.vocabulary import TextDecoder, read_vocabulary

DEFAULT_ANSWER_TOKENS: Final = 160
MAX_ANSWER_TOKENS: Final = 1024

# A step holds the GIL. Throughput is at its best from 16 tokens a step on.
_STEP_S: Final = 0.06
_MAX_STEP_TOKENS: Final = 64
_TILE: Final = 4
_TAIL_TOKENS: Final = 16

_CALL_MARK: Final = b"<tool_call>"
# Models below about half a billion parameters do not call a tool when they are only told of it in words.
_CALLING_HIDDEN_SIZE: Final = 1024


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
    """The answer has ended by itself (``stop``), at the token limit (``length``) or with a ``call``."""

    reason: Literal["stop", "length", "call"]
    tokens: int
    decode_us: int


Step = Started | Text | ModelCall | Finished | None


class ChatModel:
    """A chat model with its cache; for one thread at a time.

    Args:
        folder: The model's folder (verified).
        memory: See `taoxr.engine.llm.Llm`.

    Attributes:
        sampling: What the model's folder wants the sampler to do.
        max_tokens: Most tokens of an answer that it wants; 0: it says nothing.

    Raises:
        ModelError: The folder lacks something or asks for what cannot be done.
    """

    def __init__(self, folder: Path, *, memory: Memory | None = None) -> None:
        settings = read_settings(folder)
        self._llm = Llm(folder, memory=memory)
        self._vocabulary = read_vocabulary(folder, self._llm.vocabulary, self._llm.piece)
        self._stops = settings.stops
        self.sampling = settings.sampling
        self.max_tokens = settings.max_tokens
        template = read_template(folder, self._llm)
        self._chooser: ToolChooser | None = None
        # The engine's own templates cannot be taken apart as a choice needs it.
        small = settings.hidden_size < _CALLING_HIDDEN_SIZE
        if small and isinstance(template, Template) and not template.knows_tools:
            self._chooser = ToolChooser(self._llm, self._vocabulary, template)
        self._prompts = PromptMaker(
            self._llm, template, settings.context_tokens, calls_itself=self._chooser is None
        )
        marks = {i for i in self._vocabulary.specials if self._vocabulary.pieces[i].decode("utf-8") in MARKS}
        empty = {i for i, piece in enumerate(self._vocabulary.pieces) if not piece}
        self._banned = tuple((self._vocabulary.specials | empty) - self._vocabulary.stops - marks)
        self._call_tokens = tuple(i for i in marks if self._vocabulary.pieces[i] == _CALL_MARK)
        question = self.prompt([Message("user", "")]).ids
        last_end = max((i for i, t in enumerate(question) if t in self._vocabulary.stops), default=0)
        self._opening = question[last_end:]  # from the end of a turn up to the answer's first token
        self._tokens_per_s = _TAIL_TOKENS / _STEP_S

    def warm_up(self) -> None:
        """Runs both graphs (prefill, decode) once, so that the first turn is as fast as the others."""
        logits = self._llm.feed(self.prompt([Message("user", "Hello.")]).ids)
        self._llm.feed([int(np.argmax(logits))])
        self._llm.rewind(0)

    def prompt(
        self,
        messages: Sequence[Message],
        answer_tokens: int = DEFAULT_ANSWER_TOKENS,
        tools: Sequence[Tool] = (),
    ) -> Prompt:
        """The conversation as the model reads it; see `PromptMaker.make`."""
        return self._prompts.make(messages, answer_tokens, tools)

    def answer(
        self, prompt: Prompt, sampling: Sampling, max_tokens: int, *, calls: bool = True
    ) -> Generator[Step]:
        """Reads the prompt and generates, in steps of about 60 ms at most.

        Thoughts are not told. Closing the generator between two steps leaves the cache consistent: it
        holds exactly the tokens that `Llm.tokens` says.

        Args:
            prompt: What to answer.
            sampling: How to draw.
            max_tokens: Most tokens of the answer, thoughts and calls included.
            calls: Whether the answer may be a call. A model with a token of its own for that is kept from
                it; the call of another one is told as a call that has a problem.

        Yields:
            None after a step without news, then `Started`, `Text` ..., perhaps a `ModelCall`, `Finished`.
        """
        begun = time.perf_counter()
        if prompt.choice is not None and prompt.choice.result:
            yield Started(0, 0, prompt.dropped_messages, 0)
            yield Text(prompt.choice.result)
            yield Finished("stop", 0, 0)
            return
        if prompt.choice is not None and calls:
            call = yield from self._choose(prompt, prompt.choice)
            if call is not None:
                yield call
                yield Finished("call", 0, _us_since(begun))
                return
        # The last token is always fed, since its logits are needed.
        reused = _common_length(self._llm.tokens, prompt.ids[:-1])
        self._llm.rewind(reused)
        logits = yield from self._prefill(prompt.ids[reused:])
        yield Started(len(prompt.ids), reused, prompt.dropped_messages, _us_since(begun))

        begun = time.perf_counter()
        banned = self._banned if calls else (*self._banned, *self._call_tokens)
        sampler = Sampler(sampling, banned, self._answers(prompt.ids))
        decoder = TextDecoder(self._vocabulary)
        reader = AnswerReader(thinking=prompt.thinking, stops=self._stops)
        reason, count = "length", 0
        while count < max_tokens:
            # Arguments are copied, not made up: a penalty for repeating would spoil them.
            token = sampler.pick(logits, exact=reader.in_call)
            if token in self._vocabulary.stops:
                reason = "stop"
                break
            count += 1
            if text := reader.feed(decoder.push(token)):
                yield Text(text)
            if reader.call is not None or reader.stopped:
                reason = "stop"
                break
            # Kept in the cache even for the last one: the next prompt will contain it.
            logits = self._llm.feed([token])
            yield None
        if text := reader.finish():
            yield Text(text)
        if reader.call is not None:
            yield reader.call if calls else replace(reader.call, problem="no more calls in this turn")
            reason = "call"
        yield Finished(reason, count, _us_since(begun))

    def _choose(self, prompt: Prompt, choice: Choice) -> Generator[Step, None, ModelCall | None]:
        reused = _common_length(self._llm.tokens, prompt.ids[: choice.head])
        self._llm.rewind(reused)
        if reused < choice.head:
            yield from self._prefill(prompt.ids[reused : choice.head])
        assert self._chooser is not None  # else no prompt has a choice
        return (yield from self._chooser.choose(choice.request, choice.tools))

    def _answers(self, ids: Sequence[int]) -> list[Sequence[int]]:
        """The earlier answers in a prompt."""
        opening = self._opening
        ends = [i for i, token in enumerate(ids) if token in self._vocabulary.stops]
        answers: list[Sequence[int]] = []
        for end, next_end in pairwise(ends):
            start = end + len(opening)
            answer = ids[start:next_end]
            # The same call again is no copy of an answer.
            if tuple(ids[end:start]) == opening and _CALL_MARK not in self._bytes(answer):
                answers.append(answer)
        return answers

    def _bytes(self, ids: Sequence[int]) -> bytes:
        return b"".join(self._vocabulary.pieces[i] for i in ids)

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


def _common_length(a: Sequence[int], b: Sequence[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _us_since(begun: float) -> int:
    return round((time.perf_counter() - begun) * 1e6)
