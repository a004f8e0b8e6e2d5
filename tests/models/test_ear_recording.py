"""The audio that is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr.errors import InvalidInputError
from taoxr_models.dsp.resample import RATE, To16k, samples_of
from taoxr_models.ear.recording import Recording
from taoxr_models.ear.whisper import repeated_tokens

pytestmark = pytest.mark.unit


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 400)), max_size=20), st.integers(0, 500))
def test_cuts_are_what_was_recorded(steps: list[tuple[int, int]], start: int) -> None:
    kept = Recording()
    total = forgotten = 0
    for count, forget in steps:
        kept.append(np.arange(total, total + count, dtype=np.float32))
        total += count
        assert kept.end == total
        forgotten = max(forgotten, min(forget, total))
        kept.forget_before(forget)
        expected = np.arange(min(max(start, forgotten), total), total, dtype=np.float32)
        np.testing.assert_array_equal(kept.cut(start, total)[-len(expected) or total :], expected)


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 22050, 44100, 48000])
@pytest.mark.parametrize("chunk", [0.02, 0.5])
def test_resampled_time_is_input_time(rate: int, chunk: float) -> None:
    t = np.arange(rate) / rate
    tone = (12000 * np.sin(2 * np.pi * 440 * t)).astype(np.int16)
    to16k = To16k(rate)
    n = round(chunk * rate)
    parts = [to16k.push(tone[i : i + n]) for i in range(0, rate, n)]
    got = np.concatenate([*parts, to16k.push(np.zeros(0, np.int16), last=True)])
    assert abs(len(got) - RATE) <= 1
    expected = 12000 / 32768 * np.sin(2 * np.pi * 440 * np.arange(len(got)) / RATE)
    middle = slice(1600, 14400)
    assert np.abs(got[middle] - expected[middle]).max() < 2e-3


@pytest.mark.parametrize("rate", [0, 7999, 48001, -1])
def test_rates_out_of_range_are_refused(rate: int) -> None:
    with pytest.raises(InvalidInputError, match="sample_rate_hz"):
        To16k(rate)


def test_half_samples_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="3 bytes"):
        samples_of(b"abc")


def test_loops_are_found() -> None:
    assert repeated_tokens([1, 2, 3]) == 0
    assert repeated_tokens([9, *[5, 6, 7] * 4]) == 9
    assert repeated_tokens([9, *[5] * 12]) == 11
    assert repeated_tokens([5, 6] * 4) == 0  # "no, no, no, no"
    assert repeated_tokens([*[5, 6, 7] * 4, 8]) == 0
