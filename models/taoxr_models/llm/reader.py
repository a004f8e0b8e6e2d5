"""What a model writes, taken apart as it comes: words to be said, tool calls, and thoughts that nobody hears.

Calls are understood in the forms that common models write:

* ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>`` (Hermes, Qwen; also our wording for models
  whose template has no tools)
* ``<function=NAME>{...}</function>`` (Llama 3.1)
* ``[TOOL_CALLS][{"name": ..., "arguments": {...}}]`` (Mistral), up to the end of the answer

The first call ends the answer: what it brings may change everything after it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

# What opens a part that is not said, and what closes it; no text closes the one that goes to the end.
_PARTS: Final = {
    "<think>": "</think>",
    "<tool_call>": "</tool_call>",
    "<function=": "</function>",
    "[TOOL_CALLS]": "",
}
# Marks that a model must be able to write although its tokenizer calls them special.
MARKS: Final = frozenset(text for pair in _PARTS.items() for text in pair if text)
_SHOWN_CHARS: Final = 500


@dataclass(frozen=True)
class ModelCall:
    """A call as the model wrote it.

    Attributes:
        name: Of the tool.
        arguments: A JSON object.
        problem: Not empty: it is no call, and why; `arguments` then holds what was written.
    """

    name: str
    arguments: str
    problem: str = ""


class AnswerReader:
    """Reads one answer.

    Args:
        thinking: Whether the prompt has opened a thought already.
        stops: Texts that end the answer; they are not said.

    Attributes:
        call: The call that has ended the answer, if one has.
        stopped: Whether a stop text has.
    """

    def __init__(self, *, thinking: bool = False, stops: Sequence[str] = ()) -> None:
        self._text = ""
        self._part: str = "<think>" if thinking else ""
        self._said = False
        self._stops = frozenset(stops)
        self._opening = re.compile("|".join(re.escape(mark) for mark in (*_PARTS, *stops)))
        self.call: ModelCall | None = None
        self.stopped = False

    @property
    def in_call(self) -> bool:
        """Whether a call is being written."""
        return self.call is None and self._part not in ("", "<think>")

    def feed(self, text: str) -> str:
        """Takes more of the answer and returns what of it is to be said; "" while that is uncertain."""
        self._text += text
        said = ""
        while self.call is None and not self.stopped:
            if self._part:
                close = _PARTS[self._part]
                inside, found, rest = self._text.partition(close) if close else (self._text, "", "")
                if not found:
                    break
                self._close(inside)
                self._text = rest
            elif opening := self._opening.search(self._text):
                said += self._text[: opening.start()]
                self.stopped = opening[0] in self._stops
                self._part = "" if self.stopped else str(opening[0])
                self._text = "" if self.stopped else self._text[opening.end() :]
            else:
                end = len(self._text) - self._begun()
                said, self._text = said + self._text[:end], self._text[end:]
                break
        return self._spoken(said)

    def finish(self) -> str:
        """The answer is over: returns what is left to say. A call that was not closed is read now."""
        if self.call is not None or self._part or self.stopped:
            if self.in_call:
                self._close(self._text)
            return ""
        return self._spoken(self._text)

    def _begun(self) -> int:
        """Length of the end of the text that may become a mark."""
        marks = (*_PARTS, *self._stops)
        text, longest = self._text, min(len(self._text), max(map(len, marks)) - 1)
        return next((n for n in range(longest, 0, -1) if any(m.startswith(text[-n:]) for m in marks)), 0)

    def _spoken(self, text: str) -> str:
        # Blank lines around a thought are not the answer's beginning.
        if not self._said:
            text = text.lstrip()
        self._said = self._said or bool(text)
        return text

    def _close(self, inside: str) -> None:
        part, self._part = self._part, ""
        if part == "<function=":
            name, _, arguments = inside.partition(">")
            self.call = _checked(name.strip(), arguments, inside)
        elif part != "<think>":
            self.call = _read_call(inside)


def _read_call(written: str) -> ModelCall:
    try:
        # Some models go on talking after the object.
        value, _ = json.JSONDecoder().raw_decode(written.strip())
    except ValueError as error:
        return _no_call(f"it is not JSON: {error}", written)
    if isinstance(value, list) and value:  # the first of several
        value = cast("list[Any]", value)[0]
    if not isinstance(value, dict):
        return _no_call("it is no JSON object", written)
    call = cast("dict[str, Any]", value)
    name = call.get("name")
    if not isinstance(name, str):
        return _no_call('it has no "name"', written)
    arguments = call.get("arguments", call.get("parameters", {}))
    return _checked(name, arguments, written)


def _checked(name: str, arguments: Any, written: str) -> ModelCall:
    if isinstance(arguments, str):  # JSON as text
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except ValueError as error:
            return _no_call(f"its arguments are not JSON: {error}", written)
    if not isinstance(arguments, dict):
        return _no_call("its arguments are no JSON object", written)
    return ModelCall(name, json.dumps(arguments, ensure_ascii=False))


def _no_call(problem: str, written: str) -> ModelCall:
    return ModelCall("", written.strip()[:_SHOWN_CHARS], problem)
