"""The figures that lips are judged by, on made-up cases with known answers."""

import numpy as np
import pytest

from taoxr_models.a2bs.articulation import TABLE
from taoxr_models.a2bs.phonemes import Phoneme, segments
from taoxr_models.a2bs.training import metrics
from taoxr_models.a2bs.training.metrics import VISEMES, Closures, Reference
from taoxr_models.a2bs.training.phones import ipa_of_cmu
from taoxr_models.a2bs.training.targets import targets_of

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
