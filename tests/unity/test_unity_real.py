"""The Unity package's client, on Mono and .NET, against a bridge with the real workers and models."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile  # pyright: ignore[reportMissingTypeStubs]
import soxr  # pyright: ignore[reportMissingTypeStubs]
from certificates import certificate
from client_runner import ClientRunner
from components import live
from csharp import RUNTIMES, Runtime

from taoxr.client import connect, wav

pytestmark = pytest.mark.process

MakeClient = Callable[..., ClientRunner]
RATE = 16_000


@pytest.fixture(scope="module")
def question(real_bridge: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A question in the avatar's own voice: a stereo WAV of 44.1 kHz, read again as the client's samples."""

    async def ask() -> Any:
        async with connect(real_bridge) as client:
            return await client.say("What is the capital of France?")

    said = asyncio.run(ask())
    samples = soxr.resample(said.pcm.astype(np.float32) / 32768, said.sample_rate_hz, 44_100)
    recording = tmp_path_factory.mktemp("unity") / "question.wav"
    soundfile.write(recording, np.stack([samples, 0.8 * samples], axis=1), 44_100)
    raw = recording.with_suffix(".raw")
    raw.write_bytes(wav.read(recording, RATE).astype("<i2").tobytes())
    return raw


def _chunks(client: ClientRunner, turn: str) -> list[list[str]]:
    return [event for event in client.all("audio") if event[1] == turn]


def test_a_spoken_question_is_answered_in_sync(
    make_client: MakeClient, real_bridge: str, question: Path
) -> None:
    with make_client(real_bridge) as client:
        client.tell("converse", f"audio={RATE}", "ptt", "body", "tokens=24")
        client.tell("play", 4)
        client.until("state", "Running")
        client.until("motion", "Idle")
        client.tell("begin")
        client.tell("audio", question)
        client.tell("end")
        assert "capital of france" in client.until("transcript", "True")[2].lower()
        assert "Paris" in client.until("turn", "turn-1", "Done")[3]
        chunks = _chunks(client, "turn-1")
        assert all(e[7] == "True" for e in chunks)  # poses lie in their sound, and came before it
        ends = [int(e[3]) for e in chunks]
        assert all(abs(int(e[2]) - end) <= 1 for e, end in zip(chunks[1:], ends, strict=False))
        for poses in (4, 5):  # of the face and of the body, at 30 a second
            assert abs(sum(int(e[poses]) for e in chunks) - ends[-1] * 30e-6) <= 1
        assert client.all("metrics")
        # Interrupted: silent at once, and the next answer is whole.
        client.tell("play", 1)
        client.tell("ask", "Why is the sky blue? Tell me about it.")
        client.until("audio", "turn-2")
        client.tell("interrupt")
        client.until("cut", "turn-2")
        before = len(_chunks(client, "turn-2"))
        client.until("turn", "turn-2", "Interrupted")
        assert len(_chunks(client, "turn-2")) == before
        client.tell("play", 8)
        client.tell("ask", "What is the capital of France?")
        client.until("turn", "turn-3", "Done")
        assert int(_chunks(client, "turn-3")[-1][3]) > 300_000
        client.tell("dispose")
        assert int(client.until("disposed")[1]) < 1000
    assert not client.all("broken")


def test_the_model_calls_a_function_of_the_game(make_client: MakeClient, real_bridge: str) -> None:
    with make_client(real_bridge) as client:
        client.tell("converse", "tool=get_time:Tells the current time of day.", "tokens=24")
        client.tell("play", 8)
        client.tell("ask", "What time is it?")
        _, call_id, name, arguments = client.until("toolcall")
        assert (name, arguments) == ("get_time", "{}")
        client.tell("tool", call_id, "17:20")
        assert "17:20" in client.until("turn", "turn-1", "Done")[3]


@pytest.mark.parametrize("runtime", RUNTIMES)
async def test_an_avatar_in_a_scene_answers(runtime: Runtime, real_bridge: str) -> None:
    said = await live(runtime, real_bridge, "ask What is the capital of France?", "cut Tell me a long story.")
    turn, played, caption, last_frame, _, energy = said["heard"]
    assert turn == "turn-1"
    assert "Paris" in caption
    assert int(played) > int(last_frame) > 300_000
    assert float(energy) > 1
    # While the voice moves them: how far they are from the frames of what was heard, and how far they open.
    frames, worst, most = said["lips"]
    assert int(frames) > 10
    assert float(worst) < 2e-3
    assert float(most) > 0.1
    before, after, energy, mouth = said["cut"]
    assert int(after) - int(before) < 100_000
    assert float(energy) == 0
    assert float(mouth) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(  # Mono has no HTTP/2 with TLS.
    ("make_client", "tls"), [("mono", False), ("dotnet", False), ("dotnet", True)], indirect=["make_client"]
)
def test_a_killed_server_of_ones_own(
    make_client: MakeClient, start_bridge: Any, tmp_path: Path, tls: bool
) -> None:
    arguments: list[str] = []
    options: dict[str, object] = {"retry_s": 0.2}
    if tls:
        for name, path in certificate(tmp_path).items():
            arguments += [f"--{name.replace('_', '-')}", str(path)]
        options["ca"] = tmp_path / "ca.pem"
    bridge = start_bridge(tmp_path, *arguments)
    try:
        target = bridge.wait_ready()
        port = target.rsplit(":", 1)[1]
        with make_client(f"https://localhost:{port}" if tls else target, **options) as client:
            client.tell("converse", "tokens=24")
            client.tell("play", 4)
            client.tell("ask", "My name is Anna.")
            client.until("turn", "turn-1", "Done")
            client.tell("ask", "Tell me a long story.")
            client.until("audio", "turn-2")
            bridge.process.kill()
            bridge.process.wait()
            client.until("state", "Resuming")
            bridge = start_bridge(tmp_path, "--port", port, *arguments)
            bridge.wait_ready()
            assert client.until("started", "True")[3] == "Tell me a long story."
            client.tell("ask", "What is the capital of France?")
            assert client.until("turn", "turn-3", "Done")[3]
    finally:
        bridge.stop()
