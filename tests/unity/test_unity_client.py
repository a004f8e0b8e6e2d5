"""Conversations of the Unity package's client, on Mono and .NET, with a real bridge on fake workers."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from client_runner import ClientRunner

from taoxr.worker.v1 import llm_pb2

pytestmark = pytest.mark.process

MakeBridge = Callable[..., Any]
MakeClient = Callable[..., ClientRunner]
STORY = "one two three four five six seven eight nine ten " * 4


def _always(answer: str) -> Callable[[str], str]:
    def say(prompt: str) -> str:
        return answer

    return say


async def test_questions_and_answers(make_client: MakeClient, fake_bridge: MakeBridge) -> None:
    async with fake_bridge() as (_, fakes):
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(_ask_twice, client)


def _ask_twice(client: ClientRunner) -> None:
    client.tell("connect")
    assert client.until("reply", "connect", "OK")[3]
    for what, answer in (("serving", "True"), ("avatars", "default"), ("info", "")):
        client.tell(what)
        assert client.until("reply", what, "OK")[3].startswith(answer)
    client.tell("converse")
    client.tell("play", 8)
    client.tell("ask", "one")
    client.until("state", "Running")
    assert client.until("started", "False")[6] == "22050"
    client.until("turn", "turn-1", "Done", "You said one.")
    client.tell("ask", "zwei ˈæ")
    client.until("turn", "turn-2", "Done", "You said zwei ˈæ.")
    assert "".join(e[2] for e in client.all("text") if e[1] == "turn-2") == "You said zwei ˈæ."
    for turn in ("turn-1", "turn-2"):
        chunks = [e for e in client.all("audio") if e[1] == turn]
        assert all(e[7] == "True" for e in chunks)
        assert [e[2] for e in chunks] == ["0", *(e[3] for e in chunks[:-1])]
        assert sum(int(e[4]) for e in chunks) >= 5
        assert [e[8] for e in chunks] == ["False"] * (len(chunks) - 1) + ["True"]
    client.tell("ping")
    client.until("pong", "77")
    client.tell("finish")
    client.until("ended", "OK")
    client.tell("dispose")
    assert int(client.until("disposed")[1]) < 1000
    assert not client.all("cut")


async def test_push_to_talk_and_open_microphone(
    make_client: MakeClient, fake_bridge: MakeBridge, voice: Path
) -> None:
    async with fake_bridge() as (_, fakes):
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(_talk, client, voice)
        assert [request.messages[-1].content for request in fakes.llm.requests] == ["hello there"] * 2


def _talk(client: ClientRunner, voice: Path) -> None:
    client.tell("converse", "audio=16000", "ptt")
    client.tell("play", 8)
    client.tell("audio", voice)  # nobody holds the button
    client.tell("begin")
    client.tell("audio", voice)
    client.tell("end")
    client.until("transcript", "True", "hello there")
    client.until("turn", "turn-1", "Done")
    assert len(client.all("speech")) == 2
    client.tell("leave")
    client.until("left")
    client.tell("converse", "audio=16000", "partials")
    client.until("state", "Running")
    client.tell("mute", 1)
    client.tell("audio", voice)
    client.tell("mute", 0)
    client.tell("audio", voice)
    client.until("transcript", "False", "hello")
    client.until("transcript", "True", "hello there")
    client.until("turn", "turn-1", "Done")
    assert len(client.all("speech")) == 4
    client.tell("stats")
    assert client.until("stats")[2] == "0"  # nothing was dropped


async def test_interruptions(make_client: MakeClient, fake_bridge: MakeBridge, voice: Path) -> None:
    async with fake_bridge() as (_, fakes):
        fakes.llm.answer = _always(STORY)
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(_interrupt, client, voice)


def _interrupt(client: ClientRunner, voice: Path) -> None:
    client.tell("converse", "audio=16000")
    client.tell("play", 1)
    client.tell("ask", "a story")
    client.until("audio", "turn-1")
    client.tell("interrupt")
    played_us = int(client.until("cut", "turn-1")[2])
    already = len(client.seen)
    heard = client.until("turn", "turn-1", "Interrupted")[3]
    assert STORY.startswith(heard)
    assert played_us < 2_000_000
    assert not [e for e in client.seen[already:] if e[0] in ("audio", "text")]
    # The user speaks up: the server interrupts.
    client.tell("ask", "another one")
    client.until("audio", "turn-2")
    client.tell("audio", voice)
    client.until("cut")
    client.until("turn", "turn-2", "Interrupted")
    client.until("audio", "turn-3")
    assert len(client.all("cut")) == 2


async def test_tools(make_client: MakeClient, fake_bridge: MakeBridge) -> None:
    def script(request: llm_pb2.GenerateRequest) -> list[str | llm_pb2.CalledTool]:
        if not request.tool_uses:
            return [llm_pb2.CalledTool(name="look", arguments_json=json.dumps({"at": "you"}))]
        result = request.tool_uses[-1].result
        return [f"Told: {result.output or result.error}"]

    def use(client: ClientRunner) -> None:
        for command, end in (("tool", "Told: a lamp"), ("fail", "Told: a lamp")):
            client.tell("converse", "tool=look")
            client.tell("play", 8)
            client.tell("ask", "what is there?")
            _, call_id, name, arguments = client.until("toolcall")
            assert (name, json.loads(arguments)) == ("look", {"at": "you"})
            client.tell(command, call_id, "a lamp")
            client.until("turn", "turn-1", "Done", end)
            client.tell("leave")
            client.until("left")

    async with fake_bridge() as (_, fakes):
        fakes.llm.script = script
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(use, client)


async def test_the_body_moves_between_and_in_the_turns(
    make_client: MakeClient, fake_bridge: MakeBridge
) -> None:
    def watch(client: ClientRunner) -> None:
        client.tell("converse", "body")
        client.tell("play", 8)
        client.tell("wave")
        client.tell("look")
        client.until("motion", "Idle")
        client.tell("ask", "one")
        client.until("turn", "turn-1", "Done")
        chunks = client.all("audio")
        assert sum(int(e[5]) for e in chunks) > 0
        assert all(e[7] == "True" for e in chunks)

    async with fake_bridge() as (_, fakes):
        fakes.llm.answer = _always("go on")  # letters that are IPA, which a body needs
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(watch, client)


async def test_what_was_not_asked_for_is_refused_here(
    make_client: MakeClient, fake_bridge: MakeBridge
) -> None:
    """The server would end the conversation."""

    def try_it(client: ClientRunner) -> None:
        client.tell("converse")
        client.tell("play", 8)
        for command, need in (("look", "Body"), ("ahead", "Body"), ("wave", "Body"), ("mute", "AudioIn")):
            client.tell(command, 1)
            assert need in client.until("refused")[1]
        long = "x" * 4001
        for words in (("ask", " "), ("ask", long), ("tool", "1", long), ("fail", "1", long[:1001])):
            client.tell(*words)
            client.until("refused")
        for words, field in (
            (("lookat", "NaN", 1, 1), "x"),
            (("lookat", 0, 100.5, 1), "y"),
            (("lookat", 0, 1, "-Infinity"), "z"),
            (("update", "Be brief.", 1025, 1), "maxAnswerTokens"),
            (("update", "Be brief.", 10, "NaN"), "temperature"),
            (("update", long, 10, 1), "4001 characters"),
            (("played", -1), "playedUs"),
        ):
            client.tell(*words)
            assert field in client.until("refused")[1]
        client.tell("ask", "one")
        client.until("turn", "turn-1", "Done", "You said one.")
        client.tell("dispose")
        client.until("disposed")
        client.tell("connect")
        client.until("reply", "connect", "Cancelled")
        client.tell("info")
        client.until("reply", "info", "Cancelled")

    async with fake_bridge() as (_, fakes):
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(try_it, client)


async def test_a_slow_reader_loses_nothing(make_client: MakeClient, fake_bridge: MakeBridge) -> None:
    words = " ".join(f"w{i}" for i in range(600))

    def read_slowly(client: ClientRunner) -> None:
        client.tell("converse")
        client.until("state", "Running")
        client.tell("polls", 0)
        client.tell("ask", "much")
        waiting = 0
        while waiting < 256:
            client.tell("stats")
            waiting = int(client.until("stats")[1])
            assert waiting <= 257  # of which one may be a step
        client.tell("polls", 1)
        client.until("text", "", " w599.")
        assert "".join(e[2] for e in client.all("text")) == words + "."

    async with fake_bridge() as (_, fakes):
        fakes.llm.answer = _always(words + ".")
        with make_client(fakes.bridge) as client:
            await asyncio.to_thread(read_slowly, client)
