"""The worker's gRPC server, from listening to the end."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import grpc.aio
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from taoxr.errors import InvalidInputError
from taoxr.rpc import SERVER_OPTIONS, ErrorInterceptor, TokenInterceptor
from taoxr.worker.v1 import worker_pb2_grpc
from taoxr_models.worker import process
from taoxr_models.worker.address import Address, write_port
from taoxr_models.worker.model_thread import ModelThread
from taoxr_models.worker.role import RoleSetup, create_role
from taoxr_models.worker.status import CallGate, StatusService

_STOP_GRACE_S: Final = 1.0


@dataclass(frozen=True)
class Settings:
    """What the command line said.

    Attributes:
        role: Name in the table of roles.
        address: Where to listen.
        model: Catalogue id, or None for the role's default.
        token: Secret that callers send; None only on a Unix socket.
        port_file: File that receives the port when listening on TCP.
        standalone: Live on without a parent.
    """

    role: str
    address: Address
    model: str | None = None
    token: str | None = None
    port_file: Path | None = None
    standalone: bool = False


async def serve(settings: Settings) -> int:
    """Listens, loads, serves until asked to end; returns the exit code.

    Health is NOT_SERVING until the models are loaded, so that a supervisor can tell a slow load from
    a dead process.

    Raises:
        TaoxrError: The settings or the models are wrong.
    """
    log = structlog.get_logger().bind(role=settings.role)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.call_soon_threadsafe(stopping.set)

    process.on_end_request(stop)
    if not settings.standalone:
        process.watch_parent(stop)

    thread = ModelThread()
    role = create_role(settings.role, RoleSetup(thread, settings.model))
    gate = CallGate()
    token = () if settings.token is None else (TokenInterceptor(settings.token),)
    server = grpc.aio.server(interceptors=(ErrorInterceptor(), *token, gate), options=SERVER_OPTIONS)
    health_service: Any = cast(Any, health).aio.HealthServicer()  # the package has no types
    await health_service.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
    cast(Any, health_pb2_grpc).add_HealthServicer_to_server(health_service, server)
    worker_pb2_grpc.add_WorkerServiceServicer_to_server(StatusService(settings.role, role, gate), server)
    role.register(server)
    port = _bind(server, settings.address)
    await server.start()
    if settings.port_file is not None:
        write_port(settings.port_file, port)

    try:
        started = time.perf_counter()
        loading = asyncio.create_task(thread.run(role.load))
        ending = asyncio.create_task(stopping.wait())
        await asyncio.wait((loading, ending), return_when=asyncio.FIRST_COMPLETED)
        if loading.done():
            loading.result()  # raises what the load raised
            gate.open = True
            await health_service.set("", health_pb2.HealthCheckResponse.SERVING)
            log.info("serving", model=role.model, load_ms=round((time.perf_counter() - started) * 1000))
            await ending
        return process.EXIT_OK
    finally:
        await health_service.enter_graceful_shutdown()
        await server.stop(_STOP_GRACE_S)
        log.info("ended")


def _bind(server: grpc.aio.Server, address: Address) -> int:
    try:
        return server.add_insecure_port(address.target)
    except RuntimeError as error:
        raise InvalidInputError("--listen", address.target, f"an address that is free ({error})") from error
