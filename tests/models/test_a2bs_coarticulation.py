"""What has to hold for every track of lips, whatever is said."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoxr.arkit import INDEX, NAMES
from taoxr_models.a2bs.animate import JOIN_S, Track, animate_phonemes, frame_times
from taoxr_models.a2bs.articulation import BY_NAME, BY_SYMBOL
from taoxr_models.a2bs.coarticulation import RESTING_S
from taoxr_models.a2bs.phonemes import Phoneme
from taoxr_models.a2bs.rig import lip_gap

pytestmark = pytest.mark.unit

RATE = 16_000
MAX_SPEED = 20.0  # of any weight, per second
SEALED = 1e-3
NO_PCM = np.zeros(0, np.int16)
VOWELS = [s for s, r in BY_SYMBOL.items() if r.vowel]

sounds = st.one_of(
    st.sampled_from("pbmfv"),
    st.sampled_from(sorted(BY_SYMBOL)),
    st.sampled_from(["ˈɑː", "ˈiː", "aʊ", "tʃ", "_"]),
)
said = st.lists(st.tuples(sounds, st.floats(0.02, 0.25)), min_size=1, max_size=14)
long_enough = said.filter(lambda parts: sum(seconds for _, seconds in parts) > JOIN_S)
loudness = st.integers(0, 2**32 - 1)


def timed(parts: list[tuple[str, float]]) -> list[Phoneme]:
    out: list[Phoneme] = []
    at = 0
    for symbol, seconds in parts:
        end = at + round(seconds * 8000) * 125  # whole samples, so that audio and phonemes end together
        out.append(Phoneme(symbol, at * 1e-6, end * 1e-6))
        at = end
    return out


def noise(seed: int, seconds: float) -> np.ndarray:
    """Audio whose level jumps about."""
    rng = np.random.default_rng(seed)
    n = round(seconds * RATE)
    level = np.repeat(10.0 ** rng.uniform(0, 4, n // 1600 + 1), 1600)[:n]
    return np.clip(rng.standard_normal(n) * level, -32768, 32767).astype(np.int16)


def weights_at(track: Track, start: float, end: float) -> np.ndarray:
    t = track.times_us * 1e-6
    return track.weights[(t >= start) & (t <= end)]


@dataclass
class Speed:
    track: Track

    def most(self) -> float:
        if len(self.track.times_us) < 2:
            return 0.0
        seconds = np.diff(self.track.times_us)[:, None] * 1e-6
        return float((np.abs(np.diff(self.track.weights.astype(np.float64), axis=0)) / seconds).max())


@settings(deadline=None, max_examples=50)
@given(said, loudness, st.sampled_from([24.0, 30.0, 60.0, 120.0]))
def test_weights_are_in_range_and_never_jump(parts, seed, frame_rate) -> None:
    phonemes = timed(parts)
    pcm = noise(seed, phonemes[-1].end)
    track = animate_phonemes(phonemes, pcm, RATE, frame_rate=frame_rate)
    assert track.weights.shape == (len(track.times_us), len(NAMES))
    assert np.isfinite(track.weights).all()
    assert track.weights.min(initial=0.0) >= 0.0
    assert track.weights.max(initial=0.0) <= 1.0
    assert Speed(track).most() <= MAX_SPEED


@settings(deadline=None, max_examples=50)
@given(said, loudness)
def test_the_rig_is_never_asked_for_the_impossible(parts, seed) -> None:
    phonemes = timed(parts)
    weights = animate_phonemes(phonemes, noise(seed, phonemes[-1].end), RATE, frame_rate=60).weights
    jaw, close = weights[:, INDEX["jawOpen"]], weights[:, INDEX["mouthClose"]]
    assert (close <= jaw + 1e-6).all()
    assert (weights[:, INDEX["tongueOut"]] <= 2 * (jaw - close) + 1e-6).all()
    assert not weights[:, [INDEX[n] for n in NAMES if n.startswith("eye")]].any()


@settings(deadline=None, max_examples=50)
@given(said, st.sampled_from("pbm"), st.floats(0.02, 0.25), said, loudness)
def test_lips_close_on_every_bilabial(before, symbol, seconds, after, seed) -> None:
    phonemes = timed([*before, (symbol, seconds), *after])
    p = phonemes[len(before)]
    pcm = noise(seed, phonemes[-1].end)
    track = animate_phonemes(phonemes, pcm, RATE, frame_rate=240)
    middle = 0.5 * (p.start + p.end)
    assert lip_gap(weights_at(track, middle - 0.015, middle + 0.015)).max() < SEALED
    assert lip_gap(weights_at(track, p.start, p.end)).max() < SEALED
    # Two frames show it at the default rate, however short it is.
    coarse = animate_phonemes(phonemes, pcm, RATE)
    closed = lip_gap(weights_at(coarse, middle - 1 / 30 - 1e-6, middle + 1 / 30 + 1e-6)) < SEALED
    assert closed.sum() >= (2 if 0.035 < middle < phonemes[-1].end - 0.035 else 1)


@pytest.mark.parametrize("symbol", ["f", "v"])
@pytest.mark.parametrize("vowel", VOWELS)
def test_lower_lip_meets_the_teeth(symbol: str, vowel: str) -> None:
    track = animate_phonemes(
        timed([("_", 0.2), (vowel, 0.12), (symbol, 0.06), (vowel, 0.12), ("_", 0.2)]),
        NO_PCM,
        RATE,
        frame_rate=120,
    )
    weights = weights_at(track, 0.32, 0.38)
    assert weights[:, INDEX["mouthRollLower"]].min() > 0.4
    assert weights[:, INDEX["jawOpen"]].max() < 0.12
    assert lip_gap(weights).max() < 0.08


@settings(deadline=None, max_examples=50)
@given(said, st.floats(2 * RESTING_S, 1.5), said, loudness)
def test_the_face_rests_in_pauses(before, pause, after, seed) -> None:
    phonemes = timed([*before, ("_", pause), *after])
    silence = phonemes[len(before)]
    track = animate_phonemes(phonemes, noise(seed, phonemes[-1].end), RATE, frame_rate=120)
    resting = weights_at(track, silence.start + RESTING_S + 1e-6, silence.end - RESTING_S - 1e-6)
    assert not resting.any()


def test_nothing_said_is_a_still_face() -> None:
    for phonemes in ([], timed([("_", 1.0)])):
        track = animate_phonemes(phonemes, np.zeros(RATE, np.int16), RATE)
        assert len(track.times_us) == 30
        assert not track.weights.any()


@settings(deadline=None, max_examples=50)
@given(long_enough, said, st.integers(0, 10**12), st.sampled_from([24.0, 29.97, 30.0, 60.0]), loudness)
def test_clauses_join_without_a_step(first, second, offset, frame_rate, seed) -> None:
    one, two = timed(first), timed(second)
    ends = round(one[-1].end * 1e6)
    a = animate_phonemes(one, noise(seed, one[-1].end), RATE, frame_rate=frame_rate, clock_offset_us=offset)
    b = animate_phonemes(
        two,
        noise(seed + 1, two[-1].end),
        RATE,
        frame_rate=frame_rate,
        clock_offset_us=offset + ends,
        previous=one,
    )
    times = np.concatenate([a.times_us, b.times_us])
    np.testing.assert_array_equal(
        times, frame_times(offset, offset + ends + round(two[-1].end * 1e6), frame_rate)
    )
    assert Speed(Track(times, np.concatenate([a.weights, b.weights]))).most() <= MAX_SPEED


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(1, 3_000_000), min_size=2, max_size=10), st.floats(12.0, 240.0))
def test_frame_times_are_even_across_any_cuts(lengths, frame_rate) -> None:
    edges = np.cumsum([0, *lengths]).tolist()
    parts = [frame_times(a, b, frame_rate) for a, b in itertools.pairwise(edges)]
    times = np.concatenate(parts)
    k = np.arange(len(times))
    assert np.abs(times - k * 1e6 / frame_rate).max() <= 0.51
    assert edges[-1] - times[-1] <= 1e6 / frame_rate + 1


@settings(deadline=None, max_examples=50)
@given(
    said, said, loudness, st.lists(st.integers(1, 40), min_size=1, max_size=6), st.sampled_from([30.0, 60.0])
)
def test_spans_are_what_the_clause_has_there(first, second, seed, steps, frame_rate) -> None:
    """Any cuts, with no more audio than the span and what is around it."""
    one, two = timed(first), timed(second)
    pcm = noise(seed, two[-1].end)
    length_us = round(two[-1].end * 1e6)
    whole = animate_phonemes(two, pcm, RATE, frame_rate=frame_rate, clock_offset_us=7_000_000, previous=one)
    ends = [e for e in np.cumsum(steps) * 20_000 if e < length_us]
    parts: list[Track] = []
    for begin, end in itertools.pairwise([0, *map(int, ends), length_us]):
        at = max(0, begin - 1_000_000)
        part = animate_phonemes(
            two,
            pcm[at * RATE // 1_000_000 : (end + 100_000) * RATE // 1_000_000],
            RATE,
            frame_rate=frame_rate,
            clock_offset_us=7_000_000,
            previous=one,
            pcm_start_us=at,
            span_us=(begin, end),
        )
        parts.append(part)
    np.testing.assert_array_equal(np.concatenate([p.times_us for p in parts]), whole.times_us)
    weights = np.concatenate([p.weights for p in parts])
    np.testing.assert_allclose(weights, whole.weights, atol=1e-6)


def test_neighbours_colour_a_sound() -> None:
    def rounding(vowel: str) -> float:
        track = animate_phonemes(
            timed([("s", 0.12), (vowel, 0.12), ("_", 0.2)]), NO_PCM, RATE, frame_rate=120
        )
        return float(weights_at(track, 0.08, 0.12)[:, INDEX["mouthPucker"]].mean())

    assert rounding("u") > rounding("i") + 0.1


def test_stress_and_loudness_open_the_jaw() -> None:
    def jaw(symbol: str, pcm: np.ndarray) -> float:
        track = animate_phonemes(timed([("_", 0.3), (symbol, 0.2), ("_", 0.3)]), pcm, RATE, frame_rate=120)
        return float(track.weights[:, INDEX["jawOpen"]].max())

    tone = np.zeros(round(0.8 * RATE), np.int16)
    assert jaw("ˈæ", NO_PCM) > jaw("æ", NO_PCM) + 0.02
    tone[round(0.3 * RATE) : round(0.5 * RATE)] = 8000
    loud = jaw("æ", tone)
    assert jaw("æ", tone // 8) < loud - 0.02


def test_brows_rise_on_stress_only() -> None:
    def lift(symbol: str) -> float:
        track = animate_phonemes(timed([("_", 0.3), (symbol, 0.2), ("_", 0.3)]), NO_PCM, RATE)
        return float(track.weights[:, INDEX["browInnerUp"]].max())

    assert lift("æ") == 0.0
    assert 0.05 < lift("ˈæ") <= 0.15


def test_diphthongs_move() -> None:
    track = animate_phonemes(timed([("_", 0.2), ("aʊ", 0.3), ("_", 0.2)]), NO_PCM, RATE, frame_rate=120)
    early, late = weights_at(track, 0.26, 0.30), weights_at(track, 0.42, 0.48)
    assert early[:, INDEX["jawOpen"]].mean() > late[:, INDEX["jawOpen"]].mean() + 0.15
    assert late[:, INDEX["mouthPucker"]].mean() > early[:, INDEX["mouthPucker"]].mean() + 0.1


def test_lip_gap_knows_open_and_closed() -> None:
    weights = np.zeros((3, 52))
    weights[1, INDEX["jawOpen"]] = weights[2, INDEX["jawOpen"]] = 0.5
    weights[2, INDEX["mouthClose"]] = 0.5
    assert lip_gap(weights).tolist() == [0.0, 0.5, 0.0]
    assert BY_NAME["p"].targets["lipClose"] == 1.0


@settings(deadline=None, max_examples=50)
@given(long_enough, st.sampled_from("pbm"), st.floats(0.02, 0.2), said)
def test_a_clause_can_begin_with_closed_lips(first, symbol, seconds, rest) -> None:
    one, two = timed(first), timed([(symbol, seconds), *rest, ("_", 0.3)])
    track = animate_phonemes(two, NO_PCM, RATE, frame_rate=120, previous=one)
    assert (lip_gap(weights_at(track, 0.0, 0.2)) < SEALED).sum() >= 3
