"""Audio2Face-3D's protocol on the wire: what its clients send, and what they get back."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

import grpc
import numpy as np
import pytest
from grpc import aio

from taoxr import arkit
from taoxr.errors import InvalidInputError
from taoxr.interop.a2f.v1 import a2f_pb2 as pb
from taoxr.rpc import error_of
from taoxr.worker.v1 import a2bs_pb2

pytestmark = pytest.mark.process

PROCESS = "/nvidia_ace.services.a2f_controller.v1.A2FControllerService/ProcessAudioStream"
CONFIGS = "/nvidia_ace.services.a2x_export_config.v1.A2XExportConfigService/GetConfigs"
END = pb.AudioStream(end_of_audio=pb.AudioStream.EndOfAudio())


def header(rate: int = 16000, channels: int = 1, bits: int = 16, **params: Any) -> pb.AudioStream:
    audio = pb.AudioHeader(channel_count=channels, samples_per_second=rate, bits_per_sample=bits)
    return pb.AudioStream(audio_stream_header=pb.AudioStreamHeader(audio_header=audio, **params))


def audio(pcm: bytes) -> pb.AudioStream:
    return pb.AudioStream(audio_with_emotion=pb.AudioWithEmotion(audio_buffer=pcm))


def noise(seconds: float, rate: int) -> bytes:
    samples = np.random.default_rng(0).integers(-8000, 8000, round(seconds * rate))
    return samples.astype("<i2").tobytes()


def pieces(pcm: bytes, size: int) -> list[pb.AudioStream]:
    return [audio(pcm[i : i + size]) for i in range(0, len(pcm), size)]


@asynccontextmanager
async def processing(target: str) -> AsyncIterator[Any]:
    async with aio.insecure_channel(target) as channel:
        yield channel.stream_stream(
            PROCESS,
            request_serializer=pb.AudioStream.SerializeToString,
            response_deserializer=pb.AnimationDataStream.FromString,
        )


async def answers(target: str, requests: Iterable[pb.AudioStream]) -> list[pb.AnimationDataStream]:
    async with processing(target) as process:
        return [answer async for answer in process(iter(requests))]


@pytest.mark.parametrize(
    ("rate", "seconds", "size"),
    [
        (16000, 1.0, 32000),
        (8000, 0.51, 160),
        (11025, 0.777, 4001),
        (22050, 1.234, 777),
        (44100, 0.7, 10**6),
        (48000, 60.0, 96001),
    ],
)
async def test_frames_and_audio_come_back(fake_bridge, rate: int, seconds: float, size: int):
    pcm = noise(seconds, rate)
    async with fake_bridge() as (_, fakes):
        first, *media, event, status = await answers(
            fakes.bridge, [header(rate), *pieces(pcm, size), audio(b""), END]
        )
    started = first.animation_data_stream_header
    names = list(started.skel_animation_header.blend_shapes)
    assert [name[0].lower() + name[1:] for name in names] == list(arkit.NAMES)
    assert names[:2] == ["EyeBlinkLeft", "EyeLookDownLeft"]
    assert (started.audio_header.samples_per_second, started.audio_header.bits_per_sample) == (rate, 16)
    assert started.start_time_code_since_epoch > 1.7e9
    frames = [f for m in media for f in m.animation_data.skel_animation.blend_shape_weights]
    codes = [frame.time_code for frame in frames]
    np.testing.assert_allclose(codes, np.arange(len(frames)) / 30, atol=1e-6)
    assert np.all(np.diff(codes) > 0)
    assert len(frames) == int(np.ceil(seconds * 30 - 1e-6))
    assert all(list(frame.values) == [0.5] * 52 for frame in frames)
    assert b"".join(m.animation_data.audio.audio_buffer for m in media) == pcm
    position = 0
    for message in media:
        sound = message.animation_data.audio
        assert sound.time_code == pytest.approx(position / 2 / rate)
        # A frame comes with the sound that is heard from it on.
        assert sound.time_code == pytest.approx(
            message.animation_data.skel_animation.blend_shape_weights[0].time_code, abs=1.0 / rate
        )
        position += len(sound.audio_buffer)
    assert event.WhichOneof("stream_part") == "event"
    assert event.event.event_type == 0
    assert (status.status.code, status.status.message) == (0, "audio processing completed")


async def test_multipliers_offsets_and_clamp_are_applied(fake_bridge):
    params = pb.BlendShapeParameters(
        bs_weight_multipliers={"JawOpen": 4.0, "MouthClose": 0.0, "TongueTipUp": 2.0},
        bs_weight_offsets={"MouthClose": -0.25, "TongueOut": 0.125},
        enable_clamping_bs_weight=True,
    )
    request = header(blendshape_params=params, face_params=pb.FaceParameters())
    async with fake_bridge() as (_, fakes):
        clamped = await answers(fakes.bridge, [request, audio(noise(0.1, 16000)), END])
        request.audio_stream_header.blendshape_params.enable_clamping_bs_weight = False
        free = await answers(fakes.bridge, [request, audio(noise(0.1, 16000)), END])
    for given, jaw, close in ((clamped, 1.0, 0.0), (free, 2.0, -0.25)):
        values = given[1].animation_data.skel_animation.blend_shape_weights[0].values
        assert values[arkit.INDEX["jawOpen"]] == jaw
        assert values[arkit.INDEX["mouthClose"]] == close
        assert values[arkit.INDEX["tongueOut"]] == 0.625
        assert values[arkit.INDEX["eyeBlinkLeft"]] == 0.5
        said = given[-1].status.message
        assert said.endswith("not used: face_params; blendshape_params of TongueTipUp")


SOUND = audio(b"\0\0" * 1600)
NOT_FINITE = pb.BlendShapeParameters(bs_weight_offsets={"JawOpen": float("nan")})


@pytest.mark.parametrize(
    ("requests", "field"),
    [
        ([], "stream_part"),
        ([SOUND, END], "stream_part"),
        ([END], "stream_part"),
        ([pb.AudioStream()], "stream_part"),
        ([header(), header(), SOUND, END], "stream_part"),
        ([header(), pb.AudioStream(), END], "stream_part"),
        ([header(), SOUND], "stream_part"),
        ([header()], "stream_part"),
        ([header(), END], "audio_buffer"),
        ([header(), audio(b"\0" * 3), END], "audio_buffer"),
        ([header(), audio(b"\0"), END], "audio_buffer"),
        ([header(channels=2), SOUND, END], "channel_count"),
        ([header(channels=0), SOUND, END], "channel_count"),
        ([header(bits=8), SOUND, END], "bits_per_sample"),
        ([header(rate=0), SOUND, END], "samples_per_second"),
        ([header(rate=7999), SOUND, END], "samples_per_second"),
        ([header(rate=96000), SOUND, END], "samples_per_second"),
        ([header(blendshape_params=NOT_FINITE), SOUND, END], "JawOpen"),
        ([header(8000), *[SOUND] * 21, END], "audio_buffer"),
    ],
)
async def test_wrong_requests_are_refused(fake_bridge, requests: list[pb.AudioStream], field: str):
    async with fake_bridge(a2f_max_clip_s=4.0) as (_, fakes):
        with pytest.raises(aio.AioRpcError) as caught:
            await answers(fakes.bridge, requests)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT, caught.value
        error = error_of(caught.value)
        assert isinstance(error, InvalidInputError)
        assert field in error.field
        # The server and the worker are as before.
        assert len(await answers(fakes.bridge, [header(), SOUND, END])) == 6


async def test_nothing_may_follow_the_end(fake_bridge):
    hold = asyncio.Event()

    async def animate(request_iterator: Any, context: Any) -> AsyncIterator[a2bs_pb2.AnimateAudioResponse]:
        async for _ in request_iterator:
            pass
        await hold.wait()
        yield a2bs_pb2.AnimateAudioResponse()

    async with fake_bridge() as (_, fakes):
        fakes.a2bs.AnimateAudio = animate
        await fakes.stop("a2bs")
        await fakes.start("a2bs")
        with pytest.raises(aio.AioRpcError, match="nothing after end_of_audio"):
            await answers(fakes.bridge, [header(), SOUND, END, SOUND])


async def test_a_cancelled_call_frees_the_worker(fake_bridge):
    ended = asyncio.Event()

    async def animate(request_iterator: Any, context: Any) -> AsyncIterator[a2bs_pb2.AnimateAudioResponse]:
        try:
            async for _ in request_iterator:
                yield a2bs_pb2.AnimateAudioResponse()
        finally:
            ended.set()

    async with fake_bridge() as (_, fakes), processing(fakes.bridge) as process:
        fakes.a2bs.AnimateAudio = animate
        await fakes.stop("a2bs")
        await fakes.start("a2bs")
        call = process()
        await call.write(header())
        await call.write(SOUND)
        assert (await call.read()).WhichOneof("stream_part") == "animation_data_stream_header"
        assert not ended.is_set()
        call.cancel()
        async with asyncio.timeout(60):
            await ended.wait()


@pytest.mark.parametrize(("kind", "name"), [(0, "taoxr.yaml"), (1, "taoxr.json")])
async def test_the_configuration_can_be_fetched(fake_bridge, kind: int, name: str):
    async with fake_bridge() as (_, fakes), aio.insecure_channel(fakes.bridge) as channel:
        fetch: Any = channel.unary_stream(
            CONFIGS,
            request_serializer=pb.GetConfigsRequest.SerializeToString,
            response_deserializer=pb.Config.FromString,
        )
        [config] = [config async for config in fetch(pb.GetConfigsRequest(config_type=kind))]
        assert config.name == name
        content = json.loads(config.content)
        assert content["blendshape_names"][0] == "EyeBlinkLeft"
        assert content["frame_rate"] == 30
        with pytest.raises(aio.AioRpcError) as caught:
            _ = [config async for config in fetch(pb.GetConfigsRequest(config_type=7))]
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


DOCUMENTED = {grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED}


@pytest.mark.parametrize("seed", range(60))
async def test_damaged_requests_get_documented_statuses(fake_bridge, seed: int):
    rng = np.random.default_rng(seed)
    params = pb.BlendShapeParameters(bs_weight_multipliers={"JawOpen": 1.5}, enable_clamping_bs_weight=True)
    good = [header(blendshape_params=params), audio(noise(0.05, 16000)), audio(noise(0.05, 16000)), END]
    requests = [request.SerializeToString() for request in good]
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(requests)))
        match rng.integers(5):
            case 0:
                del requests[at]
                requests = requests or [b""]
            case 1:
                requests.insert(at, requests[int(rng.integers(len(requests)))])
            case 2:
                requests[at] = rng.bytes(int(rng.integers(40)))
            case _:
                damaged = bytearray(requests[at])
                for _ in range(3):
                    if damaged:
                        damaged[int(rng.integers(min(40, len(damaged))))] = int(rng.integers(256))
                requests[at] = bytes(damaged)
    async with fake_bridge() as (_, fakes), aio.insecure_channel(fakes.bridge) as channel:
        call: Any = channel.stream_stream(PROCESS)(iter(requests), timeout=60)
        with suppress(aio.AioRpcError):
            async for _ in call:
                pass
        assert await call.code() in DOCUMENTED, (await call.details(), requests)
        assert len(await answers(fakes.bridge, [header(), SOUND, END])) == 6
