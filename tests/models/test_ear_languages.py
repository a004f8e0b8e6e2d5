"""A Whisper of many languages: it finds out which one is spoken, and writes it.

The three clips were made by a text-to-speech system and come with pytest-audioeval 0.1.3 (MIT).
"""

from pathlib import Path

import numpy as np
import pytest
import soundfile  # pyright: ignore[reportMissingTypeStubs]

from taoxr.errors import InvalidInputError
from taoxr.worker.v1.ear_pb2 import ListenConfig, ListenResponse
from taoxr_models.catalog import default_model, verified
from taoxr_models.ear.stream import EarStream
from taoxr_models.ear.vad import load_vad
from taoxr_models.ear.whisper import Hints, Whisper

pytestmark = [pytest.mark.models, pytest.mark.slow]

MODEL = "whisper-base"
SAID = {"fr": "Bonjour, le monde.", "ja": "こんにちは世界", "es": "comía feliz cardillo y kiwi."}


@pytest.fixture(scope="module")
def whisper() -> Whisper:
    return Whisper(verified(MODEL))


def clip(language: str) -> np.ndarray:
    samples, rate = soundfile.read(Path(__file__).parent / "data" / f"spoken-{language}.flac", dtype="int16")
    assert rate == 16000
    return samples


def hear(whisper: Whisper, samples: np.ndarray, hints: Hints) -> tuple[str, str, list[str]]:
    recognition = whisper.recognise((samples / 32768).astype(np.float32), hints)
    while not recognition.done:
        recognition.step()
    return recognition.language, recognition.text, [word.text for word in recognition.words]


@pytest.mark.parametrize("language", SAID)
def test_it_finds_out_the_language(whisper: Whisper, language: str) -> None:
    found, text, words = hear(whisper, clip(language), Hints(word_times=True))
    assert found == language
    assert text.endswith(SAID[language])
    assert "".join(words) == text.replace(" ", "")


def test_who_names_the_language_gets_it(whisper: Whisper) -> None:
    assert len(whisper.languages) == 99
    language, text, _ = hear(whisper, clip("fr"), Hints(language="fr"))
    assert (language, text.replace(",", "")) == ("fr", "Bonjour le monde.")
    with pytest.raises(InvalidInputError, match="xx"):
        whisper.recognise(np.zeros(1600, np.float32), Hints(language="xx"))


def test_a_stream_tells_the_language_of_what_it_heard(whisper: Whisper) -> None:
    config = ListenConfig(sample_rate_hz=16000, push_to_talk=True, word_times=True)
    stream = EarStream(config, load_vad(verified(default_model("vad"))), whisper)
    responses: list[ListenResponse] = [*stream.listen(clip("fr")), *stream.end_utterance()]
    while stream.must_work:
        responses += stream.work()
    final = responses[-1].utterance
    assert (final.language, final.text) == ("fr", SAID["fr"])
    assert [word.text for word in final.words] == ["Bonjour,", "le", "monde."]
