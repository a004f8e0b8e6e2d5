"""``python -m taoxr_bridge.bench.stub TARGET...``: a worker that answers at once, to measure all but models.

Every target serves all roles. Frames come by the clock of the audio: one for each 1/30 s of it.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, Final, cast

from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from taoxr import arkit
from taoxr.rpc import SERVER_OPTIONS, ErrorInterceptor
from taoxr.v1 import common_pb2
from taoxr.worker.v1 import a2bs_pb2, a2bs_pb2_grpc, worker_pb2, worker_pb2_grpc

_SAMPLE_RATE: Final = 22050
_WEIGHTS: Final = [0.5] * len(arkit.NAMES)


class _Status(worker_pb2_grpc.WorkerServiceServicer):
    async def GetStatus(  # noqa: N802  the rpc's name
        self, request: worker_pb2.GetStatusRequest, context: Any
    ) -> worker_pb2.GetStatusResponse:
        return worker_pb2.GetStatusResponse(model="stub", sample_rate_hz=_SAMPLE_RATE)


class _A2bs(a2bs_pb2_grpc.A2bsServiceServicer):
    async def DescribeRig(  # noqa: N802  the rpc's name
        self, request: a2bs_pb2.DescribeRigRequest, context: Any
    ) -> a2bs_pb2.DescribeRigResponse:
        rig = common_pb2.RigDescription(space=arkit.SPACE, blendshape_names=arkit.NAMES, frame_rate=30)
        return a2bs_pb2.DescribeRigResponse(rig=rig)

    async def AnimatePhonemes(  # noqa: N802  the rpc's name
        self, request: a2bs_pb2.AnimatePhonemesRequest, context: Any
    ) -> a2bs_pb2.AnimatePhonemesResponse:
        return a2bs_pb2.AnimatePhonemesResponse()

    async def AnimateAudio(  # noqa: N802  the rpc's name
        self, request_iterator: AsyncIterator[a2bs_pb2.AnimateAudioRequest], context: Any
    ) -> AsyncGenerator[a2bs_pb2.AnimateAudioResponse]:
        rate, frame_rate, samples, frame = 0, 30.0, 0, 0
        async for request in request_iterator:
            if request.WhichOneof("payload") == "config":
                rate, frame_rate = request.config.sample_rate_hz, request.config.frame_rate or 30.0
                continue
            samples += len(request.pcm) // 2
            due = int(samples / rate * frame_rate)
            times = [round(k * 1e6 / frame_rate) for k in range(frame, due)]
            frame = due
            frames = [common_pb2.Frame(time_us=time_us, weights=_WEIGHTS) for time_us in times]
            yield a2bs_pb2.AnimateAudioResponse(frames=frames)


async def serve(targets: Sequence[str]) -> None:
    """Serves until stdin closes."""
    server = aio.server(interceptors=(ErrorInterceptor(),), options=SERVER_OPTIONS)
    healthy: Any = cast(Any, health).aio.HealthServicer()  # the package has no types
    await healthy.set("", health_pb2.HealthCheckResponse.SERVING)
    cast(Any, health_pb2_grpc).add_HealthServicer_to_server(healthy, server)
    worker_pb2_grpc.add_WorkerServiceServicer_to_server(_Status(), server)
    a2bs_pb2_grpc.add_A2bsServiceServicer_to_server(_A2bs(), server)
    for target in targets:
        server.add_insecure_port(target)
    await server.start()
    await asyncio.to_thread(sys.stdin.buffer.read)
    await server.stop(None)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1:]))
