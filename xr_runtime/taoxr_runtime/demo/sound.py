"""Sound files and sample rates: the typed edge of soundfile and soxr."""

from pathlib import Path
from typing import Final

import numpy as np
import soundfile  # pyright: ignore[reportMissingTypeStubs]  # ships no types
import soxr  # pyright: ignore[reportMissingTypeStubs]  # ships no types
from numpy.typing import NDArray

from taoxr.client import wav
from taoxr.errors import InvalidInputError

READ_HZ: Final = 48_000
"""Rate at which recordings are read, whatever theirs."""


def at_rate(pcm: NDArray[np.int16], rate_hz: int, wanted_hz: int) -> NDArray[np.int16]:
    """The same sound, int16 [n], at another rate."""
    if rate_hz == wanted_hz or not len(pcm):
        return pcm
    return np.asarray(soxr.resample(pcm, rate_hz, wanted_hz), np.int16)


def read_sound(path: Path) -> tuple[NDArray[np.int16], int]:
    """Samples int16 [n] (channels averaged) of a recorded voice, and their rate.

    Raises:
        InvalidInputError: The file is missing, is no audio, is empty, too long, or silent.
    """
    pcm = wav.read(path, READ_HZ, field="audio file")
    if np.abs(pcm.astype(np.int32)).max(initial=0) < 4:
        raise InvalidInputError("audio file", str(path), "a voice; it holds silence")
    return pcm, READ_HZ


def trailing_silence_us(pcm: NDArray[np.int16], rate_hz: int) -> int:
    """Length of what follows the last sample louder than 1 % (-40 dB) of the loudest, in microseconds."""
    loud = np.flatnonzero(np.abs(pcm.astype(np.int32)) > 0.01 * np.abs(pcm.astype(np.int32)).max(initial=0))
    last = int(loud[-1]) + 1 if len(loud) else 0
    return (len(pcm) - last) * 1_000_000 // rate_hz


def read_voices(path: Path) -> NDArray[np.int16]:
    """Both channels of a WAV that `write_sound` wrote, int16 [2, n].

    Raises:
        InvalidInputError: It is missing, or another kind of sound.
    """
    try:
        pcm = np.asarray(soundfile.read(path, dtype="int16", always_2d=True)[0], np.int16)  # pyright: ignore[reportUnknownMemberType]
    except (OSError, soundfile.SoundFileError) as error:
        raise InvalidInputError(
            "audio file", str(path), f"both voices as a demo writes them ({error})"
        ) from error
    if pcm.shape[1] != 2:
        raise InvalidInputError("audio file", str(path), f"two channels; it has {pcm.shape[1]}")
    return np.ascontiguousarray(pcm.T)


def write_sound(path: Path, pcm: NDArray[np.int16], rate_hz: int) -> None:
    """Writes a WAV of int16 [channels, n]."""
    soundfile.write(path, np.ascontiguousarray(pcm.T), rate_hz, subtype="PCM_16", format="WAV")  # pyright: ignore[reportUnknownMemberType]
