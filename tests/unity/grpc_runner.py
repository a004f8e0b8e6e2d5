"""The Unity package's gRPC client in a long-lived process that makes calls as it is told."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from types import TracebackType

from csharp import Runtime, command


class GrpcRunner:
    """``harness/GrpcRunner.cs`` on one of the runtimes; a context manager.

    Args:
        runtime: What runs it.
        program: The program.
        ca: PEM file of the authority that servers are trusted by; turns TLS on.
    """

    def __init__(self, runtime: Runtime, program: Path, ca: Path | None = None) -> None:
        self._command = command(runtime, program)
        self._environment = os.environ | ({} if ca is None else {"TAOXR_TEST_CA": str(ca)})
        self._lock = threading.Lock()

    def __enter__(self) -> GrpcRunner:
        self.process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=self._environment,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()

    def call(self, what: str, target: str, *more: str, timeout_s: float = 60) -> list[str]:
        """Makes a call.

        Args:
            what: One of the things that the program can do.
            target: ``host:port``.
            more: What it takes.
            timeout_s: The call's deadline, and how long connecting may take.

        Returns:
            "OK" and what came; or a status, its text, reason, retry delay in nanoseconds, and fields.
        """
        host, port = target.rsplit(":", 1)
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin
        assert stdout
        with self._lock:
            stdin.write("\t".join([what, host, port, str(timeout_s), *more]) + "\n")
            stdin.flush()
            answer = stdout.readline()
        assert answer, "the gRPC runner died; its message is above"
        return answer.rstrip("\n").split("\t")
