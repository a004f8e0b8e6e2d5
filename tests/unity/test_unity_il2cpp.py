"""The Unity package needs nothing that ahead-of-time compilation (IL2CPP) does not have."""

import subprocess
from pathlib import Path

import pytest
from csharp import command

pytestmark = pytest.mark.process

PACKAGE = ["Taoxr.Protocol", "Taoxr.Transport", "Taoxr.Client"]
# What compilers write for indexers and assemblies; it is data, nothing that runs.
HARMLESS = {"System.Reflection.DefaultMemberAttribute"}


def _refers_to(programs: Path, assembly: str) -> list[str]:
    done = subprocess.run(
        [*command("dotnet", programs / "dotnet" / "scan.dll"), str(programs / "dotnet" / f"{assembly}.dll")],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def _dynamic(line: str) -> bool:
    kind = line.split("::")[0]
    if kind in HARMLESS:
        return False
    if kind in ("System.Type", "System.Object"):
        return line.endswith("::GetType") or (kind == "System.Type" and "::" in line)
    return kind == "System.Activator" or kind.startswith(
        (
            "System.Reflection.",
            "System.Linq.Expressions.",
            "Microsoft.CSharp.",
            "System.Runtime.CompilerServices.CallSite",
        )
    )


def test_no_reflection_and_no_code_made_at_run_time(programs: Path) -> None:
    for assembly in PACKAGE:
        lines = _refers_to(programs, assembly)
        assert "System.Object" in lines
        assert not [line for line in lines if _dynamic(line)], assembly


def test_the_scan_finds_reflection(programs: Path) -> None:
    found = {line for line in _refers_to(programs, "codec_server") if _dynamic(line)}
    assert {
        "System.Activator::CreateInstance",
        "System.Object::GetType",
        "System.Type::GetProperties",
    } <= found
