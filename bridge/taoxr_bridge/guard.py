"""What every call to the bridge is held to: requests that parse, clients that read, a number of calls."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError
from grpc import aio

from taoxr.errors import BusyError, InvalidInputError
from taoxr.rpc import handler_kind, send_all
from taoxr_bridge.patience import Patience

# A rough guess at how long other calls go on.
_RETRY_S: Final = 1.0


class GuardInterceptor(aio.ServerInterceptor):
    """Refuses what would harm the server or leave the client without a clear status.

    * A request that is no message of its type: `InvalidInputError` (gRPC itself would say UNKNOWN).
    * A client that reads nothing of a stream for `stall_s`: `StalledError`. Until it reads, gRPC holds
      the one message that could not be sent, and then the status; the handler and all it used is over.
    * A client that sends no request for `idle_s` in a stream of requests: `IdleError`.
    * More than `most` calls at once: `BusyError`.

    Args:
        stall_s: How long a client may take to make room for one response.
        idle_s: How long a client may take to send the next request of a stream.
        most: Most calls at once.
        exempt: Services, as "package.Service", that are left alone.
        quiet: Calls, as "package.Service/Rpc", that `idle_s` is not for.
    """

    def __init__(
        self,
        stall_s: float,
        idle_s: float,
        most: int,
        exempt: Sequence[str] = (),
        quiet: Sequence[str] = (),
    ) -> None:
        self._stall_s = stall_s
        self._idle_s = idle_s
        self._most = most
        self._exempt = tuple(f"/{name}/" for name in exempt)
        self._quiet = tuple(f"/{name}" for name in quiet)
        self._calls = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def intercept_service(  # type: ignore[override]
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """Wraps the handler that answers the call."""
        handler = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        if handler is None or method.startswith(self._exempt):
            return handler
        return self._guarded(handler, None if method in self._quiet else self._idle_s)

    async def idle(self) -> None:
        """Waits until no call runs."""
        await self._idle.wait()

    def _guarded(self, handler: Any, idle_s: float | None) -> Any:
        kind = handler_kind(handler)
        inner = getattr(handler, kind)

        def parse(data: bytes) -> Any:
            try:
                return handler.request_deserializer(data)
            except DecodeError:  # its text may hold a part of the request
                raise InvalidInputError("request", f"{len(data)} bytes", "a message of this call") from None

        def parsed(request: Any, patience: Patience) -> Any:
            return _Requests(request, parse, patience) if handler.request_streaming else parse(request)

        async def unary(request: Any, context: Any) -> Any:
            patience = Patience(self._stall_s, idle_s)
            with self._place():
                async with patience.limited():
                    return await inner(parsed(request, patience), context)

        async def stream(request: Any, context: Any) -> None:
            patience = Patience(self._stall_s, idle_s)
            patient = _PatientContext(context, patience)
            with self._place():
                async with patience.limited():
                    await send_all(inner(parsed(request, patience), patient), patient.write)

        make = getattr(grpc, f"{kind}_rpc_method_handler")
        # Requests are parsed above, where an error can still become a status.
        return make(
            stream if handler.response_streaming else unary,
            response_serializer=handler.response_serializer,
        )

    @contextmanager
    def _place(self) -> Generator[None]:
        if self._calls >= self._most:
            raise BusyError(f"all {self._most} calls are taken; try again later", _RETRY_S)
        self._calls += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle.set()


class _Requests:
    """Requests of a stream, parsed one by one. No generator: that would end when a wait is cancelled."""

    def __init__(
        self, source: AsyncIterator[bytes], parse: Callable[[bytes], Any], patience: Patience
    ) -> None:
        self._source = source
        self._parse = parse
        self._patience = patience

    def __aiter__(self) -> "_Requests":
        return self

    async def __anext__(self) -> Any:
        self._patience.wait_for_request()
        data = await anext(self._source)
        self._patience.got_request()
        return self._parse(data)


class _PatientContext:
    """A call's context that tells when `write` waits for the client."""

    def __init__(self, context: Any, patience: Patience) -> None:
        self._context = context
        self._patience = patience
        self._begun = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def write(self, message: Any) -> None:
        """Sends a response."""
        if not self._begun:
            self._begun = True
            await self._begin()
        self._patience.wait_for_room()
        await self._context.write(message)
        self._patience.got_room()

    async def _begin(self) -> None:
        """Sends the metadata that comes before the first response, wholly even when it is cancelled.

        A first write that is cancelled half way leaves gRPC unaware that it has sent them; it would
        send them again with the status, and fail, and the client would be told INTERNAL.
        """
        sending = asyncio.ensure_future(self._context.send_initial_metadata(()))
        try:
            await asyncio.shield(sending)
        except asyncio.CancelledError:
            # Never long: no flow control holds metadata up. An error says that the client has gone.
            await asyncio.wait([sending])
            with suppress(asyncio.CancelledError, aio.BaseError):
                sending.result()
            raise
