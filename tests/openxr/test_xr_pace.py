"""Refresh rate and size of pictures, against a made-up headset and a made-up cost of drawing."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoxr.errors import UnavailableError
from taoxr_runtime.xr.pace import Pace
from taoxr_runtime.xr.refresh import highest_held
from taoxr_runtime.xr.resolution import Resolution

pytestmark = pytest.mark.unit

PERIOD_MS = 11.1
SMALLEST = 0.5


class Display:
    """A headset whose rates may be chosen."""

    def __init__(self, *offered: float) -> None:
        self.offered = list(offered)
        self.asked: list[float] = []

    def request(self, hz: float) -> None:
        self.asked.append(hz)

    def current(self) -> float | None:
        return max(self.offered, default=None)


def run(resolution: Resolution, fixed_ms: float, area_ms: float, frames: int) -> list[float]:
    """Scales of frames that cost something whatever their size, and something for their area."""
    scales = []
    for _ in range(frames):
        scales.append(resolution.scale)
        resolution.frame(fixed_ms + area_ms * resolution.scale**2, PERIOD_MS)
    return scales


@given(st.floats(0, 8), st.floats(0, 60))
def test_it_comes_to_rest_and_holds_the_rate_where_that_can_be(fixed_ms: float, area_ms: float) -> None:
    resolution = Resolution(SMALLEST)
    scales = run(resolution, fixed_ms, area_ms, 600)
    assert all(SMALLEST <= scale <= 1 for scale in scales)
    late = scales[-300:]
    assert sum(a != b for a, b in itertools.pairwise(late)) <= 4
    if fixed_ms + area_ms * SMALLEST**2 < 0.9 * PERIOD_MS:
        costs = [fixed_ms + area_ms * scale**2 for scale in scales]
        assert sum(cost > PERIOD_MS for cost in costs[60:]) <= 26, "two looks at a larger size"
    if fixed_ms + area_ms < 0.9 * PERIOD_MS:
        assert set(scales) == {1.0}, "never smaller without need"


def test_it_goes_down_at_once_and_up_again_after_a_while() -> None:
    resolution = Resolution(SMALLEST)
    heavy = run(resolution, 2.0, 20.0, 40)
    assert heavy[:12] == [1.0] * 12
    assert heavy[12] < 0.7, "in one step as far as needed"
    light = run(resolution, 1.0, 2.0, 900)
    assert (light[0], light[-1]) == (heavy[-1], 1.0)
    assert light == sorted(light), "step by step"


def test_a_single_slow_frame_changes_nothing() -> None:
    resolution = Resolution(SMALLEST)
    run(resolution, 2.0, 4.0, 100)
    for _ in range(4):
        resolution.frame(300.0, PERIOD_MS)
        assert set(run(resolution, 2.0, 4.0, 20)) == {1.0}


def test_pictures_are_not_blurred_when_that_saves_nothing() -> None:
    scales = run(Resolution(SMALLEST), 30.0, 0.2, 3000)
    assert sum(scale < 1 for scale in scales) < 0.1 * len(scales)
    assert scales[-1] == 1.0


def test_one_that_may_not_shrink() -> None:
    assert set(run(Resolution(1.0), 10.0, 100.0, 100)) == {1.0}


@pytest.mark.parametrize(
    ("work_ms", "rate"), [(1.0, 120.0), (7.5, 90.0), (9.0, 90.0), (10.0, 72.0), (12.0, 60.0), (99.0, 60.0)]
)
def test_the_highest_rate_with_room_to_spare(work_ms: float, rate: float) -> None:
    assert highest_held([72.0, 120.0, 60.0, 90.0], work_ms) == rate


def test_auto_measures_first_at_full_size() -> None:
    lines: list[str] = []
    display = Display(60, 72, 90)
    pace = Pace(display, None, SMALLEST, lines.append)
    for frame in range(75):
        assert not display.asked
        pace.frame(100.0 if frame < 15 else 10.0, PERIOD_MS)  # shaders are compiled at first
        assert pace.scale == 1.0
    assert display.asked == [72]
    assert lines == ["refresh rate 72 Hz of 60, 72, 90: frames take 10.0 ms"]
    for _ in range(40):
        pace.frame(30.0 * pace.scale**2, PERIOD_MS)
    assert pace.scale < 0.65


def test_a_chosen_rate_is_asked_for_at_once() -> None:
    lines: list[str] = []
    display = Display(59.94, 90)
    Pace(display, 60, 1.0, lines.append)
    assert display.asked == [59.94]
    assert lines == ["refresh rate 59.94 Hz, as wanted"]


def test_a_rate_that_is_not_offered() -> None:
    with pytest.raises(
        UnavailableError, match="does not offer 144 Hz: use --refresh-rate of 60, 90, or auto"
    ):
        Pace(Display(90, 60), 144, 1.0, print)
    with pytest.raises(UnavailableError, match="no choice"):
        Pace(Display(), 90, 1.0, print)


def test_an_app_that_is_given_every_third_picture_still_wants_all() -> None:
    """It is told a period of three pictures, and needs one and a half."""
    display = Display(90)
    pace = Pace(display, None, SMALLEST, print)
    for _ in range(40):
        period_ns = pace.period_ns(33_333_333)
        assert period_ns == 11_111_111
        pace.frame(17.0 * pace.scale**2, period_ns / 1e6)
    assert 17.0 * pace.scale**2 < 11.1
    display.offered = [60]
    told = [pace.period_ns(33_333_333) for _ in range(100)]
    assert told[-1] == 16_666_667, "it is asked now and then"


def test_the_period_is_as_told_where_nobody_knows_the_rate() -> None:
    pace = Pace(Display(), None, 1.0, print)
    assert [pace.period_ns(told) for told in (0, 11_111_111, 22_222_222)] == [0, 11_111_111, 22_222_222]
    assert Pace(Display(90), None, 1.0, print).period_ns(0) == 0


def test_no_choice_is_no_trouble() -> None:
    lines: list[str] = []
    display = Display()
    Pace(display, None, 1.0, lines.append).frame(5.0, PERIOD_MS)
    assert (lines, display.asked) == ([], [])
    Pace(Display(60), None, 1.0, lines.append)
    assert lines == ["refresh rate 60 Hz, the only one offered"]
