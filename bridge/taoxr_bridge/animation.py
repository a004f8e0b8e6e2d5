"""``taoxr.v1.AnimationService``: the a2bs worker's work for any voice, checked and passed on."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Final

from taoxr.errors import InvalidInputError
from taoxr.v1 import animation_pb2 as pb
from taoxr.v1 import animation_pb2_grpc
from taoxr.worker.v1 import a2bs_pb2
from taoxr_bridge import calls, validation
from taoxr_bridge.pipe import Pipe
from taoxr_bridge.tasks import nursery
from taoxr_bridge.worker import Worker

_QUEUE: Final = 4


class AnimationService(animation_pb2_grpc.AnimationServiceServicer):
    """Lips for audio that comes from anywhere.

    Args:
        a2bs: Worker that makes the frames.
        wait_s: How long to wait for a worker that restarts.
    """

    def __init__(self, a2bs: Worker, wait_s: float) -> None:
        self._a2bs = a2bs
        self._wait_s = wait_s

    # For the ignored override see ConversationService.Converse.
    async def AnimateAudio(  # noqa: N802  # pyright: ignore[reportIncompatibleMethodOverride]
        self, request_iterator: AsyncIterator[pb.AnimateAudioRequest], context: Any
    ) -> None:
        """Animates one clip."""
        first = await anext(request_iterator, None)
        if first is None or first.WhichOneof("payload") != "config":
            given = "no request" if first is None else first.WhichOneof("payload")
            raise InvalidInputError("payload", given, "config as the first request")
        rate = first.config.audio.sample_rate_hz
        validation.check_sample_rate("config.audio.sample_rate_hz", rate)
        frame_rate = validation.frame_rate("config.frame_rate", first.config.frame_rate)
        rig = (await calls.describe_rig(self._a2bs, self._wait_s)).rig
        rig.frame_rate = frame_rate
        # Exact timing is only known for our own voice; for others the method is a stopgap.
        rig.provisional = True
        await context.write(pb.AnimateAudioResponse(started=rig))
        requests = Pipe[a2bs_pb2.AnimateAudioRequest](_QUEUE)
        config = a2bs_pb2.AnimateAudioConfig(sample_rate_hz=rate, frame_rate=frame_rate)
        async with nursery() as tasks:
            # A task of its own: an error inside an iterator that gRPC reads would be lost.
            tasks.create_task(_pass_on(request_iterator, config, requests))
            async with aclosing(calls.animate_audio(self._a2bs, aiter(requests), self._wait_s)) as replies:
                async for reply in replies:
                    if reply.frames:
                        await context.write(
                            pb.AnimateAudioResponse(frames=pb.FrameBatch(frames=reply.frames))
                        )


async def _pass_on(
    given: AsyncIterator[pb.AnimateAudioRequest],
    config: a2bs_pb2.AnimateAudioConfig,
    requests: Pipe[a2bs_pb2.AnimateAudioRequest],
) -> None:
    await requests.put(a2bs_pb2.AnimateAudioRequest(config=config))
    async for request in given:
        if request.WhichOneof("payload") != "pcm":
            raise InvalidInputError("payload", request.WhichOneof("payload"), "pcm after the first request")
        validation.check_pcm("pcm", request.pcm)
        await requests.put(a2bs_pb2.AnimateAudioRequest(pcm=request.pcm))
    await requests.close()
