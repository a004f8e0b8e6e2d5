"""A voice from a user's folder: added, chosen and served by the worker."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.models.voices.small_voice import make

from taoxr import rpc
from taoxr.worker.v1 import tts_pb2, tts_pb2_grpc

pytestmark = pytest.mark.process


def taoxr(*arguments: str) -> str:
    command = [str(Path(sys.executable).with_name("taoxr")), "models", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ)).stdout


async def test_speaker_seed_and_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path / "home"))
    inference = {"noise_scale": 0.5, "length_scale": 1.0, "noise_w": 0.5}
    taoxr("add", str(make(tmp_path / "voice", speakers=2, rate=16000, inference=inference)), "--id", "mine")
    assert "tts: mine" in taoxr("use", "mine")
    target = f"unix:{tmp_path / 'tts'}"
    command = [sys.executable, "-m", "taoxr_models.worker", "tts", "--listen", target]
    process = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE)
    try:
        async with (
            asyncio.timeout(120),
            grpc.aio.insecure_channel(target, options=rpc.CHANNEL_OPTIONS) as channel,
        ):
            watching = health_pb2_grpc.HealthStub(channel).Watch(
                health_pb2.HealthCheckRequest(), wait_for_ready=True
            )
            async for health in watching:
                if health.status == health_pb2.HealthCheckResponse.SERVING:
                    break
            stub = tts_pb2_grpc.TtsServiceStub(channel)

            async def say(text: str = "Hello there.", seed: int = 0, speaker: str = "") -> bytes:
                request = tts_pb2.SynthesizeRequest(text=text, seed=seed, speaker=speaker)
                parts = [part async for part in stub.Synthesize(request)]
                assert parts[0].sample_rate_hz == 16000
                pcm = b"".join(part.pcm for part in parts)
                assert parts[0].phonemes[-1].end_us == len(pcm) // 2 * 1_000_000 // 16000
                return pcm

            first = await say()
            assert await say() == first == await say(speaker="voice0")
            assert len({first, await say(seed=1), await say(speaker="voice1")}) == 3
            for text in ("Hello there.", ""):  # nothing to say: how the bridge asks
                with pytest.raises(grpc.aio.AioRpcError, match="speaker") as refused:
                    await say(text, speaker="nobody")
                assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    finally:
        async with asyncio.timeout(60):
            await process.communicate(b"")
    assert process.returncode == 0
