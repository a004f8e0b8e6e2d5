"""Pitch, and brows that go with it on real speech."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from taoxr.arkit import INDEX
from taoxr_models.a2bs.animate import Track, animate_phonemes
from taoxr_models.a2bs.coarticulation import brow_curve
from taoxr_models.a2bs.phonemes import Phoneme, segments
from taoxr_models.a2bs.prosody import brow_gain, pitch
from taoxr_models.catalog import default_model, verified
from taoxr_models.tts.phonemes import Phonemizer
from taoxr_models.tts.voice import Voice

pytestmark = pytest.mark.models

INNER, OUTER = INDEX["browInnerUp"], INDEX["browOuterUpLeft"]
BROWS = [i for name, i in INDEX.items() if name.startswith("brow")]
TEXTS = (
    "The sky is blue because air scatters blue light more than red.",
    "Are you sure that this is really what you wanted?",
    "Once upon a time, there was a little boat on the sea.",
    "I never said she stole the money; I said that she found it!",
)


def glide(
    low: float, high: float, seconds: float, rate: int
) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
    """A voice-like tone whose pitch goes from one frequency to another, and its pitch at each sample."""
    hz = low * (high / low) ** (np.arange(round(seconds * rate)) / (seconds * rate))
    phase = 2 * np.pi * np.cumsum(hz) / rate
    tone = sum(np.sin(k * phase) / k for k in range(1, 12))
    return (4000 * np.asarray(tone)).astype(np.int16), hz


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 44100, 48000])
def test_pitch_of_a_tone(rate: int) -> None:
    for low, high in ((75, 150), (150, 300), (300, 120)):
        tone, hz = glide(low, high, 1.5, rate)
        track = pitch(tone, rate)
        wanted = np.interp(track.times, np.arange(len(hz)) / rate, hz)
        assert len(track.hz) == 150
        assert (track.hz[3:-3] > 0).all()
        assert np.abs(track.hz / wanted - 1.0)[3:-3].max() < 0.02


def test_no_pitch_in_silence_and_noise() -> None:
    hiss = (np.random.default_rng(0).standard_normal(16000) * 3000).astype(np.int16)
    assert (pitch(hiss, 16000).hz > 0).mean() < 0.1
    silence = np.zeros(16000, np.int16)
    assert not pitch(silence, 16000).hz.any()
    assert not pitch(silence[:0], 16000).hz.size
    np.testing.assert_array_equal(brow_gain(silence, 16000, np.linspace(0, 1, 31)), 1.0)


def test_the_gain_follows_the_pitch() -> None:
    level, _ = glide(110, 110, 1.0, 16000)
    for to, expected in ((110, 1.0), (150, 1.8), (80, 0.35)):
        after, _ = glide(to, to, 0.3, 16000)
        gain = brow_gain(np.concatenate([level, after]), 16000, np.array([0.5, 1.12]))
        assert gain[0] == pytest.approx(1.0, abs=0.02)
        assert gain[1] == pytest.approx(expected, abs=0.25)


@dataclass(frozen=True)
class Spoken:
    pcm: NDArray[np.int16]
    rate: int
    phonemes: list[Phoneme]

    def track(self, pcm: NDArray[np.int16]) -> Track:
        return animate_phonemes(self.phonemes, pcm, self.rate, frame_rate=60)


@pytest.fixture(scope="module")
def spoken() -> list[Spoken]:
    voice, phonemes = Voice(verified(default_model("tts"))), Phonemizer()
    out: list[Spoken] = []
    for text in TEXTS:
        speech, rate = voice.speak(phonemes(text)[0]), voice.sample_rate_hz
        timing = [Phoneme(t.symbol, t.start / rate, t.end / rate) for t in speech.timing]
        out.append(Spoken(speech.pcm, rate, timing))
    return out


def rises(clause: Spoken) -> list[tuple[float, float, float]]:
    """For each stressed vowel: how far its pitch rises, and the brows with pitch and without it."""
    track = clause.track(clause.pcm)
    times = np.asarray(track.times_us * 1e-6, np.float64)
    row = segments(clause.phonemes)
    plain = brow_curve(row, times)
    at = np.arange(0.05, times[-1] - 0.05, 0.01)
    semitones = np.array([12 * np.log2(harmonic_pitch(clause, t)) for t in at])
    out: list[tuple[float, float, float]] = []
    for s in row:
        near = np.abs(times - s.middle) < 0.03
        before = semitones[(at > s.start - 0.8) & (at < s.start)]
        vowel = semitones[(at > s.start) & (at < s.end)]
        if s.stress == 1.0 and near.any() and np.isfinite(before).any() and np.isfinite(vowel).any():
            rise = float(np.nanmedian(vowel) - np.nanmedian(before))
            out.append((rise, float(track.weights[near, INNER].mean()), float(plain[near].mean())))
    return out


def harmonic_pitch(clause: Spoken, at: float) -> float:
    """The pitch of our voice by another method than the product's; not a number where it is quiet.

    The frequency whose first five multiples have most of the spectrum (Hermes 1988, "Measurement of pitch by
    subharmonic summation").
    """
    first, last = (round((at + d) * clause.rate) for d in (-0.04, 0.04))
    piece = clause.pcm[first:last].astype(np.float64)
    if np.sqrt((piece**2).mean()) < 800:
        return float("nan")
    size = 1 << 14
    spectrum = np.sqrt(np.abs(np.fft.rfft(piece * np.hanning(len(piece)), size)))
    candidates = np.arange(65.0, 170.0, 0.5)
    bins = np.rint(np.outer(candidates, np.arange(1, 6)) * size / clause.rate).astype(int)
    return float(candidates[np.argmax(spectrum[bins] @ 0.84 ** np.arange(5))])


def test_brows_rise_with_the_pitch_of_stressed_syllables(spoken: list[Spoken]) -> None:
    pitches, brows, without = np.array([row for clause in spoken for row in rises(clause)]).T
    assert len(pitches) >= 15
    with_pitch, alone = (np.corrcoef(pitches, x)[0, 1] for x in (brows, without))
    assert with_pitch > 0.3
    assert with_pitch > alone + 0.2


def test_brows_are_mild_and_rest_in_silence(spoken: list[Spoken]) -> None:
    for clause in spoken:
        track = clause.track(clause.pcm)
        assert 0.1 < track.weights[:, INNER].max() < 0.24
        np.testing.assert_allclose(track.weights[:, OUTER], 0.6 * track.weights[:, INNER], atol=1e-6)
        silent = [s for s in segments(clause.phonemes) if s.silent and s.end - s.start > 0.3]
        for s in silent:
            inside = (track.times_us * 1e-6 > s.start + 0.13) & (track.times_us * 1e-6 < s.end - 0.13)
            assert not track.weights[inside][:, BROWS].any()


def test_pitch_moves_nothing_but_the_brows(spoken: list[Spoken]) -> None:
    """The same loudness without a pitch: every other weight is the same, to the last bit."""
    clause = spoken[0]
    size = clause.rate // 100
    blocks = clause.pcm[: len(clause.pcm) // size * size].reshape(-1, size)
    # Samples in another order within each block of loudness have the same power and no pitch.
    shuffled = np.random.default_rng(0).permuted(blocks, axis=1).reshape(-1)
    shuffled = np.concatenate([shuffled, clause.pcm[len(shuffled) :]])
    voiced, unvoiced = clause.track(clause.pcm), clause.track(shuffled)
    others = [i for i in INDEX.values() if i not in BROWS]
    np.testing.assert_array_equal(voiced.weights[:, others], unvoiced.weights[:, others])
    assert np.abs(voiced.weights[:, INNER] - unvoiced.weights[:, INNER]).max() > 0.03


def test_spans_have_the_brows_of_the_clause(spoken: list[Spoken]) -> None:
    clause = spoken[3]
    whole = clause.track(clause.pcm)
    length_us = round(clause.phonemes[-1].end * 1e6)
    parts: list[NDArray[np.float32]] = []
    for begin in range(0, length_us, 160_000):
        end = min(length_us, begin + 160_000)
        at = max(0, begin - 1_000_000)
        first, last = (us * clause.rate // 1_000_000 for us in (at, end + 100_000))
        part = animate_phonemes(
            clause.phonemes,
            clause.pcm[first:last],
            clause.rate,
            frame_rate=60,
            pcm_start_us=at,
            span_us=(begin, end),
        )
        parts.append(part.weights)
    np.testing.assert_allclose(np.concatenate(parts), whole.weights, atol=1e-6)
