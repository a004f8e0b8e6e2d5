"""The C# compiler and the two runtimes that the other tests of the Unity package stand on."""

import hashlib
import subprocess
from pathlib import Path

import pytest
from csharp import RUNTIMES, Assembly, CompileError, build, command

pytestmark = pytest.mark.process

PROGRAM = """
using System;
using System.Security.Cryptography;
using System.Text;

public sealed class Word
{
    public string Text { get; init; } = "";
}

public static class Program
{
    public static void Main()
    {
        Word word = new() { Text = "ˈæ" };
        Span<byte> bytes = stackalloc byte[3];
        Encoding.UTF8.GetBytes(word.Text.AsSpan(1), bytes);
        using var sha = SHA256.Create();
        Console.WriteLine(BitConverter.ToString(sha.ComputeHash(bytes[..2].ToArray())));
    }
}

namespace System.Runtime.CompilerServices
{
    internal static class IsExternalInit { }
}
"""


def test_csharp_9_runs_on_both_runtimes_and_warnings_are_errors(tmp_path: Path) -> None:
    program, careless = tmp_path / "Program.cs", tmp_path / "Careless.cs"
    program.write_text(PROGRAM)
    careless.write_text("static class Careless { static void Nothing() { int unused = 1; } }")
    with pytest.raises(CompileError) as error:
        build(tmp_path, [Assembly("program", [program], program=True), Assembly("careless", [careless])])
    assert str(error.value).count("error CS0219") == len(RUNTIMES)
    digest = "-".join(f"{b:02X}" for b in hashlib.sha256("æ".encode()).digest())
    for runtime in RUNTIMES:
        assert not (tmp_path / runtime / "careless.dll").exists()
        done = subprocess.run(
            command(runtime, tmp_path / runtime / "program.dll"), capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == digest
