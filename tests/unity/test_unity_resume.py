"""The Unity package's client goes on with its conversations when the bridge was killed or stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from client_runner import ClientRunner

pytestmark = pytest.mark.process

MakeClient = Callable[..., ClientRunner]
LONG = "one two three four five six seven eight nine ten " * 8


def _always(answer: str) -> Callable[[str], str]:
    def say(prompt: str) -> str:
        return answer

    return say


class Bridges:
    """`taoxr serve` again and again at one port and with one journal, on workers of the test's own."""

    def __init__(self, start_bridge: Any, folder: Path, targets: dict[str, str]) -> None:
        self._start, self._folder = start_bridge, folder
        self._workers = [part for role, at in targets.items() for part in ("--worker", f"{role}={at}")]
        self._port = "0"

    def __enter__(self) -> Bridges:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> str:
        home = str(self._folder / "home")
        self._bridge = self._start(self._folder, *self._workers, "--port", self._port, TAOXR_HOME=home)
        target = self._bridge.wait_ready()
        self._port = target.rsplit(":", 1)[1]
        return target

    def kill(self) -> None:
        self._bridge.process.kill()
        self._bridge.process.wait()

    def stop(self) -> None:
        self._bridge.stop()

    def forget(self) -> None:
        (self._folder / "home").rename(self._folder / "old")


async def test_a_killed_bridge_comes_back(
    make_client: MakeClient, fake_workers: Any, start_bridge: Any, tmp_path: Path
) -> None:
    def lose_and_resume(fakes: Any) -> None:
        with (
            Bridges(start_bridge, tmp_path, fakes.targets) as bridges,
            make_client(bridges.start(), retry_s=0.1) as client,
        ):
            client.tell("converse", "audio=16000")
            client.tell("play", 8)
            client.tell("ask", "my name is Bo")
            session = client.until("started", "False")[7]
            client.until("turn", "turn-1", "Done")
            fakes.llm.answer = _always(LONG)
            client.tell("ask", "tell me a story")
            client.until("audio", "turn-2")
            bridges.kill()
            client.until("cut", "turn-2")
            client.until("state", "Resuming")
            client.until("connection", "Waiting", "Unavailable")
            client.tell("mute", 1)  # said when there is somebody to say it to
            client.tell("ask", "who am I?")
            fakes.llm.answer = _always("Fine.")
            bridges.start()
            assert client.until("started", "True", "turn-2", "tell me a story")[7] == session
            client.until("turn", "turn-3", "Done", "Fine.")
            told = [m.content for m in fakes.llm.requests[-1].messages]
            name = told.index("my name is Bo")
            assert told[name + 1] == "You said my name is Bo."
            assert told[-1] == "who am I?"

    async with fake_workers() as fakes:
        await asyncio.to_thread(lose_and_resume, fakes)


@pytest.mark.slow
async def test_a_bridge_that_stops_and_one_that_knows_nothing(
    make_client: MakeClient, fake_workers: Any, start_bridge: Any, tmp_path: Path
) -> None:
    def go_on(fakes: Any) -> None:
        with (
            Bridges(start_bridge, tmp_path, fakes.targets) as bridges,
            make_client(bridges.start(), retry_s=0.1) as client,
        ):
            client.tell("converse")
            session = client.until("started", "False")[7]
            bridges.stop()
            client.until("going", "Shutdown")
            client.until("state", "Resuming")
            bridges.start()
            assert client.until("started", "True")[7] == session
            bridges.stop()
            client.until("state", "Resuming")
            bridges.forget()
            bridges.start()
            assert client.until("started", "False")[7] != session
            client.tell("finish")
            client.until("ended", "OK")

    async with fake_workers() as fakes:
        await asyncio.to_thread(go_on, fakes)


async def test_a_quiet_conversation_is_kept_or_ends(make_client: MakeClient, fake_bridge: Any) -> None:
    def be_quiet(target: str) -> None:
        with make_client(target) as client:
            client.tell("converse")
            for _ in range(2):
                client.until("going", "Idle")  # which is answered by a sign of life
            client.tell("ask", "one")
            client.until("audio", "turn-1")

    async with fake_bridge(idle_timeout_s=0.8) as (_, fakes):
        await asyncio.to_thread(be_quiet, fakes.bridge)


@pytest.mark.slow  # the bridge asks for 5 s of patience
async def test_a_busy_bridge_is_asked_again(make_client: MakeClient, fake_bridge: Any) -> None:
    def wait_for_a_place(target: str) -> None:
        with make_client(target, retry_s=0.1) as first, make_client(target, retry_s=0.1) as second:
            first.tell("converse")
            first.until("state", "Running")
            second.tell("converse")
            second.until("retrying", "ResourceExhausted")
            first.tell("leave")
            first.until("left")
            second.until("state", "Running")

    async with fake_bridge(max_conversations=1) as (_, fakes):
        await asyncio.to_thread(wait_for_a_place, fakes.bridge)
