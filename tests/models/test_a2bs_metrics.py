"""The figures that lips are judged by, and sets of speech with times, on made-up cases with known answers."""

from pathlib import Path

import numpy as np
import pytest

from taoxr_models.a2bs.articulation import TABLE
from taoxr_models.a2bs.phonemes import Phoneme, segments
from taoxr_models.a2bs.training import engines, metrics, utterances
from taoxr_models.a2bs.training.metrics import VISEMES, Closures, Reference
from taoxr_models.a2bs.training.phones import ipa_of_cmu
from taoxr_models.a2bs.training.targets import targets_of
from taoxr_models.a2bs.training.utterances import Utterance

pytestmark = pytest.mark.unit

WORD = [("", 0.0, 0.2), ("b", 0.2, 0.3), ("ɑ", 0.3, 0.5), ("m", 0.5, 0.6), ("ə", 0.6, 0.7), ("", 0.7, 1.0)]


@pytest.fixture
def reference() -> Reference:
    return Reference.of(segments([Phoneme(*p) for p in WORD]), 50)


def test_classes_follow_the_times(reference: Reference) -> None:
    names = [TABLE[c].name for c in reference.classes]
    assert names[9:11] == ["silence", "p"]
    assert [names[k] for k in (12, 20, 27, 32, 40)] == ["p", "ɑ", "p", "ə", "silence"]
    targets = targets_of(reference.row, 50)
    np.testing.assert_array_equal(targets.classes, reference.classes)
    assert targets.controls.shape == (50, 14)


def test_closed_lips_are_counted(reference: Reference) -> None:
    shut = np.zeros(50, bool)
    shut[11:14] = True  # the b
    shut[20:21] = True  # nothing there
    shut[40:45] = True  # silence does not count
    assert metrics.closures(shut, reference) == Closures(2, 1, 2, 1)


def test_a_reduced_vowel_may_look_like_its_neighbours(reference: Reference) -> None:
    said = np.full(50, VISEMES.index("E"))
    right = metrics.viseme_right(said, reference.classes)
    assert right[32]
    assert not right[20]


def test_lag_and_correlation(reference: Reference) -> None:
    late = np.concatenate([np.zeros(2), reference.jaw[:-2]])
    assert metrics.spoken_correlation([reference.jaw], [reference]) == pytest.approx(1.0)
    assert metrics.spoken_correlation([late], [reference]) < 0.95
    assert metrics.lag_ms([late], [reference]) == pytest.approx(40.0, abs=3.0)


def test_phone_names() -> None:
    assert [ipa_of_cmu(n) for n in ("AH0", "pau", "ch", "SIL", "r")] == ["ʌ", "", "tʃ", "", "ɹ"]
    with pytest.raises(KeyError):
        ipa_of_cmu("qq")


def test_sets_come_back_as_they_were_saved(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    samples = (np.rint(rng.uniform(-0.5, 0.5, 3200) * 32767) / 32768).astype(np.float32)
    said = [
        Utterance(samples[:1600], (Phoneme("", 0.0, 0.04), Phoneme("ˈɑː", 0.04, 0.1)), "Ah"),
        Utterance(samples[1600:], (Phoneme("m", 0.0, 0.1),), "Mm"),
    ]
    assert utterances.save(tmp_path, "two", said, lossless=True) == pytest.approx(0.2)
    for before, after in zip(said, utterances.load(tmp_path, "two"), strict=True):
        np.testing.assert_array_equal(before.samples, after.samples)
        assert (before.phonemes, before.text) == (after.phonemes, after.text)


def test_a_phoneme_ends_where_nothing_is_heard() -> None:
    tone = np.sin(np.arange(8000) * 0.1).astype(np.float32)
    tone[3200:6400] = 0.0  # 0.2 to 0.4 s
    said = Utterance(tone, (Phoneme("ɑ", 0.0, 0.35), Phoneme("m", 0.35, 0.5)), "")
    row = [(p.symbol, round(p.start, 2), round(p.end, 2)) for p in engines.with_pauses(said).phonemes]
    assert row == [("ɑ", 0.0, 0.2), ("", 0.2, 0.4), ("m", 0.4, 0.5)]
