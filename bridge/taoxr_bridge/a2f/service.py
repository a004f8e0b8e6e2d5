"""The two services of an Audio2Face-3D server, under NVIDIA's paths.

Errors are gRPC statuses with ``google.rpc`` details, like everywhere in the bridge; the in-band status
of the protocol only ever says SUCCESS.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

import grpc
from grpc import aio

from taoxr import arkit
from taoxr.errors import InvalidInputError, TaoxrError
from taoxr.interop.a2f.v1 import a2f_pb2 as pb
from taoxr.worker.v1 import a2bs_pb2
from taoxr_bridge import calls
from taoxr_bridge.a2f.clip import Clip, header_of
from taoxr_bridge.a2f.weights import NAMES, Shaping
from taoxr_bridge.tasks import nursery
from taoxr_bridge.worker import Worker

CONTROLLER: Final = "nvidia_ace.services.a2f_controller.v1.A2FControllerService"
EXPORT: Final = "nvidia_ace.services.a2x_export_config.v1.A2XExportConfigService"
FRAME_RATE: Final = 30.0
"""What Audio2Face-3D sends; its protocol has no field for it."""
_DRAIN_S: Final = 1.0
_SUFFIXES: Final = {
    pb.GetConfigsRequest.CONFIG_TYPE_YAML: "yaml",
    pb.GetConfigsRequest.CONFIG_TYPE_JSON: "json",
}


class Audio2FaceService:
    """Lips for clients of Audio2Face-3D.

    Args:
        a2bs: Worker that makes the frames.
        wait_s: How long to wait for a worker that restarts.
        max_clip_s: Longest clip that is accepted, in seconds.
    """

    def __init__(self, a2bs: Worker, wait_s: float, max_clip_s: float) -> None:
        self._a2bs = a2bs
        self._wait_s = wait_s
        self._max_clip_s = max_clip_s

    async def process_audio_stream(
        self, request_iterator: AsyncIterator[pb.AudioStream], context: Any
    ) -> None:
        """Animates one clip: a message per frame, with the audio from that frame to the next.

        Raises:
            InvalidInputError: A request has a wrong value or comes out of order.
            UnavailableError: The worker stopped.
        """
        try:
            await self._process(request_iterator, context)
        except InvalidInputError:
            await _drain(request_iterator)
            raise

    async def _process(self, request_iterator: AsyncIterator[pb.AudioStream], context: Any) -> None:
        header = header_of(await anext(request_iterator, None))
        shaping = Shaping(header.blendshape_params)
        rig = (await calls.describe_rig(self._a2bs, self._wait_s)).rig
        if tuple(rig.blendshape_names) != arkit.NAMES:
            raise TaoxrError(
                f"the a2bs worker makes {rig.space!r}, Audio2Face-3D clients take {arkit.SPACE!r}: "
                "run another a2bs model"
            )
        await context.write(_started(header.audio_header))
        rate = header.audio_header.samples_per_second
        clip = Clip(rate, self._max_clip_s)
        config = a2bs_pb2.AnimateAudioConfig(sample_rate_hz=rate, frame_rate=FRAME_RATE)
        async with calls.animating_audio(self._a2bs, self._wait_s) as animation, nursery() as tasks:
            await animation.put(a2bs_pb2.AnimateAudioRequest(config=config))
            reading = tasks.create_task(clip.read(request_iterator, animation))
            async for reply in animation:
                for frame in reply.frames:
                    seconds = frame.time_us * 1e-6
                    weights = shaping.apply(frame.weights)
                    values = pb.FloatArrayWithTimeCode(time_code=seconds, values=weights)
                    audio = await clip.take_until(seconds + 1 / FRAME_RATE)
                    await context.write(_data(audio, values))
            rest = clip.rest()
            if rest.audio_buffer:
                await context.write(_data(rest))
            event = pb.Event(event_type=pb.Event.EVENT_TYPE_END_OF_A2F_AUDIO_PROCESSING)
            await context.write(pb.AnimationDataStream(event=event))
            status = pb.Status(code=pb.Status.CODE_SUCCESS, message=_summary(header, shaping, clip))
            await context.write(pb.AnimationDataStream(status=status))
            reading.cancel()

    async def get_configs(self, request: pb.GetConfigsRequest, context: Any) -> AsyncIterator[pb.Config]:
        """What this server does, as one file; JSON, which YAML 1.2 contains.

        Raises:
            InvalidInputError: The type is unknown.
        """
        suffix = _SUFFIXES.get(request.config_type)
        if suffix is None:
            raise InvalidInputError("config_type", request.config_type, "YAML (0) or JSON (1)")
        content = {
            "server": "taoxr",
            "frame_rate": FRAME_RATE,
            "blendshape_names": NAMES,
            "blendshape_params": {
                "bs_weight_multipliers": dict.fromkeys(NAMES, 1.0),
                "bs_weight_offsets": dict.fromkeys(NAMES, 0.0),
                "enable_clamping_bs_weight": False,
            },
            "audio": {"channel_count": 1, "bits_per_sample": 16, "samples_per_second": [8000, 48000]},
            "max_clip_seconds": self._max_clip_s,
        }
        yield pb.Config(name=f"taoxr.{suffix}", content=json.dumps(content, indent=2))


def add_to_server(service: Audio2FaceService, server: aio.Server) -> None:
    """Serves both services under NVIDIA's paths.

    By generic handlers: messages named like NVIDIA's would clash with its Python packages.
    """
    process = grpc.stream_stream_rpc_method_handler(
        service.process_audio_stream,
        request_deserializer=pb.AudioStream.FromString,
        response_serializer=pb.AnimationDataStream.SerializeToString,
    )
    configs = grpc.unary_stream_rpc_method_handler(
        service.get_configs,
        request_deserializer=pb.GetConfigsRequest.FromString,
        response_serializer=pb.Config.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        (
            grpc.method_handlers_generic_handler(CONTROLLER, {"ProcessAudioStream": process}),
            grpc.method_handlers_generic_handler(EXPORT, {"GetConfigs": configs}),
        )
    )


async def _drain(requests: AsyncIterator[Any]) -> None:
    """Reads what a refused client still sends: in some clients a write that fails hides the status."""
    ended = False
    with suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_S):
            while not ended:
                with suppress(InvalidInputError):  # one that does not parse; the next one may
                    ended = await anext(requests, None) is None


def _started(audio: pb.AudioHeader) -> pb.AnimationDataStream:
    header = pb.AnimationDataStreamHeader(
        audio_header=audio,
        skel_animation_header=pb.SkelAnimationHeader(blend_shapes=NAMES),
        start_time_code_since_epoch=time.time(),
    )
    return pb.AnimationDataStream(animation_data_stream_header=header)


def _data(audio: pb.AudioWithTimeCode, *frames: pb.FloatArrayWithTimeCode) -> pb.AnimationDataStream:
    animation = pb.SkelAnimation(blend_shape_weights=frames)
    return pb.AnimationDataStream(animation_data=pb.AnimationData(skel_animation=animation, audio=audio))


def _summary(header: pb.AudioStreamHeader, shaping: Shaping, clip: Clip) -> str:
    """Text of the final status; names what the client sent and this server does not use."""
    unused = [
        field
        for field in ("face_params", "emotion_post_processing_params", "emotion_params")
        if header.HasField(field)
    ]
    unused += ["emotions"] * clip.has_emotions
    unused += [f"blendshape_params of {', '.join(shaping.ignored)}"] * bool(shaping.ignored)
    return "audio processing completed" + (f"; not used: {'; '.join(unused)}" if unused else "")
