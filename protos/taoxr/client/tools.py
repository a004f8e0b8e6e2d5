"""Python functions that the avatar may call.

::

    def get_weather(city: str) -> str:
        '''Tells the weather in a city.'''
        return f"It is sunny in {city}."

    options = ConversationOptions(tools=(get_weather,))

The function's name and docstring are what the language model knows of it, so the docstring says when to call
it; its type hints make the schema of the arguments, and check what comes. What it returns is told to the
model, and a small model has it said as it is: a sentence is best. A function runs on a thread of its own; a
coroutine function on the event loop.
"""

import asyncio
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Final, cast

import structlog
from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import ArgsKwargs, PydanticSerializationError, to_json

from taoxr.errors import InvalidInputError
from taoxr.v1 import tools_pb2

# Tools that are installed: a name for each, and what `as_tool` takes.
ENTRY_POINTS: Final = "taoxr.tools"
_OUTPUT_CHARS: Final = 4000
_ERROR_CHARS: Final = 1000


@dataclass(frozen=True)
class Tool:
    """A function that the avatar may call.

    Attributes:
        name: 1 to 64 letters, digits, `_` and `-`.
        description: When to call it and what it does, at most 1,000 characters.
        parameters: JSON Schema of its arguments, an object; empty: it takes none.
        run: Takes the arguments and does it; None: whoever gets the `ToolCall` event answers it with
            `Conversation.answer_tool`.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    run: Callable[[dict[str, Any]], Any] | None = None

    def to_proto(self) -> tools_pb2.Tool:
        """What the server is told of it."""
        schema = json.dumps(self.parameters, ensure_ascii=False) if self.parameters else ""
        return tools_pb2.Tool(name=self.name, description=self.description, parameters_json_schema=schema)


def as_tool(function: Callable[..., Any] | Tool, *, name: str = "", description: str = "") -> Tool:
    """Makes a tool of a function.

    Args:
        function: With type hints that pydantic understands; what is a `Tool` already stays one.
        name: Its name for the model; empty: the function's own.
        description: What it does; empty: the first paragraph of its docstring.

    Raises:
        InvalidInputError: It has no description, or hints that no JSON can have.
    """
    if isinstance(function, Tool):
        return function
    name = name or str(getattr(function, "__name__", ""))
    paragraph = (inspect.getdoc(function) or "").split("\n\n")[0]
    description = description or " ".join(paragraph.split())
    if not description:
        raise InvalidInputError(f"tool {name}", "no docstring", "one that says what the function does")
    try:
        # Pydantic takes functions, although its own hint says types.
        arguments: TypeAdapter[Any] = TypeAdapter(cast("Any", function))
        schema: dict[str, Any] = _without_titles(arguments.json_schema())
    except PydanticUserError as error:
        raise InvalidInputError(f"tool {name}", str(error).split("\n")[0], "type hints of JSON") from error
    parameters: dict[str, Any] = schema if schema.get("properties") else {}

    def run(given: dict[str, Any]) -> Any:
        return arguments.validate_python(ArgsKwargs((), given))

    return Tool(name, description, parameters, run)


def installed_tools() -> tuple[Tool, ...]:
    """The tools of the installed packages, by name: their entry points in the group ``taoxr.tools``."""
    points = sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    return tuple(as_tool(point.load(), name=point.name) for point in points)


async def result_of(tool: Tool, call: tools_pb2.ToolCall) -> tools_pb2.ToolResult:
    """Runs a tool, which has a `Tool.run`, and tells what came of it, be it an error."""
    result = tools_pb2.ToolResult(call_id=call.call_id)
    assert tool.run is not None
    try:
        given: dict[str, Any] = json.loads(call.arguments_json or "{}")
        async with asyncio.timeout(call.timeout_us / 1e6):
            value = await asyncio.to_thread(tool.run, given)
            if inspect.isawaitable(value):
                value = await value
        output = value if isinstance(value, str) else "done" if value is None else to_json(value).decode()
        if len(output) > _OUTPUT_CHARS:
            result.error = f"the result has {len(output)} characters; {_OUTPUT_CHARS} are allowed"
        else:
            result.output = output
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        result.error = "; ".join(wrong)[:_ERROR_CHARS]
    except TimeoutError:
        result.error = f"it took longer than {call.timeout_us / 1e6:g} s"
    except PydanticSerializationError as error:
        result.error = f"its result cannot be told: {error}"[:_ERROR_CHARS]
    except Exception as error:  # noqa: BLE001  whatever anybody's code raises, the avatar can say so
        structlog.get_logger().warning("tool failed", tool=tool.name, exc_info=True)
        result.error = (str(error) or type(error).__name__)[:_ERROR_CHARS]
    return result


def _without_titles(schema: Any) -> Any:
    """The schema without the titles that pydantic makes of names: they only cost the model tokens."""
    if isinstance(schema, dict):
        parts = cast("dict[str, Any]", schema).items()
        # A property may be called "title"; then its value is a schema.
        return {k: _without_titles(v) for k, v in parts if not (k == "title" and isinstance(v, str))}
    if isinstance(schema, list):
        return [_without_titles(part) for part in cast("list[Any]", schema)]
    return schema
