"""Recordings: any audio file that libsndfile reads becomes mono int16, and back."""

from pathlib import Path
from typing import Final

import numpy as np
import soundfile  # pyright: ignore[reportMissingTypeStubs]
import soxr  # pyright: ignore[reportMissingTypeStubs]
from numpy.typing import NDArray

from taoxr.client import out_file
from taoxr.errors import InvalidInputError

MAX_SECONDS: Final = 300.0


def read(
    path: Path, sample_rate_hz: int, *, field: str = "--wav", max_seconds: float = MAX_SECONDS
) -> NDArray[np.int16]:
    """Reads a recording of any rate and any number of channels.

    Args:
        path: WAV, FLAC, OGG or MP3.
        sample_rate_hz: Rate of the result.
        field: Name of the option or field, for errors.
        max_seconds: Longest recording that is accepted.

    Returns:
        int16 [n], mono (the mean of the channels).

    Raises:
        InvalidInputError: The file is missing, empty, too long, or no audio.
    """
    if not path.is_file():
        raise InvalidInputError(field, str(path), "a file that exists")
    try:
        with soundfile.SoundFile(path) as file:
            seconds = file.frames / file.samplerate
            if not 0 < seconds <= max_seconds:
                shown = f"{path} ({seconds:.1f} s)"
                raise InvalidInputError(
                    field, shown, f"a recording of more than 0 and at most {max_seconds:.0f} s"
                )
            samples = np.asarray(file.read(dtype="float32", always_2d=True), np.float32)
            rate = file.samplerate
    except soundfile.LibsndfileError as error:
        expected = f"an audio file such as WAV, FLAC, OGG or MP3 ({error.error_string})"
        raise InvalidInputError(field, str(path), expected) from error
    mono = np.nan_to_num(samples.mean(axis=1))
    return to_int16(soxr.resample(mono, rate, sample_rate_hz) if rate != sample_rate_hz else mono)


def write(path: Path, pcm: NDArray[np.int16], sample_rate_hz: int, *, field: str = "--out") -> None:
    """Writes int16 [n] mono as a 16-bit WAV, in place of the file that was there.

    Raises:
        InvalidInputError: The folder is missing or cannot be written to.
    """
    out_file.check(path, field=field)
    try:
        with out_file.replacing(path, field=field) as file:
            soundfile.write(file, pcm, sample_rate_hz, format="WAV", subtype="PCM_16")
    except soundfile.LibsndfileError as error:
        raise InvalidInputError(field, str(path), f"a file that can be written ({error})") from error


def to_int16(samples: NDArray[np.float32]) -> NDArray[np.int16]:
    """float32 [n] in [-1, 1], clipped, as int16 [n]."""
    return np.clip(np.round(samples * 32768.0), -32768, 32767).astype(np.int16)
