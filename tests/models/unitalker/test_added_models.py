"""Models from a user's folders: added, chosen, and served by the workers."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc.aio
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from rich.filesize import decimal
from tests.models.online.signals import RATE, babble
from tests.models.online.zipformers import make as make_zipformer
from tests.models.unitalker.small_model import make as make_unitalker

from taoxr import arkit, paths, rpc
from taoxr.v1.common_pb2 import Frame
from taoxr.worker.v1 import a2bs_pb2, a2bs_pb2_grpc, ear_pb2, ear_pb2_grpc
from taoxr_models.a2bs import flame

pytestmark = pytest.mark.process


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with the detector of the real one."""
    (tmp_path / "home/models").mkdir(parents=True)
    (tmp_path / "home/models/silero-vad").symlink_to(paths.models_dir() / "silero-vad")
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def taoxr(*arguments: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("taoxr")), "models", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=dict(os.environ), input=answer
    )


@asynccontextmanager
async def worker(role: str, folder: Path) -> AsyncIterator[grpc.aio.Channel]:
    """A worker as the bridge starts it: without a model, so it takes the role's default."""
    target = f"unix:{folder / role}"
    command = [sys.executable, "-m", "taoxr_models.worker", role, "--listen", target]
    process = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE)
    try:
        async with (
            asyncio.timeout(120),
            grpc.aio.insecure_channel(target, options=rpc.CHANNEL_OPTIONS) as channel,
        ):
            request = health_pb2.HealthCheckRequest()
            async for health in health_pb2_grpc.HealthStub(channel).Watch(request, wait_for_ready=True):
                if health.status == health_pb2.HealthCheckResponse.SERVING:
                    break
            yield channel
    finally:
        async with asyncio.timeout(60):
            await process.communicate(b"")
    assert process.returncode == 0


async def test_the_ear_takes_a_transducer(home: Path, tmp_path: Path) -> None:
    done = taoxr(
        "add", str(make_zipformer(tmp_path / "zip", "zipformer2")), "--id", "small", "--language", "en"
    )
    assert done.returncode == 0, done.stderr
    assert "taoxr models use small" in done.stdout
    assert taoxr("use", "small").returncode == 0

    def requests() -> Iterator[ear_pb2.ListenRequest]:
        yield ear_pb2.ListenRequest(config=ear_pb2.ListenConfig(sample_rate_hz=RATE, push_to_talk=True))
        pcm = (babble(4, seed=5) * 4 * 32767).clip(-32768, 32767).astype("<i2").tobytes()
        for i in range(0, len(pcm), 6400):
            yield ear_pb2.ListenRequest(pcm=pcm[i : i + 6400])
        yield ear_pb2.ListenRequest(end_of_utterance=ear_pb2.EndOfUtterance())

    async with worker("ear", tmp_path) as channel:
        answers = [r async for r in ear_pb2_grpc.EarServiceStub(channel).Listen(requests())]
    finals = [r.utterance for r in answers if r.utterance.is_final]
    assert len(finals) == 1


async def animate(channel: grpc.aio.Channel) -> tuple[str, list[str], list[Frame], list[Frame]]:
    """Space, names, and the frames of one clause by both calls."""
    stub = a2bs_pb2_grpc.A2bsServiceStub(channel)
    described = await stub.DescribeRig(a2bs_pb2.DescribeRigRequest())
    rig = described.rig
    assert described.whole_clauses
    pcm = (babble(3, seed=2) * 32767).astype("<i2").tobytes()
    request = a2bs_pb2.AnimatePhonemesRequest(pcm=pcm, sample_rate_hz=RATE)
    clause = await stub.AnimatePhonemes(request)
    request.end_us = 500_000
    with pytest.raises(grpc.aio.AioRpcError, match="the whole clause") as refused:
        await stub.AnimatePhonemes(request)
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT

    def requests() -> Iterator[a2bs_pb2.AnimateAudioRequest]:
        yield a2bs_pb2.AnimateAudioRequest(config=a2bs_pb2.AnimateAudioConfig(sample_rate_hz=RATE))
        for i in range(0, len(pcm), 3200):
            yield a2bs_pb2.AnimateAudioRequest(pcm=pcm[i : i + 3200])

    live = [frame async for r in stub.AnimateAudio(requests()) for frame in r.frames]
    return rig.space, list(rig.blendshape_names), list(clause.frames), live


async def test_the_lips_take_unitalker(home: Path, tmp_path: Path) -> None:
    folder = make_unitalker(tmp_path / "unitalker")
    assert taoxr("add", str(folder), "--id", "own-face").returncode == 0
    assert taoxr("use", "own-face").returncode == 0
    async with worker("a2bs", tmp_path) as channel:
        space, names, clause, live = await animate(channel)
    assert (space, len(names), names[50]) == ("flame53", 53, "jawX")
    assert [f.time_us for f in clause] == [f.time_us for f in live]
    assert len(clause) == 90
    assert max(f.weights[50] for f in clause) > 0.1

    # With a matrix the same model speaks to avatars that take ARKit's weights.
    np.save(folder / "arkit52.npy", np.zeros((50, 52)))
    assert taoxr("add", str(folder), "--id", "own-face-arkit").returncode == 0
    assert taoxr("use", "own-face-arkit").returncode == 0
    async with worker("a2bs", tmp_path) as channel:
        space, names, mapped, _ = await animate(channel)
    assert (space, names) == (arkit.SPACE, list(arkit.NAMES))
    opened = [f.weights[arkit.INDEX["jawOpen"]] for f in mapped]
    jaws = flame.jaw_weights(np.array([f.weights[50:] for f in clause]))
    np.testing.assert_allclose(opened, jaws["jawOpen"], atol=1e-6)


def test_what_is_no_model_is_refused_and_leaves_nothing(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    done = taoxr("add", str(folder), "--id", "x")
    assert done.returncode != 0
    assert "holds no known kind of model" in done.stderr
    (folder / "audio2verts.mnn").write_bytes(b"no model")
    done = taoxr("add", str(folder), "--id", "x")
    assert done.returncode != 0
    assert "MNN cannot read it as a model" in done.stderr
    np.save(folder / "arkit52.npy", np.zeros((3, 3)))
    make_unitalker(folder)
    done = taoxr("add", str(folder), "--id", "x")
    assert "expected (50, 52) or (51, 52)" in done.stderr
    (tmp_path / "two").mkdir()
    for name in ("encoder.mnn", "encoder.int8.mnn", "decoder.mnn", "joiner.mnn", "tokens.txt"):
        (tmp_path / "two" / name).write_bytes(b"x")
    done = taoxr("add", str(tmp_path / "two"), "--id", "x")
    assert "encoder.int8.mnn, encoder.mnn; leave one" in done.stderr
    assert not (home / "catalog.toml").exists()
    assert [p.name for p in (home / "models").iterdir()] == ["silero-vad"]


def test_choosing_keeps_the_rest_of_the_users_catalogue(home: Path, tmp_path: Path) -> None:
    folder = make_unitalker(tmp_path / "unitalker")
    assert taoxr("add", str(folder), "--id", "face").returncode == 0
    own = home / "catalog.toml"
    own.write_text(f"# mine\n[defaults] # too\n# kept\n\n{own.read_text()}")
    assert taoxr("use", "face").returncode == 0
    assert own.read_text().startswith('# mine\n[defaults] # too\na2bs = "face"\n# kept\n')
    assert taoxr("use", "--reset", "a2bs").returncode == 0
    assert "a2bs =" not in own.read_text()
    assert "# kept" in own.read_text()
    assert "not installed" in taoxr("use", "whisper-tiny.en").stderr


def test_a_model_that_nobody_needs_can_be_removed(home: Path, tmp_path: Path) -> None:
    folder = make_unitalker(tmp_path / "unitalker")
    assert taoxr("add", str(folder), "--id", "face").returncode == 0
    own = home / "catalog.toml"
    own.write_text(f"# mine\n\n{own.read_text()}\n[defaults]\na2bs = 'face'\n# kept\n")
    size = sum(p.stat().st_size for p in (home / "models/face").iterdir())

    used = taoxr("remove", "face", "--yes")
    assert used.returncode != 0
    assert "a2bs runs on it" in used.stderr
    assert taoxr("use", "--reset", "a2bs").returncode == 0
    for answer in ("", "n\n"):
        kept = taoxr("remove", "face", answer=answer)
        assert kept.returncode != 0
        assert (home / "models/face/audio2verts.mnn").is_file()
    gone = taoxr("remove", "face", answer="y\n")
    assert gone.returncode == 0, gone.stderr
    assert gone.stdout.strip() == f"face removed, {decimal(size)} freed"
    assert own.read_text() == "# mine\n\n[defaults]\n# kept\n"
    assert sorted(p.name for p in (home / "models").iterdir() if p.is_dir()) == ["silero-vad"]

    assert "expected one of" in taoxr("remove", "face", "--yes").stderr
    assert "vad runs on it" in taoxr("remove", "silero-vad", "--yes").stderr
    # Its files gone already, an added model can still be taken out of the catalogue.
    assert taoxr("add", str(folder), "--id", "face").returncode == 0
    shutil.rmtree(home / "models/face")
    assert taoxr("remove", "face", "--yes").stdout == "face removed, 0 bytes freed\n"
