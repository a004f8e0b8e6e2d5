"""The Unity package needs nothing that ahead-of-time compilation (IL2CPP) does not have."""

from pathlib import Path

import pytest
from il2cpp import dynamic, refers_to

pytestmark = pytest.mark.process

PACKAGE = ["Taoxr.Protocol", "Taoxr.Transport", "Taoxr.Client"]


def test_no_reflection_and_no_code_made_at_run_time(programs: Path) -> None:
    for assembly in PACKAGE:
        lines = refers_to(programs, programs / "dotnet" / f"{assembly}.dll")
        assert "System.Object" in lines
        assert not [line for line in lines if dynamic(line)], assembly


def test_the_scan_finds_reflection(programs: Path) -> None:
    found = {line for line in refers_to(programs, programs / "dotnet" / "codec_server.dll") if dynamic(line)}
    assert {
        "System.Activator::CreateInstance",
        "System.Object::GetType",
        "System.Type::GetProperties",
    } <= found
