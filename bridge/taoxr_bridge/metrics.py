"""What Prometheus can read of the bridge: calls, conversations, workers, and the stages of turns.

Numbers only: no label holds a name, an address or a word of a user.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import grpc
from grpc import aio
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from taoxr.errors import InvalidInputError
from taoxr.rpc import WrapInterceptor, status_code
from taoxr.v1 import conversation_pb2 as pb
from taoxr_bridge.worker import Worker, WorkerState

_SECONDS: Final = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)


class Metrics:
    """The numbers of one bridge."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._calls = Counter(
            "taoxr_calls", "Calls that have ended.", ("method", "code"), registry=self.registry
        )
        self._running = Gauge("taoxr_calls_running", "Calls that run.", ("method",), registry=self.registry)
        self._conversations = Gauge("taoxr_conversations", "Conversations that run.", registry=self.registry)
        self._stages = Histogram(
            "taoxr_turn_stage_seconds",
            "Time from the end of the user's turn to the end of a stage; see TurnMetrics.",
            ("stage",),
            registry=self.registry,
            buckets=_SECONDS,
        )

    @contextmanager
    def conversation(self) -> Generator[None]:
        """A conversation runs for the length of the block."""
        with self._conversations.track_inprogress():
            yield

    def turn(self, metrics: pb.TurnMetrics) -> None:
        """A turn has been answered."""
        for stage, milliseconds in metrics.stages_ms.items():
            self._stages.labels(stage).observe(milliseconds / 1000)

    @contextmanager
    def call(self, method: str, context: Any) -> Generator[None]:
        """A call runs for the length of the block."""
        code = grpc.StatusCode.OK
        self._running.labels(method).inc()
        try:
            yield
        except asyncio.CancelledError:
            code = grpc.StatusCode.CANCELLED
            raise
        except aio.AbortError:
            code = context.code()
            raise
        finally:
            self._running.labels(method).dec()
            self._calls.labels(method, status_code(code).name).inc()

    def watch(self, workers: Mapping[str, Worker]) -> None:
        """Shows the state of the workers too."""
        self.registry.register(_Workers(workers))


class _Workers(Collector):
    def __init__(self, workers: Mapping[str, Worker]) -> None:
        self._workers = workers

    def collect(self) -> Iterable[GaugeMetricFamily]:
        ready = GaugeMetricFamily("taoxr_worker_ready", "1 when the worker can be called.", labels=["role"])
        restarts = GaugeMetricFamily("taoxr_worker_restarts", "Restarts of the worker.", labels=["role"])
        for role, worker in self._workers.items():
            ready.add_metric([role], worker.state is WorkerState.READY)
            restarts.add_metric([role], worker.restarts)
        return ready, restarts


class MetricsInterceptor(WrapInterceptor):
    """Counts calls; install it first, so that it sees the status that they end with."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    @asynccontextmanager
    async def around(self, method: str, context: Any) -> AsyncGenerator[None]:
        """Counts one call. Only methods that exist get here, so that labels stay few."""
        with self._metrics.call(method, context):
            yield


@contextmanager
def metrics_page(metrics: Metrics, host: str, port: int | None) -> Generator[None]:
    """Serves the numbers at http://host:port/metrics for the length of the block.

    Args:
        metrics: The numbers.
        host: Address to listen on.
        port: Port; None serves nothing.

    Raises:
        InvalidInputError: The port cannot be used.
    """
    if port is None:
        yield
        return
    try:
        server, thread = start_http_server(port, host, metrics.registry)
    except OSError as error:
        raise InvalidInputError("--metrics-port", port, f"a free port on {host} ({error})") from error
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
