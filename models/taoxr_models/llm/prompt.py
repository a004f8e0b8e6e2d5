"""A conversation as the token ids that a model reads, kept within its context."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from taoxr.engine import Llm
from taoxr.errors import InvalidInputError
from taoxr_models.llm.choice import in_short, result_in_words
from taoxr_models.llm.template import EngineTemplate, Message, Template, Tool, call_text

MAX_MESSAGES: Final = 1000
MAX_MESSAGE_CHARS: Final = 8000
# Marks, role name and the template's own system message share out to less than this per message.
_TEMPLATE_TOKENS: Final = 16

# What a person says, or a tool returns, must not end its message and begin another.
_SPECIAL_TEXT: Final = re.compile(r"<\|[^|<>]*\|>|</?(?:tool_call|tool_response|tools|think)>")


@dataclass(frozen=True)
class Choice:
    """For a model that does not call tools by itself: what to decide before the answer, or its result.

    Attributes:
        request: What the user said last.
        tools: What may be called.
        head: How many of the prompt's ids come before the user's words.
        result: Not empty: a tool was called, and this is to be said.
    """

    request: str = ""
    tools: tuple[Tool, ...] = ()
    head: int = 0
    result: str = ""


@dataclass(frozen=True)
class Prompt:
    """A conversation as the model reads it.

    Attributes:
        ids: Token ids.
        dropped_messages: How many of its oldest messages did not fit.
        thinking: Whether it ends inside a thought, which the model then goes on with.
        choice: What to decide first, if anything.
    """

    ids: tuple[int, ...]
    dropped_messages: int
    thinking: bool = False
    choice: Choice | None = None


class PromptMaker:
    """Makes the prompts of one model.

    Args:
        llm: Knows the tokens.
        template: The model's chat template.
        context_tokens: Prompt and answer together.
        calls_itself: Whether the model can call tools when it is told of them; see `choice` if not.
    """

    def __init__(
        self, llm: Llm, template: Template | EngineTemplate, context_tokens: int, *, calls_itself: bool
    ) -> None:
        self._llm = llm
        self._template = template
        self._context_tokens = context_tokens
        self._calls_itself = calls_itself
        self._dropped = 0
        self._costs: dict[str, int] = {}

    def make(self, messages: Sequence[Message], answer_tokens: int, tools: Sequence[Tool] = ()) -> Prompt:
        """The conversation in the model's chat template.

        When it does not fit, the oldest turns after the system message are dropped, at once down to half
        of the room, so that the next turns can reuse the cache again.

        Raises:
            InvalidInputError: There are no messages, or the last turn does not fit alone.
        """
        if not 0 < len(messages) <= MAX_MESSAGES:
            raise InvalidInputError("messages", f"{len(messages)} messages", f"1 to {MAX_MESSAGES}")
        messages = [replace(m, content=_SPECIAL_TEXT.sub("", m.content)) for m in messages]
        if not self._calls_itself:
            if messages[-1].role == "tool":
                return Prompt((), 0, choice=Choice(result=result_in_words(messages[-1].content)))
            return self._with_choice(self._make(in_short(messages), answer_tokens, ()), messages[-1], tools)
        return self._make(messages, answer_tokens, tools)

    def _make(self, messages: list[Message], answer_tokens: int, tools: Sequence[Tool]) -> Prompt:
        first = 1 if messages[0].role == "system" else 0
        costs = [self._cost(i, m) for i, m in enumerate(messages)]
        room = self._context_tokens - answer_tokens - sum(costs[:first]) - self._tools_cost(tools)
        self._dropped = _dropped(messages[first:], costs[first:], room, self._dropped)
        text = self._template.render([*messages[:first], *messages[first + self._dropped :]], tools)
        return Prompt(tuple(self._llm.encode(text)), self._dropped, text.rstrip().endswith("<think>"))

    def _with_choice(self, prompt: Prompt, last: Message, tools: Sequence[Tool]) -> Prompt:
        if not tools:
            return prompt
        # The last message stands at the end of the prompt, between marks that are the same for all.
        alone = self._llm.encode(self._template.render([Message("system", ""), last]))
        system = self._llm.encode(self._template.render([Message("system", "")], answer=False))
        head = max(len(prompt.ids) - (len(alone) - len(system)), 0)
        return replace(prompt, choice=Choice(last.content, tuple(tools), head))

    def _tools_cost(self, tools: Sequence[Tool]) -> int:
        """Tokens that a prompt has more for the tools."""
        if not tools:
            return 0
        key = repr(tools)
        if key not in self._costs:
            hello = [Message("user", "")]
            texts = [self._template.render(hello, offered) for offered in (tools, ())]
            self._costs[key] = len(self._llm.encode(texts[0])) - len(self._llm.encode(texts[1]))
        return self._costs[key]

    def _cost(self, index: int, message: Message) -> int:
        """Tokens of a message in the prompt, at most."""
        text = message.content if message.call is None else f"{message.content}\n{call_text(message.call)}"
        if len(text) > MAX_MESSAGE_CHARS:
            raise InvalidInputError(
                f"messages[{index}].content", f"{len(text)} characters", f"at most {MAX_MESSAGE_CHARS}"
            )
        if text not in self._costs:
            if len(self._costs) > 2 * MAX_MESSAGES:
                self._costs.clear()
            self._costs[text] = len(self._llm.encode(text)) + _TEMPLATE_TOKENS
        return self._costs[text]


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
