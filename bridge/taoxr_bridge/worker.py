"""One model worker as the bridge sees it: a role, a channel, and whether it can be called."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import Any, Final, cast

from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoxr.errors import UnavailableError
from taoxr.rpc import CHANNEL_OPTIONS, token_metadata
from taoxr.v1 import conversation_pb2
from taoxr.worker.v1 import worker_pb2
from taoxr.worker.v1.worker_pb2_grpc import WorkerServiceStub

NEEDED: Final = ("ear", "llm", "tts", "a2bs")
ON_DEMAND: Final = ("motion",)
"""Roles whose worker is started when somebody first needs it."""
ROLES: Final = (*NEEDED, *ON_DEMAND)

# A restarted worker listens on the same socket, and must be found at once. Shaking hands, which the "minimum"
# limits, may take a while on a busy machine. Of an option that is given twice gRPC takes the first.
_CHANNEL_OPTIONS: Final = tuple(
    (
        dict(CHANNEL_OPTIONS)
        | {
            "grpc.initial_reconnect_backoff_ms": 50,
            "grpc.min_reconnect_backoff_ms": 2_000,
            "grpc.max_reconnect_backoff_ms": 500,
        }
    ).items()
)
_STATUS_S: Final = 5.0


class WorkerState(StrEnum):
    """Whether a worker can be called."""

    ASLEEP = "asleep"
    STARTING = "starting"
    READY = "ready"
    DOWN = "down"


class Worker:
    """Channel to one worker and its state, which whoever watches it sets.

    Args:
        role: One of `ROLES`.
        target: gRPC target, such as ``unix:/path`` or ``host:port``.
        on_state: Called after every change of state.
        token: Secret that the worker wants with every call; None for a worker on a Unix socket.
        asleep: Whether it is started only when somebody waits for it.

    Attributes:
        metadata: Goes with every call to the worker.
        restarts: How often its process was started again.
        reason: Why it is not ready.
        was_ready: True once it has been ready.
        wanted: Set when it is to be started; at first unless it is asleep.
    """

    def __init__(
        self,
        role: str,
        target: str,
        on_state: Callable[["Worker"], None],
        token: str | None = None,
        *,
        asleep: bool = False,
    ) -> None:
        self.role = role
        self.target = target
        self.metadata = token_metadata(token) if token else ()
        self.restarts = 0
        self.reason = ""
        self.was_ready = False
        self._state: WorkerState = WorkerState.ASLEEP if asleep else WorkerState.STARTING
        self.wanted = asyncio.Event()
        if not asleep:
            self.wanted.set()
        self._on_state = on_state
        self._changed = asyncio.Condition()
        self.channel = aio.insecure_channel(target, options=_CHANNEL_OPTIONS)
        self._health: Any = cast(Any, health_pb2_grpc).HealthStub(self.channel)  # the package has no types
        self._status = WorkerServiceStub(self.channel)

    @property
    def state(self) -> WorkerState:
        """Current state; `reason` says why it is down."""
        return self._state

    async def set_state(self, state: WorkerState, reason: str = "") -> None:
        """Sets the state and wakes who waits in `ready`."""
        changed = state is not self._state or reason != self.reason
        self._state, self.reason = state, reason
        self.was_ready = self.was_ready or state is WorkerState.READY
        if changed:
            self._on_state(self)
            async with self._changed:
                self._changed.notify_all()

    async def lost(self) -> None:
        """A call has found it gone: who calls next waits, until its health is seen to be good again."""
        if self._state is WorkerState.READY:
            await self.set_state(WorkerState.STARTING, "it stopped during a call")

    async def ready(self, timeout: float) -> None:
        """Waits until the worker can be called; wakes one that is asleep.

        Raises:
            UnavailableError: It is down for good, or was not ready in time.
        """
        if self._state is WorkerState.ASLEEP:
            await self.set_state(WorkerState.STARTING)
            self.wanted.set()
        try:
            async with asyncio.timeout(timeout), self._changed:
                await self._changed.wait_for(lambda: self._state is not WorkerState.STARTING)
        except TimeoutError as error:
            text = f"the {self.role} worker was not ready within {timeout:.0f} s"
            raise UnavailableError(f"{text}: {self.reason}" if self.reason else text) from error
        if self._state is WorkerState.DOWN:
            raise UnavailableError(f"the {self.role} worker is down: {self.reason}")

    async def serving(self, timeout: float) -> bool:
        """True when the worker answers its health check with SERVING within `timeout` seconds."""
        try:
            answer = await self._health.Check(
                health_pb2.HealthCheckRequest(), timeout=timeout, metadata=self.metadata
            )
        except aio.AioRpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    async def info(self) -> conversation_pb2.WorkerInfo:
        """State for ``GetServerInfo``; what a worker does not answer in time is left out."""
        info = conversation_pb2.WorkerInfo(role=self.role, state=self._state, restarts=self.restarts)
        if self._state is WorkerState.READY:
            with suppress(aio.AioRpcError):
                status = await self.status()
                info.model, info.pid, info.rss_bytes = status.model, status.pid, status.rss_bytes
                info.state = "busy" if status.active_calls else info.state
        return info

    async def status(self) -> worker_pb2.GetStatusResponse:
        """What the worker says about itself.

        Raises:
            grpc.aio.AioRpcError: It does not answer.
        """
        request = worker_pb2.GetStatusRequest()
        return await self._status.GetStatus(request, timeout=_STATUS_S, metadata=self.metadata)

    async def close(self) -> None:
        """Closes the channel."""
        await self.channel.close()
