"""The face of a turn under every order of events."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoxr import arkit
from taoxr.errors import InvalidInputError
from taoxr_runtime.animation import Face
from taoxr_runtime.animation.face import ONSET_US, REST_US

pytestmark = pytest.mark.unit

JAW = arkit.INDEX["jawOpen"]
FRAME_US = 33_333


def track(values: list[float], start_us: int = 0) -> tuple[np.ndarray, np.ndarray]:
    weights = np.zeros((len(values), 52), np.float32)
    weights[:, JAW] = values
    return start_us + FRAME_US * np.arange(len(values), dtype=np.int64), weights


def settled(face: Face, media_us: int, now_us: int = 10_000_000) -> float:
    face.sample(now_us, media_us)
    return float(face.sample(now_us + REST_US, media_us)[JAW])


def test_interpolates_linearly_between_frames() -> None:
    face = Face()
    face.add("a", 0, *track([0.0, 1.0, 0.5]))
    assert settled(face, FRAME_US // 2) == pytest.approx(0.5, abs=1e-3)
    assert settled(face, FRAME_US + FRAME_US // 4, 20_000_000) == pytest.approx(0.875, abs=1e-3)


def test_track_that_ends_eases_to_rest_within_the_stated_time() -> None:
    face = Face()
    face.add("a", 0, *track([0.8, 0.8, 0.8]))
    assert settled(face, 2 * FRAME_US, 0) == pytest.approx(0.8)
    face.sample(REST_US + 1, 10 * FRAME_US)
    half = float(face.sample(REST_US + 1 + REST_US // 2, 10 * FRAME_US)[JAW])
    assert half == pytest.approx(0.4, abs=0.01)
    assert face.sample(2 * REST_US + 1, 10 * FRAME_US)[JAW] == 0.0


def test_interruption_drops_late_frames_and_the_next_turn_moves_the_lips() -> None:
    face = Face()
    face.add("a", 0, *track([0.9] * 30))
    assert settled(face, 300_000, 0) == pytest.approx(0.9)
    face.interrupt(1)
    assert not face.add("a", 0, *track([0.9] * 30, 1_000_000))
    face.sample(REST_US + 1, None)
    assert face.sample(2 * REST_US + 1, None)[JAW] == 0.0
    assert face.add("b", 1, *track([0.6] * 30))
    assert settled(face, 100_000) == pytest.approx(0.6)


def test_frames_that_come_late_show_as_the_drawn_time() -> None:
    face = Face()
    assert face.drawn_us(0) is None
    face.add("a", 0, *track([0.1] * 4))
    assert face.drawn_us(50_000) == 50_000
    assert face.drawn_us(500_000) == 3 * FRAME_US


@pytest.mark.parametrize(
    ("times", "weights", "field"),
    [
        ([0, 0], np.zeros((2, 52)), "times_us"),
        ([0], np.zeros((1, 51)), "weights"),
        ([0], np.full((1, 52), np.nan), "weights"),
    ],
)
def test_refuses_what_is_no_track(times: list[int], weights: np.ndarray, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Face().add("a", 0, np.array(times, np.int64), weights.astype(np.float32))
    assert caught.value.field == field


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("frames"), st.lists(st.floats(0, 1), min_size=1, max_size=12)),
        st.tuples(st.just("turn"), st.just([])),
        st.tuples(st.just("interrupt"), st.just([])),
        st.tuples(st.just("wait"), st.lists(st.floats(0, 1), min_size=1, max_size=30)),
        st.tuples(st.just("silence"), st.lists(st.floats(0, 1), min_size=1, max_size=30)),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(EVENTS)
def test_continuous_and_in_range_whatever_arrives(script: list[tuple[str, list[float]]]) -> None:
    face, now, media, turn, epoch, end = Face(), 0, 0, 0, 0, 0
    tick = 2_000
    last = face.sample(now, None).copy()
    # A crossfade moves at most 1.5 / ease; a track itself at most one unit per frame.
    bound = tick * (1.5 / ONSET_US + 1.0 / FRAME_US) + 1e-5
    for kind, values in script:
        if kind == "frames":
            face.add(str(turn), epoch, *track(values, end))
            end += FRAME_US * len(values)
        elif kind == "turn":
            turn, media, end = turn + 1, 0, 0
        elif kind == "interrupt":
            epoch, turn, media, end = epoch + 1, turn + 1, 0, 0
            face.interrupt(epoch)
        else:
            for _ in values:
                now += tick
                media += tick if kind == "wait" else 0
                shown = face.sample(now, media if kind == "wait" else None)
                assert shown.min() >= 0.0
                assert shown.max() <= 1.0
                assert np.abs(shown - last).max() <= bound
                last = shown.copy()
