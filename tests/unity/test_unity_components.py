"""The Unity package's components, compiled as their assembly definitions say, on stubs of Unity's API."""

import asyncio
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from components import PACKAGE, VARIANTS, assemblies, components, definitions, dll, live
from csharp import RUNTIMES, Runtime, command
from il2cpp import dynamic, refers_to

from taoxr.worker.v1 import llm_pb2

pytestmark = pytest.mark.process

MakeBridge = Callable[..., Any]


@pytest.fixture(params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> Runtime:
    return request.param


def test_every_assembly_compiles_with_what_its_definition_names() -> None:
    folder = components()
    for assembly in assemblies():
        for runtime in RUNTIMES:
            assert dll(folder, runtime, assembly.name).stat().st_size > 1000, assembly.name
    assert {plain for plain, _ in VARIANTS.values()} <= set(definitions())


def test_the_packages_own_tests_pass(runtime: Runtime) -> None:
    names = [name for name in definitions() if name.endswith(".Tests")]
    runner = dll(components(), runtime, "nunit_runner")
    done = subprocess.run([*command(runtime, runner), *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-2]) >= 40


def test_no_reflection_and_no_code_made_at_run_time(programs: Path) -> None:
    for name in (
        "Taoxr.Avatar", "Taoxr.Avatar.Android", "Taoxr.Avatar.IOS", "Taoxr.Samples.Minimal",
        "Taoxr.Samples.XR.Foundation", "Taoxr.Samples.Tools",
    ):  # fmt: skip
        lines = refers_to(programs, dll(components(), "dotnet", name))
        assert "UnityEngine.MonoBehaviour" in lines
        assert not [line for line in lines if dynamic(line)], name


def test_samples_and_documentation_are_there() -> None:
    manifest = json.loads((PACKAGE / "package.json").read_text())
    assert [sample["path"] for sample in manifest["samples"]] == sorted(
        f"Samples~/{folder.name}" for folder in (PACKAGE / "Samples~").iterdir()
    )
    assert not [path for path in (PACKAGE / "Samples~").rglob("*.*") if path.suffix not in {".cs", ".asmdef"}]
    page = PACKAGE / "Documentation~" / f"{PACKAGE.name}.md"
    for document in (page, *page.parent.glob("*.md"), PACKAGE / "README.md"):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            assert (document.parent / link).exists(), f"{document.name}: {link}"


def test_the_samples_head_has_all_shapes(tmp_path: Path) -> None:
    out = tmp_path / "head.txt"
    subprocess.run(
        [*command("dotnet", dll(components(), "dotnet", "avatar_runner")), "head", out], check=True
    )
    shapes = [line.split() for line in out.read_text().splitlines() if line.startswith("s ")]
    assert len(shapes) == 52
    for _, name, *deltas in shapes:
        largest = max(abs(float(delta)) for delta in deltas)
        assert 0.001 < largest < 0.05, name


async def test_an_avatar_in_a_scene(runtime: Runtime, fake_bridge: MakeBridge) -> None:
    async with fake_bridge() as (_, fakes):
        said = await live(
            runtime,
            fakes.bridge,
            "ask one two three four five six",
            "hear",
            "cut seven eight nine ten",
            "reload",
        )
        assert said["voice"] == ["22050", "True"]
        turn, played, caption, last_frame, _, energy = said["heard"]
        assert caption == "You said one two three four five six."
        # Nothing is clipped: every frame of the face lies in what was heard, and the device got sound.
        assert int(played) > int(last_frame) > 0
        assert turn == "turn-1"
        assert float(energy) > 1
        frames, worst, most = said["lips"]
        assert int(frames) >= 10
        assert float(worst) < 1e-4
        assert float(most) > 0.1
        assert float(said["rest"][0]) < 0.1
        assert -15 < float(said["level"][0]) < -8
        before, after, energy, mouth = said["cut"]
        assert int(after) - int(before) < 100_000
        assert float(energy) == 0
        assert float(mouth) < 0.1
        milliseconds, left = said["reload"]
        assert int(milliseconds) < 1000
        assert left == "0"
        if runtime == "dotnet":
            main, quiet_frames, device, blocks = said["allocated"]
            assert (int(main), int(device)) == (0, 0)
            assert int(quiet_frames) >= 5
            assert int(blocks) >= 30


@pytest.mark.parametrize(
    ("tool", "answer"), [("lamp", "Told: lamp is on"), ("door", "Told: it does not work at the moment")]
)
async def test_the_avatar_calls_the_games_functions(tool: str, answer: str, fake_bridge: MakeBridge) -> None:
    def script(request: llm_pb2.GenerateRequest) -> list[str | llm_pb2.CalledTool]:
        if not request.tool_uses:
            return [llm_pb2.CalledTool(name=tool, arguments_json="{}")]
        result = request.tool_uses[-1].result
        return [f"Told: {result.output or result.error}"]

    async with fake_bridge() as (_, fakes):
        fakes.llm.script = script
        said = await live("dotnet", fakes.bridge, "ask please")
    assert said["heard"][2] == answer
    assert ("exception" in said) == (tool == "door")


@pytest.mark.parametrize("end", ["stop", "exit", "quit"])
async def test_it_ends_within_a_second_when_the_server_hangs(end: str, fake_bridge: MakeBridge) -> None:
    async with fake_bridge() as (_, fakes):
        relay = _Relay(fakes.bridge)
        server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            said = await live("dotnet", f"127.0.0.1:{port}", "wait", end, when_it_runs=relay.freeze)
    assert int(said[end][0]) < 1000
    assert said[end][1] == "0"


class _Relay:
    """Hands bytes on, until it is told to hold them back."""

    def __init__(self, target: str) -> None:
        self._host, port = target.rsplit(":", 1)
        self._port = int(port)
        self.frozen = False

    def freeze(self) -> None:
        self.frozen = True

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._host, self._port)
        await asyncio.gather(self._hand_on(reader, back), self._hand_on(there, writer))

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if not self.frozen:
                writer.write(data)
        writer.close()
