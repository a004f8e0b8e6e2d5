"""With the package YetAnotherHttpHandler in a project, that carries TLS; here a stub, for it is native."""

from pathlib import Path
from typing import Any

import pytest
from client_runner import ClientRunner
from conftest import HARNESS, RUNTIME_SOURCES
from csharp import Assembly, build

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def with_yaha(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's program, compiled as in a project that has it; for Mono, which has no TLS without."""
    folder = tmp_path_factory.mktemp("yaha")

    def assembly(name: str, *sources: Path, **more: Any) -> Assembly:
        return Assembly(name, sources, runtimes=["mono"], **more)

    def package(name: str, **more: Any) -> Assembly:
        return assembly(f"Taoxr.{name}", *sorted((RUNTIME_SOURCES / name).rglob("*.cs")), **more)

    protocol = package("Protocol")
    stub = assembly("YetAnotherHttpHandler", HARNESS / "YahaStub.cs")
    transport = package("Transport", uses=[protocol.name, stub.name], defines=["TAOXR_YAHA"])
    client = package("Client", uses=[protocol.name, transport.name])
    runner = assembly(
        "client_runner",
        HARNESS / "ClientRunner.cs",
        uses=[protocol.name, transport.name, client.name],
        program=True,
    )
    build(folder, [protocol, stub, transport, client, runner])
    return folder


def test_tls_goes_through_it(with_yaha: Path, tmp_path: Path) -> None:
    roots = tmp_path / "ca.pem"
    roots.write_text("my own roots")
    program = with_yaha / "mono" / "client_runner.dll"
    for target in ("https://example.invalid:5", "https://[2001:db8::1]"):
        with ClientRunner("mono", program, target, ca=roots) as client:
            client.tell("connect")
            text = client.until("reply", "connect", "Unavailable")[3]
            assert f"stub: {target}" in text
            assert "GetServerInfo True my own roots" in text
