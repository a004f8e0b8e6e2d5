"""The benchmark of the ear counts what it says it counts."""

from pathlib import Path

import numpy as np
import pytest

from taoxr.client import wav
from taoxr_models.ear.bench import SENTENCES, bench_asr, edits, plain_words

pytestmark = pytest.mark.models


@pytest.mark.parametrize(
    ("heard", "errors"),
    [("the cat sat", 0), ("", 3), ("the cat", 1), ("a cat sat", 1), ("the big cat sat", 1)],
)
def test_edits(heard: str, errors: int) -> None:
    assert edits(plain_words("The cat sat."), plain_words(heard)) == errors


def test_figures_of_a_small_run(tmp_path: Path) -> None:
    assert len(SENTENCES) == 40
    (tmp_path / "hum").mkdir()
    hum = (2000 * np.sin(np.arange(16000) / 20)).astype(np.int16)
    for place in (tmp_path / "x.wav", tmp_path / "hum" / "y.wav"):
        wav.write(place, hum, 16000)
        place.with_suffix(".txt").write_text("one two")
    figures = bench_asr(None, tmp_path, 1, lambda _: None)
    assert 0 <= float(figures["ours.wer_percent.clean"]) < 50
    assert 0 <= float(figures["live.wer_percent.clean"]) < 50
    assert {"ours.wer_percent.recordings", "ours.wer_percent.hum"} <= figures.keys()
    assert 0.2 < float(figures["audio_minutes"]) < 0.6
    # The silence that ends an utterance is part of it, whatever the machine.
    assert 300 < float(figures["ours.final_ms.p50"]) <= float(figures["ours.final_ms.p95"])
