"""What the avatar says, so that the ear does not take it for the user: its sound and its words."""

import re
from collections import deque
from difflib import SequenceMatcher
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError
from taoxr.worker.v1.ear_pb2 import Playback
from taoxr_models.dsp.resample import RATE, To16k, check_rate, samples_of
from taoxr_models.ear.echo import EchoGate

_MAX_BYTES: Final = 256 * 1024
_WORDS: Final = 80
# Speech that begins this long after the avatar's may still be its echo, recognised late.
_LATE: Final = round(1.5 * RATE)
# Recognisers hear some words of an echo wrong.
_SAME: Final = 0.7


class AvatarVoice:
    """The playback that one stream was told of. Positions are samples at 16 kHz of the microphone."""

    def __init__(self) -> None:
        self._gate = EchoGate()
        self._resampler = To16k(RATE)
        self._rate_hz = RATE
        # (position, word), oldest first; and where the newest piece ends.
        self._words: deque[tuple[int, str]] = deque(maxlen=_WORDS)
        self._end = -_LATE

    def play(self, playback: Playback) -> None:
        """Takes a piece of it.

        Raises:
            InvalidInputError: A value is out of range.
        """
        if len(playback.pcm) > _MAX_BYTES:
            raise InvalidInputError("playback.pcm", f"{len(playback.pcm)} bytes", f"at most {_MAX_BYTES}")
        samples = samples_of(playback.pcm, "playback.pcm")
        rate_hz = check_rate(playback.sample_rate_hz, "playback.sample_rate_hz")
        if rate_hz != self._rate_hz:
            self._resampler, self._rate_hz = To16k(rate_hz), rate_hz
        at = playback.offset_us * RATE // 1_000_000
        self._gate.play(self._resampler.push(samples), at)
        self._end = at + len(samples) * RATE // rate_hz
        self._words.extend((at, word) for word in _words(playback.text))

    def stop(self, at: int) -> None:
        """It was cut off at position `at`; its words may have been heard a little later."""
        self._gate.stop(at)
        self._end = min(self._end, at)

    def unexplained(self, frame: NDArray[np.float32]) -> float:
        """See `EchoGate.unexplained`."""
        return self._gate.unexplained(frame)

    def said(self, text: str, start: int, end: int) -> bool:
        """True when what was heard from `start` to `end` is what the avatar said at that time.

        A single word counts only where an echo is known to be heard: "Paris" may be the user's answer.
        """
        heard = _words(text)
        if not heard or start > self._end + _LATE:
            return False
        spoken = [word for at, word in self._words if at <= end]
        blocks = [b.size for b in SequenceMatcher(None, heard, spoken, autojunk=False).get_matching_blocks()]
        if len(heard) == 1:
            return bool(sum(blocks)) and self._gate.echo_found
        return max(blocks) >= 2 and sum(blocks) >= _SAME * len(heard)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())
