"""The benchmark of the ear counts what it says it counts."""

import pytest

from taoxr_models.ear.bench import SENTENCES, bench_asr, edits, plain_words

pytestmark = pytest.mark.models


@pytest.mark.parametrize(
    ("heard", "errors"),
    [("the cat sat", 0), ("", 3), ("the cat", 1), ("a cat sat", 1), ("the big cat sat", 1)],
)
def test_edits(heard: str, errors: int) -> None:
    assert edits(plain_words("The cat sat."), plain_words(heard)) == errors


def test_figures_of_a_small_run() -> None:
    assert len(SENTENCES) == 40
    figures = bench_asr(None, None, 1, lambda _: None)
    assert 0 <= float(figures["ours.wer_percent.clean"]) < 50
    assert 0.2 < float(figures["audio_minutes"]) < 0.6
