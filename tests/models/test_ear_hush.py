"""When speech falls quiet."""

import numpy as np
import pytest

from taoxr_models.ear.hush import Hush
from taoxr_models.ear.vad import FRAME

pytestmark = pytest.mark.unit


def frames(*levels: float) -> list[np.ndarray]:
    tone = np.sin(np.arange(FRAME)).astype(np.float32)
    return [level * tone for level in levels]


def test_it_falls_quiet_once_and_ends_with_the_next_sound() -> None:
    hush = Hush()
    falls = [hush.falls(frame) for frame in frames(0.0, 0.3, 0.1, 0.005, 0.002, 0.2, 0.001)]
    assert falls == [False, False, False, True, None, False, True]


def test_a_loud_noise_is_forgotten() -> None:
    hush = Hush()
    spoken = [hush.falls(frame) for frame in frames(0.9, *[0.02] * 100)]
    assert spoken[1] is True
    assert spoken[-1] is False


def test_noise_as_loud_as_a_tenth_of_speech_is_no_silence() -> None:
    hush = Hush()
    assert [hush.falls(frame) for frame in frames(0.3, 0.03, 0.03)] == [False] * 3
