"""Compiles the Unity package and the tests' programs once; lets the tests import csharp.py and its like."""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from client_runner import ClientRunner
from codec_server import CodecServer
from csharp import RUNTIMES, Assembly, built

if TYPE_CHECKING:
    from csharp import Runtime

# Fake workers and a bridge on them are fixtures of the bridge's own tests.
_spec = importlib.util.spec_from_file_location(
    "bridge_fixtures", Path(__file__).parents[1] / "bridge" / "conftest.py"
)
assert _spec
assert _spec.loader
_bridge = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = _bridge
_spec.loader.exec_module(_bridge)
fake_workers, fake_bridge = _bridge.fake_workers, _bridge.fake_bridge
start_bridge = _bridge.start_bridge

HARNESS = Path(__file__).parent / "harness"
RUNTIME_SOURCES = Path(__file__).parents[2] / "unity_package/com.taoxr.avatar/Runtime"


@pytest.fixture(scope="session")
def programs() -> Path:
    """A folder with ``RUNTIME/NAME.dll`` for the package's assemblies and the programs of ``harness``."""
    protocol = Assembly("Taoxr.Protocol", sorted((RUNTIME_SOURCES / "Protocol").rglob("*.cs")))
    transport = Assembly(
        "Taoxr.Transport", sorted((RUNTIME_SOURCES / "Transport").rglob("*.cs")), ["Taoxr.Protocol"]
    )
    client = Assembly(
        "Taoxr.Client",
        sorted((RUNTIME_SOURCES / "Client").rglob("*.cs")),
        [protocol.name, transport.name],
    )
    package = [protocol.name, transport.name, client.name]
    codec = Assembly("codec_server", [HARNESS / "CodecServer.cs"], uses=package, program=True)
    grpc = Assembly("grpc_runner", [HARNESS / "GrpcRunner.cs"], uses=package, program=True)
    runner = Assembly("client_runner", [HARNESS / "ClientRunner.cs"], uses=package, program=True)
    soak = Assembly("soak", [HARNESS / "Soak.cs"], uses=package, program=True, runtimes=["dotnet"])
    scan = Assembly("scan", [HARNESS / "Scan.cs"], program=True, runtimes=["dotnet"])
    return built([protocol, transport, client, codec, grpc, runner, soak, scan])


@pytest.fixture(scope="module", params=RUNTIMES)
def codec(request: pytest.FixtureRequest, programs: Path) -> Iterator[CodecServer]:
    """The codec in a process of its own, on Mono and on .NET."""
    runtime: Runtime = request.param
    with CodecServer(runtime, programs / runtime / "codec_server.dll") as server:
        yield server


@pytest.fixture(params=RUNTIMES)
def make_client(request: pytest.FixtureRequest, programs: Path) -> Callable[..., ClientRunner]:
    """``make_client(target, name=value)``: the client in a process of its own, on Mono and on .NET."""
    runtime: Runtime = request.param

    def make(target: str, **options: object) -> ClientRunner:
        return ClientRunner(runtime, programs / runtime / "client_runner.dll", target, **options)

    return make
