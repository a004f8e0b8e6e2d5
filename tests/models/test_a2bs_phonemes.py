"""Symbols of voices to segments."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr.errors import InvalidInputError
from taoxr_models.a2bs.articulation import BY_SYMBOL, CONTROL_INDEX, TABLE
from taoxr_models.a2bs.phonemes import Phoneme, segments

pytestmark = pytest.mark.unit


def row(*symbols: str, each: float = 0.1) -> list[Phoneme]:
    return [Phoneme(s, i * each, (i + 1) * each) for i, s in enumerate(symbols)]


def names(*symbols: str) -> list[str]:
    return [s.articulation.name for s in segments(row(*symbols))]


def test_every_code_point_has_one_row() -> None:
    assert len(BY_SYMBOL) == sum(len(r.symbols) for r in TABLE)


def test_table_is_sound() -> None:
    for r in TABLE:
        assert set(r.targets) <= set(CONTROL_INDEX)
        assert all(0 <= v <= 1 for v in r.targets.values())
        assert min(r.jaw.strength, r.lips.strength, r.tongue.strength) > 0


def test_diphthongs_and_affricates_are_two_segments() -> None:
    (a, i) = segments([Phoneme("ˈaɪ", 0.0, 0.2)])
    assert (a.articulation.name, i.articulation.name) == ("ɑ", "ɪ")
    assert (a.end, i.end) == (pytest.approx(0.12), 0.2)
    assert (a.stress, i.stress) == (1.0, 0.0)
    t, ch = segments([Phoneme("tʃ", 0.0, 0.1)])
    assert (t.articulation.name, ch.articulation.name, t.end) == ("t", "ʃ", pytest.approx(0.04))


def test_one_symbol_or_many_is_the_same() -> None:
    whole = segments([Phoneme("ˈuː", 0.0, 0.2)])
    cut = segments([Phoneme("ˈ", 0.0, 0.05), Phoneme("u", 0.05, 0.12), Phoneme("ː", 0.12, 0.2)])
    assert whole == cut


def test_stress_waits_for_its_vowel() -> None:
    assert [s.stress for s in segments(row("ˈs", "t", "ɑː", "i"))] == [0.0, 0.0, 1.0, 0.0]
    assert [s.stress for s in segments(row("ˌæ", "n"))] == [0.5, 0.0]


def test_pauses_merge_and_short_gaps_vanish() -> None:
    assert names("_", "", ",", "m", "‖") == ["silence", "p", "silence"]
    a, b = segments([Phoneme("m", 0.0, 0.1), Phoneme(" ", 0.1, 0.15), Phoneme("æ", 0.15, 0.2)])
    assert (a.end, b.start) == (0.1, 0.1)
    assert len(segments([Phoneme("m", 0.0, 0.1), Phoneme(" ", 0.1, 0.3), Phoneme("æ", 0.3, 0.4)])) == 3


@pytest.mark.parametrize("symbol", ["n̩", "ɹ̩", "tʰ", "ã", "d͡ʒ"])
def test_diacritics_are_not_seen(symbol: str) -> None:
    assert names(symbol)


def test_what_is_not_ipa_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"phonemes\[1\]\.symbol"):
        segments(row("m", "漢"))


def test_times_must_run_forward() -> None:
    with pytest.raises(InvalidInputError, match=r"phonemes\[1\]\.start_us"):
        segments([Phoneme("m", 0.0, 0.2), Phoneme("a", 0.1, 0.3)])
    with pytest.raises(InvalidInputError, match=r"previous\[0\]\.start_us"):
        segments([Phoneme("m", 0.2, 0.1)], "previous")


SYMBOLS = st.sampled_from(["m", "ˈæ", "aɪ", "tʃ", "_", "", " ", "ˈ", "ˌ", "ː", ".", "s", "uː"])


@given(st.lists(st.tuples(SYMBOLS, st.floats(0.0, 0.3)), max_size=30))
def test_segments_cover_the_time_without_gaps(parts: list[tuple[str, float]]) -> None:
    phonemes: list[Phoneme] = []
    at = 0.0
    for symbol, seconds in parts:
        phonemes.append(Phoneme(symbol, at, at + seconds))
        at += seconds
    found = segments(phonemes)
    assert bool(found) == bool(phonemes)
    if found:
        assert (found[0].start, found[-1].end) == (0.0, at)
    for a, b in itertools.pairwise(found):
        assert a.end == b.start
        assert not (a.silent and b.silent)
