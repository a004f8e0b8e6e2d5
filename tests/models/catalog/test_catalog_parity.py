"""Converted VAD, TTS and ASR against what onnxruntime and faster-whisper computed (see references/)."""

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from taoxr.engine import Module
from taoxr_models.catalog import verified
from taoxr_models.ear.whisper import Whisper

pytestmark = pytest.mark.models

REFERENCES = Path(__file__).parent / "references"
VAD_TOLERANCE = 1e-5
SNR_DB = 80.0
EQUAL_DURATIONS = 0.99
HOP: Final = 256  # samples per frame of the voice

Arrays = dict[str, NDArray[Any]]


@pytest.fixture(scope="module")
def arrays() -> Arrays:
    with np.load(REFERENCES / "references.npz") as file:
        return dict(file)


def test_vad_probabilities_and_state(arrays: Arrays) -> None:
    vad = Module(verified("silero-vad") / "vad.mnn", ["input", "state"], ["output", "stateN"])
    pcm = arrays["vad_pcm"].astype(np.float32) / 32768
    samples = np.concatenate([np.zeros(64, np.float32), pcm])
    state = np.zeros((2, 1, 128), np.float32)
    for frame, expected in enumerate(arrays["vad_probabilities"]):
        probability, state = vad.run(samples[None, frame * 512 : frame * 512 + 576], state)
        assert abs(probability.item() - expected) < VAD_TOLERANCE, frame
    # The cell state has values up to tens: an absolute tolerance of probabilities does not fit it.
    assert np.abs(state - arrays["vad_state"]).max() < 1e-4
    assert arrays["vad_probabilities"].max() > 0.9  # speech
    assert arrays["vad_probabilities"][-5:].max() < 0.1  # silence


def test_voice_durations_and_samples(arrays: Arrays) -> None:
    """The parts of the voice, one after the other, against the whole."""
    folder = verified("piper-en-us-joe")
    encoder = Module(
        folder / "encoder.mnn",
        ["input", "input_lengths", "scales", "noise"],
        ["mean", "log_scale", "durations"],
    )
    names = json.loads((folder / "parts.json").read_text(encoding="utf-8"))
    over_time = [Module(folder / f"{name}.mnn", ["x"], ["y"]) for name in names]
    scales = np.array([0, 1, 0], np.float32)  # no noise: the result is defined
    equal = total = compared = 0
    for number in range(sum(name.startswith("tts_ids") for name in arrays)):
        ids = arrays[f"tts_ids_{number}"].astype(np.int32)
        expected = arrays[f"tts_durations_{number}"]
        noise = np.zeros((1, 2, ids.size), np.float32)
        mean, _, durations = encoder.run(ids[None], np.array([ids.size], np.int32), scales, noise)
        durations = durations.ravel()
        equal += int((durations == expected).sum())
        total += ids.size
        if f"tts_audio_{number}" in arrays and np.array_equal(durations, expected):
            made = np.repeat(mean, durations.astype(np.int64), axis=-1)
            for part in over_time:
                made = part.run(made)[0]
            reference = arrays[f"tts_audio_{number}"].astype(np.float64)
            assert made.size == durations.sum() * HOP == reference.size
            difference = made.ravel() - reference
            assert 10 * np.log10((reference**2).sum() / (difference**2).sum()) > SNR_DB
            compared += 1
    assert total > 700
    assert equal >= EQUAL_DURATIONS * total
    assert compared >= 2


@pytest.fixture(scope="module")
def whisper() -> Whisper:
    return Whisper(verified("whisper-tiny.en"))


@pytest.mark.parametrize("number", range(5))
def test_transcript_is_faster_whispers(number: int, arrays: Arrays, whisper: Whisper) -> None:
    stored = arrays[f"whisper_mel_{number}"].astype(np.float32)
    mel: NDArray[np.float32] = np.zeros((80, 3000), np.float32)  # faster-whisper's padding
    mel[:, : stored.shape[1]] = stored
    recognition = whisper.recognise_mel(mel, stored.shape[1] / 100)
    while not recognition.done:
        recognition.step()
    expected = json.loads((REFERENCES / "references.json").read_text())["whisper_texts"][number]
    assert recognition.text == expected.strip()
    assert recognition.tokens == arrays[f"whisper_tokens_{number}"].tolist()
