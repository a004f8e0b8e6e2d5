"""What the film is made of: story, camera, captions, contact sheet, file."""

from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoxr import arkit
from taoxr.client import MediaChunk, Rig, SessionStarted, State, TurnState
from taoxr.errors import InvalidInputError
from taoxr_runtime.animation import Activity, Skeleton
from taoxr_runtime.demo import sheet
from taoxr_runtime.demo.captions import AVATAR_SRGB, Caption, draw_caption, font, wrap
from taoxr_runtime.demo.options import check_fps, check_text, open_folder, parse_size
from taoxr_runtime.demo.playback import Playback
from taoxr_runtime.demo.record import Asked, Clock, Prompt, Record, Source, Turn
from taoxr_runtime.demo.shots import Framing
from taoxr_runtime.demo.shots import Path as CameraPath
from taoxr_runtime.demo.sound import read_sound, trailing_silence_us, write_sound
from taoxr_runtime.demo.story import jaw, tell
from taoxr_runtime.demo.video import open_video
from taoxr_runtime.nnr.schema import Landmarks

pytestmark = pytest.mark.unit

LANDMARKS = Landmarks(
    height=1.8, eye_left=(0.03, 1.68, 0.13), eye_right=(-0.03, 1.68, 0.13), mouth=(0, 1.61, 0.15),
    head_center=(0, 1.74, 0.09),
)  # fmt: skip
SKELETON = Skeleton(
    ("root", "head", "eye.L", "eye.R"),
    np.array([-1, 0, 1, 1]),
    np.array([[0, 0.9, 0], [0, 1.6, 0.02], [0.03, 1.68, 0.12], [-0.03, 1.68, 0.12]]),
    "head",
    ("eye.L", "eye.R"),
    np.array([LANDMARKS.eye_left, LANDMARKS.eye_right]),
)
RATE, FPS = 20_000, 25.0


def make_record() -> Record:
    """One spoken question from 1.0 to 2.0 s, thinking, an answer heard from 2.56 to 3.56 s."""
    rig = Rig("arkit52", arkit.NAMES, 50.0, provisional=False)
    record = Record(Clock(), SessionStarted(0, "", 0, "s", 16_000, RATE, rig, 1_200_000), FPS)
    voice = np.full(16_000, 1000, np.int16)
    record.asked.append(Asked(Prompt(Source.SYNTHESISED, "Hi?", voice), 1_000_000, 2_000_000, ["t"]))
    turn = Turn("t", 0, Playback(RATE))
    weights = np.zeros((50, 52), np.float32)
    weights[5:45, arkit.INDEX["jawOpen"]] = 0.6
    media = MediaChunk(
        1, "t", 0, 0, RATE, np.full(RATE, 2000, np.int16), np.arange(50, dtype=np.int64) * 20_000, weights,
        0, "Hello there.", (), True,
    )  # fmt: skip
    turn.states.append((1_100_000, TurnState(0, "t", 0, State.LISTENING, "")))
    turn.chunks.append((2_500_000, media))
    turn.playback.push(2_500_000, 0, RATE, last=True)
    assert turn.playback.finished(4_000_000)
    turn.states.append((4_000_000, TurnState(2, "t", 0, State.DONE, "Hello there.")))
    record.turns.append(turn)
    record.ticks = [round(n * 1e6 / FPS) for n in range(125)]
    record.end_us = 5_000_000
    return record


def test_story_follows_the_record() -> None:
    record = make_record()
    moments = list(tell(record, SKELETON, Framing(LANDMARKS, 480, 640)))
    by_time = {m.due_us: m for m in moments}
    assert by_time[400_000].activity is Activity.IDLE
    assert by_time[1_600_000].activity is Activity.LISTENING
    assert by_time[1_600_000].caption == Caption("You", (134, 205, 255), "Hi?")
    assert by_time[2_200_000].activity is Activity.THINKING
    assert by_time[2_200_000].note == "thinking 0.2 s"
    assert by_time[3_000_000].activity is Activity.SPEAKING
    assert by_time[3_000_000].caption == Caption("Avatar", AVATAR_SRGB, "Hello there.")
    assert by_time[3_000_000].note == "answered after 0.6 s"
    assert by_time[4_400_000].activity is Activity.IDLE
    assert by_time[4_400_000].caption is None
    # The mouth opens while the voice is heard, and only then.
    for moment in moments:
        if 2_760_000 <= moment.due_us <= 3_400_000:
            assert jaw(moment) > 0.5
        if moment.due_us < 2_560_000 or moment.due_us > 3_720_000:
            assert jaw(moment) < 0.02


def test_story_refuses_names_that_the_rig_does_not_have() -> None:
    record = make_record()
    started = record.started
    record.started = SessionStarted(
        0, "", 0, "s", 16_000, RATE, Rig("arkit52", arkit.NAMES[::-1], 50.0, provisional=False), 0
    )
    with pytest.raises(InvalidInputError, match="blendshape_names"):
        next(tell(record, SKELETON, Framing(LANDMARKS, 480, 640)))
    assert started.rig.names == arkit.NAMES


@pytest.mark.parametrize("size", [(480, 640), (640, 480), (1280, 720), (128, 160)])
def test_shots_hold_what_they_are_named_after(size: tuple[int, int]) -> None:
    framing = Framing(LANDMARKS, *size)

    def rows(shot: str, height: float) -> float:
        view = framing.view(getattr(framing, shot))
        clip = view.projection @ view.world_to_view @ [0.0, height, LANDMARKS.head_center[2], 1.0]
        return float(clip[1] / clip[3])

    # The crown is in every picture but at its upper edge in none; the feet only in the full one.
    assert -1.0 < rows("full", 0.0) < -0.8
    for shot in ("full", "waist", "bust"):
        assert 0.5 < rows(shot, 1.8) < 0.99
    assert rows("waist", 0.0) < -1.0
    assert rows("waist", 0.95) > -1.0
    assert rows("bust", 1.4) > -1.0
    assert abs(rows("face", 1.65)) < 0.5


def test_camera_moves_smoothly() -> None:
    framing = Framing(LANDMARKS, 480, 640)
    path = CameraPath(framing.full)
    path.move(1.0, framing.waist)
    path.move(3.0, framing.bust.turned(-11.0))
    shots = [path.at(n / 100) for n in range(900)]
    extents = np.log([s.extent for s in shots])
    assert np.abs(np.diff(extents)).max() < 0.01
    assert np.abs(np.diff([s.yaw_deg for s in shots])).max() < 0.12
    assert shots[-1].extent == pytest.approx(framing.bust.extent)


WORDS = st.lists(st.text("abcdefghijklm", min_size=1, max_size=12), min_size=1, max_size=30)


@settings(max_examples=40, deadline=None)
@given(WORDS)
def test_wrapping_keeps_all_words_within_the_width(words: list[str]) -> None:
    letters = font(20)
    lines = wrap(" ".join(words), 200, letters)
    assert " ".join(lines).split() == words
    assert all(letters.getlength(line) <= 200 or " " not in line for line in lines)


def test_caption_is_drawn_at_the_foot_and_leaves_the_rest() -> None:
    picture = np.full((320, 240, 3), 128, np.uint8)
    drawn = draw_caption(picture, Caption("Avatar", AVATAR_SRGB, "Hello there."))
    assert (picture == 128).all()
    assert (drawn[:200] == 128).all()
    assert drawn[220:].max() > 230
    assert np.array_equal(draw_caption(picture, None), picture)


def test_sheet_shows_first_moment_speech_and_closed_mouth_alike() -> None:
    moments = list(tell(make_record(), SKELETON, Framing(LANDMARKS, 480, 640)))
    numbers = sheet.choose(moments)
    assert numbers[0] == 0
    assert len(numbers) == sheet.MOST - 2
    assert {moments[n].activity for n in numbers} >= {Activity.LISTENING, Activity.SPEAKING}
    for count in (2, 3, 5, 9, 12):
        kept = sheet.choose(moments, count)
        assert len(set(kept)) == count
        assert kept == sorted(kept)
    assert sheet.choose(moments[:3], 8) == [0, 1, 2]
    near = sheet.close_ups(moments)
    assert len(near) == 1
    assert jaw(near[0]) > 0.5
    tiles = [np.full((64, 48, 3), 20 * n, np.uint8) for n in range(5)]
    assert sheet.compose(tiles).shape[2] == 3
    assert sheet.choose([]) == []


def test_film_plays_back_with_its_pictures_and_its_sound(tmp_path: Path) -> None:
    path, rate = tmp_path / "x.mp4", 48_000
    time = np.arange(rate * 2) / rate
    tone = (8000 * np.sin(2 * np.pi * 440 * time)).astype(np.int16)
    with open_video(path, 64, 96, 10.0, np.stack([tone, np.zeros_like(tone)]), rate) as video:
        for n in range(20):
            video.add(np.full((96, 64, 3), 10 * n, np.uint8))
    with av.open(str(path)) as film:
        pictures = [f.to_ndarray(format="rgb24") for f in film.decode(video=0)]
    with av.open(str(path)) as film:
        heard = np.concatenate([f.to_ndarray() for f in film.decode(audio=0)], axis=1)
    assert len(pictures) == 20
    assert [round(float(p.mean())) for p in pictures] == pytest.approx([10 * n for n in range(20)], abs=4)
    assert heard.shape[1] / rate == pytest.approx(2.0, abs=0.05)
    assert np.sqrt((heard[0] ** 2).mean()) == pytest.approx(8000 / 32768 / np.sqrt(2), rel=0.1)
    assert np.abs(heard[1]).max() < 0.01


def test_film_that_is_broken_off_still_plays(tmp_path: Path) -> None:
    path = tmp_path / "x.mp4"

    def film_seven() -> None:
        with open_video(path, 64, 64, 10.0, np.zeros((2, 480_000), np.int16), 48_000) as video:
            for _ in range(7):
                video.add(np.zeros((64, 64, 3), np.uint8))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        film_seven()
    with av.open(str(path)) as film:
        assert sum(1 for _ in film.decode(video=0)) == 7


@pytest.mark.parametrize(
    "text", ["", "640", "640x", "x480", "641x480", "32x32", "9000x9000", "-2x4", "64 x 64"]
)
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(InvalidInputError, match="--size"):
        parse_size(text)


def test_options() -> None:
    assert parse_size("480x640") == (480, 640)
    assert check_text("  hello ") == "hello"
    for wrong in ("", "  ", "x" * 4001):
        with pytest.raises(InvalidInputError, match="--text"):
            check_text(wrong)
    for fps in (0.0, 4.9, 61.0, float("nan")):
        with pytest.raises(InvalidInputError, match="--fps"):
            check_fps(fps)


def test_unwritable_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInputError, match="--out"):
        open_folder(tmp_path / "file")
    with pytest.raises(InvalidInputError, match="--out"):
        open_folder(tmp_path / "file" / "below")


def test_sound_files(tmp_path: Path) -> None:
    voice = (5000 * np.sin(np.arange(4410) / 9)).astype(np.int16)
    write_sound(tmp_path / "a.wav", np.stack([voice, voice]), 48_000)
    pcm, rate = read_sound(tmp_path / "a.wav")
    assert rate == 48_000
    assert np.abs(pcm.astype(int) - voice).max() <= 1
    write_sound(tmp_path / "low.wav", voice[None], 16_000)
    assert len(read_sound(tmp_path / "low.wav")[0]) == 3 * len(voice)
    wrong = {"missing.wav": None, "empty.wav": 0, "silent.wav": 100, "text.wav": b"no audio"}
    for name, content in wrong.items():
        path = tmp_path / name
        if isinstance(content, int):
            write_sound(path, np.zeros((1, content), np.int16), 16_000)
        elif content is not None:
            path.write_bytes(content)
        with pytest.raises(InvalidInputError, match=name):
            read_sound(path)


def test_trailing_silence() -> None:
    voice = np.concatenate([np.full(1600, 9000, np.int16), np.full(800, 3, np.int16)])
    assert trailing_silence_us(voice, 16_000) == 50_000
    assert trailing_silence_us(np.zeros(16, np.int16), 16_000) == 1000
