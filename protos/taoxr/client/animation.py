"""``taoxr.v1.AnimationService`` for the client."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

import numpy as np
from grpc import aio
from numpy.typing import NDArray

from taoxr.client import events, from_proto
from taoxr.client.body import Bones, bones_from_proto, cues_from_proto, track_from_proto
from taoxr.client.clips import AnimatedText, FaceTrack
from taoxr.errors import UnavailableError
from taoxr.rpc import error_of
from taoxr.v1 import animation_pb2, body_pb2, common_pb2
from taoxr.v1.animation_pb2_grpc import AnimationServiceStub

_AUDIO_BYTES: Final = 64 * 1024


async def animate_audio(
    channel: aio.Channel,
    pcm: NDArray[np.int16],
    sample_rate_hz: int,
    frame_rate: float,
    on_progress: Callable[[int], None] | None,
) -> FaceTrack:
    """See `taoxr.client.Client.animate_audio`."""
    data = pcm.astype("<i2", copy=False).tobytes()
    config = animation_pb2.AnimateAudioConfig(
        audio=common_pb2.AudioFormat(sample_rate_hz=sample_rate_hz), frame_rate=frame_rate
    )

    accepted = asyncio.Event()

    async def requests() -> AsyncIterator[animation_pb2.AnimateAudioRequest]:
        yield animation_pb2.AnimateAudioRequest(config=config)
        # A write that races with a refusal would hide the server's status behind gRPC's own error.
        await accepted.wait()
        for start in range(0, len(data), _AUDIO_BYTES):
            yield animation_pb2.AnimateAudioRequest(pcm=data[start : start + _AUDIO_BYTES])

    rig: events.Rig | None = None
    frames: list[common_pb2.Frame] = []
    call = AnimationServiceStub(channel).AnimateAudio(requests())
    try:
        async for response in call:
            if response.WhichOneof("payload") == "started":
                rig = from_proto.rig_from_proto(response.started)
                accepted.set()
            else:
                frames.extend(response.frames.frames)
                if on_progress is not None and frames:
                    on_progress(frames[-1].time_us)
    except aio.AioRpcError as error:
        raise error_of(error) from error
    finally:
        call.cancel()
    if rig is None:
        raise UnavailableError("the server ended without an answer; look at its log")
    return FaceTrack(rig, *from_proto.frames_from_proto(frames, len(rig.names)))


async def animate_text(channel: aio.Channel, request: animation_pb2.AnimateTextRequest) -> AnimatedText:
    """See `taoxr.client.Client.animate_text`."""
    rig: events.Rig | None = None
    bones: Bones | None = None
    rest: Sequence[body_pb2.BodyFrame] = ()
    clauses: list[animation_pb2.AnimatedClause] = []
    call = AnimationServiceStub(channel).AnimateText(request)
    try:
        async for response in call:
            match response.WhichOneof("payload"):
                case "started":
                    rig = from_proto.rig_from_proto(response.started)
                case "body":
                    bones = bones_from_proto(response.body)
                case "motion":
                    rest = response.motion.body
                case _:
                    clauses.append(response.clause)
    except aio.AioRpcError as error:
        raise error_of(error) from error
    finally:
        call.cancel()
    if rig is None:
        raise UnavailableError("the server ended without an answer; look at its log")
    frames = [frame for clause in clauses for frame in clause.frames]
    return AnimatedText(
        FaceTrack(rig, *from_proto.frames_from_proto(frames, len(rig.names))),
        tuple(from_proto.phoneme_from_proto(p) for clause in clauses for p in clause.phonemes),
        max((clause.end_us for clause in clauses), default=0),
        bones,
        track_from_proto([*(frame for clause in clauses for frame in clause.body), *rest]),
        tuple(cue for clause in clauses for cue in cues_from_proto(clause.cues)),
    )
