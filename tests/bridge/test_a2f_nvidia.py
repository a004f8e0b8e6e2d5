"""NVIDIA's own Audio2Face-3D client, from PyPI, against the bridge and the real a2bs worker.

The client pins an old grpcio, so it lives in an environment of its own, which is made once and kept.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from filelock import FileLock

from taoxr import arkit, paths
from taoxr.client import connect
from taoxr_bridge.server import bridge
from taoxr_bridge.settings import Settings

pytestmark = [pytest.mark.process, pytest.mark.slow]

PACKAGE = "nvidia-audio2face-3d==1.3.0"
CLIP = {
    "rate": 16000,
    "channels": 1,
    "bits": 16,
    "seconds": 2.0,
    "chunk": 32000,
    "multipliers": {},
    "offsets": {},
    "clamp": False,
    "order": ["header", "audio", "end"],
    "cancel_after": -1,
}
JAW = arkit.INDEX["jawOpen"]
# Sends a task to the client, returns its answer.
Ask: TypeAlias = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


@pytest.fixture(scope="session")
def nvidia_python() -> Path:
    folder = paths.cache_dir() / "test-clients" / PACKAGE
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        done = folder / "done"
        if not done.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
            pip = [folder / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
            subprocess.run([*pip, PACKAGE, "numpy"], check=True)
            done.touch()
    return folder / "bin" / "python"


@pytest.fixture
async def target(fakes: Any) -> AsyncIterator[str]:
    """A bridge with the real a2bs worker; the others are not needed."""
    others = ("ear", "llm", "tts")
    try:
        for role in others:
            await fakes.start(role)
        elsewhere = {role: fakes.targets[role] for role in others}
        async with bridge(Settings(port=0, a2f_max_clip_s=90.0), elsewhere) as target:
            yield target
    finally:
        await fakes.stop_all()


@pytest.fixture
async def ask(nvidia_python: Path, target: str) -> AsyncIterator[Ask]:
    pipe = asyncio.subprocess.PIPE
    script = Path(__file__).with_name("nvidia_client.py")
    client = await asyncio.create_subprocess_exec(
        nvidia_python, script, target, stdin=pipe, stdout=pipe, limit=1 << 26
    )

    async def asking(task: dict[str, Any]) -> dict[str, Any]:
        client.stdin.write(json.dumps(task).encode() + b"\n")
        answer = await client.stdout.readline()
        assert answer, "the client crashed; its traceback is on stderr"
        return json.loads(answer)

    try:
        yield asking
    finally:
        client.stdin.close()
        await client.wait()


@pytest.mark.parametrize(
    ("rate", "seconds", "chunk"),
    [(16000, 2.0, 32000), (8000, 1.03, 320), (22050, 3.0, 999), (44100, 1.0, 88200), (48000, 60.0, 96000)],
)
async def test_it_gets_frames_and_its_audio(ask: Ask, rate: int, seconds: float, chunk: int):
    got = await ask({"clip": CLIP | {"rate": rate, "seconds": seconds, "chunk": chunk}})
    assert got["code"] == "OK", got
    assert got["parts"][0] == "animation_data_stream_header"
    assert got["parts"][-2:] == ["event", "status"]
    assert set(got["parts"][1:-2]) == {"animation_data"}
    assert [name[0].lower() + name[1:] for name in got["names"]] == list(arkit.NAMES)
    assert got["rate"] == rate
    assert len(got["codes"]) == int(np.ceil(seconds * 30 - 1e-6))
    np.testing.assert_allclose(got["codes"], np.arange(len(got["codes"])) / 30, atol=1e-6)
    assert got["echo_is_exact"]
    assert got["status"][0] == 0
    assert "face_params" in got["status"][1]
    assert "emotions" in got["status"][1]
    assert got["peak"][JAW] > 0.1
    assert min(got["lowest"]) >= 0
    assert max(got["peak"]) <= 1


async def test_its_multipliers_offsets_and_clamp_are_applied(ask: Ask):
    plain = await ask({"clip": CLIP})
    shaped = {"multipliers": {"JawOpen": 20.0}, "offsets": {"TongueOut": -0.5}}
    free = await ask({"clip": CLIP | shaped})
    assert free["peak"][JAW] == pytest.approx(20 * plain["peak"][JAW], rel=1e-5)
    assert free["lowest"][-1] == pytest.approx(plain["lowest"][-1] - 0.5)
    clamped = await ask({"clip": CLIP | shaped | {"clamp": True}})
    assert clamped["peak"][JAW] == 1
    assert clamped["lowest"][-1] == 0


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"channels": 2}, "channel_count"),
        ({"bits": 8}, "bits_per_sample"),
        ({"rate": 7000}, "samples_per_second"),
        ({"order": ["audio", "header", "end"]}, "audio_stream_header"),
        ({"order": ["header", "end"]}, "audio_buffer"),
        ({"order": ["header", "audio"]}, "end_of_audio"),
        ({"order": ["header", "header", "audio", "end"]}, "audio_with_emotion or end_of_audio"),
        ({"seconds": 91.0}, "at most 90 s"),
    ],
)
async def test_what_it_does_wrong_is_named(ask: Ask, change: dict[str, Any], word: str):
    got = await ask({"clip": CLIP | change})
    assert got["code"] == "INVALID_ARGUMENT", got
    assert word in got["details"]


async def test_its_cancel_frees_the_worker(ask: Ask, target: str):
    got = await ask({"clip": CLIP | {"seconds": 60.0, "cancel_after": 30}})
    assert got["code"] == "CANCELLED"
    assert got["frames"] >= 30
    async with connect(target) as client, asyncio.timeout(2):
        while True:
            [worker] = [w for w in (await client.server_info()).workers if w.role == "a2bs"]
            if worker.state == "ready":
                break
    assert (await ask({"clip": CLIP}))["code"] == "OK"


async def test_it_fetches_the_configuration(ask: Ask):
    got = await ask({"configs": 1})
    [[name, content]] = got["files"]
    assert name == "taoxr.json"
    assert json.loads(content)["frame_rate"] == 30
