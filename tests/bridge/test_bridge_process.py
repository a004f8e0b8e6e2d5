"""The bridge as a process with the real workers and models."""

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import grpc
import numpy as np
import psutil
import pytest
import soundfile
import soxr
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from numpy.typing import NDArray
from typer.testing import CliRunner

from taoxr import arkit
from taoxr.client import (
    Conversation,
    ConversationOptions,
    Event,
    InputMode,
    MediaChunk,
    SpeechActivity,
    State,
    Transcript,
    TurnState,
    connect,
    wav,
)
from taoxr.client.cli_say import app as say_app
from taoxr.client.cli_talk import app as talk_app
from taoxr.errors import BusyError, InvalidInputError

pytestmark = pytest.mark.process

JAW = arkit.INDEX["jawOpen"]


@pytest.fixture
def target(real_bridge: str) -> str:
    return real_bridge


async def until_end(conversation: Conversation) -> list[Event]:
    events: list[Event] = []
    async for event in conversation:
        events.append(event)
        if isinstance(event, TurnState) and event.state.ended:
            return events
    raise AssertionError(f"the conversation ended: {events}")


def media(events: list[Event]) -> list[MediaChunk]:
    return [e for e in events if isinstance(e, MediaChunk)]


def jaw(chunks: list[MediaChunk]) -> np.ndarray:
    return np.concatenate([c.frame_weights for c in chunks])[:, JAW]


async def test_text_turn_gives_speech_with_moving_lips_clause_by_clause(target: str):
    async with connect(target) as client, client.converse() as conversation:
        await conversation.send_text("What is the capital of France?")
        events = await until_end(conversation)
    assert events[-1].state is State.DONE
    assert "Paris" in events[-1].heard_text
    chunks = media(events)
    times = np.concatenate([c.frame_times_us for c in chunks])
    np.testing.assert_allclose(times, np.arange(len(times)) * 1e6 / 30, atol=1)
    for clause in {c.clause for c in chunks}:
        part = [c for c in chunks if c.clause == clause]
        assert part[0].clause_text
        start, end = part[0].start_us, part[-1].end_us
        phonemes = part[0].phonemes
        assert phonemes[0].start_us == start
        assert phonemes[-1].end_us == end
        assert all(a.end_us == b.start_us for a, b in pairwise(phonemes))
        loud = np.abs(np.concatenate([c.pcm for c in part]).astype(float)).max()
        assert loud > 1000
        assert np.ptp(jaw(part)) > 0.05
    assert jaw(chunks)[-1] < 0.05  # closed at the end


async def test_spoken_turn_from_a_stereo_recording(target: str, tmp_path: Path):
    async with connect(target) as client:
        speech = await client.say("What is the capital of France?")
        pcm = soxr.resample(speech.pcm.astype(np.float32) / 32768, speech.sample_rate_hz, 44100)
        soundfile.write(tmp_path / "q.wav", np.stack([pcm, 0.5 * pcm], axis=1), 44100)
        question = wav.read(tmp_path / "q.wav", 16000)
        options = ConversationOptions(audio_in_hz=16000, input_mode=InputMode.PUSH_TO_TALK)
        async with client.converse(options) as conversation:
            await conversation.send_audio(question)
            await conversation.end_of_user_turn()
            events = await until_end(conversation)
    final = next(e for e in events if isinstance(e, Transcript) and e.is_final)
    assert "capital of france" in final.text.lower()
    assert events[-1].state is State.DONE
    assert media(events)


async def test_after_an_interruption_the_lips_move_again(target: str):
    async with connect(target) as client, client.converse() as conversation:
        await conversation.send_text("Why is the sky blue? Tell me about it.")
        async for event in conversation:
            if isinstance(event, MediaChunk):
                break
        await conversation.interrupt(played_us=event.end_us)
        interrupted = await until_end(conversation)
        assert interrupted[-1].state is State.INTERRUPTED
        assert not media(interrupted)
        await conversation.send_text("What is the capital of France?")
        events = await until_end(conversation)
    assert events[-1].state is State.DONE
    assert np.ptp(jaw(media(events))) > 0.05
    assert media(events)[0].frame_times_us[0] == 0


async def test_second_conversation_is_refused(target: str):
    async with connect(target) as client, client.converse():
        with pytest.raises(BusyError):
            async with client.converse():
                pass
        speech = await client.say("Saying is independent of it.")
        assert len(speech.pcm)


async def test_voice_is_understood_by_the_ear_and_its_text_moves_the_lips(target: str):
    text = "What is the capital of France?"
    async with connect(target) as client:
        spoken = await client.synthesize(text, speed=0.9)
        animated = await client.animate_text(text)
        pcm = soxr.resample(spoken.pcm.astype(np.float32) / 32768, spoken.sample_rate_hz, 16000)
        silence = np.zeros(16000)
        clip = (np.concatenate([silence, pcm, silence]) * 32767).astype(np.int16)

        async def audio() -> AsyncIterator[NDArray[np.int16]]:
            for start in range(0, len(clip), 320):
                yield clip[start : start + 320]

        heard = [event async for event in client.recognize(audio(), 16000, partials=True)]
        assert (await client.avatars())[0].avatar_id == "default"
    finals = [e for e in heard if isinstance(e, Transcript) and e.is_final]
    assert "capital of france" in " ".join(e.text for e in finals).lower()
    starts = [e for e in heard if isinstance(e, SpeechActivity) and e.started]
    assert starts[0].offset_us == pytest.approx(1_000_000, abs=300_000)
    # Spoken at nine tenths of the rate, it lasts longer.
    assert len(spoken.pcm) / spoken.sample_rate_hz > animated.duration_us / 1e6
    assert spoken.phonemes[-1].end_us == len(spoken.pcm) * 1_000_000 // spoken.sample_rate_hz
    assert np.ptp(animated.face.weights[:, JAW]) > 0.05
    assert animated.face.times_us[-1] < animated.duration_us


async def test_animate_audio_moves_the_lips(target: str):
    async with connect(target) as client:
        speech = await client.say("Mama made a big pot of soup.")
        track = await client.animate_audio(speech.pcm, speech.sample_rate_hz)
        assert not track.rig.provisional
        assert track.rig.names == arkit.NAMES
        assert len(track.times_us) == pytest.approx(len(speech.pcm) / speech.sample_rate_hz * 30, abs=2)
        assert np.ptp(track.weights[:, JAW]) > 0.05
        with pytest.raises(InvalidInputError):
            await client.animate_audio(speech.pcm, 1)


async def test_health_and_reflection(target: str):
    async with grpc.aio.insecure_channel(target) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        ours = {f"taoxr.v1.{name}Service" for name in ("Conversation", "Animation", "Speech", "Avatar")}
        for service in ("", *ours):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        call = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo()
        await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        names = {s.name for s in (await call.read()).list_services_response.service}
        assert {*ours, "grpc.health.v1.Health"} <= names
        call.cancel()


def test_say_writes_wav_and_frames(target: str, tmp_path: Path):
    out, frames = tmp_path / "o.wav", tmp_path / "o.json"
    result = CliRunner().invoke(
        say_app, ["Hello there.", "-o", str(out), "--frames", str(frames), "--target", target]
    )
    assert result.exit_code == 0, result.output
    content = json.loads(frames.read_text())
    assert (content["space"], content["names"], content["frame_rate"]) == ("arkit52", list(arkit.NAMES), 30)
    with soundfile.SoundFile(out) as file:
        assert (file.channels, file.samplerate, file.subtype) == (1, content["sample_rate_hz"], "PCM_16")
        assert len(content["frames"]) == pytest.approx(file.frames / file.samplerate * 30, abs=1)
    assert [f["time_us"] for f in content["frames"][:2]] == [0, 33333]
    assert all(len(f["weights"]) == 52 for f in content["frames"])


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["Hello.", "-o", "/no/such/folder/x.wav"], "--out"),
        (["Hello.", "--frames", "/no/such/folder/x.json"], "--frames"),
        (["   "], "TEXT"),
        (["x" * 4001], "text"),
        (["..."], "TEXT"),
        (["Hello.", "--frame-rate", "1000"], "frame_rate"),
    ],
)
def test_say_names_what_is_wrong(target: str, tmp_path: Path, monkeypatch, arguments: list[str], field: str):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(say_app, [*arguments, "--target", target])
    assert isinstance(result.exception, InvalidInputError)
    assert result.exception.field == field
    assert not list(tmp_path.iterdir())


def test_talk_answers_lines_and_saves_them(target: str, tmp_path: Path):
    arguments = ["--text", "--target", target, "--save", str(tmp_path / "out")]
    result = CliRunner().invoke(talk_app, arguments, input="What is the capital of France?\n\n")
    assert result.exit_code == 0, result.output
    assert "Paris" in result.stdout
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["answer-1.wav"]


def test_ctrl_c_parent_and_kill_leave_no_orphans(target: str, tmp_path: Path, start_bridge):
    # One worker of its own is enough; anything that serves health stands for the others.
    elsewhere = [part for role in ("ear", "llm", "tts") for part in ("--worker", f"{role}={target}")]
    for how in ("ctrl-c", "stdin", "kill"):
        folder = tmp_path / how
        folder.mkdir()
        bridge = start_bridge(folder, "--stop-at-stdin-eof", *elsewhere)
        bridge.wait_ready()
        [worker] = bridge.children()
        if how == "ctrl-c":
            bridge.process.send_signal(signal.SIGINT)
        elif how == "stdin":
            bridge.process.stdin.close()
        else:
            bridge.process.kill()
        code = bridge.process.wait(60)
        assert code == (-signal.SIGKILL if how == "kill" else 0), bridge.log.read_text()
        if how != "kill":
            assert not bridge.ready.exists()
        psutil.wait_procs([worker], timeout=60)
        assert not worker.is_running()


def test_missing_models_are_named_with_what_to_do(target: str, tmp_path: Path, start_bridge):
    elsewhere = [part for role in ("ear", "tts", "a2bs") for part in ("--worker", f"{role}={target}")]
    bridge = start_bridge(tmp_path, *elsewhere, TAOXR_HOME=str(tmp_path / "empty"))
    assert bridge.process.wait(120) == 1
    log = bridge.log.read_text()
    assert "taoxr models pull" in log
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], ["--host", "--insecure"]),
        (["--host", "not a host"], ["--host"]),
        (["--port", "99999"], ["port", "99999"]),
        (["--worker", "brain=x:1"], ["--worker", "ROLE=TARGET"]),
        (["--worker-token-file", "/no/such/file"], ["--worker-token-file"]),
    ],
)
def test_serve_names_what_is_wrong(arguments: list[str], words: list[str]):
    command = [sys.executable, "-m", "taoxr_bridge", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 1
    for word in words:
        assert word in result.stderr
    assert "Traceback" not in result.stderr


def test_talk_ends_at_ctrl_c_while_it_waits_for_a_line(target: str):
    command = [
        sys.executable,
        "-c",
        "from taoxr.cli import main; main()",
        "talk",
        "--text",
        "--target",
        target,
    ]
    talking = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    talking.stdin.write("What is the capital of France?\n")
    talking.stdin.flush()
    answer = talking.stdout.readline()
    talking.send_signal(signal.SIGINT)
    assert talking.wait(60) == 130
    assert "Paris" in answer
    talking.stdin.close()
    talking.stdout.close()
