"""The Unity package's gRPC on its own HTTP/2 (Mono, .NET) and on the runtime's, with TLS (.NET).

Against a real bridge on fake workers.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from certificates import certificate
from csharp import RUNTIMES, Runtime
from grpc_runner import GrpcRunner

import taoxr_runtime

pytestmark = pytest.mark.process

AVATAR = Path(taoxr_runtime.__file__).parent / "assets" / "default.nnr"
MakeBridge = Callable[..., Any]


@dataclass(frozen=True)
class Link:
    """A program that makes calls, and the settings of a bridge that it can reach."""

    runner: GrpcRunner
    settings: dict[str, Path]


@pytest.fixture(scope="module", params=[*RUNTIMES, "tls"])
def link(
    request: pytest.FixtureRequest, programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Link]:
    settings: dict[str, Path] = {}
    ca: Path | None = None
    runtime: Runtime = "dotnet" if request.param == "tls" else request.param
    if request.param == "tls":
        folder = tmp_path_factory.mktemp("pem")
        ca = folder / "ca.pem"
        settings = certificate(folder)
    with GrpcRunner(runtime, programs / runtime / "grpc_runner.dll", ca) as runner:
        yield Link(runner, settings)


async def test_calls_to_a_bridge(link: Link, fake_bridge: MakeBridge) -> None:
    async with fake_bridge(**link.settings) as (_, fakes):

        async def call(what: str, *more: str) -> list[str]:
            return await asyncio.to_thread(link.runner.call, what, fakes.bridge, *more)

        status, _, roles = await call("info")
        assert (status, set(roles.split(","))) == ("OK", {"ear", "llm", "tts", "a2bs", "motion"})
        assert await call("health", "taoxr.v1.ConversationService") == ["OK", "Serving"]
        assert await call("many", "50") == ["OK", "50"]
        # Details, and text that is not ASCII, come in Huffman code.
        status, text, reason, *_ = await call("rig", "avatar-ˈæ-%")
        assert (status, reason) == ("NotFound", "NOT_FOUND")
        assert "avatar-" in text
        status, text, reason, _, fields = await call("converse", " ")
        assert (status, reason, fields) == ("InvalidArgument", "INVALID_INPUT", "text.text"), text
        # 6 MB, more than any window; with pauses, so that the server has to wait for us.
        content = AVATAR.read_bytes()
        for pauses in ("0", "30"):
            status, size, total, sha256 = await call("download", pauses)
            assert (status, int(size), int(total)) == ("OK", len(content), sum(content))
            assert len(sha256) == 64
        status, frames = await call("upload", "60")
        assert status == "OK"
        assert int(frames) > 0


async def test_a_conversation(link: Link, fake_bridge: MakeBridge) -> None:
    async with fake_bridge(**link.settings) as (_, fakes):
        status, chunks, pcm, frames, text, inside = await asyncio.to_thread(
            link.runner.call, "converse", fakes.bridge, "one", "zwei ˈæ"
        )
        assert status == "OK"
        assert "one" in text
        assert "zwei ˈæ" in text
        assert int(chunks) >= 2
        assert int(pcm) > 20_000
        assert int(frames) >= 10
        assert inside == "True"


async def test_how_calls_end_early(link: Link, fake_bridge: MakeBridge) -> None:
    async with fake_bridge(token="the right token, quite long", **link.settings) as (_, fakes):

        async def call(what: str, *more: str, timeout_s: float = 60) -> list[str]:
            return await asyncio.to_thread(link.runner.call, what, fakes.bridge, *more, timeout_s=timeout_s)

        for token in ("", "wrong"):
            status, text, reason, *_ = await call("info", token)
            assert (status, reason) == ("Unauthenticated", "ACCESS")
            assert "Bearer TOKEN" in text
        assert (await call("info", "the right token, quite long"))[0] == "OK"
    async with fake_bridge(**link.settings) as (_, fakes):
        assert (await call("cancel"))[0] == "Cancelled"
        assert (await call("dispose"))[0] == "Unavailable"
        fakes.llm.hold.clear()
        status, text, *_ = await call("converse", "one", timeout_s=3)
        assert status == "DeadlineExceeded", text
        await fakes.llm.was_cancelled.wait()  # the bridge has heard of it
        target = fakes.bridge
    status, text, *_ = await asyncio.to_thread(link.runner.call, "info", target)
    assert status == ("Unavailable" if link.settings else "NoConnection")
    assert ("the server cannot be reached" if link.settings else target) in text
