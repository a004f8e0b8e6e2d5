"""A ``GenerateRequest`` checked and taken apart."""

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from taoxr.errors import InvalidInputError
from taoxr.v1 import common_pb2, tools_pb2
from taoxr.worker.v1 import llm_pb2
from taoxr_models.llm.chat import DEFAULT_ANSWER_TOKENS, MAX_ANSWER_TOKENS
from taoxr_models.llm.sampling import Sampling
from taoxr_models.llm.template import Call, Message, Tool

_ROLES: Final = {
    common_pb2.ROLE_SYSTEM: "system",
    common_pb2.ROLE_USER: "user",
    common_pb2.ROLE_ASSISTANT: "assistant",
}


@dataclass(frozen=True)
class Question:
    """What a request asks for.

    Attributes:
        messages: The conversation, with calls and results in their places.
        tools: What may be called.
        sampling: How to draw.
        max_tokens: Most tokens of the answer.
    """

    messages: list[Message]
    tools: list[Tool]
    sampling: Sampling
    max_tokens: int


def checked(request: llm_pb2.GenerateRequest, model: Sampling, most: int = 0) -> Question:
    """Takes a request apart.

    Args:
        request: What was asked.
        model: The model's own wishes, for what the request leaves open.
        most: The model's own limit of an answer; 0: none.

    Raises:
        InvalidInputError: A value is out of range.
    """
    max_tokens = request.max_tokens or min(most or DEFAULT_ANSWER_TOKENS, MAX_ANSWER_TOKENS)
    if not 1 <= max_tokens <= MAX_ANSWER_TOKENS:
        raise InvalidInputError("max_tokens", max_tokens, f"0 (the default) or 1 to {MAX_ANSWER_TOKENS}")
    sampling = Sampling(
        temperature=request.temperature if request.HasField("temperature") else model.temperature,
        top_k=request.top_k or model.top_k,
        top_p=request.top_p or model.top_p,
        min_p=request.min_p or model.min_p,
        repetition_penalty=request.repetition_penalty or model.repetition_penalty,
        seed=request.seed or model.seed,
    )
    tools = [_tool(f"tools[{i}]", tool) for i, tool in enumerate(request.tools)]
    return Question(_messages(request), tools, sampling, max_tokens)


def _tool(field: str, tool: tools_pb2.Tool) -> Tool:
    if tool.parameters_json_schema:
        _object(f"{field}.parameters_json_schema", tool.parameters_json_schema)
    return Tool(tool.name, tool.description, tool.parameters_json_schema)


def _messages(request: llm_pb2.GenerateRequest) -> list[Message]:
    uses: defaultdict[int, list[llm_pb2.ToolUse]] = defaultdict(list)
    for i, use in enumerate(request.tool_uses):
        if not 1 <= use.position <= len(request.messages):
            raise InvalidInputError(
                f"tool_uses[{i}].position", use.position, f"1 to {len(request.messages)}, the messages"
            )
        _object(f"tool_uses[{i}].call.arguments_json", use.call.arguments_json)
        uses[use.position].append(use)
    messages: list[Message] = []
    for i, message in enumerate(request.messages):
        for use in uses[i]:
            _add_use(messages, use)
        if message.role not in _ROLES:
            raise InvalidInputError(f"messages[{i}].role", message.role, "system, user or assistant")
        if message.role == common_pb2.ROLE_SYSTEM and i > 0:
            raise InvalidInputError(f"messages[{i}].role", "system", "a system message only in front")
        messages.append(Message(_ROLES[message.role], message.content))
    for use in uses[len(request.messages)]:
        _add_use(messages, use)
    if not messages or messages[-1].role not in ("user", "tool"):
        last = messages[-1].role if messages else "none"
        raise InvalidInputError(
            "messages", f"last message from {last}", "a conversation that ends with user or a tool's result"
        )
    return messages


def _add_use(messages: list[Message], use: llm_pb2.ToolUse) -> None:
    # What was said before the call is one message with it, as chat templates want it.
    said = messages.pop().content if messages[-1].role == "assistant" else ""
    messages.append(Message("assistant", said, Call(use.call.name, use.call.arguments_json)))
    result = use.result
    failed = result.WhichOneof("outcome") == "error"
    content = json.dumps({"error": result.error}, ensure_ascii=False) if failed else result.output
    messages.append(Message("tool", content))


def _object(field: str, text: str) -> None:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidInputError(field, text, "a JSON object") from error
    if not isinstance(value, dict):
        raise InvalidInputError(field, text, "a JSON object")
