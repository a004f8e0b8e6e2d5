"""Compiles all of the Unity package as its assembly definitions say, against the stubs of Unity's API."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from csharp import Assembly, Runtime, built, command

HERE: Final = Path(__file__).parent
HARNESS: Final = HERE / "harness"
PACKAGE: Final = HERE.parents[1] / "unity_package/com.taoxr.avatar"
UNITY: Final[tuple[str, ...]] = ("UNITY_2021_3_OR_NEWER", "ENABLE_LEGACY_INPUT_MANAGER")
TEST_RUNNERS: Final = {"UnityEngine.TestRunner", "UnityEditor.TestRunner"}
# What a project may have beside the package; Unity ignores a reference to what is not there.
OPTIONAL: Final = {"YetAnotherHttpHandler", "Unity.XR.ARFoundation"}
WITHOUT_UNITY: Final = ("Taoxr.Protocol", "Taoxr.Transport", "Taoxr.Client")
# Code that is left out without a symbol: compiled, not run.
VARIANTS: Final = {
    "Android": ("Taoxr.Avatar", "UNITY_ANDROID"),
    "IOS": ("Taoxr.Avatar", "UNITY_IOS"),
    "Foundation": ("Taoxr.Samples.XR", "TAOXR_ARFOUNDATION"),
}


def definitions() -> dict[str, tuple[Path, dict[str, Any]]]:
    """Folder and content of every assembly definition of the package, those of its samples too, by name."""
    found: dict[str, tuple[Path, dict[str, Any]]] = {}
    for path in sorted(PACKAGE.rglob("*.asmdef")):
        content = json.loads(path.read_text())
        found[content["name"]] = path.parent, content
    return found


def _sources(folder: Path) -> list[Path]:
    """The scripts of a definition: those below it which no definition further down takes."""
    inner = [path.parent for path in folder.rglob("*.asmdef") if path.parent != folder]
    return [path for path in sorted(folder.rglob("*.cs")) if not any(i in path.parents for i in inner)]


def _stubs() -> list[Assembly]:
    stubs = HERE / "stubs"
    engine = Assembly("UnityEngine", sorted((stubs / "UnityEngine").glob("*.cs")))
    editor = Assembly("UnityEditor", sorted((stubs / "UnityEditor").glob("*.cs")), [engine.name])
    nunit = Assembly("nunit.framework", sorted((stubs / "NUnit").glob("*.cs")))
    return [engine, editor, nunit]


def _uses(name: str, content: dict[str, Any]) -> list[str]:
    uses = [r for r in content["references"] if r not in OPTIONAL | TEST_RUNNERS]
    if not content["noEngineReferences"]:
        uses.append("UnityEngine")
    if content["includePlatforms"] == ["Editor"]:
        uses.append("UnityEditor")
    if "nunit.framework.dll" in content["precompiledReferences"]:
        uses.append("nunit.framework")
    return uses


def assemblies() -> list[Assembly]:
    """Stubs and package, each after what it refers to."""
    left, order = definitions(), _stubs()
    while left:
        done = {assembly.name for assembly in order}
        ready = [name for name, (_, content) in left.items() if set(_uses(name, content)) <= done]
        assert ready, f"assemblies that refer to each other, or to none that is there: {sorted(left)}"
        for name in ready:
            folder, content = left.pop(name)
            uses = _uses(name, content)
            defines: list[str] = [*UNITY]
            if content["includePlatforms"] == ["Editor"]:
                defines.append("UNITY_EDITOR")
            order.append(Assembly(name, _sources(folder), uses, defines=defines))
    for suffix, (name, define) in VARIANTS.items():
        plain = next(a for a in order if a.name == name)
        order.append(Assembly(f"{name}.{suffix}", plain.sources, plain.uses, defines=[*UNITY, define]))
    return order


def _program(name: str, *sources: str, uses: Sequence[str] = (), **more: Any) -> Assembly:
    return Assembly(name, [HARNESS / source for source in sources], uses, program=True, **more)


@cache
def components() -> Path:
    """A folder with ``RUNTIME/NAME.dll`` for the package, its samples and tests, and what runs them."""
    made = assemblies()
    everything = [a.name for a in made if a.name.rpartition(".")[2] not in VARIANTS]
    programs = [
        _program("avatar_runner", "AvatarRunner.cs", "LiveAvatarTest.cs", uses=everything, defines=UNITY),
        _program("nunit_runner", "NUnitRunner.cs", uses=everything, defines=UNITY),
        _program("codec_server", "CodecServer.cs", uses=WITHOUT_UNITY),
        _program("grpc_runner", "GrpcRunner.cs", uses=WITHOUT_UNITY),
        _program("client_runner", "ClientRunner.cs", uses=WITHOUT_UNITY),
        _program("soak", "Soak.cs", uses=WITHOUT_UNITY, runtimes=["dotnet"]),
        _program("scan", "Scan.cs", runtimes=["dotnet"]),
    ]
    return built([*made, *programs])


def dll(folder: Path, runtime: Runtime, name: str) -> Path:
    """A compiled assembly."""
    return folder / runtime / f"{name}.dll"


async def live(
    runtime: Runtime, target: str, *commands: str, when_it_runs: Callable[[], None] | None = None
) -> dict[str, list[str]]:
    """What harness/LiveAvatarTest.cs said of each thing, by its first word."""
    process = await asyncio.create_subprocess_exec(
        *command(runtime, dll(components(), runtime, "avatar_runner")), "live", target, *commands,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    said: dict[str, list[str]] = {}
    everything = b""
    async for line in process.stdout:
        everything += line
        kind, *words = line.decode().rstrip("\n").split("\t")
        said.setdefault(kind, words)
        if kind == "voice" and when_it_runs:
            when_it_runs()
            process.stdin.write(b"go on\n")
    status = await process.wait()
    assert status == 0, f"it ended with {status}, and said:\n{everything.decode(errors='replace')}"
    return said
