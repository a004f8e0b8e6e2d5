"""The server before, while and after the models load, with a role whose load the test holds up."""

import asyncio
import os
import signal
import sys
import tempfile
import threading
import types
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

import grpc
import grpc.aio
import pytest
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoxr.errors import ModelError, UnavailableError
from taoxr.rpc import error_of
from taoxr.worker.v1 import tts_pb2, tts_pb2_grpc, worker_pb2, worker_pb2_grpc
from taoxr_models.worker import role as role_module
from taoxr_models.worker.address import parse_address
from taoxr_models.worker.process import configure_logging
from taoxr_models.worker.role import RoleSetup
from taoxr_models.worker.server import Settings, serve

pytestmark = pytest.mark.unit

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class SlowRole(tts_pb2_grpc.TtsServiceServicer):
    """Loads when the test says so, and ends each call in the way that the text asks for."""

    model = "none"
    sample_rate_hz = 1000
    may_load = threading.Event()
    failure: Exception | None = None

    def __init__(self, setup: RoleSetup) -> None:
        SlowRole.may_load.clear()
        SlowRole.failure = None

    def load(self) -> None:
        assert SlowRole.may_load.wait(20)
        if SlowRole.failure is not None:
            raise SlowRole.failure

    def register(self, server: grpc.aio.Server) -> None:
        tts_pb2_grpc.add_TtsServiceServicer_to_server(self, server)

    async def Synthesize(  # noqa: N802  the rpc's name
        self, request: tts_pb2.SynthesizeRequest, context: object
    ) -> AsyncGenerator[tts_pb2.SynthesizeResponse]:
        if request.text == "wait":
            await asyncio.Event().wait()
        if request.text == "fail: I am ill":
            raise RuntimeError("internal detail")
        yield tts_pb2.SynthesizeResponse()


@pytest.fixture(autouse=True)
def slow_role(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = types.ModuleType("slow_role")
    module.create = SlowRole  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "slow_role", module)
    monkeypatch.setitem(role_module._MODULES, "tts", "slow_role")
    before = {s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    structlog.reset_defaults()


@pytest.fixture
def target() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="taoxr-") as folder:
        yield f"unix:{folder}/s"


@pytest.fixture
async def server(target: str) -> AsyncIterator[asyncio.Task[int]]:
    task = asyncio.create_task(serve(Settings("tts", parse_address(target), standalone=True)))
    yield task
    SlowRole.may_load.set()
    if not task.done():
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(asyncio.gather(task, return_exceptions=True), 60)


async def test_loading_then_serving(server: asyncio.Task[int], target: str) -> None:
    async with grpc.aio.insecure_channel(target) as channel:
        states: list[int] = []
        watch = health_pb2_grpc.HealthStub(channel).Watch(
            health_pb2.HealthCheckRequest(), wait_for_ready=True
        )
        states.append((await watch.read()).status)
        stub = tts_pb2_grpc.TtsServiceStub(channel)
        status = worker_pb2_grpc.WorkerServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as early:
            await stub.Synthesize(tts_pb2.SynthesizeRequest()).read()
        assert isinstance(error_of(early.value), UnavailableError)
        assert (await status.GetStatus(worker_pb2.GetStatusRequest())).sample_rate_hz == 0
        SlowRole.may_load.set()
        states.append((await watch.read()).status)
        await stub.Synthesize(tts_pb2.SynthesizeRequest()).read()
        os.kill(os.getpid(), signal.SIGTERM)
        states.append((await watch.read()).status)
        assert states == [NOT_SERVING, SERVING, NOT_SERVING]
        watch.cancel()
        assert await asyncio.wait_for(server, 60) == 0


async def test_calls_are_counted_by_how_they_end(
    server: asyncio.Task[int], target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging()
    SlowRole.may_load.set()
    async with grpc.aio.insecure_channel(target) as channel:
        stub = tts_pb2_grpc.TtsServiceStub(channel)
        status = worker_pb2_grpc.WorkerServiceStub(channel)

        async def counts() -> tuple[int, int, int, int]:
            s = await status.GetStatus(worker_pb2.GetStatusRequest())
            return s.active_calls, s.finished_calls, s.cancelled_calls, s.failed_calls

        async def reach(expected: tuple[int, int, int, int]) -> None:
            async with asyncio.timeout(60):
                while await counts() != expected:
                    pass

        watch = health_pb2_grpc.HealthStub(channel).Watch(
            health_pb2.HealthCheckRequest(), wait_for_ready=True
        )
        while (await watch.read()).status != SERVING:
            pass
        watch.cancel()
        await stub.Synthesize(tts_pb2.SynthesizeRequest(text="finish")).read()
        await reach((0, 1, 0, 0))
        waiting = stub.Synthesize(tts_pb2.SynthesizeRequest(text="wait"))
        await reach((1, 1, 0, 0))
        waiting.cancel()
        await reach((0, 1, 1, 0))
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await stub.Synthesize(tts_pb2.SynthesizeRequest(text="fail: I am ill")).read()
        assert failed.value.code() is grpc.StatusCode.INTERNAL
        assert "detail" not in str(failed.value.details())
        await reach((0, 1, 1, 1))
    logged = capsys.readouterr().err
    assert "call failed" in logged
    assert "I am ill" not in logged


async def test_a_failed_load_ends_the_server(server: asyncio.Task[int], target: str) -> None:
    await asyncio.sleep(0)
    SlowRole.failure = ModelError("damaged")
    SlowRole.may_load.set()
    with pytest.raises(ModelError, match="damaged"):
        await asyncio.wait_for(server, 60)
    async with grpc.aio.insecure_channel(target) as channel:
        with pytest.raises(grpc.aio.AioRpcError):
            await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())


async def test_an_end_while_loading(server: asyncio.Task[int], target: str) -> None:
    async with grpc.aio.insecure_channel(target) as channel:
        check = health_pb2_grpc.HealthStub(channel).Check
        response = await check(health_pb2.HealthCheckRequest(), wait_for_ready=True)
        assert response.status == NOT_SERVING
    os.kill(os.getpid(), signal.SIGTERM)
    assert await asyncio.wait_for(server, 60) == 0
