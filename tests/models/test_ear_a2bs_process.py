"""The ear and the lips through real worker processes."""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import grpc.aio
import numpy as np
import psutil
import pytest
import soxr
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoxr import arkit, rpc
from taoxr.errors import InvalidInputError
from taoxr.v1.common_pb2 import PhonemeTiming
from taoxr.worker.v1 import a2bs_pb2, a2bs_pb2_grpc, ear_pb2, ear_pb2_grpc, worker_pb2, worker_pb2_grpc
from taoxr_models.a2bs.rig import lip_gap
from taoxr_models.catalog import default_model, verified
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import Speech, Voice

pytestmark = pytest.mark.process

RATE = 22050
TEXT = "Maybe my brother will bring some purple plums."


@asynccontextmanager
async def connected(target: str) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(target, options=rpc.CHANNEL_OPTIONS) as channel:
        async with asyncio.timeout(120):
            watch = health_pb2_grpc.HealthStub(channel).Watch(
                health_pb2.HealthCheckRequest(), wait_for_ready=True
            )
            async for health in watch:
                if health.status == health_pb2.HealthCheckResponse.SERVING:
                    watch.cancel()
                    break
        yield channel


def worker(role: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="taoxr-") as folder:
        target = f"unix:{Path(folder) / role}"
        command = [sys.executable, "-m", "taoxr_models.worker", role, "--listen", target]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        yield target
        out, _ = process.communicate(timeout=120)
        assert (process.returncode, out) == (0, b"")


@pytest.fixture(scope="module")
def ear() -> Iterator[str]:
    yield from worker("ear")


@pytest.fixture(scope="module")
def a2bs() -> Iterator[str]:
    yield from worker("a2bs")


@pytest.fixture(scope="module")
def speech() -> Speech:
    (symbols,) = Phonemizer()(TEXT)
    return Voice(verified(default_model("tts"))).speak(symbols)


def at_rate(speech: Speech, rate: int) -> bytes:
    """The speech with silence on both sides."""
    x = np.concatenate([np.zeros(RATE // 2, np.int16), speech.pcm, np.zeros(RATE, np.int16)])
    y = soxr.resample(x.astype(np.float32), RATE, rate)
    return np.clip(y, -32768, 32767).astype("<i2").tobytes()


def listening(config: ear_pb2.ListenConfig, pcm: bytes, chunk: int) -> Iterable[ear_pb2.ListenRequest]:
    yield ear_pb2.ListenRequest(config=config)
    for i in range(0, len(pcm), chunk):
        yield ear_pb2.ListenRequest(pcm=pcm[i : i + chunk])


async def answered(call: grpc.aio.StreamStreamCall | grpc.aio.UnaryUnaryCall) -> None:
    if isinstance(call, grpc.aio.StreamStreamCall):
        async for _ in call:
            pass
    else:
        await call


async def refused(call: grpc.aio.StreamStreamCall | grpc.aio.UnaryUnaryCall) -> InvalidInputError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await answered(call)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    error = rpc.error_of(caught.value)
    assert isinstance(error, InvalidInputError)
    return error


@pytest.mark.parametrize("rate", [8000, 48000])
async def test_speech_to_text(ear: str, speech: Speech, rate: int) -> None:
    async with connected(ear) as channel:
        config = ear_pb2.ListenConfig(sample_rate_hz=rate)
        call = ear_pb2_grpc.EarServiceStub(channel).Listen(listening(config, at_rate(speech, rate), 6400))
        responses = [r async for r in call]
    marks = [r.WhichOneof("payload") for r in responses]
    assert marks == ["speech_started", "speech_sustained", "speech_stopped", "utterance"]
    assert responses[-1].utterance.is_final
    assert responses[-1].utterance.text.rstrip(".") == TEXT.rstrip(".")


async def test_push_to_talk_with_partials_live(ear: str, speech: Speech) -> None:
    """Audio at the pace of a microphone; the test waits for answers, never for the clock alone."""
    pcm = at_rate(speech, 16000)[:-24000]
    config = ear_pb2.ListenConfig(sample_rate_hz=16000, push_to_talk=True, partials=True)
    async with connected(ear) as channel:
        call = ear_pb2_grpc.EarServiceStub(channel).Listen()
        await call.write(ear_pb2.ListenRequest(config=config))
        began = time.monotonic()
        for i in range(0, len(pcm), 3200):
            await asyncio.sleep(max(0.0, began + i / 32000 - time.monotonic()))
            await call.write(ear_pb2.ListenRequest(pcm=pcm[i : i + 3200]))
        await call.write(ear_pb2.ListenRequest(end_of_utterance=ear_pb2.EndOfUtterance()))
        texts: list[str] = []
        async with asyncio.timeout(60):
            while True:
                response = await call.read()
                if response.HasField("utterance"):
                    if response.utterance.is_final:
                        break
                    texts.append(response.utterance.text)
        assert texts
        assert response.utterance.text.rstrip(".") == TEXT.rstrip(".")
        # Nothing is said now: one more final, empty.
        await call.write(ear_pb2.ListenRequest(pcm=bytes(32000)))
        await call.write(ear_pb2.ListenRequest(end_of_utterance=ear_pb2.EndOfUtterance()))
        await call.done_writing()
        rest: list[ear_pb2.ListenResponse] = []
        while (last := await call.read()) is not grpc.aio.EOF:
            rest.append(last)
        assert [(r.utterance.text, r.utterance.is_final) for r in rest] == [("", True)]
        assert rest[0].utterance.start_us >= response.utterance.end_us


async def test_a_cancelled_stream_leaves_the_ear_free(ear: str, speech: Speech) -> None:
    pcm = at_rate(speech, 16000)
    async with connected(ear) as channel:
        stub = ear_pb2_grpc.EarServiceStub(channel)
        config = ear_pb2.ListenConfig(sample_rate_hz=16000, partials=True)
        call = stub.Listen(listening(config, pcm * 3, 32000))
        async for _ in call:
            break
        call.cancel()
        again = [r async for r in stub.Listen(listening(config, pcm, 32000))]
        assert again[-1].utterance.text.rstrip(".") == TEXT.rstrip(".")
        status = await worker_pb2_grpc.WorkerServiceStub(channel).GetStatus(worker_pb2.GetStatusRequest())
        assert (status.role, status.active_calls, status.failed_calls) == ("ear", 0, 0)
        assert status.cancelled_calls >= 1
        assert psutil.Process(status.pid).memory_info().rss < 700e6


@pytest.mark.parametrize(
    ("requests", "field"),
    [
        ([], "config"),
        ([ear_pb2.ListenRequest(pcm=b"\0\0")], "config"),
        ([ear_pb2.ListenRequest(config=ear_pb2.ListenConfig(sample_rate_hz=4000))], "config.sample_rate_hz"),
        (
            [ear_pb2.ListenRequest(config=ear_pb2.ListenConfig(sample_rate_hz=8000, endpoint_silence_ms=1))],
            "config.endpoint_silence_ms",
        ),
        ([*listening(ear_pb2.ListenConfig(sample_rate_hz=8000), b"abc", 3)], "pcm"),
        ([ear_pb2.ListenRequest(config=ear_pb2.ListenConfig(sample_rate_hz=8000))] * 2, "payload"),
    ],
)
async def test_wrong_ear_requests_name_the_field(ear: str, requests: list, field: str) -> None:
    async with connected(ear) as channel:
        error = await refused(ear_pb2_grpc.EarServiceStub(channel).Listen(iter(requests)))
        assert error.field == field


def timings(speech: Speech) -> list[PhonemeTiming]:
    return [
        PhonemeTiming(symbol=t.symbol, start_us=round(t.start * 1e6 / RATE), end_us=round(t.end * 1e6 / RATE))
        for t in speech.timing
    ]


async def test_our_voice_moves_the_lips(a2bs: str, speech: Speech) -> None:
    async with connected(a2bs) as channel:
        stub = a2bs_pb2_grpc.A2bsServiceStub(channel)
        rig = (await stub.DescribeRig(a2bs_pb2.DescribeRigRequest())).rig
        assert (rig.space, tuple(rig.blendshape_names), rig.frame_rate) == ("arkit52", arkit.NAMES, 30.0)
        assert not rig.provisional
        request = a2bs_pb2.AnimatePhonemesRequest(
            phonemes=timings(speech), pcm=speech.pcm.tobytes(), sample_rate_hz=RATE, clock_offset_us=5_000_000
        )
        frames = (await stub.AnimatePhonemes(request)).frames
    times = np.array([f.time_us for f in frames])
    end_us = 5_000_000 + len(speech.pcm) * 1_000_000 // RATE
    np.testing.assert_array_equal(times, [round(k * 1e6 / 30) for k in range(150, 150 + len(times))])
    assert times[-1] < end_us <= times[-1] + 33_334
    gap = lip_gap(np.array([f.weights for f in frames]))
    for p in request.phonemes:
        if p.symbol.strip("ˈˌ") in ("p", "b", "m"):
            at = (times >= 5_000_000 + p.start_us - 17_000) & (times <= 5_000_000 + p.end_us + 17_000)
            assert gap[at].min() < 1e-3, p
    assert gap.max() > 0.2


async def test_any_audio_moves_the_lips(a2bs: str, speech: Speech) -> None:
    pcm = at_rate(speech, 44100)
    config = a2bs_pb2.AnimateAudioConfig(sample_rate_hz=44100, frame_rate=60)
    requests = [a2bs_pb2.AnimateAudioRequest(config=config)]
    requests += [a2bs_pb2.AnimateAudioRequest(pcm=pcm[i : i + 8820]) for i in range(0, len(pcm), 8820)]
    async with connected(a2bs) as channel:
        call = a2bs_pb2_grpc.A2bsServiceStub(channel).AnimateAudio(iter(requests))
        frames = [f async for r in call for f in r.frames]
    times = [f.time_us for f in frames]
    assert times == [round(k * 1e6 / 60) for k in range(len(times))]
    assert len(pcm) / 2 / 44100 - times[-1] * 1e-6 <= 1 / 60 + 1e-4
    gap = lip_gap(np.array([f.weights for f in frames]))
    assert gap[:20].max() == 0.0
    assert gap.max() > 0.2


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"frame_rate": 5}, "frame_rate"),
        ({"pcm": b"\0\0", "sample_rate_hz": 10}, "sample_rate_hz"),
        ({"pcm": b"\0", "sample_rate_hz": 8000}, "pcm"),
        ({"phonemes": [PhonemeTiming(symbol="漢", end_us=9)]}, "phonemes[0].symbol"),
        ({"phonemes": [PhonemeTiming(symbol="m", start_us=9, end_us=1)]}, "phonemes[0].start_us"),
        ({"phonemes": [PhonemeTiming(symbol="m", end_us=10**15)]}, "phonemes"),
        ({"previous": [PhonemeTiming(symbol="?!漢")]}, "previous[0].symbol"),
    ],
)
async def test_wrong_clauses_name_the_field(a2bs: str, request_: dict, field: str) -> None:
    async with connected(a2bs) as channel:
        stub = a2bs_pb2_grpc.A2bsServiceStub(channel)
        error = await refused(stub.AnimatePhonemes(a2bs_pb2.AnimatePhonemesRequest(**request_)))
        assert error.field == field


@pytest.mark.parametrize(
    ("requests", "field"),
    [
        ([], "config"),
        ([{"config": a2bs_pb2.AnimateAudioConfig(sample_rate_hz=1)}], "config.sample_rate_hz"),
        (
            [{"config": a2bs_pb2.AnimateAudioConfig(sample_rate_hz=8000, frame_rate=-1)}],
            "config.frame_rate",
        ),
        ([{"config": a2bs_pb2.AnimateAudioConfig(sample_rate_hz=8000)}, {"pcm": b"a"}], "pcm"),
    ],
)
async def test_wrong_audio_requests_name_the_field(a2bs: str, requests: list, field: str) -> None:
    async with connected(a2bs) as channel:
        stub = a2bs_pb2_grpc.A2bsServiceStub(channel)
        error = await refused(stub.AnimateAudio(iter([a2bs_pb2.AnimateAudioRequest(**r) for r in requests])))
        assert error.field == field
