"""Sound files and sample rates: the typed edge of soundfile and soxr."""

from pathlib import Path

import numpy as np
import soundfile  # pyright: ignore[reportMissingTypeStubs]  # ships no types
import soxr  # pyright: ignore[reportMissingTypeStubs]  # ships no types
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError


def at_rate(pcm: NDArray[np.int16], rate_hz: int, wanted_hz: int) -> NDArray[np.int16]:
    """The same sound, int16 [n], at another rate."""
    if rate_hz == wanted_hz or not len(pcm):
        return pcm
    return np.asarray(soxr.resample(pcm, rate_hz, wanted_hz), np.int16)


def read_sound(path: Path) -> tuple[NDArray[np.int16], int]:
    """Samples int16 [n] (channels averaged) and rate (at most 48,000 Hz) of an audio file.

    Raises:
        InvalidInputError: The file is missing, is no audio, is empty, silent, or of an unusable rate.
    """
    if not path.is_file():
        raise InvalidInputError("audio file", str(path), "a file that exists")
    try:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)  # pyright: ignore[reportUnknownMemberType]
    except soundfile.LibsndfileError as error:
        raise InvalidInputError(
            "audio file", str(path), f"audio that libsndfile reads (WAV, FLAC, OGG, MP3): {error}"
        ) from error
    mono: NDArray[np.float32] = np.asarray(samples, np.float32).mean(axis=1)
    if not len(mono):
        raise InvalidInputError("audio file", str(path), "at least one sample; it is empty")
    if not np.isfinite(mono).all() or np.abs(mono).max() < 1e-4:
        raise InvalidInputError("audio file", str(path), "a voice; it holds silence or no numbers")
    if not 8_000 <= rate <= 192_000:
        raise InvalidInputError("audio file", f"{path}: {rate} Hz", "8,000 to 192,000 Hz")
    pcm = (np.clip(mono, -1.0, 1.0) * 32767.0).astype(np.int16)
    return (pcm, rate) if rate <= 48_000 else (at_rate(pcm, rate, 48_000), 48_000)


def trailing_silence_us(pcm: NDArray[np.int16], rate_hz: int) -> int:
    """Length of what follows the last sample louder than 1 % (-40 dB) of the loudest, in microseconds."""
    loud = np.flatnonzero(np.abs(pcm.astype(np.int32)) > 0.01 * np.abs(pcm.astype(np.int32)).max(initial=0))
    last = int(loud[-1]) + 1 if len(loud) else 0
    return (len(pcm) - last) * 1_000_000 // rate_hz


def write_sound(path: Path, pcm: NDArray[np.int16], rate_hz: int) -> None:
    """Writes a WAV of int16 [channels, n]."""
    soundfile.write(path, np.ascontiguousarray(pcm.T), rate_hz, subtype="PCM_16", format="WAV")  # pyright: ignore[reportUnknownMemberType]
