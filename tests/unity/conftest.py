"""Compiles the Unity package and the tests' programs once; lets the tests import csharp.py and its like."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from codec_server import CodecServer
from csharp import RUNTIMES, Assembly, build

if TYPE_CHECKING:
    from csharp import Runtime

HARNESS = Path(__file__).parent / "harness"
RUNTIME_SOURCES = Path(__file__).parents[2] / "unity_package/com.taoxr.avatar/Runtime"


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``RUNTIME/NAME.dll`` for the package's assemblies and the programs of ``harness``."""
    out = tmp_path_factory.mktemp("unity")
    protocol = Assembly("Taoxr.Protocol", sorted((RUNTIME_SOURCES / "Protocol").rglob("*.cs")))
    codec = Assembly("codec_server", [HARNESS / "CodecServer.cs"], uses=["Taoxr.Protocol"], program=True)
    scan = Assembly("scan", [HARNESS / "Scan.cs"], program=True, runtimes=["dotnet"])
    build(out, [protocol, codec, scan])
    return out


@pytest.fixture(scope="module", params=RUNTIMES)
def codec(request: pytest.FixtureRequest, programs: Path) -> Iterator[CodecServer]:
    """The codec in a process of its own, on Mono and on .NET."""
    runtime: Runtime = request.param
    with CodecServer(runtime, programs / runtime / "codec_server.dll") as server:
        yield server
