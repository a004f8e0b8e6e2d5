"""The user's voice where no recording is given, the reading of recordings, and the sound of the film."""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.client import Client
from taoxr.errors import InvalidInputError
from taoxr_runtime.demo.live import AUDIO_IN_HZ
from taoxr_runtime.demo.playback import Span
from taoxr_runtime.demo.record import Prompt, Record, Source
from taoxr_runtime.demo.sound import at_rate, read_sound

FILM_HZ: Final = 48_000
LONGEST_QUESTION_S: Final = 60.0

# Played this much faster, the one voice there is sounds like a smaller, other person.
_USER_PITCH: Final = 1.2

# Where the voices sound from: gains of the left and right channel.
_Pan = tuple[float, float]
_USER_PAN: Final[_Pan] = (0.85, 0.55)
_AVATAR_PAN: Final[_Pan] = (0.75, 0.85)


async def synthesise(client: Client, text: str) -> Prompt:
    """Speaks the user's part with the avatar's voice, shifted in pitch."""
    speech = await client.say(text)
    played_hz = round(speech.sample_rate_hz * _USER_PITCH)
    return Prompt(Source.SYNTHESISED, text, at_rate(speech.pcm, played_hz, AUDIO_IN_HZ), AUDIO_IN_HZ)


def read_recording(path: Path) -> Prompt:
    """A recorded question, mixed to one channel.

    Raises:
        InvalidInputError: The file is missing, is no audio, is empty, silent or too long.
    """
    pcm, rate = read_sound(path)
    if len(pcm) > LONGEST_QUESTION_S * rate:
        raise InvalidInputError(
            str(path), f"{len(pcm) / rate:.1f} s", f"a question of at most {LONGEST_QUESTION_S:.0f} s"
        )
    return Prompt(Source.RECORDING, "", pcm, rate)


def film_sound(record: Record, duration_us: int) -> NDArray[np.int16]:
    """Both voices as they were heard, on the film's clock: int16 [2, n] at `FILM_HZ`."""
    out = np.zeros((2, duration_us * FILM_HZ // 1_000_000), np.float32)
    for asked in record.asked:
        _add(out, asked.prompt.pcm, asked.prompt.rate_hz, asked.start_us, _USER_PAN)
    if record.microphone:
        _add(out, np.concatenate(record.microphone), AUDIO_IN_HZ, record.microphone_us, _USER_PAN)
    for turn in record.turns:
        rate = record.started.audio_out_hz
        spans, pieces = turn.playback.spans, [chunk for _, chunk in turn.chunks if len(chunk.pcm)]
        start = 0
        while start < len(spans):
            end = start + 1
            # Chunks heard without a break are resampled as one, or their seams would click.
            while end < len(spans) and _follows(spans[end - 1], spans[end], rate):
                end += 1
            heard = [c.pcm[: s.samples] for s, c in zip(spans[start:end], pieces[start:end], strict=True)]
            _add(out, np.concatenate(heard), rate, spans[start].wall_us, _AVATAR_PAN)
            start = end
    return (np.clip(out, -1.0, 1.0) * 32767.0).astype(np.int16)


def _follows(a: Span, b: Span, rate: int) -> bool:
    return abs(a.wall_us + a.samples * 1_000_000 / rate - b.wall_us) <= 2


def _add(
    out: NDArray[np.float32], pcm: NDArray[np.int16], rate: int, at_us: int, pan: tuple[float, float]
) -> None:
    if not len(pcm):
        return
    sound = at_rate(pcm, rate, FILM_HZ).astype(np.float32) / 32768.0
    start = at_us * FILM_HZ // 1_000_000
    sound = sound[: max(out.shape[1] - start, 0)]
    for channel, gain in enumerate(pan):
        out[channel, start : start + len(sound)] += gain * sound
