"""The real commands `taoxr demo` and `taoxr render`, from their command line to their files."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import soundfile
from PIL import Image

from taoxr import arkit
from taoxr_runtime.demo.run import INTERRUPTED
from taoxr_runtime.render.stereo import anaglyph

pytestmark = pytest.mark.e2e

RESULTS = {"demo.mp4", "demo.png", "demo_first.png", "turns.json", "timeline.json", "poses.npz", "voices.wav"}
FPS = 8.0
COMMAND = str(Path(sys.executable).with_name("taoxr"))


def taoxr(*arguments: str, timeout: float = 280.0) -> subprocess.CompletedProcess[str]:
    # One thread for llvmpipe and NumPy each, so that tests beside this one get their share.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    return subprocess.run(
        [COMMAND, *arguments],
        capture_output=True, text=True, timeout=timeout, env=environment, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("demo")
    done = taoxr(
        "demo", "--text", "Hello! Who are you?", "--out", str(folder), "--size", "128x160", "--fps", str(FPS),
        "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_writes_everything_and_the_figures_make_sense(demo: tuple[Path, dict[str, Any]]) -> None:
    folder, figures = demo
    assert {path.name for path in folder.iterdir()} == RESULTS
    assert figures == json.loads((folder / "turns.json").read_text())
    (turn,) = figures["turns"]
    assert turn["transcript"] == "Hello! Who are you?"
    assert len(turn["answer"].split()) >= 2
    assert turn["state"] == "done"
    assert turn["heard"] == turn["answer"]
    stages = turn["stages_ms"]
    assert 0 < stages["llm_first_token"] <= stages["first_clause"] <= stages["tts_first_audio"]
    assert 0 < stages["client_first_media"] < stages["client_first_heard"] < 60_000
    assert turn["frames"] == pytest.approx(turn["audio_s"] * 30, abs=3)
    assert 0.0 <= turn["av_skew_ms"]["p50"] <= 15.0
    assert turn["av_skew_ms"]["pictures"] >= 0.8 * turn["audio_s"] * FPS
    assert {w["role"] for w in figures["machine"]["workers"]} == {"ear", "llm", "tts", "a2bs", "motion"}
    assert all(w["rss_mib"] > 10 for w in figures["machine"]["workers"])
    assert figures["film"]["pictures"] == figures["film"]["planned"]


def test_film_has_picture_and_sound_of_the_conversation(demo: tuple[Path, dict[str, Any]]) -> None:
    folder, figures = demo
    with av.open(str(folder / "demo.mp4")) as film:
        assert film.streams.video[0].codec_context.name == "h264"
        pictures = [f.to_ndarray(format="rgb24") for f in film.decode(video=0)]
    with av.open(str(folder / "demo.mp4")) as film:
        sound = np.concatenate([f.to_ndarray() for f in film.decode(audio=0)], axis=1)
    assert len(pictures) == figures["film"]["pictures"]
    assert pictures[0].shape == (160, 128, 3)
    assert len(pictures) / FPS == pytest.approx(figures["conversation_s"], abs=0.4)
    assert sound.shape[1] / 48_000 == pytest.approx(len(pictures) / FPS, abs=0.1)
    # The avatar is there: not the backdrop alone, and it moves.
    assert all(picture.std() > 15 for picture in pictures)
    assert np.abs(pictures[0].astype(int) - pictures[len(pictures) // 2]).max() > 60
    sheet = np.asarray(Image.open(folder / "demo.png"))
    assert sheet.std() > 20
    assert np.asarray(Image.open(folder / "demo_first.png")).shape == (160, 128, 3)


def test_mouth_and_voice_agree(demo: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = demo
    told = json.loads((folder / "timeline.json").read_text())
    voice, rate = soundfile.read(folder / "voices.wav", dtype="float64", always_2d=True)
    assert 0.05 < np.abs(voice).max() < 0.99
    assert np.abs(voice.mean()) < 0.01
    jaw, close = (told["blendshapes"].index(n) for n in ("jawOpen", "mouthClose"))
    media = [e for e in told["events"] if e["kind"] == "MediaChunk"]
    times = np.array([t for e in media for t in e["frame_times_us"]])
    weights = np.array([w for e in media for w in e["frame_weights"]])
    assert weights.shape == (len(times), len(arkit.NAMES))
    opened = weights[:, jaw] - weights[:, close]
    ((wall, first, _), *_) = told["heard"][0]["spans"]
    window = int(0.03 * rate)
    starts = ((times - first + wall) * rate // 1_000_000).astype(int)
    level = np.array([np.sqrt((voice[s : s + window] ** 2).mean()) for s in starts])
    loud, silent = level > 0.25 * level.max(), level < 0.01 * level.max()
    assert loud.sum() >= 5
    assert opened[loud].mean() > 0.08
    assert opened[loud].mean() > 3 * max(opened[silent].mean(), 0.0)


def test_a_recorded_conversation_is_filmed_again(demo: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    folder, figures = demo
    again = tmp_path / "again.mp4"
    done = taoxr("render", "--conversation", str(folder), "-o", str(again), "--size", "128x160")
    assert done.returncode == 0, done.stderr
    films, sounds = [], []
    for path in (folder / "demo.mp4", again):
        with av.open(str(path)) as film:
            films.append([f.to_ndarray(format="rgb24").astype(float) for f in film.decode(video=0)])
        with av.open(str(path)) as film:
            sounds.append(np.concatenate([f.to_ndarray() for f in film.decode(audio=0)], axis=1))
    assert len(films[1]) == figures["film"]["pictures"]
    errors = [((a - b) ** 2).mean() for a, b in zip(*films, strict=True)]
    assert max(errors) < 255**2 * 10**-3.5  # 35 dB; both went through the encoder
    length = min(sound.shape[1] for sound in sounds)
    assert np.abs(sounds[0][:, :length] - sounds[1][:, :length]).max() < 0.02

    close = tmp_path / "close.png"
    done = taoxr(
        "render", "--conversation", str(folder), "-o", str(close), "--view", "face", "--size", "96x128"
    )
    assert done.returncode == 0, done.stderr
    face = np.asarray(Image.open(close)).astype(int)
    assert face.shape == (128, 96, 3)
    skin = face[40:90, 30:66].reshape(-1, 3).mean(axis=0)
    assert skin[0] > skin[2] + 20
    done = taoxr("render", "--conversation", str(folder), "-o", str(close), "--at", "999", "--size", "64x64")
    assert done.returncode != 0
    assert "--at: got 999.0, expected seconds from 0 to" in done.stderr


@pytest.fixture
def files(tmp_path: Path) -> Path:
    soundfile.write(tmp_path / "empty.wav", np.zeros(0, np.int16), 16_000)
    (tmp_path / "text.wav").write_text("no audio")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--question", "{0}/missing.wav"], "missing.wav"),
        (["demo", "--question", "{0}/empty.wav"], "more than 0"),
        (["demo", "--question", "{0}/text.wav"], "an audio file such as WAV"),
        (["demo", "--text", "  "], "--text"),
        (["demo", "--size", "641x480"], "--size"),
        (["demo", "--fps", "500"], "--fps"),
        (["demo", "--out", "{0}/text.wav/below"], "--out"),
        (["demo", "--avatar", "{0}/none.nnr"], "avatar"),
        (["demo", "--mic", "--text", "x"], "--mic"),
        (["demo", "--out", "{0}/o", "--text", "x", "--target", "127.0.0.1:9"], "127.0.0.1:9"),
        (["render", "-o", "{0}/x.gif"], "--out"),
        (["render", "-o", "{0}/x.mp4"], "--text"),
        (["render", "-o", "{0}/x.mp4", "--text", "x", "--fps", "0"], "--fps: got 0.0, expected 5 to 60"),
        (["render", "-o", "{0}/x.png", "--expression", "smile=1"], "--expression"),
        (["render", "-o", "{0}/x.png", "--expression", "jawOpen=7"], "--expression"),
        (["render", "-o", "{0}/x.png", "--view", "back"], "--view"),
        (["render", "-o", "{0}/x.mp4", "--wav", "{0}/empty.wav"], "more than 0"),
        (["render", "-o", "{0}/x.png", "--stereo", "3d"], "--stereo: got '3d', expected one of off, sbs"),
        (["render", "-o", "{0}/x.png", "--sheet", "1", "--text", "x"], "--sheet: got 1, expected 2 to 12"),
        (["render", "-o", "{0}/x.png", "--sheet", "4"], "a --text, a --wav or a --conversation"),
        (["render", "-o", "{0}/x.mp4", "--conversation", "{0}"], "the folder of a `taoxr demo`"),
        (["render", "-o", "{0}/x.mp4", "--conversation", "{0}", "--text", "x"], "no --text beside it"),
        (["render", "-o", "{0}/x.mp4", "--sheet", "4", "--text", "x"], "ends in .png with --sheet"),
    ],
)  # fmt: skip
def test_wrong_input_is_named(arguments: list[str], message: str, files: Path) -> None:
    done = taoxr(*(a.format(files) for a in arguments), timeout=120)
    assert done.returncode not in (0, INTERRUPTED)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_interruption_keeps_what_is_finished(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [
            COMMAND, "demo", "--text", "Hi.", "--out", str(tmp_path), "--size", "64x64",
            "--fps", "5",
        ],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("turn 1"):
            break
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    assert process.wait(120) == INTERRUPTED
    assert "stopped" in rest
    assert str(tmp_path / "turns.json") in rest
    assert "Traceback" not in rest
    assert json.loads((tmp_path / "turns.json").read_text())["version"] == 1
    assert (tmp_path / "timeline.json").exists()
    assert (tmp_path / "demo_first.png").exists()


def test_renders_a_still_with_an_expression(tmp_path: Path) -> None:
    pictures: dict[str, np.ndarray] = {}
    for name, more in (("rest", []), ("open", ["--expression", "jawOpen=0.8"])):
        path = tmp_path / f"{name}.png"
        done = taoxr("render", "-o", str(path), "--view", "face", "--size", "96x128", *more)
        assert done.returncode == 0, done.stderr
        pictures[name] = np.asarray(Image.open(path)).astype(int)
    change = np.abs(pictures["open"] - pictures["rest"]).max(axis=2)
    assert change[64:].max() > 60
    assert change[:40].max() < 25


def test_renders_both_eyes(tmp_path: Path) -> None:
    pictures: list[np.ndarray] = []
    for kind in ("sbs", "anaglyph"):
        path = tmp_path / f"{kind}.png"
        done = taoxr("render", "-o", str(path), "--view", "face", "--size", "96x128", "--stereo", kind)
        assert done.returncode == 0, done.stderr
        pictures.append(np.asarray(Image.open(path)))
    both, one = pictures
    assert both.shape == (128, 192, 3)
    left, right = np.ascontiguousarray(both[:, :96]), np.ascontiguousarray(both[:, 96:])
    assert 1 < np.abs(left.astype(int) - right).mean() < 20
    np.testing.assert_array_equal(one, anaglyph(left, right))


def test_renders_a_sheet_of_a_speech(tmp_path: Path, real_bridge: str) -> None:
    path = tmp_path / "sheet.png"
    done = taoxr(
        "render", "--text", "Wow, hello there!", "--sheet", "6", "-o", str(path), "--view", "face", "--size",
        "96x128", "--fps", "12", "--target", real_bridge,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    sheet = np.asarray(Image.open(path)).astype(int)
    assert sheet.shape == (2 * 518 + 6, 3 * 390 + 6, 3)
    tiles = [sheet[6 + 518 * y :, 6 + 390 * x :][:512, :384] for y in range(2) for x in range(3)]
    mouth = np.s_[300:460, 100:280]
    changes = [np.abs(a[mouth] - b[mouth]).max() for a, b in pairwise(tiles)]
    assert sorted(changes)[-3] > 40, changes  # it speaks


def test_renders_a_film_of_a_foreign_voice(
    tmp_path: Path, demo: tuple[Path, dict[str, Any]], real_bridge: str
) -> None:
    voice, rate = soundfile.read(demo[0] / "voices.wav", dtype="float32", always_2d=True)
    told = json.loads((demo[0] / "timeline.json").read_text())
    start = told["heard"][0]["spans"][0][0] * rate // 1_000_000
    soundfile.write(tmp_path / "voice.wav", voice[start : start + rate, 0], rate)
    out = tmp_path / "film.mp4"
    done = taoxr(
        "render", "--wav", str(tmp_path / "voice.wav"), "-o", str(out), "--size", "64x96", "--fps", "6",
        "--target", real_bridge,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "provisional" not in done.stderr
    with av.open(str(out)) as film:
        assert sum(1 for _ in film.decode(video=0)) == 12


def test_first_picture_comes_within_a_minute(tmp_path: Path) -> None:
    begun = time.monotonic()
    process = subprocess.Popen(
        [COMMAND, "demo", "--text", "Hi.", "--out", str(tmp_path)],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    line = process.stderr.readline()
    took = time.monotonic() - begun
    process.send_signal(signal.SIGINT)
    process.stderr.read()
    process.wait(120)
    assert line.startswith("first picture")
    assert took < 60
    assert (tmp_path / "demo_first.png").stat().st_size > 10_000
