"""Aligning tokens to audio by attention."""

import numpy as np
import pytest

from taoxr_models.ear.word_times import STEP_S, token_times, words_of

pytestmark = pytest.mark.unit


def test_attention_that_moves_on_gives_the_times() -> None:
    starts = [0, 10, 25, 60]
    attention = np.full((2, 4, 120), 1e-4, np.float32)
    for row, (start, end) in enumerate(zip(starts, [*starts[1:], 80], strict=True)):
        attention[:, row, start:end] = 1.0
    attention[:, :, 80:] = 5.0  # padding, which is cut off
    assert token_times(attention, 80) == pytest.approx([s * STEP_S for s in starts], abs=2 * STEP_S)


def test_tokens_join_to_words() -> None:
    found = words_of([" Good", " morn", "ing", "!"], np.array([0.1, 0.4, 0.6, 0.8, 0.9]), 0.85)
    assert [(w.text, w.start_s, w.end_s) for w in found] == [("Good", 0.1, 0.4), ("morning!", 0.4, 0.85)]


def test_no_tokens_are_no_words() -> None:
    assert words_of([], np.array([0.0]), 1.0) == []
