"""Recordings in, recordings out, and clear words about what is no recording."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from taoxr.client import wav
from taoxr.errors import InvalidInputError

pytestmark = pytest.mark.unit


def tone(seconds: float, rate: int, hz: float = 440.0) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * hz * np.arange(int(seconds * rate)) / rate)


@pytest.mark.parametrize(("rate", "channels"), [(16000, 1), (44100, 2), (8000, 1), (48000, 6)])
def test_any_rate_and_channels_become_mono_16_khz(tmp_path: Path, rate: int, channels: int):
    path = tmp_path / "a.wav"
    soundfile.write(path, np.repeat(tone(1.0, rate)[:, None], channels, axis=1), rate)
    pcm = wav.read(path, 16000)
    assert pcm.dtype == np.int16
    assert pcm.ndim == 1
    assert len(pcm) == pytest.approx(16000, abs=2)
    middle = pcm[4000:12000].astype(float)
    peak = np.argmax(np.abs(np.fft.rfft(middle))) * 16000 / len(middle)
    assert peak == pytest.approx(440, abs=3)
    assert np.abs(middle).max() == pytest.approx(16384, rel=0.02)


@given(st.lists(st.integers(-32768, 32767), min_size=1, max_size=100))
def test_written_samples_are_read_again(tmp_path_factory: pytest.TempPathFactory, samples: list[int]):
    path = tmp_path_factory.mktemp("wav") / "a.wav"
    pcm = np.array(samples, np.int16)
    wav.write(path, pcm, 16000)
    np.testing.assert_array_equal(wav.read(path, 16000), pcm)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "exists"),
        (b"", "audio file"),
        (b"this is a text, not a recording" * 10, "audio file"),
        (b"RIFF\x00\x00\x00\x00WAVE", "audio file"),
    ],
)
def test_what_is_no_recording_is_said(tmp_path: Path, content: bytes | None, words: str):
    path = tmp_path / "a.wav"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=words) as error:
        wav.read(path, 16000, field="--question")
    assert error.value.field == "--question"
    assert str(path) in str(error.value)


def test_empty_and_too_long_recordings_are_refused(tmp_path: Path):
    path = tmp_path / "a.wav"
    soundfile.write(path, np.zeros(0), 16000)
    with pytest.raises(InvalidInputError, match=r"0\.0 s"):
        wav.read(path, 16000)
    soundfile.write(path, np.zeros(32000), 16000)
    with pytest.raises(InvalidInputError, match="at most 1 s"):
        wav.read(path, 16000, max_seconds=1)


def test_folder_is_no_recording_and_missing_folder_no_place(tmp_path: Path):
    with pytest.raises(InvalidInputError):
        wav.read(tmp_path, 16000)
    with pytest.raises(InvalidInputError, match="folder that exists"):
        wav.write(tmp_path / "none" / "a.wav", np.zeros(1, np.int16), 16000)


def test_loud_samples_are_clipped_not_wrapped():
    np.testing.assert_array_equal(wav.to_int16(np.array([2.0, -2.0], np.float32)), [32767, -32768])
