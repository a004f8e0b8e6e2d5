"""With the package YetAnotherHttpHandler in a project, that carries TLS; here a stub, for it is native."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from client_runner import ClientRunner
from components import HARNESS, assemblies
from csharp import Assembly, build

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def with_yaha(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's program, as in a project that has it; on Mono, which has no TLS without."""
    folder = tmp_path_factory.mktemp("yaha")
    shutil.copytree(programs / "mono", folder / "mono")
    stub = Assembly("YetAnotherHttpHandler", [HARNESS / "YahaStub.cs"], runtimes=["mono"])
    plain = next(assembly for assembly in assemblies() if assembly.name == "Taoxr.Transport")
    transport = replace(plain, uses=[*plain.uses, stub.name], runtimes=["mono"], defines=["TAOXR_YAHA"])
    build(folder, [stub, transport])
    return folder / "mono" / "client_runner.dll"


def test_tls_goes_through_it(with_yaha: Path, tmp_path: Path) -> None:
    roots = tmp_path / "ca.pem"
    roots.write_text("my own roots")
    for target in ("https://example.invalid:5", "https://[2001:db8::1]"):
        with ClientRunner("mono", with_yaha, target, ca=roots) as client:
            client.tell("connect")
            text = client.until("reply", "connect", "Unavailable")[3]
            assert f"stub: {target}" in text
            assert "GetServerInfo True my own roots" in text
    with ClientRunner("mono", with_yaha, "https://nowhere.invalid") as client:
        client.tell("connect")
        text = client.until("reply", "connect", "PermissionDenied")[3]
        assert text == "there is no TLS on this platform: yaha_native"
