"""Compiles C# as Unity does and runs it on Mono and on .NET; the tools come from ``setup_csharp.sh``."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from taoxr.paths import cache_dir

Runtime = Literal["mono", "dotnet"]
RUNTIMES: Final[tuple[Runtime, ...]] = ("mono", "dotnet")
TOOLS: Final = cache_dir() / "csharp"
SETUP: Final = Path(__file__).with_name("setup_csharp.sh")
_KEPT_BUILDS: Final = 3
# Like Unity's profile, what both runtimes have; Windows' own assembly drags in references that are not there.
_REFERENCES: Final = {
    "mono": ("mscorlib.dll", "System.dll", "System.Core.dll", "System.Net.Http.dll", "System.Numerics.dll"),
    "dotnet": ("netstandard.dll", "mscorlib.dll", "System*.dll", "Microsoft.Win32.Primitives.dll"),
}


@dataclass(frozen=True)
class Assembly:
    """What to compile.

    Attributes:
        name: Name of the file, without its ending.
        sources: The ``.cs`` files.
        uses: Assemblies of the same runtime that it refers to, by name; they must be built before it.
        program: Whether it has a ``Main``.
        runtimes: What it is built for.
        defines: Symbols for the preprocessor.
    """

    name: str
    sources: Sequence[Path]
    uses: Sequence[str] = ()
    program: bool = False
    runtimes: Sequence[Runtime] = RUNTIMES
    defines: Sequence[str] = ()


class CompileError(Exception):
    """The compiler's diagnostics; every warning is one."""


def build(out: Path, assemblies: Sequence[Assembly]) -> None:
    """Compiles to ``out/RUNTIME/NAME.dll`` as C# 9 with MONO or DOTNET defined, in one start of the compiler.

    Raises:
        CompileError: On any error or warning; what compiled is there nevertheless.
    """
    _need_tools()
    arguments: list[str] = []
    for runtime in RUNTIMES:
        folder = out / runtime
        folder.mkdir(parents=True, exist_ok=True)
        names = [
            p for pattern in _REFERENCES[runtime] for p in (TOOLS / "references" / runtime).glob(pattern)
        ]
        system = [f"-r:{path}" for path in sorted(set(names)) if "WindowsRuntime" not in path.name]
        for assembly in (a for a in assemblies if runtime in a.runtimes):
            if arguments:
                arguments.append("--")
            arguments += system + [f"-r:{folder / used}.dll" for used in assembly.uses]
            arguments.append("-d:" + ";".join([runtime.upper(), *assembly.defines]))
            arguments.append("-target:" + ("exe" if assembly.program else "library"))
            arguments.append(f"-out:{folder / assembly.name}.dll")
            arguments += [str(source) for source in assembly.sources]
    done = subprocess.run([TOOLS / "csc", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(done.stdout + done.stderr)


def built(assemblies: Sequence[Assembly]) -> Path:
    """The folder with what ``build`` makes; compiled only when a source or a tool has changed since."""
    _need_tools()
    digest = hashlib.sha256((TOOLS / ".complete").read_bytes() + Path(__file__).read_bytes())
    for assembly in assemblies:
        digest.update(
            repr(
                (assembly.name, assembly.uses, assembly.program, assembly.runtimes, assembly.defines)
            ).encode()
        )
        for source in assembly.sources:
            digest.update(source.name.encode() + source.read_bytes())
    folder = TOOLS / "built"
    out = folder / digest.hexdigest()[:16]
    if not out.exists():
        folder.mkdir(exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder, prefix="."))
        try:
            build(made, assemblies)
            for old in sorted(folder.glob("[!.]*"), key=lambda path: path.stat().st_mtime)[:-_KEPT_BUILDS]:
                shutil.rmtree(old, ignore_errors=True)
            with contextlib.suppress(OSError):  # Another run was faster.
                made.rename(out)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    os.utime(out)  # What is in use is not the oldest.
    return out


def command(runtime: Runtime, program: Path) -> list[str]:
    """The command line that runs a program built for the runtime."""
    _need_tools()
    return [str(TOOLS / runtime), str(program)]


def _need_tools() -> None:
    if not (TOOLS / ".complete").exists():
        raise RuntimeError(f"no C# compiler: run {SETUP}")
