"""Tools for a model that was never trained to call any, such as one of 135 million parameters.

Asked in words which tool fits, such a model is no better than chance. But it can tell how likely a request
is: a tool is called when its description makes the user's words likelier than anything else does. This is
the noisy channel of Min et al. 2022, "Noisy Channel Language Model Prompting" (arXiv:2108.04106). Values of
a fixed set are chosen in the same way; numbers and strings are filled into a form by constrained decoding,
a string only with words that the user said.
"""

import json
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import Llm
from taoxr_models.llm.reader import ModelCall
from taoxr_models.llm.template import Message, Template, Tool
from taoxr_models.llm.vocabulary import Vocabulary

# What a user says who wants no tool, and by how much (in nats) a tool must explain the words better.
_OTHERWISE: Final = "A friendly chat about any topic, facts and feelings."
_LEAST_GAIN: Final = 1.0
# The request is scored once for each tool.
_MOST_CHARS: Final = 300

_FORM: Final = """Fill in the form.

Request: Wake me in twenty minutes.
minutes: 20

Request: Please buy six red apples.
colour: red

Request: Could you call Mary Smith?
name: Mary Smith

Request: Raise the volume by five.
steps: 5

Request: Unmute the radio in the garden.
place: garden

Request: {request}
{name}:"""
_MOST_DIGITS: Final = 9
_MOST_WORD_TOKENS: Final = 24
# Only the likeliest tokens are looked at for one that fits.
_CANDIDATES: Final = 200
_NUMBERS: Final = ("integer", "number")

Steps = Generator[None]


@dataclass(frozen=True)
class _Field:
    """An argument that has to be filled in: one of `choices`, a number, or words."""

    name: str
    kind: str
    choices: tuple[Any, ...] = ()


class ToolChooser:
    """Decides whether a request calls for a tool, and for which, with a model's likelihoods.

    What the model's cache holds stays; what is read on top of it is taken away again.

    Args:
        llm: The model.
        vocabulary: Its tokens.
        template: Its chat template.
    """

    def __init__(self, llm: Llm, vocabulary: Vocabulary, template: Template) -> None:
        self._llm = llm
        self._pieces = vocabulary.pieces
        self._template = template

    def choose(self, request: str, tools: Sequence[Tool]) -> Generator[None, None, ModelCall | None]:
        """The call that the user's words ask for, or None; yields between steps.

        Only required arguments are filled in (all, when the schema names none as required). A tool that
        needs arrays or objects is never called.
        """
        request = request[:_MOST_CHARS].strip()
        fields = {tool.name: _fields(tool) for tool in tools}
        able = [tool for tool in tools if fields[tool.name] is not None]
        if not request or not able:
            return None
        scores: list[float] = []
        for task in (_OTHERWISE, *(tool.description for tool in able)):
            scores.append(self._likelihood(task, request))
            yield
        best = int(np.argmax(scores[1:]))
        if scores[1 + best] - scores[0] <= _LEAST_GAIN:
            return None
        tool = able[best]
        arguments: dict[str, Any] = {}
        for field in fields[tool.name] or ():
            arguments[field.name] = yield from self._fill(tool, field, request)
        return ModelCall(tool.name, json.dumps(arguments, ensure_ascii=False))

    def _likelihood(self, task: str, request: str) -> float:
        """Log probability of the request from somebody who wants the task done."""
        text = self._template.render([Message("system", f"Task: {task}"), Message("user", request)])
        context, _, _ = text.rpartition(request)
        before, said = self._llm.encode(context), self._llm.encode(request)
        return self._added([*before, *said], lambda logits: _log_probability(logits[len(before) - 1 :], said))

    def _added(self, ids: Sequence[int], look: Callable[[NDArray[np.float32]], float]) -> float:
        held = len(self._llm.tokens)
        seen = look(self._llm.feed_all(ids))
        self._llm.rewind(held)
        return seen

    def _fill(self, tool: Tool, field: _Field, request: str) -> Generator[None, None, Any]:
        if field.choices:
            scores: list[float] = []
            for value in field.choices:
                task = f"{tool.description} {field.name}: {_spoken(value)}"
                scores.append(self._likelihood(task, request))
                yield
            return field.choices[int(np.argmax(scores))]
        if field.kind in _NUMBERS:
            written = yield from self._decode(field, request, _MOST_DIGITS, _number_begins)
            number = float(written or 0)
            return round(number) if field.kind == "integer" else number
        words = f" {request.casefold()}"

        def said(text: str) -> bool:
            # A word of the request at the beginning, and what follows it there.
            return f" {text.casefold().strip()}" in words or not text.strip()

        return (yield from self._decode(field, request, _MOST_WORD_TOKENS, said)).strip(" .,!?")

    def _decode(
        self, field: _Field, request: str, most: int, fits: Callable[[str], bool]
    ) -> Generator[None, None, str]:
        """The likeliest text after the field's name that fits from its beginning on."""
        held = len(self._llm.tokens)
        logits = self._llm.feed(self._llm.encode(_FORM.format(request=request, name=field.name)))
        written = b""
        for _ in range(most):
            yield
            token = self._next(logits, written, fits)
            if token is None:
                break
            written += self._pieces[token]
            logits = self._llm.feed([token])
        self._llm.rewind(held)
        return written.decode("utf-8", "ignore").strip()

    def _next(self, logits: NDArray[np.float32], written: bytes, fits: Callable[[str], bool]) -> int | None:
        likely = np.argsort(-logits)[:_CANDIDATES]
        for token in map(int, likely):
            piece = self._pieces[token]
            if written.strip() and piece.startswith(b"\n"):
                return None
            text = (written + piece).decode("utf-8", "ignore")
            if piece.strip() and not piece.startswith(b"\n") and fits(text):
                return token
        return None


def in_short(messages: Iterable[Message]) -> list[Message]:
    """A conversation without calls and results, which such a model would only imitate badly."""
    plain = (Message(m.role, m.content) for m in messages if m.role != "tool")
    return [message for message in plain if message.role != "assistant" or message.content]


def result_in_words(result: str) -> str:
    """What came of a call as something to say; a small model would get it wrong in its own words."""
    try:
        value = json.loads(result)
    except ValueError:
        return result
    if isinstance(value, dict) and set(value) == {"error"}:  # pyright: ignore[reportUnknownArgumentType]
        return f"I am sorry, that did not work: {value['error']}"
    return _spoken(value)


def _spoken(value: Any) -> str:
    match value:
        case dict():
            return ", ".join(f"{key}: {_spoken(part)}" for key, part in value.items())  # pyright: ignore[reportUnknownVariableType]
        case list():
            return ", ".join(map(_spoken, value))  # pyright: ignore[reportUnknownArgumentType]
        case bool():
            return "yes" if value else "no"
        case None:
            return "nothing"
        case _:
            return str(value)


def _fields(tool: Tool) -> tuple[_Field, ...] | None:
    """The arguments to fill in; None when one is of a kind that cannot be."""
    schema: dict[str, Any] = json.loads(tool.parameters or "{}")
    properties: dict[str, dict[str, Any]] = schema.get("properties", {})
    fields: list[_Field] = []
    for name in schema.get("required", list(properties)):
        described = properties.get(name, {})
        kind = described.get("type", "string")
        if "enum" in described:
            fields.append(_Field(name, "enum", tuple(described["enum"])))
        elif kind == "boolean":
            fields.append(_Field(name, kind, (True, False)))
        elif kind in ("string", *_NUMBERS):
            fields.append(_Field(name, kind))
        else:
            return None
    return tuple(fields)


def _number_begins(text: str) -> bool:
    digits = text.strip().removeprefix("-")
    return digits.isascii() and digits.isdigit()


def _log_probability(logits: NDArray[np.float32], ids: Sequence[int]) -> float:
    """Sum of the log probabilities of tokens; row i of `logits` [>= n, vocabulary] foretells the i-th."""
    rows = logits[: len(ids)].astype(np.float64)
    rows -= rows.max(axis=1, keepdims=True)
    chosen = rows[np.arange(len(ids)), list(ids)]
    return float(np.sum(chosen - np.log(np.exp(rows).sum(axis=1))))
