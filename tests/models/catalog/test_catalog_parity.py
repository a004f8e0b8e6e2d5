"""Converted VAD, TTS and ASR against what onnxruntime and faster-whisper computed (see references/)."""

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from taoxr.engine import Module, Variable
from taoxr_models.catalog import verified

pytestmark = pytest.mark.models

REFERENCES = Path(__file__).parent / "references"
VAD_TOLERANCE = 1e-5
SNR_DB = 80.0
EQUAL_DURATIONS = 0.99
HOP: Final = 256  # samples per frame of the voice
START, NO_TIMESTAMPS, END = 50257, 50362, 50256

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
    voice = Module(
        verified("piper-en-us-joe") / "voice.mnn",
        ["input", "input_lengths", "scales"],
        ["output", "durations"],
    )
    scales = np.array([0, 1, 0], np.float32)  # no noise: the result is defined
    equal = total = compared = 0
    for number in range(sum(name.startswith("tts_ids") for name in arrays)):
        ids = arrays[f"tts_ids_{number}"].astype(np.int32)
        expected = arrays[f"tts_durations_{number}"]
        audio, durations = (a.ravel() for a in voice.run(ids[None], np.array([ids.size], np.int32), scales))
        assert durations.sum() * HOP == audio.size
        equal += int((durations == expected).sum())
        total += ids.size
        if f"tts_audio_{number}" in arrays and np.array_equal(durations, expected):
            reference = arrays[f"tts_audio_{number}"].astype(np.float64)
            noise = audio - reference
            assert 10 * np.log10((reference**2).sum() / (noise**2).sum()) > SNR_DB
            compared += 1
    assert total > 700
    assert equal >= EQUAL_DURATIONS * total
    assert compared >= 2


@pytest.fixture(scope="module")
def whisper() -> "Whisper":
    return Whisper(verified("whisper-tiny.en"))


class Whisper:
    """The least that transcribes a mel spectrogram: greedy, token by token."""

    def __init__(self, folder: Path) -> None:
        past = ["pk", "pv", "ck", "cv"]
        self.encoder = Module(folder / "encoder.mnn", ["mel"], ["ck", "cv"])
        self.decoder = Module(
            folder / "decoder.mnn", ["x", "mask", *past], ["logits", "nk", "nv"], memory="low"
        )
        names = ("token_embedding.npy", "position_embedding.npy")
        self.tokens, self.positions = (np.load(folder / name).astype(np.float32) for name in names)
        self.config = json.loads((folder / "config.json").read_text())
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def transcribe(self, mel: NDArray[np.float32]) -> list[int]:
        cross = self.encoder.forward(Variable.of(mel[None]))
        keys = values = Variable.of(np.zeros((4, 6, 1, 64), np.float32))  # one past token, masked
        result, ids, position = list[int](), [START, NO_TIMESTAMPS], 0
        while len(result) < 60:
            x = self.tokens[ids] + self.positions[position : position + len(ids)]
            position += len(ids)
            mask = np.triu(np.full((len(ids), position + 1), -1e9, np.float32), position + 2 - len(ids))
            mask[:, 0] = -1e9
            logits, keys, values = self.decoder.forward(
                Variable.of(x[None]), Variable.of(mask), keys, values, *cross
            )
            scores = logits.numpy().ravel()
            scores[self.config["suppress_ids"]] = -np.inf
            scores[NO_TIMESTAMPS:] = -np.inf
            if not result:
                scores[self.config["suppress_ids_begin"]] = -np.inf
            ids = [int(scores.argmax())]
            if ids == [END]:
                return result
            result += ids
        return result


@pytest.mark.parametrize("number", range(5))
def test_transcript_is_faster_whispers(number: int, arrays: Arrays, whisper: Whisper) -> None:
    stored = arrays[f"whisper_mel_{number}"].astype(np.float32)
    mel = np.zeros((80, 3000), np.float32)  # faster-whisper's padding
    mel[:, : stored.shape[1]] = stored
    tokens = whisper.transcribe(mel)
    expected = json.loads((REFERENCES / "references.json").read_text())["whisper_texts"][number]
    assert whisper.tokenizer.decode(tokens) == expected
    assert tokens == arrays[f"whisper_tokens_{number}"].tolist()
