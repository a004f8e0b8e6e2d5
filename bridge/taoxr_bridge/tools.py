"""The client's tools: what it offers, and the calls that wait for its answers.

A call that cannot be made, or gets no answer, is told to the language model as the call's error, so that it
can say so, and to the client as a notice.
"""

import asyncio
import itertools
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

import structlog

from taoxr.errors import InvalidInputError, TaoxrError, UnavailableError
from taoxr.rpc import status_of
from taoxr.v1 import conversation_pb2 as pb
from taoxr.v1 import tools_pb2
from taoxr.worker.v1 import llm_pb2

# So many calls in one turn; after that the model has to answer with what it knows.
MOST_CALLS: Final = 4

_MOST_TOOLS: Final = 16
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_DESCRIPTION_CHARS: Final = 1000
_SCHEMA_CHARS: Final = 4000
_OUTPUT_CHARS: Final = 4000
_ERROR_CHARS: Final = 1000
_DEFAULT_TIMEOUT_US: Final = 10_000_000
_TIMEOUTS_US: Final = range(100_000, 120_000_001)

Emit = Callable[[pb.ConverseResponse], Awaitable[None]]


class Toolbox:
    """The tools of one conversation.

    Args:
        config: Says which, and how long they may take; checked by `check_tools`.
    """

    def __init__(self, config: pb.ConversationConfig) -> None:
        self._tools = {tool.name for tool in config.tools}
        self._timeout_us = config.tool_timeout_us or _DEFAULT_TIMEOUT_US
        self._waiting: dict[str, asyncio.Future[tools_pb2.ToolResult]] = {}

    def answer(self, result: tools_pb2.ToolResult) -> None:
        """The client has answered a call; one that nobody waits for (any more) is ignored."""
        waiting = self._waiting.get(result.call_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(result)

    async def use(self, turn_id: str, called: llm_pb2.CalledTool, emit: Emit) -> llm_pb2.ToolUse:
        """Makes a call and waits for what comes of it; cancelling gives the call up.

        Args:
            turn_id: The turn that it belongs to.
            called: What the language model wrote.
            emit: Sends a response of the turn.

        Returns:
            The call with its result, which is an error when there is no other; its place is not set.
        """
        call = tools_pb2.ToolCall(
            call_id=next(i for n in itertools.count(1) if (i := f"{turn_id}-call-{n}") not in self._waiting),
            name=called.name,
            arguments_json="{}" if called.problem else called.arguments_json,
            timeout_us=self._timeout_us,
        )
        error: TaoxrError | None = None
        result = tools_pb2.ToolResult(call_id=call.call_id)
        if called.problem:
            error = TaoxrError(f"the language model wrote a tool call that cannot be made: {called.problem}")
        elif call.name not in self._tools:
            offered = ", ".join(sorted(self._tools)) or "none"
            error = TaoxrError(
                f"the language model called {call.name[:64]!r}, which is no tool; tools: {offered}"
            )
        else:
            try:
                result = await self._result(call, emit)
            except TimeoutError:
                error = UnavailableError(
                    f"the tool {call.name} gave no answer within {self._timeout_us / 1e6:g} s"
                )
        if error is not None:
            result.error = str(error)
            structlog.get_logger().info("tool call failed", turn=turn_id, kind=type(error).__name__)
            await emit(pb.ConverseResponse(notice=status_of(error)))
        return llm_pb2.ToolUse(call=call, result=result)

    async def _result(self, call: tools_pb2.ToolCall, emit: Emit) -> tools_pb2.ToolResult:
        waiting = self._waiting[call.call_id] = asyncio.get_running_loop().create_future()
        try:
            await emit(pb.ConverseResponse(tool_call=call))
            async with asyncio.timeout(call.timeout_us / 1e6):
                return await waiting
        finally:
            del self._waiting[call.call_id]


def check_tools(config: pb.ConversationConfig) -> None:
    """Checks the tools that a client offers.

    Raises:
        InvalidInputError: A field has a wrong value.
    """
    if len(config.tools) > _MOST_TOOLS:
        raise InvalidInputError("config.tools", f"{len(config.tools)} tools", f"at most {_MOST_TOOLS}")
    seen: set[str] = set()
    for i, tool in enumerate(config.tools):
        field = f"config.tools[{i}]"
        if not _NAME.fullmatch(tool.name):
            raise InvalidInputError(f"{field}.name", tool.name, "1 to 64 letters, digits, _ and -")
        if tool.name in seen:
            raise InvalidInputError(f"{field}.name", tool.name, "another name than the tools before")
        seen.add(tool.name)
        _check_length(f"{field}.description", tool.description, _DESCRIPTION_CHARS)
        _check_schema(f"{field}.parameters_json_schema", tool.parameters_json_schema)
    if config.tool_timeout_us and config.tool_timeout_us not in _TIMEOUTS_US:
        expected = f"0 or {_TIMEOUTS_US.start} to {_TIMEOUTS_US.stop - 1}"
        raise InvalidInputError("config.tool_timeout_us", config.tool_timeout_us, expected)


def check_result(result: tools_pb2.ToolResult) -> None:
    """Checks the answer to a call.

    Raises:
        InvalidInputError: A field has a wrong value.
    """
    if result.WhichOneof("outcome") is None:
        raise InvalidInputError("tool_result.outcome", "none", "output or error")
    _check_length("tool_result.output", result.output, _OUTPUT_CHARS)
    _check_length("tool_result.error", result.error, _ERROR_CHARS)


def _check_schema(field: str, text: str) -> None:
    _check_length(field, text, _SCHEMA_CHARS)
    if not text:
        return
    expected = 'a JSON Schema of an object: "properties" an object of objects, "required" a list of its names'
    try:
        schema: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(field, text, expected) from error
    if not isinstance(schema, dict):
        raise InvalidInputError(field, text, expected)
    described = cast("dict[str, Any]", schema)
    properties, required = described.get("properties", {}), described.get("required", [])
    good = (
        described.get("type", "object") == "object"
        and isinstance(properties, dict)
        and all(map(_is_property, cast("dict[str, Any]", properties).values()))
        and isinstance(required, list)
        and all(name in properties for name in cast("list[Any]", required) if isinstance(name, str))
        and all(isinstance(name, str) for name in cast("list[Any]", required))
    )
    if not good:
        raise InvalidInputError(field, text, expected)


def _is_property(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    choices = cast("dict[str, Any]", value).get("enum", [None])
    return isinstance(choices, list) and bool(cast("list[Any]", choices))


def _check_length(field: str, text: str, most: int) -> None:
    if len(text) > most:
        raise InvalidInputError(field, f"{len(text)} characters", f"at most {most} characters")
