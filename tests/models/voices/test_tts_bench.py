"""The benchmark of the voice, on a small one."""

import sys
from pathlib import Path

import pytest
from tests.models.voices.small_voice import make

from taoxr.errors import ModelError, UnavailableError
from taoxr.figures import Spread
from taoxr_models.tts.bench import TEXTS, bench_tts

pytestmark = pytest.mark.models


def test_both_speak_with_the_same_file(tmp_path: Path) -> None:
    figures = bench_tts(make(tmp_path) / "voice.onnx", 2)
    assert figures["sample_rate_hz"] == 16000
    for name in ("ours", "peer"):
        rtf, first = figures[f"{name}.rtf"], figures[f"{name}.first_ms"]
        assert isinstance(rtf, Spread)
        assert isinstance(first, Spread)
        assert (rtf.n, first.n) == (2, 2 * len(TEXTS))
        assert first.p50 > 0
    assert isinstance(figures["ratio"], float)
    assert figures["ratio"] > 0


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    onnx = make(tmp_path) / "voice.onnx"
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UnavailableError, match=r"taoxr\[bench\]"):
        bench_tts(onnx, 1)
    onnx.with_name("voice.onnx.json").unlink()
    with pytest.raises(ModelError, match=r"voice\.onnx\.json is missing"):
        bench_tts(onnx, 1)
