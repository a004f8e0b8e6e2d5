"""The workers as the bridge runs them, each a process of its own, for a benchmark."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import grpc.aio
import psutil
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoxr import huge_pages, rpc
from taoxr.errors import UnavailableError

ROLES: Final = ("ear", "llm", "tts", "a2bs")
_READY_S: Final = 120.0
_END_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Running:
    """A worker.

    Attributes:
        channel: To its services.
        process: For what it takes of the machine.
    """

    channel: grpc.aio.Channel
    process: psutil.Process

    def cpu_s(self) -> float:
        """Processor time so far, all threads."""
        times = self.process.cpu_times()
        return times.user + times.system

    def rss_mb(self) -> float:
        """Resident memory in 10^6 bytes."""
        return self.process.memory_info().rss / 1e6


@asynccontextmanager
async def all_workers() -> AsyncGenerator[dict[str, Running]]:
    """Starts one worker of each role with the models in use, and ends them.

    Raises:
        UnavailableError: One does not become ready; its own words are on stderr.
    """
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="taoxr-bench-")))
        yield {role: await stack.enter_async_context(_worker(role, folder)) for role in ROLES}


@asynccontextmanager
async def _worker(role: str, folder: Path) -> AsyncGenerator[Running]:
    target = f"unix:{folder / role}"
    command = [sys.executable, "-m", "taoxr_models.worker", role, "--listen", target]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        env=huge_pages.environment(),
    )
    try:
        async with grpc.aio.insecure_channel(target, options=rpc.CHANNEL_OPTIONS) as channel:
            await _serving(role, channel)
            yield Running(channel, psutil.Process(process.pid))
    finally:
        async with asyncio.timeout(_END_S):
            await process.communicate(b"")  # the end of its input ends a worker


async def _serving(role: str, channel: grpc.aio.Channel) -> None:
    request = health_pb2.HealthCheckRequest()
    stub: Any = cast(Any, health_pb2_grpc).HealthStub(channel)  # the package has no types
    try:
        async with asyncio.timeout(_READY_S):
            async for health in stub.Watch(request, wait_for_ready=True):
                if health.status == health_pb2.HealthCheckResponse.SERVING:
                    return
    except (TimeoutError, grpc.aio.AioRpcError) as error:
        raise UnavailableError(f"the {role} worker is not ready within {_READY_S:.0f} s") from error
    raise UnavailableError(f"the {role} worker ended")
