"""Tool calls: the language model calls, the client answers, the answer goes on."""

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest
from grpc import aio

from taoxr.client import ConversationOptions, Notice, State, TextDelta, Tool, ToolCall, TurnState, sync
from taoxr.client.events import Capability
from taoxr.errors import InvalidInputError, TaoxrError, UnavailableError
from taoxr.rpc import error_of
from taoxr.v1 import conversation_pb2 as pb
from taoxr.v1 import tools_pb2
from taoxr.worker.v1 import llm_pb2

pytestmark = pytest.mark.process

MANUAL = Tool("look", "Looks at something.", {"type": "object", "properties": {"at": {"type": "string"}}})


def get_weather(city: str) -> str:
    """Tells the weather in a city."""
    if city == "Atlantis":
        raise ValueError("there is no such city")
    return f"It is sunny in {city}."


def calling(*scripted: llm_pb2.CalledTool | str):
    """A language model that says and calls these, up to a call at a time; then it repeats the last result."""
    steps = list(scripted)

    def script(request: llm_pb2.GenerateRequest) -> list[str | llm_pb2.CalledTool]:
        parts: list[str | llm_pb2.CalledTool] = []
        while steps:
            parts.append(steps.pop(0))
            if isinstance(parts[-1], llm_pb2.CalledTool):
                break
        if parts:
            return parts
        if not request.tool_uses:
            return ["No tools."]
        result = request.tool_uses[-1].result
        return [f"Told: {result.output or result.error}"]

    return script


def call(name: str, problem: str = "", **arguments: str) -> llm_pb2.CalledTool:
    return llm_pb2.CalledTool(name=name, arguments_json=json.dumps(arguments), problem=problem)


async def turn(conversation, on_call=None) -> tuple[list, TurnState]:
    """The events of the next turn, and its end."""
    events = []
    async for event in conversation:
        events.append(event)
        if isinstance(event, ToolCall) and on_call is not None:
            await on_call(event)
        if isinstance(event, TurnState) and event.state.ended:
            return events, event
    raise AssertionError("the conversation ended")


def said(events) -> str:
    return "".join(e.text for e in events if isinstance(e, TextDelta))


async def test_a_call_is_answered_and_the_answer_goes_on(quick_bridge):
    async with quick_bridge() as (client, fakes):
        fakes.llm.script = calling("Let me see. ", call("get_weather", city="Paris"))
        async with client.converse(ConversationOptions(tools=(get_weather,))) as conversation:
            assert Capability.TOOLS in conversation.started.capabilities
            await conversation.send_text("how is it in Paris?")
            events, end = await turn(conversation)
            [called] = [e for e in events if isinstance(e, ToolCall)]
            assert (called.name, json.loads(called.arguments_json)) == ("get_weather", {"city": "Paris"})
            assert (called.turn_id, called.timeout_us) == ("turn-1", 10_000_000)
            assert end.state is State.DONE
            assert said(events) == "Let me see. Told: It is sunny in Paris."
            assert end.heard_text == "Let me see. Told: It is sunny in Paris."
            # What was said before the call, the call, and its result are told in their order.
            first, second = fakes.llm.requests
            assert [t.name for t in first.tools] == ["get_weather"]
            assert second.messages[-1].content == "Let me see."
            [use] = second.tool_uses
            assert use.position == len(second.messages)
            assert use.result.output == "It is sunny in Paris."
            # It stays in the history, before what was said with it.
            await conversation.send_text("thanks")
            await turn(conversation)
            third = fakes.llm.requests[2]
            assert [m.content for m in third.messages[-3:]] == [
                "how is it in Paris?",
                end.heard_text,
                "thanks",
            ]
            assert [u.position for u in third.tool_uses] == [len(third.messages) - 2]


@pytest.mark.parametrize(
    ("city", "told"),
    [("Atlantis", "there is no such city"), (None, "city: Missing required argument")],
)
async def test_what_goes_wrong_in_a_tool_is_told(quick_bridge, city, told):
    async with quick_bridge() as (client, fakes):
        fakes.llm.script = calling(call("get_weather", **({"city": city} if city else {})))
        async with client.converse(ConversationOptions(tools=(get_weather,))) as conversation:
            await conversation.send_text("how is it?")
            events, end = await turn(conversation)
    assert end.state is State.DONE
    assert said(events) == f"Told: {told}"


async def test_a_call_without_an_answer_goes_on_without(quick_bridge):
    async with quick_bridge() as (client, fakes):
        fakes.llm.script = calling(call("look", at="you"))
        options = ConversationOptions(tools=(MANUAL,), tool_timeout_s=0.2)
        async with client.converse(options) as conversation:
            await conversation.send_text("look")
            events, end = await turn(conversation)
            assert end.state is State.DONE
            assert said(events) == "Told: the tool look gave no answer within 0.2 s"
            [notice] = [e for e in events if isinstance(e, Notice)]
            assert isinstance(notice.error, UnavailableError)
            # Late and unknown answers hurt nobody.
            [called] = [e for e in events if isinstance(e, ToolCall)]
            await conversation.answer_tool(called.call_id, output="late")
            await conversation.answer_tool("nonsense", error="what?")
            fakes.llm.script = None
            await conversation.send_text("still there?")
            assert (await turn(conversation))[1].state is State.DONE


async def test_an_interrupt_ends_the_wait(quick_bridge):
    async with quick_bridge() as (client, fakes):
        fakes.llm.script = calling(call("look", at="you"), "never")
        async with client.converse(ConversationOptions(tools=(MANUAL,), tool_timeout_s=120)) as conversation:

            async def interrupt(called: ToolCall) -> None:
                await conversation.interrupt(0)

            await conversation.send_text("look")
            began = time.monotonic()
            events, end = await turn(conversation, interrupt)
            assert time.monotonic() - began < 60  # not the tool's time
            assert end.state is State.INTERRUPTED
            [called] = [e for e in events if isinstance(e, ToolCall)]
            await conversation.answer_tool(called.call_id, output="late")
            fakes.llm.script = None
            await conversation.send_text("and now?")
            events, end = await turn(conversation)
            assert (end.state, said(events)) == (State.DONE, "You said and now?.")
            assert not fakes.llm.requests[-1].tool_uses


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (call("fly"), "called 'fly', which is no tool; tools: get_weather"),
        (call("", problem="it is not JSON"), "cannot be made: it is not JSON"),
    ],
)
async def test_calls_that_cannot_be_made_are_told_to_both_sides(quick_bridge, wrong, told):
    async with quick_bridge() as (client, fakes):
        fakes.llm.script = calling(wrong, call("get_weather", city="Rome"))
        async with client.converse(ConversationOptions(tools=(get_weather,))) as conversation:
            await conversation.send_text("do something")
            events, end = await turn(conversation)
    assert end.state is State.DONE
    assert told in fakes.llm.requests[1].tool_uses[0].result.error
    [notice] = [e for e in events if isinstance(e, Notice)]
    assert told in str(notice.error)
    assert [e.name for e in events if isinstance(e, ToolCall)] == ["get_weather"]
    assert said(events) == "Told: It is sunny in Rome."


async def test_a_model_that_never_stops_calling_fails(quick_bridge):
    async with quick_bridge() as (client, fakes):
        fakes.llm.script = calling(*(call("get_weather", city="Rome") for _ in range(9)))
        async with client.converse(ConversationOptions(tools=(get_weather,))) as conversation:
            await conversation.send_text("go")
            events, end = await turn(conversation)
    assert end.state is State.FAILED
    assert len([e for e in events if isinstance(e, ToolCall)]) == 4
    assert [r.answer_now for r in fakes.llm.requests] == [False, False, False, False, True]
    [notice] = [e for e in events if isinstance(e, Notice)]
    assert isinstance(notice.error, TaoxrError)


async def test_a_draft_calls_nothing_before_it_is_published(quick_bridge):
    async with quick_bridge() as (client, fakes):
        fakes.ear.text, fakes.ear.stable = "look at me", "look at me"
        fakes.llm.script = calling(call("look", at="me"))
        options = ConversationOptions(tools=(MANUAL,), audio_in_hz=16000)
        async with client.converse(options) as conversation:
            loud, quiet = (b"\1\0" * 1600, b"\0\0" * 1600)
            await conversation._send(pb.ConverseRequest(audio=pb.AudioInput(pcm=loud)))
            async with asyncio.timeout(60):
                await fakes.llm.called.wait()  # the draft runs, and has called
            await conversation.ping()
            seen: list[str] = []
            async for event in conversation:
                seen.append(type(event).__name__)
                if seen[-1] == "Pong":
                    break
            assert "ToolCall" not in seen
            await conversation._send(pb.ConverseRequest(audio=pb.AudioInput(pcm=quiet)))

            async def answer(called: ToolCall) -> None:
                await conversation.answer_tool(called.call_id, output="A face.")

            events, end = await turn(conversation, answer)
    assert (end.state, said(events)) == (State.DONE, "Told: A face.")
    assert len(fakes.llm.requests) == 2  # the draft was used, not made again


async def test_update_and_resume_keep_the_tools_and_a_pending_call_is_lost_with_its_turn(quick_bridge):
    async with quick_bridge() as (client, fakes):
        fakes.llm.script = calling(call("look", at="you"))
        async with client.converse(ConversationOptions(tools=(MANUAL,))) as conversation:
            await conversation.update(system_prompt="You are Ann.", temperature=0.5)
            await conversation.send_text("look")
            async for event in conversation:
                if isinstance(event, ToolCall):
                    break
        assert [t.name for t in fakes.llm.requests[0].tools] == ["look"]
        assert fakes.llm.requests[0].messages[0].content == "You are Ann."
        async with client.resume(conversation) as again:
            assert again.started.lost_turn is not None
            assert again.started.lost_turn.user_text == "look"
            assert Capability.TOOLS in again.started.capabilities
            fakes.llm.script = calling(call("look", at="me"))

            async def answer(called: ToolCall) -> None:
                assert called.call_id != event.call_id
                await again.answer_tool(event.call_id, output="of the lost turn")
                await again.answer_tool(called.call_id, output="A face.")

            await again.send_text("again")
            events, end = await turn(again, answer)
    assert (end.state, said(events)) == (State.DONE, "Told: A face.")


def tools(*changed: dict) -> pb.ConversationConfig:
    return pb.ConversationConfig(tools=[tools_pb2.Tool(**({"name": "a"} | c)) for c in changed])


@pytest.mark.parametrize(
    ("config", "field"),
    [
        (tools(*({"name": f"t{i}"} for i in range(17))), "config.tools"),
        (tools({"name": ""}), r"config.tools\[0\].name"),
        (tools({"name": "get weather"}), r"config.tools\[0\].name"),
        (tools({"name": "a" * 65}), r"config.tools\[0\].name"),
        (tools({"name": "a\n"}), r"config.tools\[0\].name"),
        (tools({}, {}), r"config.tools\[1\].name"),
        (tools({"description": "x" * 1001}), r"config.tools\[0\].description"),
        *(
            (tools({"parameters_json_schema": schema}), r"config.tools\[0\].parameters_json_schema")
            for schema in (
                "{oops", "[]", "7", '{"type": "array"}', '{"properties": []}', '{"properties": {"a": 1}}',
                '{"required": ["a"]}', '{"required": [1]}', '{"properties": {"a": {"enum": []}}}',
                "[" * 4000, " " * 4001,
            )
        ),
        (pb.ConversationConfig(tool_timeout_us=99_999), "config.tool_timeout_us"),
        (pb.ConversationConfig(tool_timeout_us=120_000_001), "config.tool_timeout_us"),
        (pb.ConversationConfig(tool_timeout_us=-1), "config.tool_timeout_us"),
    ],
)  # fmt: skip
async def test_wrong_tools_are_refused(quick_bridge, config, field):
    async with quick_bridge() as (client, _fakes):
        call = client._conversations.Converse(iter([pb.ConverseRequest(config=config)]))
        with pytest.raises(InvalidInputError, match=f"^{field}:"):
            await first_response(call)


async def first_response(call):
    try:
        return await call.read()
    except aio.AioRpcError as error:
        raise error_of(error) from error


async def test_sixteen_tools_are_fine_and_wrong_answers_are_refused(quick_bridge):
    async with quick_bridge() as (client, _fakes):
        many = tuple(Tool(f"t{i}", "Does something.", {}) for i in range(16))
        async with client.converse(ConversationOptions(tools=many)) as conversation:
            assert Capability.TOOLS in conversation.started.capabilities
            await conversation.answer_tool("x", output="x" * 4001)
            with pytest.raises(InvalidInputError, match=r"tool_result\.output"):
                await turn(conversation)
        async with client.converse() as conversation:
            assert Capability.TOOLS not in conversation.started.capabilities
            await conversation._send(pb.ConverseRequest(tool_result=tools_pb2.ToolResult(call_id="x")))
            with pytest.raises(InvalidInputError, match=r"tool_result\.outcome"):
                await turn(conversation)


async def test_tools_of_the_client_without_async(quick_bridge):
    def talk(target: str) -> str:
        options = ConversationOptions(tools=(get_weather,))
        with sync.connect(target) as client, client.converse(options) as conversation:
            conversation.send_text("how is it?")
            text = ""
            for event in conversation:
                if isinstance(event, TextDelta):
                    text += event.text
                if isinstance(event, TurnState) and event.state.ended:
                    break
            return text

    async with quick_bridge() as (_client, fakes):
        fakes.llm.script = calling(call("get_weather", city="Paris"))
        assert await asyncio.to_thread(talk, fakes.bridge) == "Told: It is sunny in Paris."


async def test_talk_offers_the_installed_tools(quick_bridge):
    async with quick_bridge() as (_client, fakes):
        fakes.llm.script = calling(call("get_time"))
        command = ("talk", "--text", "--silent", "--tools", "--target", fakes.bridge)
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).parent / "taoxr",
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, messages = await process.communicate(b"What time is it?\n")
    assert process.returncode == 0, messages.decode()
    assert out.decode().startswith("Told: It is ")
    assert "tool: get_time" in messages.decode()
    assert {tool.name for tool in fakes.llm.requests[0].tools} >= {"get_time", "get_date", "set_timer"}
