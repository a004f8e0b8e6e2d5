"""taoxr animate, the files it writes, and the client without async; on fake workers."""

import asyncio
import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from taoxr import arkit, client
from taoxr.client import (
    ConversationOptions,
    MediaChunk,
    SessionStarted,
    State,
    TextDelta,
    Transcript,
    TurnState,
    sync,
    wav,
)
from taoxr.client.cli_animate import app
from taoxr.client.events import Pong
from taoxr.errors import InvalidInputError, UnavailableError

pytestmark = pytest.mark.process


def animate(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "in.wav"
    wav.write(path, np.zeros(44100, np.int16), 44100)
    return path


async def test_animate_writes_json_and_csv(fake_bridge, tmp_path: Path, recording: Path):
    async with fake_bridge() as (_, fakes):
        for name in ("frames.json", "frames.CSV"):
            out = tmp_path / name
            result = await asyncio.to_thread(animate, recording, "-o", out, "--target", fakes.bridge)
            assert result.exit_code == 0, result.output
    content = json.loads((tmp_path / "frames.json").read_text())
    assert (content["space"], content["frame_rate"]) == ("arkit52", 30)
    assert content["names"] == list(arkit.NAMES)
    assert [frame["time_us"] for frame in content["frames"]] == [round(k * 1e6 / 30) for k in range(30)]
    assert content["frames"][7]["weights"] == [0.5] * 52
    with (tmp_path / "frames.CSV").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["time_us", *arkit.NAMES]
    assert rows[1:] == [[str(f["time_us"]), *map(str, f["weights"])] for f in content["frames"]]


async def test_animate_names_what_is_wrong(fake_bridge, tmp_path: Path, recording: Path):
    wrong: list[tuple[list[Any], str]] = [
        ([tmp_path / "none.wav"], "RECORDING"),
        ([recording, "-o", tmp_path / "no" / "frames.json"], "--out"),
        ([recording, "-o", tmp_path / "frames.txt"], "--out"),
        ([recording, "-o", tmp_path / "x.json", "--frame-rate", "1000"], "config.frame_rate"),
    ]
    async with fake_bridge() as (_, fakes):
        for arguments, field in wrong:
            result = await asyncio.to_thread(animate, *arguments, "--target", fakes.bridge)
            assert isinstance(result.exception, InvalidInputError), result.output
            assert result.exception.field == field
    assert [path.name for path in tmp_path.iterdir()] == ["in.wav"]


async def test_everything_works_without_async(fake_bridge):
    def use(target: str) -> None:
        with sync.connect(target) as client:
            assert {w.role for w in client.server_info().workers} >= {"ear", "llm", "tts", "a2bs"}
            speech = client.say("Hello there.")
            assert len(speech.face.times_us) == pytest.approx(30 * len(speech.pcm) / 22050, abs=1)
            first, *chunks = client.stream_say("Hello there.")
            assert isinstance(first, SessionStarted)
            assert sum(len(c.pcm) for c in chunks if isinstance(c, MediaChunk)) == len(speech.pcm)
            assert client.animate_audio(np.zeros(16000, np.int16), 16000).weights.shape == (30, 52)
            assert client.animate_text("Hello there.").face.weights.shape[1] == 52
            assert client.synthesize("Hello there.").sample_rate_hz == 22050
            loud, quiet = np.full(1600, 3000, np.int16), np.zeros(1600, np.int16)
            heard = [e.text for e in client.recognize([loud, quiet], 16000) if isinstance(e, Transcript)]
            assert heard == ["hello there"]
            assert client.avatar_rig(client.avatars()[0].avatar_id).blendshapes == arkit.NAMES
            with client.converse(ConversationOptions(audio_in_hz=16000)) as conversation:
                assert conversation.started.rig.names == arkit.NAMES
                conversation.send_text("hello")
                said = ""
                for event in conversation:
                    if isinstance(event, TextDelta):
                        said += event.text
                    if isinstance(event, MediaChunk):
                        conversation.report_playback(event.turn_id, event.end_us)
                    if isinstance(event, TurnState) and event.state is State.DONE:
                        break
                assert said == "You said hello."
                conversation.mute(True)
                conversation.update(max_answer_tokens=20)
                conversation.ping()
                assert any(isinstance(event, Pong) for event in conversation)
                watched = client.watch(conversation.started.session_id)
                assert isinstance(next(watched), SessionStarted)
                watched.close()
                conversation.end()
                assert not [e for e in conversation if isinstance(e, TextDelta)]
            with client.converse() as lost:  # left without an end: as if the connection broke
                pass
            with client.resume(lost) as conversation:
                assert conversation.started.resumed
                assert conversation.options.space == "arkit52"
            with pytest.raises(InvalidInputError, match="frame_rate"):
                client.say("Hello.", frame_rate=1000.0)
        with sync.connect("127.0.0.1:1") as nobody, pytest.raises(UnavailableError):
            nobody.server_info()

    async with fake_bridge() as (_, fakes):
        await asyncio.to_thread(use, fakes.bridge)


@pytest.mark.parametrize("name", ["Client", "Conversation"])
def test_the_client_without_async_lacks_nothing(name: str):
    public = {member for member in vars(getattr(client, name)) if not member.startswith("_")}
    assert public <= set(vars(getattr(sync, name)))
