"""Conversations as prompt text: the model's own chat template, with the tools that it may call.

Templates are Jinja programs that come with the model. They run in Jinja's sandbox with what Hugging Face's
``apply_chat_template`` gives them, so that a template written for that works here:
https://huggingface.co/docs/transformers/chat_templating

A template without a place for tools gets them in words, in the form that Hermes and Qwen2.5 were trained on
(https://github.com/NousResearch/Hermes-Function-Calling): a list in ``<tools>`` in the system message, calls
in ``<tool_call>``, results in ``<tool_response>`` as messages of the user.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NoReturn

import jinja2
import jinja2.meta
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from taoxr.engine import Llm
from taoxr.errors import ModelError


@dataclass(frozen=True)
class Tool:
    """A function that the model may call.

    Attributes:
        name: Its name.
        description: When to call it and what it does.
        parameters: JSON Schema of its arguments; empty: it takes none.
    """

    name: str
    description: str
    parameters: str = ""

    def schema(self) -> dict[str, Any]:
        """The function as chat templates know it."""
        parameters: Any = json.loads(self.parameters or '{"type": "object", "properties": {}}')
        function: dict[str, Any] = {"name": self.name, "description": self.description}
        return {"type": "function", "function": function | {"parameters": parameters}}


@dataclass(frozen=True)
class Call:
    """A tool that was called: its name, and its arguments as a JSON object."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Message:
    """One message of the conversation.

    Attributes:
        role: ``system``, ``user``, ``assistant``, or ``tool`` for what came of the call before.
        content: Its text.
        call: What the assistant called after it had said `content`, which may be empty.
    """

    role: str
    content: str
    call: Call | None = None


def read_template(folder: Path, llm: Llm) -> "Template | EngineTemplate":
    """The chat template of a model's folder.

    It is ``jinja`` in ``llm_config.json``; without that the engine renders, which also knows the templates
    of older exports (``user_prompt_template`` and the like).

    Raises:
        ModelError: It is no template.
    """
    path = folder / "llm_config.json"
    try:
        jinja: dict[str, Any] = json.loads(path.read_text("utf-8")).get("jinja") or {}
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read {path}: {error}") from error
    if "chat_template" not in jinja:
        return EngineTemplate(llm)
    return Template(jinja["chat_template"], jinja.get("bos") or "", jinja.get("eos") or "")


class Template:
    """A model's chat template.

    Args:
        source: Jinja.
        begin: The mark that begins a text, for templates that ask for it.
        end: The mark that ends one.

    Attributes:
        knows_tools: Whether it has a place for tools.

    Raises:
        ModelError: It is no template.
    """

    def __init__(self, source: str, begin: str = "", end: str = "") -> None:
        jinja = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
        jinja.filters["tojson"] = _to_json
        try:
            self._template = jinja.from_string(source)
            self.knows_tools = "tools" in jinja2.meta.find_undeclared_variables(jinja.parse(source))
        except jinja2.TemplateError as error:
            raise ModelError(f"the model's chat template cannot be read: {error}") from error
        self._names: dict[str, Any] = {
            "bos_token": begin,
            "eos_token": end,
            "raise_exception": _refuse,
            "strftime_now": _now,
        }

    def render(self, messages: Sequence[Message], tools: Sequence[Tool] = (), *, answer: bool = True) -> str:
        """The prompt text of a conversation.

        Args:
            messages: The conversation.
            tools: What may be called.
            answer: Whether the text goes on up to where the answer starts.

        Raises:
            ModelError: The template refuses the conversation.
        """
        if not self.knows_tools:
            messages = in_words(messages, tools)
        try:
            return self._template.render(
                messages=[_message(m) for m in messages],
                tools=[tool.schema() for tool in tools] or None,
                add_generation_prompt=answer,
                **self._names,
            )
        except (jinja2.TemplateError, TypeError, ValueError, LookupError, ArithmeticError) as error:
            raise ModelError(f"the model's chat template refuses the conversation: {error}") from error


class EngineTemplate:
    """A chat template that only the engine knows.

    Args:
        llm: The engine.
    """

    knows_tools = False

    def __init__(self, llm: Llm) -> None:
        self._llm = llm

    def render(self, messages: Sequence[Message], tools: Sequence[Tool] = (), *, answer: bool = True) -> str:
        """As `Template.render`; the engine always goes on up to where the answer starts."""
        return self._llm.render([(m.role, m.content) for m in in_words(messages, tools)])


_TOOLS_TEXT: Final = """

You can call functions. Here they are, one a line:
<tools>
{tools}
</tools>
To call one, answer only with its name and its arguments as JSON, between these marks:
<tool_call>
{{"name": "the function", "arguments": {{"its argument": "a value"}}}}
</tool_call>
You will be told the result in <tool_response>; then answer with it. Call none that you do not need."""


def in_words(messages: Sequence[Message], tools: Sequence[Tool]) -> list[Message]:
    """The conversation without calls and tools: what they say, in the words of ordinary messages."""
    plain: list[Message] = []
    for message in messages:
        if message.call is not None:
            text = f"{message.content}\n{call_text(message.call)}".lstrip()
            message = Message("assistant", text)
        elif message.role == "tool":
            message = Message("user", f"<tool_response>\n{message.content}\n</tool_response>")
        plain.append(message)
    if tools:
        listed = "\n".join(_to_json(tool.schema()) for tool in tools)
        text = _TOOLS_TEXT.format(tools=listed)
        if plain and plain[0].role == "system":
            plain[0] = replace(plain[0], content=plain[0].content + text)
        else:
            plain.insert(0, Message("system", text.lstrip()))
    return plain


def call_text(call: Call) -> str:
    """A call as a model that was told of tools in words writes it."""
    return f'<tool_call>\n{{"name": {_to_json(call.name)}, "arguments": {call.arguments}}}\n</tool_call>'


def _message(message: Message) -> dict[str, Any]:
    described: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.call is not None:
        function = {"name": message.call.name, "arguments": json.loads(message.call.arguments)}
        described["tool_calls"] = [{"type": "function", "function": function}]
    return described


def _to_json(value: Any, indent: int | None = None, **_options: Any) -> str:
    # Unlike Jinja's own filter it escapes nothing for HTML.
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(reason: str) -> NoReturn:
    raise jinja2.TemplateError(reason)


def _now(pattern: str) -> str:
    return datetime.now().strftime(pattern)
