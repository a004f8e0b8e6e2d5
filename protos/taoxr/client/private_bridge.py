"""A bridge of one's own, for as long as it is needed."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from taoxr.errors import UnavailableError

_POLL_S: Final = 0.05
_STOP_S: Final = 15.0
# Settings of a bridge for others, which would let others in here, or keep us out.
_NOT_PASSED_ON: Final = tuple(
    f"TAOXR_BRIDGE_{name}"
    for name in (
        "HOST", "INSECURE", "TLS_CERT", "TLS_KEY", "TLS_CLIENT_CA", "TOKEN", "TOKEN_FILE", "METRICS_PORT",
    )
)  # fmt: skip


@asynccontextmanager
async def private_bridge(
    *, arguments: Sequence[str] = (), log: Path | None = None, timeout: float = 120.0
) -> AsyncGenerator[str]:
    """Starts ``taoxr serve`` on a free port; the bridge ends with the block, or with this process.

    Args:
        arguments: More options of ``taoxr serve``.
        log: Where the bridge's log goes; None keeps it only for error messages.
        timeout: Seconds until all workers must be ready.

    Yields:
        Target of the bridge, for `connect`.

    Raises:
        UnavailableError: The bridge did not come up; the text holds the end of its log.
    """
    with tempfile.TemporaryDirectory(prefix="taoxr-") as folder:
        ready, log = Path(folder) / "ready.json", log or Path(folder) / "bridge.log"
        with log.open("wb") as sink:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "taoxr_bridge", "--port", "0", "--ready-file", str(ready),
                "--stop-at-stdin-eof", *arguments,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL, stderr=sink,
                env={name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON},
            )  # fmt: skip
        try:
            yield await _wait_ready(process, ready, log, timeout)
        finally:
            await _stop(process)


async def _wait_ready(process: asyncio.subprocess.Process, ready: Path, log: Path, timeout: float) -> str:
    try:
        async with asyncio.timeout(timeout):
            while not ready.exists():
                if process.returncode is not None:
                    raise UnavailableError(f"the bridge stopped at once: {_tail(log)}")
                await asyncio.sleep(_POLL_S)
    except TimeoutError as error:
        raise UnavailableError(f"the bridge was not ready within {timeout:.0f} s: {_tail(log)}") from error
    return str(json.loads(ready.read_text())["target"])


def _tail(log: Path) -> str:
    return log.read_text(errors="replace").strip()[-2000:] or "it wrote no log"


async def _stop(process: asyncio.subprocess.Process) -> None:
    # It may have ended by itself a moment ago, say by the Ctrl-C that ends us.
    with suppress(ProcessLookupError):
        process.terminate()
        try:
            async with asyncio.timeout(_STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()
    await process.wait()
