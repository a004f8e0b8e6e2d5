"""Python functions as tools: their schema, and what comes of calls, good and bad."""

import json
import time
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from taoxr.client.tools import Tool, as_tool, installed_tools, result_of
from taoxr.errors import InvalidInputError
from taoxr.v1 import tools_pb2

pytestmark = pytest.mark.unit


def switch_light(
    room: str,
    on: bool,
    level: Annotated[int, Field(ge=1, le=100, description="percent")] = 100,
    color: Literal["red", "white"] = "white",
) -> dict[str, Any]:
    """Switches the light
    in a room.

    More about it.
    """
    if room == "cellar":
        raise RuntimeError("the fuse has blown")
    return {"room": room, "on": on, "level": level, "color": color}


async def wait_and_tell(title: str) -> str:
    """Tells a title."""
    return f"It is {title}."


def long_text() -> str:
    """Tells too much."""
    return "x" * 4001


def no_text() -> None:
    """Does something."""


def strange() -> object:
    """Gives what no JSON can hold."""
    return object()


class Toolbelt:
    """Nothing that pydantic knows."""


def slow() -> None:
    """Takes its time."""
    time.sleep(0.2)


async def run(function: Any, arguments: str = "{}", timeout_us: int = 5_000_000) -> tools_pb2.ToolResult:
    call = tools_pb2.ToolCall(call_id="c", arguments_json=arguments, timeout_us=timeout_us)
    result = await result_of(as_tool(function), call)
    assert result.call_id == "c"
    return result


def test_schema_from_type_hints():
    tool = as_tool(switch_light)
    assert (tool.name, tool.description) == ("switch_light", "Switches the light in a room.")
    assert json.loads(tool.to_proto().parameters_json_schema) == {
        "type": "object",
        "properties": {
            "room": {"type": "string"},
            "on": {"type": "boolean"},
            "level": {
                "type": "integer", "minimum": 1, "maximum": 100, "description": "percent", "default": 100,
            },
            "color": {"type": "string", "enum": ["red", "white"], "default": "white"},
        },
        "required": ["room", "on"],
        "additionalProperties": False,
    }  # fmt: skip
    assert as_tool(no_text).to_proto().parameters_json_schema == ""
    assert "title" in as_tool(wait_and_tell).parameters["properties"]
    assert as_tool(tool) is tool
    assert as_tool(no_text, name="do", description="Does it.").to_proto() == tools_pb2.Tool(
        name="do", description="Does it."
    )


def test_functions_that_are_no_tools():
    def undocumented() -> None: ...

    def odd(what: Toolbelt) -> None:
        """Takes what no JSON can hold."""

    for function in (undocumented, odd):
        with pytest.raises(InvalidInputError, match=r"^tool "):
            as_tool(function)


async def test_results():
    lit = await run(switch_light, '{"room": "hall", "on": true, "color": "red"}')
    assert json.loads(lit.output) == {"room": "hall", "on": True, "level": 100, "color": "red"}
    assert (await run(wait_and_tell, '{"title": "Faust"}')).output == "It is Faust."
    assert (await run(no_text)).output == "done"


@pytest.mark.parametrize(
    ("function", "arguments", "error"),
    [
        (switch_light, '{"room": "cellar", "on": true}', "the fuse has blown"),
        (switch_light, '{"room": "hall"}', "on: Missing required argument"),
        (
            switch_light,
            '{"room": "hall", "on": true, "level": 0, "more": 1}',
            "level: Input should be greater",
        ),
        (switch_light, "[1]", "dict"),
        (long_text, "{}", "4001 characters"),
        (strange, "{}", "cannot be told"),
    ],
)
async def test_errors_are_words_that_the_avatar_can_say(function: Any, arguments: str, error: str):
    result = await run(function, arguments)
    assert result.WhichOneof("outcome") == "error"
    assert error in result.error


async def test_a_slow_tool_does_not_hold_up_the_answer():
    assert (await run(slow, timeout_us=1000)).error == "it took longer than 0.001 s"


async def test_installed_tools():
    tools = {tool.name: tool for tool in installed_tools()}
    assert {"get_time", "get_date", "set_timer"} <= tools.keys()
    assert (await run(tools["get_time"])).output.startswith("It is ")
    assert (await run(tools["set_timer"], '{"minutes": 1440}')).output.startswith("The timer rings at ")
    assert "greater than 0" in (await run(tools["set_timer"], '{"minutes": 0}')).error
    assert isinstance(tools["get_date"], Tool)
