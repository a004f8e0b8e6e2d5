"""The real voice: audio, its level, and phoneme timing that fits it."""

import itertools

import numpy as np
import pytest

from taoxr_models.catalog import default_model, verified
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import SILENCE, Speech, Voice

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def voice() -> Voice:
    return Voice(verified(default_model("tts")))


@pytest.fixture(scope="module")
def phonemes() -> Phonemizer:
    return Phonemizer()


def rms(speech: Speech, start: int, end: int) -> float:
    return float(np.sqrt(np.mean((speech.pcm[start:end].astype(np.float64) / 32768) ** 2)))


TEXTS = ["Yes.", "Hello there, how are you?", "It was the best of times; it was the worst of times."]


@pytest.mark.parametrize("text", TEXTS)
def test_timing_covers_the_audio(voice: Voice, phonemes: Phonemizer, text: str) -> None:
    (symbols,) = phonemes(text)
    speech = voice.speak(symbols)
    timing = speech.timing
    assert timing[0].start == 0
    assert timing[-1].end == speech.pcm.size
    assert all(a.end == b.start and a.end > a.start for a, b in itertools.pairwise(timing))
    phones = [s for s in symbols if s not in " .,;?"]
    assert [t.symbol for t in timing if t.symbol != SILENCE] == phones
    # Silence only in front, at punctuation and behind; word gaps are none.
    pauses = sum(s in ".,;?" for s in symbols)
    assert sum(t.symbol == SILENCE for t in timing) == 1 + pauses
    assert all(
        20 <= 1000 * (t.end - t.start) / voice.sample_rate_hz <= 500 for t in timing if t.symbol != SILENCE
    )


def test_vowels_are_loud_and_silence_is_silent(voice: Voice, phonemes: Phonemizer) -> None:
    speech = voice.speak(phonemes("Bob, my van!")[0])
    level = {t.symbol: rms(speech, t.start, t.end) for t in speech.timing}
    end = speech.timing[-1]
    assert end.symbol == SILENCE
    assert rms(speech, end.end - 1000, end.end) < 0.002
    assert min(level["ˈɑː"], level["ˈæ"]) > 0.1


def test_level_and_edges(voice: Voice, phonemes: Phonemizer) -> None:
    for text in TEXTS:
        speech = voice.speak(phonemes(text)[0])
        assert speech.pcm.dtype == np.int16
        peak = np.abs(speech.pcm.astype(np.int32)).max()
        assert 0.4 * 32767 < peak < 32767
        assert -26 < 20 * np.log10(rms(speech, 0, speech.pcm.size)) < -15
        assert speech.pcm[0] == 0
        assert abs(int(speech.pcm[-1])) < 10


def test_the_same_symbols_sound_the_same(voice: Voice, phonemes: Phonemizer) -> None:
    (symbols,) = phonemes("Hello there.")
    first = voice.speak(symbols)
    voice.speak(phonemes("Something else.")[0])
    assert np.array_equal(voice.speak(symbols).pcm, first.pcm)


def test_speed(voice: Voice, phonemes: Phonemizer) -> None:
    (symbols,) = phonemes("Hello there, how are you?")
    slow, normal, fast = (voice.speak(symbols, speed).pcm.size for speed in (0.5, 1.0, 2.0))
    assert 1.6 < slow / normal < 2.4
    assert 1.4 < normal / fast < 2.4  # every id takes one frame at least


def test_characters_that_the_voice_does_not_know(voice: Voice) -> None:
    speech = voice.speak(["h", "ß!", "ˈaɪ", "☃"])
    assert next(t.symbol for t in speech.timing if t.symbol != SILENCE) == "h"
    assert "☃" not in {t.symbol for t in speech.timing}
