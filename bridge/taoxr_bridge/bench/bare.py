"""``python -m taoxr_bridge.bench.bare TARGET STUB``: what gRPC itself costs, to compare the bridge with.

Serves two streams of bytes, which it never parses: one that sends every message back, and one that passes
every message on to the stub worker, and what comes of it back. The second is the least that any bridge
written with ``grpc.aio`` can cost.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Final, cast

import grpc
from grpc import aio

from taoxr.rpc import CHANNEL_OPTIONS, SERVER_OPTIONS
from taoxr_bridge.tasks import nursery

SERVICE: Final = "taoxr.bench.Bare"
_ANIMATE: Final = "/taoxr.worker.v1.A2bsService/AnimateAudio"


async def _echo(requests: AsyncIterator[bytes], context: Any) -> AsyncGenerator[bytes]:
    async for request in requests:
        yield request


def _relay(stub: aio.Channel) -> Any:
    animate = cast(Any, stub).stream_stream(_ANIMATE)

    async def relay(requests: AsyncIterator[bytes], context: Any) -> None:
        call = animate()

        async def pass_on() -> None:
            async for request in requests:
                await call.write(request)
            await call.done_writing()

        async with nursery() as tasks:
            tasks.create_task(pass_on())
            async for response in call:
                await context.write(response)

    return relay


async def serve(target: str, stub_target: str) -> None:
    """Serves until stdin closes."""
    async with aio.insecure_channel(stub_target, options=CHANNEL_OPTIONS) as stub:
        server = aio.server(options=SERVER_OPTIONS)
        handler: Any = grpc.stream_stream_rpc_method_handler
        handlers = {"Echo": handler(_echo), "Relay": handler(_relay(stub))}
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, handlers)])
        server.add_insecure_port(target)
        await server.start()
        await asyncio.to_thread(sys.stdin.buffer.read)
        await server.stop(None)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], sys.argv[2]))
