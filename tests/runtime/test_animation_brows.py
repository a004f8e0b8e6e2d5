"""Brows go up with stressed words, now and then, and come down whatever happens."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr import arkit
from taoxr.client import Cue, CueKind
from taoxr_runtime.animation.brows import SPACING_US, BrowBeats

pytestmark = pytest.mark.unit

FRAME_US = 10_000
INNER = arkit.INDEX["browInnerUp"]
FACE = np.full(52, 0.1, np.float32)


def stress(seconds: float, strength: float = 1.0, kind: CueKind = CueKind.STRESS) -> Cue:
    return Cue(kind, round(seconds * 1e6), 100_000, strength, "")


def heights(brows: BrowBeats, seconds: float, heard_until: float = 1e9) -> np.ndarray:
    shown = []
    for now_us in range(0, round(seconds * 1e6), FRAME_US):
        face = brows.onto(FACE, now_us, now_us if now_us < heard_until * 1e6 else None)
        others = np.delete(face, [arkit.INDEX[n] for n in arkit.NAMES if n.startswith("brow")])
        np.testing.assert_array_equal(others, np.float32(0.1))
        shown.append(face[INNER] - 0.1)
    return np.array(shown)


def test_they_are_up_when_the_stressed_syllable_is_heard() -> None:
    brows = BrowBeats()
    brows.add("turn-1", [stress(2.0)])
    height = heights(brows, 4.0)
    peak = np.argmax(height) * FRAME_US / 1e6
    assert 1.95 < peak < 2.15
    assert 0.2 < height.max() <= 0.45
    assert height[: round(1.8e6 / FRAME_US)].max() < 0.01
    assert height[round(2.8e6 / FRAME_US) :].max() < 0.01


def test_not_with_every_stress_nor_with_weak_ones_nor_with_gestures() -> None:
    brows = BrowBeats()
    brows.add("turn-1", [stress(0.3 * n) for n in range(1, 20)])
    height = heights(brows, 7.0)
    tops = np.flatnonzero((height[1:-1] > height[:-2]) & (height[1:-1] >= height[2:]) & (height[1:-1] > 0.15))
    assert 3 <= len(tops) <= 5
    assert (np.diff(tops) * FRAME_US >= SPACING_US - 100_000).all()
    weak = BrowBeats()
    weak.add("turn-1", [stress(1.0, 0.4), stress(1.0, 1.0, CueKind.BEAT)])
    assert not heights(weak, 2.0).any()


@given(st.floats(0.5, 2.5), st.booleans())
def test_they_come_down_in_a_fifth_of_a_second_when_the_voice_stops(until: float, forgotten: bool) -> None:
    brows = BrowBeats()
    brows.add("turn-1", [stress(n) for n in (0.8, 2.4)])
    heights(brows, until)
    if forgotten:
        brows.forget()
    after = [
        float(brows.onto(FACE, round(until * 1e6) + n * FRAME_US, None)[INNER]) - 0.1 for n in range(1, 40)
    ]
    assert after[20] < 0.02
    assert np.abs(np.diff(after)).max(initial=0.0) < 0.08  # no jump


def test_a_new_turn_has_stresses_of_its_own() -> None:
    brows = BrowBeats()
    brows.add("turn-1", [stress(1.0)])
    brows.add("turn-2", [stress(0.5)])
    height = heights(brows, 2.0)
    assert 0.45 < np.argmax(height) * FRAME_US / 1e6 < 0.65
    assert height[100:].max() < 0.05
