"""The real voice: audio, its level, and phoneme timing that fits it."""

import itertools
from collections.abc import Sequence

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


def test_a_seed_gives_another_delivery(voice: Voice, phonemes: Phonemizer) -> None:
    (symbols,) = phonemes("Hello there.")
    assert not np.array_equal(voice.speak(symbols, seed=1).pcm, voice.speak(symbols, seed=2).pcm)


# Samples of pieces may differ from those of one run over the sentence by less than this, in decibels below
# the sentence: float additions in another order.
EXACT_DB = 110.0


@pytest.mark.parametrize(
    "text", [*TEXTS, "Once upon a time, there was a boat that sailed on a very wide sea."]
)
def test_pieces_are_what_one_run_over_the_sentence_gives(
    voice: Voice, phonemes: Phonemizer, text: str
) -> None:
    (symbols,) = phonemes(text)
    utterance = voice.plan(symbols)
    piecewise = utterance._audio
    planned = voice.plan(symbols)
    for stage in (*planned._before, planned._audio):
        stage._most = stage.frames
        stage.extend(stage.frames)
    whole = planned._audio
    reference = whole.span(0, whole.frames * whole.rate).astype(np.float64)
    sizes = itertools.cycle([1, 28, 3, 40, 72])
    ends = [
        0,
        *itertools.takewhile(lambda end: end < whole.frames, itertools.accumulate(sizes)),
        whole.frames,
    ]
    steps = [(a * whole.rate, b * whole.rate) for a, b in itertools.pairwise(ends)]
    joined = np.concatenate([piecewise.span(a, b) for a, b in steps], axis=-1)
    assert joined.shape == reference.shape
    error = ((joined - reference) ** 2).sum()
    assert error < (reference**2).sum() * 10 ** (-EXACT_DB / 10)


def test_margins_are_not_larger_than_needed(voice: Voice, phonemes: Phonemizer) -> None:
    """One step less than the margin that the catalogue tells, and the pieces of the last part differ."""
    (symbols,) = phonemes("Hello there.")
    rate = voice.plan(symbols)._before[-1].rate
    values, net = voice.plan(symbols)._before[-1].span(20 * rate, 30 * rate), voice._nets[-1]
    whole = net.module.run(np.ascontiguousarray(values))[0].reshape(-1)
    for margin, same in ((net.margin, True), (net.margin - 1, False)):
        part = net.module.run(np.ascontiguousarray(values[..., 80 - margin : 160 + margin]))[0].reshape(-1)
        inside = part[margin * net.factor : -margin * net.factor]
        assert np.allclose(inside, whole[80 * net.factor : 160 * net.factor], atol=1e-6) is same


def test_first_piece_is_short(voice: Voice, phonemes: Phonemizer) -> None:
    pieces = [p.size for p in voice.plan(phonemes(TEXTS[2])[0]).pieces() if p.size]
    assert 0.25 < pieces[0] / voice.sample_rate_hz < 0.4
    assert max(pieces) / voice.sample_rate_hz < 1.2
    assert pieces[:3] == sorted(pieces[:3])


CLAUSES = [
    "Hello there, how are you?",
    "The sky is blue because air scatters blue light more than red.",
    "I like apples and pears.",
    "Once upon a time, there was a little boat on the sea.",
    "It was the best of times; it was the worst of times.",
]


def speech_level(speech: Speech) -> float:
    """Root mean square of all but the pauses, in dBFS."""
    spoken = np.concatenate([speech.pcm[t.start : t.end] for t in speech.timing if t.symbol != SILENCE])
    return float(10 * np.log10(np.mean((spoken / 32768.0) ** 2)))


def test_calibrated_clauses_are_equally_loud(phonemes: Phonemizer) -> None:
    voice = Voice(verified(default_model("tts")))
    (symbols,) = phonemes(
        "Hello, this is taoxr; it learned 12 new words today, and it is very glad to meet you."
    )
    voice.calibrate(symbols)
    assert abs(speech_level(voice.speak(symbols)) + 20.0) < 0.3
    spoken = [voice.speak(phonemes(text)[0]) for text in CLAUSES]
    levels = [speech_level(s) for s in spoken]
    assert abs(float(np.mean(levels)) + 20.0) < 1.5
    assert max(levels) - min(levels) < 5.0
    for speech in spoken:
        assert np.abs(speech.pcm.astype(np.int32)).max() < 32767
        assert np.mean(np.abs(speech.pcm) > 0.8 * 32767) < 0.001  # the limiter hardly works


def test_joins_of_clauses_do_not_click(voice: Voice, phonemes: Phonemizer) -> None:
    spoken: Sequence[Speech] = [voice.speak(phonemes(text)[0]) for text in CLAUSES]
    jumps = [np.abs(np.diff(s.pcm.astype(np.int32))).max() for s in spoken]
    joins = [abs(int(a.pcm[-1]) - int(b.pcm[0])) for a, b in itertools.pairwise(spoken)]
    assert max(joins) < 0.01 * min(jumps)


def test_a_clause_in_mid_sentence_can_end_soon_after_its_last_sound(
    voice: Voice, phonemes: Phonemizer
) -> None:
    """The bridge leaves 40 ms of the silence at its end: by then the voice is below -50 dBFS."""
    for text in ("The sky is blue because air", "I like apples and pears when they", "It was the best of"):
        speech = voice.speak(phonemes(text)[0])
        last = speech.timing[-1]
        assert last.symbol == SILENCE
        cut = min(last.end, last.start + voice.sample_rate_hz // 25)
        assert rms(speech, cut - voice.sample_rate_hz // 200, cut) < 10 ** (-50 / 20)


def test_speed(voice: Voice, phonemes: Phonemizer) -> None:
    (symbols,) = phonemes("Hello there, how are you?")
    slow, normal, fast = (voice.speak(symbols, speed).pcm.size for speed in (0.5, 1.0, 2.0))
    assert 1.6 < slow / normal < 2.4
    assert 1.4 < normal / fast < 2.4  # every id takes one frame at least


def test_characters_that_the_voice_does_not_know(voice: Voice) -> None:
    speech = voice.speak(["h", "ß!", "ˈaɪ", "☃"])
    assert next(t.symbol for t in speech.timing if t.symbol != SILENCE) == "h"
    assert "☃" not in {t.symbol for t in speech.timing}
