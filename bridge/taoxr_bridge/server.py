"""The bridge: its workers and its gRPC server, from start to stop."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, cast

import structlog
from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from taoxr.discovery import announce
from taoxr.errors import InvalidInputError
from taoxr.rpc import SERVER_OPTIONS, ErrorInterceptor, TokenInterceptor
from taoxr.v1 import (
    animation_pb2,
    animation_pb2_grpc,
    avatar_pb2,
    avatar_pb2_grpc,
    conversation_pb2,
    conversation_pb2_grpc,
    speech_pb2,
    speech_pb2_grpc,
)
from taoxr_bridge import a2f
from taoxr_bridge.access import (
    check_announcement,
    check_host,
    is_loopback,
    required_token,
    server_credentials,
)
from taoxr_bridge.animation import AnimationService
from taoxr_bridge.avatar_files import installed_folders
from taoxr_bridge.avatar_service import AvatarService
from taoxr_bridge.conversation import ConversationService
from taoxr_bridge.guard import GuardInterceptor
from taoxr_bridge.journal import open_journal
from taoxr_bridge.metrics import Metrics, MetricsInterceptor, metrics_page
from taoxr_bridge.settings import Settings
from taoxr_bridge.speech_service import SpeechService
from taoxr_bridge.supervisor import supervise
from taoxr_bridge.worker import NEEDED, Worker, WorkerState

# Above the limits of single fields, so that their errors name the field.
_MAX_REQUEST_BYTES: Final = 1024 * 1024
# Of one connection; above the usual `max_calls`, so that one call too many is told so and not kept waiting.
_MAX_STREAMS: Final = 1024
_STOP_GRACE_S: Final = 2.0
"""For calls to end, and what they end with to be sent, once all clauses are spoken."""
_CONVERSE: Final = f"{conversation_pb2.DESCRIPTOR.services_by_name['ConversationService'].full_name}/Converse"
# The workers that each service needs, for its health.
_SERVICES: Final = {
    conversation_pb2.DESCRIPTOR.services_by_name["ConversationService"].full_name: NEEDED,
    animation_pb2.DESCRIPTOR.services_by_name["AnimationService"].full_name: ("tts", "a2bs"),
    speech_pb2.DESCRIPTOR.services_by_name["SpeechService"].full_name: ("ear", "tts"),
    avatar_pb2.DESCRIPTOR.services_by_name["AvatarService"].full_name: (),
    a2f.CONTROLLER: ("a2bs",),
    a2f.EXPORT: (),
}


@asynccontextmanager
async def bridge(
    settings: Settings,
    external: Mapping[str, str] | None = None,
    *,
    token: str | None = None,
    on_worker: Callable[[Worker], None] = lambda _worker: None,
) -> AsyncGenerator[str]:
    """Runs a bridge for the length of the block, which begins when all workers are ready.

    Args:
        settings: Limits and defaults.
        external: gRPC target of each role that runs elsewhere; the others are started here.
        token: Secret of the workers that run elsewhere.
        on_worker: Called after every change of a worker's state.

    Yields:
        Target of the bridge, "host:port".

    Raises:
        InvalidInputError: The address cannot be used.
        UnavailableError: A worker did not come up.
    """
    check_host(settings)
    check_announcement(settings)
    credentials, secret = server_credentials(settings), required_token(settings)
    health_service: Any = cast(Any, health).aio.HealthServicer()  # the package has no types
    loop = asyncio.get_running_loop()
    updates: set[asyncio.Task[None]] = set()

    def on_state(worker: Worker) -> None:
        structlog.get_logger().info("worker", role=worker.role, state=worker.state, reason=worker.reason)
        on_worker(worker)
        update = loop.create_task(set_health())
        updates.add(update)
        update.add_done_callback(updates.discard)

    async def set_health() -> None:
        status = health_pb2.HealthCheckResponse
        for name, roles in {"": NEEDED, **_SERVICES}.items():
            ready = all(workers[role].state is WorkerState.READY for role in roles)
            await health_service.set(name, status.SERVING if ready else status.NOT_SERVING)

    async with (
        supervise(external or {}, settings, on_state, token) as workers,
        open_journal(settings.resume_s) as journal,
    ):
        guard = GuardInterceptor(
            settings.stall_timeout_s,
            settings.stream_idle_timeout_s,
            settings.max_calls,
            exempt=(health.SERVICE_NAME,),
            quiet=(_CONVERSE,),  # which has its own limit, and announces the end
        )
        metrics = Metrics()
        metrics.watch(workers.workers)
        server = aio.server(
            interceptors=(
                MetricsInterceptor(metrics),
                ErrorInterceptor(),
                # Whoever watches whether the server is up need not know the secret.
                *(() if secret is None else (TokenInterceptor(secret, (health.SERVICE_NAME,)),)),
                guard,
            ),
            options=(
                *SERVER_OPTIONS,
                ("grpc.max_receive_message_length", _MAX_REQUEST_BYTES),
                ("grpc.max_concurrent_streams", _MAX_STREAMS),
            ),
        )
        conversations = ConversationService(workers, settings, journal, metrics)
        conversation_pb2_grpc.add_ConversationServiceServicer_to_server(conversations, server)
        animation = AnimationService(workers, settings)
        animation_pb2_grpc.add_AnimationServiceServicer_to_server(animation, server)
        speech_pb2_grpc.add_SpeechServiceServicer_to_server(SpeechService(workers, settings), server)
        folders = installed_folders() if settings.avatars is None else [settings.avatars]
        avatar_pb2_grpc.add_AvatarServiceServicer_to_server(AvatarService(folders), server)
        audio2face = a2f.Audio2FaceService(workers["a2bs"], settings.worker_wait_s, settings.a2f_max_clip_s)
        a2f.add_to_server(audio2face, server)
        cast(Any, health_pb2_grpc).add_HealthServicer_to_server(health_service, server)
        if is_loopback(settings.host) if settings.reflection is None else settings.reflection:
            names = (*_SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
            cast(Any, reflection).enable_server_reflection(names, server)
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        address = f"{host}:{settings.port}"
        try:
            if credentials is None:
                port = server.add_insecure_port(address)
            else:
                port = server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise InvalidInputError("--port", settings.port, f"a free port on {host} ({error})") from error
        await set_health()
        with metrics_page(metrics, settings.metrics_host, settings.metrics_port):
            await server.start()
            try:
                await workers.wait_all_ready(settings.start_timeout_s + 1)
                async with _announced(settings, port):
                    yield f"{host}:{port}"
            finally:
                await health_service.enter_graceful_shutdown()
                # Refuses new calls at once, and in the end cancels those that still run.
                stopping = asyncio.create_task(server.stop(settings.drain_timeout_s + _STOP_GRACE_S))
                sessions = tuple(conversations.sessions.values())
                await asyncio.gather(*(session.drain(settings.drain_timeout_s) for session in sessions))
                with suppress(TimeoutError):
                    async with asyncio.timeout(_STOP_GRACE_S):
                        await guard.idle()
                        # What calls ended with may still be on its way, which cancelling would lose.
                        await asyncio.shield(stopping)
                await server.stop(0)
                await stopping


@asynccontextmanager
async def _announced(settings: Settings, port: int) -> AsyncGenerator[None]:
    if not settings.announce:
        yield
        return
    async with announce(settings.host, port, tls=settings.tls_cert is not None) as name:
        structlog.get_logger().info("announced", name=name)
        yield
