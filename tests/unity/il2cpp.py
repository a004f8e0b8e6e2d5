"""What ahead-of-time compilation (IL2CPP) does not have, and what an assembly refers to."""

import subprocess
from pathlib import Path
from typing import Final

from csharp import command

# What compilers write for indexers and assemblies; it is data, nothing that runs.
HARMLESS: Final = {"System.Reflection.DefaultMemberAttribute"}


def refers_to(programs: Path, assembly: Path) -> list[str]:
    """Types and members of other assemblies: "Namespace.Type", "Namespace.Type::Member".

    Args:
        programs: Folder with ``dotnet/scan.dll``.
        assembly: What to look at.
    """
    done = subprocess.run(
        [*command("dotnet", programs / "dotnet" / "scan.dll"), str(assembly)],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def dynamic(line: str) -> bool:
    """Whether a line of `refers_to` is reflection, or code made at run time."""
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
