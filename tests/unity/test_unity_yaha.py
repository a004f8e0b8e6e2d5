"""With the package YetAnotherHttpHandler in a project, that carries TLS; here a stub, for it is native."""

from collections.abc import Callable
from pathlib import Path

import pytest
from client_runner import ClientRunner
from conftest import HARNESS, RUNTIME_SOURCES
from csharp import RUNTIMES, Assembly, build

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def with_yaha(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's program, compiled as in a project that has it."""
    folder = tmp_path_factory.mktemp("yaha")
    sources: Callable[[str], list[Path]] = lambda name: sorted((RUNTIME_SOURCES / name).rglob("*.cs"))  # noqa: E731
    protocol = Assembly("Taoxr.Protocol", sources("Protocol"))
    stub = Assembly("YetAnotherHttpHandler", [HARNESS / "YahaStub.cs"])
    transport = Assembly(
        "Taoxr.Transport", sources("Transport"), [protocol.name, stub.name], defines=["TAOXR_YAHA"]
    )
    client = Assembly("Taoxr.Client", sources("Client"), [protocol.name, transport.name])
    package = [protocol.name, transport.name, client.name]
    runner = Assembly("client_runner", [HARNESS / "ClientRunner.cs"], package, program=True)
    build(folder, [protocol, stub, transport, client, runner])
    return folder


def test_tls_goes_through_it(with_yaha: Path, tmp_path: Path) -> None:
    roots = tmp_path / "ca.pem"
    roots.write_text("my own roots")
    for runtime in RUNTIMES:
        program = with_yaha / runtime / "client_runner.dll"
        for target in ("https://example.invalid:5", "https://[2001:db8::1]"):
            with ClientRunner(runtime, program, target, ca=roots) as client:
                client.tell("connect")
                text = client.until("reply", "connect", "Unavailable")[3]
                assert f"stub: {target}" in text
                assert "GetServerInfo True my own roots" in text
