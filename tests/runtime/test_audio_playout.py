"""Sinks on a clock of the test's own: what is heard when, underruns, interruption, resampling."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime.audio import FileSink, Listener, NullSink, open_sink, open_source
from taoxr_runtime.audio.null import NullSource
from taoxr_runtime.audio.playout import FADE_US, GRACE_US, Playout

pytestmark = pytest.mark.unit

RATE = 22_050


class Clock:
    """Time that the test moves."""

    def __init__(self) -> None:
        self.now_us = 0

    def __call__(self) -> int:
        return self.now_us

    def pass_us(self, us: int) -> None:
        self.now_us += us


class Recorded(NullSink):
    """Keeps what was played."""

    def __init__(self, clock: Clock, rate_hz: int = RATE) -> None:
        self.blocks: list[NDArray[np.int16]] = []
        super().__init__(clock=clock, rate_hz=rate_hz)

    def played(self, block: NDArray[np.int16]) -> None:
        self.blocks.append(block)

    @property
    def sound(self) -> NDArray[np.int16]:
        return np.concatenate(self.blocks)[:, 0]


def tone(seconds: float, rate: int = RATE) -> NDArray[np.int16]:
    return (12_000 * np.sin(2 * np.pi * 220 * np.arange(round(seconds * rate)) / rate)).astype(np.int16)


def test_position_follows_the_clock_and_stops_at_the_end() -> None:
    clock = Clock()
    sink = NullSink(clock=clock)
    assert sink.write(tone(0.5), RATE) == 0
    assert sink.write(tone(0.5), RATE, last=True) == 500_000
    seen: list[int] = []
    for _ in range(120):
        seen.append(sink.heard_us())
        assert sink.sounding() == (0 < clock.now_us < 1_010_000 + GRACE_US)
        clock.pass_us(10_000)
    assert seen == sorted(seen)
    assert np.all(np.abs(np.array(seen[1:101]) - np.arange(1, 101) * 10_000) <= 10_000)
    assert abs(seen[-1] - 1_000_000) <= 50
    assert sink.underruns == 0


def test_foretells_what_will_be_heard() -> None:
    clock = Clock()
    sink = NullSink(clock=clock)
    sink.write(tone(0.4), RATE, last=True)
    clock.pass_us(100_000)
    now = sink.heard_us()
    assert abs(sink.heard_us(50_000) - (now + 50_000)) <= 50
    assert sink.sounding(50_000)
    assert abs(sink.heard_us(900_000) - 400_000) <= 50
    assert not sink.sounding(900_000)


def test_an_underrun_stops_the_position_and_is_counted_once() -> None:
    clock = Clock()
    sink = NullSink(clock=clock)
    sink.write(tone(0.2), RATE)
    clock.pass_us(500_000)
    stuck = sink.heard_us()
    assert abs(stuck - 200_000) < 20_000  # the resampler keeps the last of it back
    assert not sink.sounding()
    assert sink.underruns == 1
    clock.pass_us(500_000)
    assert sink.heard_us() == stuck
    start = sink.write(tone(0.2), RATE, last=True)
    assert start == 200_000  # silence counted nothing
    clock.pass_us(100_000)
    assert sink.sounding()
    assert stuck < sink.heard_us() < 400_000
    clock.pass_us(400_000)
    assert abs(sink.heard_us() - 400_000) <= 50
    assert sink.underruns == 1


def test_too_little_to_start_waits_for_more() -> None:
    clock = Clock()
    sink = NullSink(clock=clock, rate_hz=RATE)
    sink.write(tone(0.02), RATE)
    clock.pass_us(200_000)
    assert sink.heard_us() == 0
    assert not sink.sounding()
    sink.write(tone(0.1), RATE)
    clock.pass_us(50_000)
    assert sink.sounding()


def test_flush_is_silent_within_a_block() -> None:
    clock = Clock()
    sink = Recorded(clock)
    sink.write(tone(1.0), RATE)
    clock.pass_us(300_000)
    heard = sink.heard_us()
    sink.flush()
    loud = len(sink.sound)
    clock.pass_us(300_000)
    assert sink.heard_us() - heard <= 10_000
    assert not sink.sound[loud + FADE_US * RATE // 1_000_000 :].any()
    assert sink.underruns == 0
    # The next utterance starts where this one was cut.
    start = sink.write(tone(0.3), RATE, last=True)
    assert abs(start - sink.heard_us()) <= 50
    clock.pass_us(400_000)
    assert abs(sink.heard_us() - (start + 300_000)) <= 50


@pytest.mark.parametrize("rate", [RATE, 48_000])
@pytest.mark.parametrize("block", [37, 480])
def test_cut_off_and_gone_on_with_in_the_middle_of_a_sound_it_does_not_click(rate: int, block: int) -> None:
    playout = Playout(rate, cushion_us=1000)
    loud = np.full(rate // 10, 12_000, np.int16)
    out: list[NDArray[np.int16]] = []

    def play(seconds: float) -> None:
        for _ in range(round(seconds * rate / block)):
            out.append(playout.take(block, sum(map(len, out)) * 1_000_000 // rate))

    play(0.02)
    playout.write(np.linspace(0, 12_000, rate // 20).astype(np.int16), rate, last=False)
    playout.write(loud, rate, last=False)
    play(0.3)
    assert playout.underruns == 1
    playout.write(loud, rate, last=False)
    play(0.05)
    playout.flush()
    play(0.1)
    sound = np.concatenate(out).astype(int)
    assert sound.max() == 12_000
    fade = FADE_US * rate // 1_000_000
    assert np.abs(np.diff(sound)).max() <= 12_000 / fade + 2
    loudest = np.flatnonzero(sound == 12_000)
    assert np.count_nonzero(np.diff(loudest) > 1) == 1, "there was a gap"
    assert not sound[loudest[-1] + fade + 1 :].any(), "and silence in the end"


def test_the_end_of_an_utterance_and_the_next_are_as_they_were_written() -> None:
    playout = Playout(RATE)
    playout.write(np.full(500, 9000, np.int16), RATE, last=True)
    assert np.array_equal(playout.take(700, 0), [9000] * 500 + [0] * 200)
    playout.write(np.full(500, -9000, np.int16), RATE, last=True)
    assert np.array_equal(playout.take(500, 100_000), [-9000] * 500)
    playout.flush()
    assert not playout.take(500, 200_000)[FADE_US * RATE // 1_000_000 :].any()


def test_resampling_keeps_the_sound() -> None:
    clock = Clock()
    sink = Recorded(clock, rate_hz=48_000)
    pcm = tone(0.5)
    for start in range(0, len(pcm), 3000):
        sink.write(pcm[start : start + 3000], RATE, last=start + 3000 >= len(pcm))
    clock.pass_us(700_000)
    sink.heard_us()
    sound = sink.sound[np.flatnonzero(sink.sound)[0] :].astype(float)[:24_000]
    wanted = tone(0.5, 48_000).astype(float)[1:][: len(sound)]
    middle = slice(2000, 20_000)
    correlation = np.corrcoef(sound[middle], wanted[middle])[0, 1]
    assert correlation > 0.98
    jumps = np.abs(np.diff(sound[middle]))
    assert jumps.max() < 1.2 * np.abs(np.diff(wanted)).max()  # no clicks at the seams


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("write"), st.integers(0, 4000)),
            st.tuples(st.just("last"), st.integers(0, 4000)),
            st.tuples(st.just("take"), st.integers(1, 2000)),
            st.tuples(st.just("flush"), st.just(0)),
        ),
        max_size=60,
    )
)
def test_whatever_happens_samples_come_once_in_order_and_time_never_goes_back(
    steps: list[tuple[str, int]],
) -> None:
    playout = Playout(10_000, cushion_us=20_000, fade_us=0)
    counter, now, before = 1, 0, 0
    flushed_to = 0
    out: list[int] = []
    for kind, n in steps:
        if kind in ("write", "last"):
            pcm = (np.arange(counter, counter + n) % 32_000 + 1).astype(np.int16)
            counter += n
            playout.write(pcm, 10_000, last=kind == "last")
        elif kind == "take":
            taken = playout.take(n, now)
            assert len(taken) == n
            out += [int(x) for x in taken if x]
            now += n * 100
        else:
            playout.flush()
            flushed_to = counter
        heard, _ = playout.heard(now)
        assert before <= heard <= (counter - 1) * 100
        before = heard
    assert flushed_to <= counter
    # In order, never twice; gaps only where something was thrown away.
    assert all((b - a) % 32_000 >= 1 for a, b in pairwise(out))
    assert playout.heard(now + 10**9)[0] == len(out) * 100


def test_file_sink_writes_what_was_heard(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "out.wav"
    sink = FileSink(path, clock)
    clock.pass_us(200_000)
    sink.write(tone(0.5), RATE, last=True)
    clock.pass_us(800_000)
    sink.close()
    sink.close()
    sound, rate = soundfile.read(path)
    loud = np.flatnonzero(np.abs(sound) > 0.01)
    assert abs(len(sound) / rate - 1.0) < 0.02
    assert abs(loud[0] / rate - 0.2) < 0.03
    assert abs((loud[-1] - loud[0]) / rate - 0.5) < 0.02


def test_a_sink_with_a_listener_has_two_channels_and_the_same_clock(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "out.wav"
    listener = Listener(np.zeros(3))
    listener.mouth = (-1.0, 0.0, 0.0)
    flat, both, null = (
        NullSink(clock=clock, rate_hz=24_000),
        FileSink(path, clock, listener),
        NullSink(clock=clock, rate_hz=24_000, listener=listener),
    )
    sinks = (flat, both, null)
    seen: list[set[tuple[int, int, bool]]] = []
    for step in range(120):
        for sink in sinks:
            if step == 10:
                sink.write(tone(0.2), RATE)  # runs dry at 0.3 s
            elif step == 60:
                sink.write(tone(0.4), RATE)
            elif step == 90:
                sink.flush()
        seen.append({(sink.heard_us(50_000), sink.underruns, sink.sounding()) for sink in sinks})
        clock.pass_us(10_000)
    assert [len(each) for each in seen] == [1] * 120
    assert {underruns for each in seen for _, underruns, _ in each} == {0, 1}
    both.close()
    sound, rate = soundfile.read(path)
    assert (sound.shape[1], rate) == (2, 24_000)
    assert sound[:, 0].std() > sound[:, 1].std() > 0, "it is at the left"
    assert not sound[: round(0.09 * rate)].any()
    assert not sound[round(0.92 * rate) :].any(), "flushed"
    assert isinstance(open_sink("null", listener), NullSink)


def test_names_of_sinks_and_sources(tmp_path: Path) -> None:
    assert open_sink("null").problem == ""
    assert isinstance(open_source("null"), NullSource)
    with pytest.raises(InvalidInputError, match=r"sound: got 'loud', expected auto, device, null"):
        open_sink("loud")
    with pytest.raises(InvalidInputError, match="folder that exists"):
        open_sink(str(tmp_path / "none" / "a.wav"))
    with pytest.raises(InvalidInputError, match="a file that exists"):
        open_source(str(tmp_path / "none.wav"))


def test_without_the_library_auto_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sounddevice", None)
    sink, source = open_sink("auto"), open_source("auto")
    assert "pip install 'taoxr[audio]'" in sink.problem
    assert "pip install 'taoxr[audio]'" in source.problem
    assert source.rate_hz == 0
    for opened in (open_sink, open_source):
        with pytest.raises(UnavailableError, match="sounddevice"):
            opened("device")
