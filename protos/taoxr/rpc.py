"""What every gRPC server and client of taoxr shares: errors as statuses, the token, options.

An exception of `taoxr.errors` becomes a status with ``google.rpc`` details (`status_of`, applied by
`ErrorInterceptor`), and the same exception again on the other side (`error_of`):

| exception | code | details beside ErrorInfo |
|---|---|---|
| InvalidInputError | INVALID_ARGUMENT | BadRequest |
| BusyError | RESOURCE_EXHAUSTED | RetryInfo |
| StalledError | RESOURCE_EXHAUSTED | |
| AccessError | UNAUTHENTICATED | |
| NotFoundError | NOT_FOUND | |
| UnavailableError | UNAVAILABLE | |
| ModelError, TaoxrError | FAILED_PRECONDITION | |
| any other | INTERNAL | (no text: it may hold user data) |
"""

import asyncio
import hmac
import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any, Final, cast

import grpc
import grpc.aio
import structlog
from google.rpc import code_pb2, error_details_pb2, status_pb2  # pyright: ignore[reportMissingTypeStubs]

from taoxr.errors import (
    AccessError,
    BusyError,
    ConnectionLostError,
    InvalidInputError,
    ModelError,
    NotFoundError,
    StalledError,
    TaoxrError,
    UnavailableError,
)

DOMAIN: Final = "taoxr"
# Where gRPC carries a serialised google.rpc.Status (the same key in every language's status library).
_DETAILS_KEY: Final = "grpc-status-details-bin"
_SHOWN_CHARS: Final = 120

# Options of every server. Clients ping every 10 s or more often, so that a lost network is seen soon;
# C-core's own minimum of 5 minutes would answer that with GOAWAY (too_many_pings). Two servers must
# never share a port, which C-core would otherwise allow.
SERVER_OPTIONS: Final[tuple[tuple[str, int], ...]] = (
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.keepalive_time_ms", 15_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.so_reuseport", 0),
)

# Options of every channel.
CHANNEL_OPTIONS: Final[tuple[tuple[str, int], ...]] = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    # A server that restarts is found soon; C-core's own waits grow to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)

_REASONS: Final[dict[type[TaoxrError], tuple[int, str]]] = {
    InvalidInputError: (code_pb2.INVALID_ARGUMENT, "INVALID_INPUT"),
    BusyError: (code_pb2.RESOURCE_EXHAUSTED, "BUSY"),
    StalledError: (code_pb2.RESOURCE_EXHAUSTED, "STALLED"),
    AccessError: (code_pb2.UNAUTHENTICATED, "ACCESS"),
    NotFoundError: (code_pb2.NOT_FOUND, "NOT_FOUND"),
    UnavailableError: (code_pb2.UNAVAILABLE, "UNAVAILABLE"),
    ModelError: (code_pb2.FAILED_PRECONDITION, "MODEL"),
    TaoxrError: (code_pb2.FAILED_PRECONDITION, "TAOXR"),
}


def status_of(error: Exception) -> status_pb2.Status:
    """The status that tells a client about an exception; see the table above."""
    if not isinstance(error, TaoxrError):
        return status_pb2.Status(code=code_pb2.INTERNAL, message=f"internal error ({type(error).__name__})")
    code, reason = next(_REASONS[c] for c in type(error).__mro__ if c in _REASONS)
    info = error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN)
    status = status_pb2.Status(code=code, message=str(error))
    if isinstance(error, InvalidInputError):
        value = str(error.value)
        shown = value if len(value) <= _SHOWN_CHARS else value[:_SHOWN_CHARS] + "…"
        info.metadata.update({"field": error.field, "value": shown, "expected": error.expected})
        status.message = str(InvalidInputError(error.field, shown, error.expected))
        violation = error_details_pb2.BadRequest.FieldViolation(
            field=error.field, description=f"got {shown!r}, expected {error.expected}"
        )
        status.details.add().Pack(error_details_pb2.BadRequest(field_violations=[violation]))
    if isinstance(error, BusyError):
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(round(error.retry_after_s * 1000))
        status.details.add().Pack(retry)
    status.details.add().Pack(info)
    return status


def error_of(error: grpc.RpcError) -> TaoxrError:
    """The exception that a failed call stands for: the inverse of `status_of`.

    A status without our details (gRPC's own, such as UNAVAILABLE when nobody listens, or INTERNAL when a
    connection breaks off) becomes `ConnectionLostError`, `UnavailableError` or `TaoxrError` by its code.
    """
    call = cast(grpc.aio.AioRpcError, error)  # the synchronous errors have the same accessors
    code, text = call.code(), call.details() or ""
    pairs: list[tuple[str, Any]] = [(str(k), v) for k, v in (call.trailing_metadata() or ())]
    details = {key: value for key, value in pairs if key == _DETAILS_KEY}
    if _DETAILS_KEY in details:
        known = from_status(status_pb2.Status.FromString(details[_DETAILS_KEY]))
        if known is not None:
            return known
    # Who cancels a call knows that it is no loss.
    if code is not grpc.StatusCode.CANCELLED and connection_lost(error):
        return ConnectionLostError(text)
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return UnavailableError(text)
    if code is grpc.StatusCode.UNAUTHENTICATED:
        return AccessError(text)
    return TaoxrError(f"{code.name}: {text}")


def connection_lost(error: grpc.RpcError) -> bool:
    """Whether the server went away during the call, rather than answer with an error of its own.

    Besides UNAVAILABLE and CANCELLED, gRPC says INTERNAL or UNKNOWN when a connection breaks off in the
    middle of a stream; such a status from our servers has details.
    """
    call = cast(grpc.aio.AioRpcError, error)
    code = call.code()
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
        return True
    detailed = any(str(key) == _DETAILS_KEY for key, _ in call.trailing_metadata() or ())
    return code in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN) and not detailed


def from_status(status: status_pb2.Status) -> TaoxrError | None:
    """The exception in a status that `status_of` made, or None for a status of somebody else."""
    info = error_details_pb2.ErrorInfo()
    retry = error_details_pb2.RetryInfo()
    for packed in status.details:
        packed.Unpack(info)  # leaves the message as it is when the type is another one
        packed.Unpack(retry)
    if info.domain != DOMAIN:
        return None
    if info.reason == "INVALID_INPUT":
        return InvalidInputError(info.metadata["field"], info.metadata["value"], info.metadata["expected"])
    if info.reason == "BUSY":
        return BusyError(status.message, retry.retry_delay.ToMilliseconds() / 1000)
    kinds = {reason: kind for kind, (_, reason) in _REASONS.items()}
    return kinds.get(info.reason, TaoxrError)(status.message)


def reason_of(status: status_pb2.Status) -> str:
    """Why, for programs: the reason in a status of ours; empty in one of somebody else."""
    info = error_details_pb2.ErrorInfo()
    for packed in status.details:
        packed.Unpack(info)
    return info.reason if info.domain == DOMAIN else ""


class WrapInterceptor(grpc.aio.ServerInterceptor, ABC):
    """Runs every call of the server inside `around`.

    Streaming handlers are driven here, so that a cancelled call unwinds its generator at once and
    not when the garbage collector comes by.
    """

    @abstractmethod
    def around(self, method: str, context: Any) -> AbstractAsyncContextManager[None]:
        """Context in which one call runs; ``method`` is ``/package.Service/Rpc``."""

    async def intercept_service(  # type: ignore[override]
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Wraps the handler that answers the call."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        method = str(handler_call_details.method)
        return _wrapped(handler, lambda context: self.around(method, context))


def handler_kind(handler: Any) -> str:
    """What gRPC calls a method handler: "unary_unary", "unary_stream", "stream_unary" or "stream_stream"."""
    kinds = (
        "stream" if streams else "unary"
        for streams in (handler.request_streaming, handler.response_streaming)
    )
    return "_".join(kinds)


async def send_all(responses: Any, write: Callable[[Any], Awaitable[None]]) -> None:
    """Writes what a streaming handler returned, and closes its generator at once when cancelled.

    Args:
        responses: The handler's generator, or its coroutine when it writes by itself.
        write: Sends one response.
    """
    if inspect.isawaitable(responses):
        await responses
        return
    async with aclosing(responses):
        async for response in responses:
            await write(response)


def status_code(code: Any) -> grpc.StatusCode:
    """The status for a code, which gRPC tells as a number here and as a StatusCode there."""
    return next((c for c in grpc.StatusCode if code in (c, c.value[0])), grpc.StatusCode.UNKNOWN)


def _wrapped(handler: Any, around: Callable[[Any], AbstractAsyncContextManager[None]]) -> Any:
    kind = handler_kind(handler)
    inner = getattr(handler, kind)

    async def unary(request: Any, context: Any) -> Any:
        async with around(context):
            return await inner(request, context)

    async def stream(request: Any, context: Any) -> None:
        async with around(context):
            await send_all(inner(request, context), context.write)

    make = getattr(grpc, f"{kind}_rpc_method_handler")
    return make(
        stream if handler.response_streaming else unary,
        request_deserializer=handler.request_deserializer,
        response_serializer=handler.response_serializer,
    )


class ErrorInterceptor(WrapInterceptor):
    """Turns exceptions of handlers into statuses; install it first, so that it is outermost."""

    @asynccontextmanager
    async def around(self, method: str, context: Any) -> AsyncGenerator[None]:
        """Aborts the call with `status_of` the exception that leaves it."""
        try:
            yield
        except (asyncio.CancelledError, grpc.aio.AbortError):
            raise
        except Exception as error:  # the boundary: whatever is left becomes a status
            log = structlog.get_logger()
            if isinstance(error, TaoxrError):
                log.warning("call refused", method=method, kind=type(error).__name__)
            else:
                log.exception("call failed", method=method)
            await _abort(context, error)


async def _abort(context: Any, error: Exception) -> None:
    status = status_of(error)
    details = ((_DETAILS_KEY, status.SerializeToString()),)
    await context.abort(status_code(status.code), status.message, details)


class TokenInterceptor(WrapInterceptor):
    """Lets only callers through that send ``authorization: Bearer TOKEN``.

    Args:
        token: The secret that both sides know.
        open_services: Services, as "package.Service", that anybody may call.
    """

    def __init__(self, token: str, open_services: Sequence[str] = ()) -> None:
        self._expected = f"Bearer {token}".encode()
        self._open = tuple(f"/{name}/" for name in open_services)

    @asynccontextmanager
    async def around(self, method: str, context: Any) -> AsyncGenerator[None]:
        """Aborts the call with UNAUTHENTICATED when the token is missing or wrong."""
        if method.startswith(self._open):
            yield
            return
        metadata: list[tuple[str, str | bytes]] = list(context.invocation_metadata() or ())
        given = next((str(value) for key, value in metadata if key == "authorization"), "")
        # Constant time, so that the answer's delay says nothing about the token.
        if not hmac.compare_digest(given.encode(), self._expected):
            error = AccessError("send 'authorization: Bearer TOKEN' with this server's token")
            await _abort(context, error)
        yield


def token_metadata(token: str) -> tuple[tuple[str, str], ...]:
    """Call metadata that `TokenInterceptor` lets through."""
    return (("authorization", f"Bearer {token}"),)
