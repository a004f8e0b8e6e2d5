"""What a client says, line by line as it comes."""

from __future__ import annotations

import queue
import re
import subprocess
import threading
import time


class Output:
    """Reads a process's output on a thread.

    Attributes:
        process: The process, with a pipe as stdout.
        lines: Everything so far.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._arrived: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def wait_for(self, pattern: str, timeout: float = 120) -> str:
        """The next line in which a pattern is found."""
        end = time.monotonic() + timeout
        while True:
            try:
                line = self._arrived.get(timeout=max(end - time.monotonic(), 0.01))
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(f"{pattern!r} did not come within {timeout} s:\n{self.text}")
            if re.search(pattern, line):
                return line

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._arrived.put(line)
        self._arrived.put(None)
