"""How busy the worker is: counters of its calls, and the service that tells them."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc.aio
import psutil

from taoxr.errors import UnavailableError
from taoxr.rpc import WrapInterceptor
from taoxr.worker.v1 import worker_pb2, worker_pb2_grpc
from taoxr_models.worker.role import Role

# Services that tell about the worker and are no work of it.
_UNCOUNTED = ("/grpc.", "/taoxr.worker.v1.WorkerService/")


@dataclass
class CallCounts:
    """Calls of the role's service since the process started."""

    active: int = 0
    finished: int = 0
    cancelled: int = 0
    failed: int = 0


class CallGate(WrapInterceptor):
    """Counts the calls of the role's service, and refuses them until `open` is set.

    Attributes:
        counts: The counters.
        open: True once the models are loaded.
    """

    def __init__(self) -> None:
        self.counts = CallCounts()
        self.open = False

    @asynccontextmanager
    async def around(self, method: str, context: Any) -> AsyncGenerator[None]:
        """Counts one call by how it ends."""
        if method.startswith(_UNCOUNTED):
            yield
            return
        if not self.open:
            raise UnavailableError("the worker still loads its models; wait until its health is SERVING")
        self.counts.active += 1
        try:
            yield
        except asyncio.CancelledError:
            self.counts.cancelled += 1
            raise
        except BaseException:
            # A write to a client that has just gone fails in its own way.
            if context.cancelled():
                self.counts.cancelled += 1
            else:
                self.counts.failed += 1
            raise
        else:
            self.counts.finished += 1
        finally:
            self.counts.active -= 1


class StatusService(worker_pb2_grpc.WorkerServiceServicer):
    """``taoxr.worker.v1.WorkerService``."""

    def __init__(self, name: str, role: Role, gate: CallGate) -> None:
        self._name = name
        self._role = role
        self._gate = gate
        self._process = psutil.Process()

    async def GetStatus(  # noqa: N802  the rpc's name
        self,
        request: worker_pb2.GetStatusRequest,
        context: grpc.aio.ServicerContext[worker_pb2.GetStatusRequest, worker_pb2.GetStatusResponse],
    ) -> worker_pb2.GetStatusResponse:
        """Answers from counters only, so it never waits for a model."""
        counts = self._gate.counts
        return worker_pb2.GetStatusResponse(
            role=self._name,
            model=self._role.model,
            pid=os.getpid(),
            active_calls=counts.active,
            finished_calls=counts.finished,
            cancelled_calls=counts.cancelled,
            failed_calls=counts.failed,
            rss_bytes=self._process.memory_info().rss,
            sample_rate_hz=self._role.sample_rate_hz if self._gate.open else 0,
        )
