"""The Unity package's client in a process that does what it is told and says what happens."""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from pathlib import Path
from types import TracebackType

from csharp import Runtime, command

WITHIN_S = 60.0


class ClientRunner:
    """``harness/ClientRunner.cs`` on one of the runtimes; a context manager.

    Args:
        runtime: What runs it.
        program: The program.
        target: ``host:port``, or with a scheme.
        options: What `Main` takes beside the target, as name=value.
    """

    def __init__(self, runtime: Runtime, program: Path, target: str, **options: object) -> None:
        self._command = [
            *command(runtime, program),
            target,
            *(f"{name}={value}" for name, value in options.items()),
        ]
        self._lines: queue.Queue[list[str]] = queue.Queue()
        self.seen: list[list[str]] = []

    def __enter__(self) -> ClientRunner:
        self.process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(10)

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n").split("\t"))
        self._lines.put(["died"])

    def tell(self, *words: object) -> None:
        """Gives a command."""
        assert self.process.stdin
        self.process.stdin.write("\t".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()

    def until(self, *words: str, within_s: float = WITHIN_S) -> list[str]:
        """The next event whose words are these; "" stands for any."""
        deadline = time.monotonic() + within_s
        while True:
            try:
                event = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {words} after {self.seen[-30:]}") from None
            self.seen.append(event)
            if len(event) >= len(words) and all(w in ("", e) for w, e in zip(words, event, strict=False)):
                return event
            assert event != ["died"], f"the client died; its message is above; {self.seen[-30:]}"

    def all(self, kind: str) -> list[list[str]]:
        """The events of a kind so far."""
        return [event for event in self.seen if event[0] == kind]
