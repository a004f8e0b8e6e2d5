"""The Unity package's client, on Mono and .NET, against a real bridge on fake workers."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from client_runner import ClientRunner
from csharp import RUNTIMES, Runtime

pytestmark = pytest.mark.process

MakeBridge = Callable[..., Any]
MakeClient = Callable[..., Any]


@pytest.fixture(params=RUNTIMES)
def make_client(request: pytest.FixtureRequest, programs: Path) -> MakeClient:
    runtime: Runtime = request.param

    def make(target: str, **options: object) -> ClientRunner:
        return ClientRunner(runtime, programs / runtime / "client_runner.dll", target, **options)

    return make


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
    client.tell("play", 4)
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
