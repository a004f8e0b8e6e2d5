"""Devices behind a scripted PortAudio: latency, failures, loss; and recordings as microphones."""

import queue
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_runtime.audio import BLOCK, FileSource, Listener, MeteredSource, device
from taoxr_runtime.audio.device import LOST_US, DeviceSink, DeviceSource
from taoxr_runtime.audio.meter import FLOOR_DBFS
from taoxr_runtime.audio.playout import FADE_US
from taoxr_runtime.audio.recovery import Streams

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def _no_streams_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "STREAMS", Streams())


FADE = FADE_US * 48_000 // 1_000_000


class PortAudioError(Exception):
    """PortAudio's way to say no."""


class Stream:
    """A stream that does what the test says."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.callback = settings["callback"]
        self.latency = 0.04
        self.active = False
        self.closed = False

    def start(self) -> None:
        if self.settings.get("refuses"):
            raise PortAudioError("Device unavailable")
        self.active = True

    def stop(self, ignore_errors: bool = False) -> None:
        self.active = False

    def close(self, ignore_errors: bool = False) -> None:
        self.active, self.closed = False, True


class Library:
    """What ``sounddevice`` offers, as far as it is used."""

    PortAudioError = PortAudioError

    def __init__(
        self, *, rate: int = 48_000, missing: bool = False, takes_16k: bool = True, channels: int = 2
    ) -> None:
        self.rate, self.missing, self.takes_16k = rate, missing, takes_16k
        self.channels, self.refuses, self.looked = channels, False, 0
        self.others = ["USB headset", "HDMI"]
        self.default = SimpleNamespace(device=(-1, 0))
        self.broken = -1  # number of a device that refuses
        self.streams: list[Stream] = []
        self.now_us = 5_000_000

    def _terminate(self) -> None:
        assert not any(stream.active for stream in self.streams), "it would end them"

    def _initialize(self) -> None:
        self.looked += 1

    def clock(self) -> int:
        return self.now_us

    def query_devices(self, wanted: int | str | None = None, kind: str = "") -> Any:
        if self.missing:
            raise PortAudioError("Error querying device -1")
        if wanted is None and not kind:
            names = ["the output", *self.others]
            return [self.query_devices(name, "output") | {"max_input_channels": 0} for name in names]
        names = [f"the {kind}", *self.others]
        if isinstance(wanted, str):
            found = [n for n, name in enumerate(names) if wanted.lower() in name.lower()]
            if len(found) != 1:
                raise ValueError(f"{len(found)} devices match {wanted!r}")
            wanted = found[0]
        return {
            "index": wanted or 0,
            "name": names[wanted or 0],
            "default_samplerate": float(self.rate),
            "max_output_channels": self.channels,
        }

    def check_input_settings(self, **settings: Any) -> None:
        if not self.takes_16k:
            raise PortAudioError("Invalid sample rate")

    def _open(self, **settings: Any) -> Stream:
        if self.refuses or settings["device"] == self.broken:
            raise PortAudioError("Device unavailable")
        self.streams.append(Stream(**settings))
        return self.streams[-1]

    OutputStream = _open
    InputStream = _open

    def play(self, frames: int, *, dac_ahead_s: float = 0.1, underflow: bool = False) -> NDArray[np.int16]:
        """The device asks for a block; time passes by its length."""
        out = np.full((frames, self.streams[-1].settings["channels"]), -1, np.int16)
        time = SimpleNamespace(outputBufferDacTime=7.0 + dac_ahead_s, currentTime=7.0)
        self.streams[-1].callback(out, frames, time, SimpleNamespace(output_underflow=underflow))
        self.now_us += frames * 1_000_000 // self.rate
        return out[:, 0] if out.shape[1] == 1 else out

    def hear(self, data: NDArray[np.int16]) -> None:
        """The device delivers a block."""
        self.streams[-1].callback(data[:, None], len(data), None, None)


class Waits:
    """Lets a device's thread go on to its next attempt only when the test says so."""

    def __init__(self) -> None:
        self._asked: queue.Queue[float] = queue.Queue()
        self._answers: queue.Queue[bool] = queue.Queue()
        self._first = True
        self._thread: threading.Thread | None = None

    def __call__(self, seconds: float) -> bool:
        self._thread = threading.current_thread()
        self._asked.put(seconds)
        return self._answers.get(timeout=60)

    def next(self) -> float:
        """Lets it attempt, but the first time, and returns how long it then waits."""
        if not self._first:
            self._answers.put(False)
        self._first = False
        return self._asked.get(timeout=60)

    def go_on_to_the_end(self) -> None:
        """Lets it attempt once more, which is to succeed."""
        self._answers.put(False)
        self._end()

    def give_up(self) -> None:
        """Ends it."""
        self.next()
        self._answers.put(True)
        self._end()

    def _end(self) -> None:
        assert self._thread is not None
        self._thread.join(60)
        assert not self._thread.is_alive()
        self._first = True


def test_position_is_behind_by_the_devices_latency() -> None:
    library = Library()
    sink = DeviceSink(library, library.clock)
    assert sink.description == "the output"
    sink.write(np.full(48_000, 500, np.int16), 48_000)
    assert np.all(library.play(480) == 500)
    for _ in range(19):
        library.play(480)
    # 200 ms were taken, of which the last 100 ms are on their way to the ear.
    assert sink.heard_us() == 100_000
    assert sink.sounding()
    assert sink.heard_us(60_000) == 160_000
    sink.close()
    assert library.streams[0].closed


def test_a_device_without_times_counts_with_its_latency() -> None:
    library = Library()
    sink = DeviceSink(library, library.clock)
    sink.write(np.full(48_000, 500, np.int16), 48_000)
    for _ in range(20):
        library.play(480, dac_ahead_s=-7.0)  # 0, as some host interfaces have it
    assert sink.heard_us() == 160_000


def test_underrun_is_silence_and_stops_the_position() -> None:
    library = Library()
    sink = DeviceSink(library, library.clock)
    sink.write(np.full(4800, 500, np.int16), 48_000)
    played = np.concatenate([library.play(480) for _ in range(40)])
    assert np.all(played[:4800] == 500)
    assert not played[4800 + FADE :].any()
    assert sink.underruns == 1
    assert sink.heard_us() == 100_000
    assert not sink.sounding()
    library.play(480, underflow=True)
    assert sink.underruns == 2  # the device's own


def test_flush_silences_the_next_block() -> None:
    library = Library()
    sink = DeviceSink(library, library.clock)
    sink.write(np.full(48_000, 500, np.int16), 48_000)
    assert library.play(480).all()
    sink.flush()
    assert not library.play(480)[FADE:].any()


@pytest.mark.parametrize("how", ["stopped", "silent"])
def test_a_lost_device_is_told_and_time_goes_on(how: str) -> None:
    library, waits = Library(), Waits()
    sink = DeviceSink(library, library.clock, wait=waits)
    sink.write(np.full(48_000 * 3, 500, np.int16), 48_000, last=True)
    for _ in range(50):
        library.play(480, dac_ahead_s=0.01)
    assert sink.problem == ""
    heard = sink.heard_us()
    if how == "stopped":
        library.streams[0].active = False
    library.now_us += LOST_US + 1
    sink.heard_us()
    assert "'the output' is gone" in sink.problem
    library.now_us += 500_000
    assert sink.heard_us() == pytest.approx(heard + 500_000, abs=20_000)
    if how == "silent":  # it comes back, and is not overtaken by the clock
        for _ in range(10):
            library.play(480, dac_ahead_s=0.01)
        assert sink.problem == ""
        assert sink.heard_us() == pytest.approx(heard + 600_000, abs=30_000)
    library.now_us += LOST_US + 4_000_000
    sink.heard_us()
    library.now_us += 3_000_000
    assert sink.heard_us() == 3_000_000
    waits.give_up()
    sink.close()


def test_no_output_device_says_so() -> None:
    with pytest.raises(UnavailableError, match=r"no sound output device .*plug one in"):
        DeviceSink(Library(missing=True))
    with pytest.raises(UnavailableError, match=r"no sound input device"):
        DeviceSource(Library(missing=True))


def test_a_device_that_refuses_says_so() -> None:
    library = Library()

    def refuse(**_: Any) -> Stream:
        raise PortAudioError("Device unavailable")

    library.OutputStream = library.InputStream = refuse  # type: ignore[method-assign]
    with pytest.raises(UnavailableError, match="the output does not play: Device unavailable"):
        DeviceSink(library)
    with pytest.raises(UnavailableError, match="the input does not listen: Device unavailable"):
        DeviceSource(library)


@pytest.mark.parametrize(("takes_16k", "rate"), [(True, 16_000), (False, 48_000)])
def test_microphone_blocks_are_at_16_khz(takes_16k: bool, rate: int) -> None:
    library = Library(takes_16k=takes_16k)
    source = DeviceSource(library, library.clock)
    assert library.streams[0].settings["samplerate"] == rate
    blocks: list[NDArray[np.int16]] = []
    source.start(blocks.append)
    assert library.streams[0].active
    sound = (8000 * np.sin(2 * np.pi * 440 * np.arange(rate) / rate)).astype(np.int16)
    for start in range(0, rate, 700):
        library.hear(sound[start : start + 700])
    heard = np.concatenate(blocks)
    assert {len(b) for b in blocks} == {BLOCK}
    assert 15_000 < len(heard) <= 16_000
    crossings = np.count_nonzero(np.diff(np.signbit(heard[2000:14_000].astype(int)))) / 2
    assert abs(crossings / (12_000 / 16_000) - 440) < 3
    source.stop()
    library.hear(sound)
    assert len(np.concatenate(blocks)) == len(heard)
    source.close()
    assert library.streams[0].closed


def test_a_lost_microphone_is_told() -> None:
    library = Library()
    waits = Waits()
    source = DeviceSource(library, library.clock, waits)
    library.now_us += 10 * LOST_US
    assert source.problem == ""  # it does not listen yet
    source.start(lambda block: None)
    assert source.problem == ""
    library.now_us += LOST_US + 1
    assert "'the input' is gone" in source.problem
    waits.give_up()
    source.close()


def test_a_loudspeaker_that_is_unplugged_while_it_plays_is_opened_again() -> None:
    library, waits = Library(), Waits()
    sink = DeviceSink(library, library.clock, wait=waits)
    sink.write(np.full(48_000 * 5, 500, np.int16), 48_000, last=True)
    for _ in range(50):
        library.play(480, dac_ahead_s=0.01)
    library.streams[0].active, library.missing = False, True
    sink.heard_us()
    assert "comes back when a device is plugged in" in sink.problem
    assert waits.next() == 0.5
    assert waits.next() == 1.0  # no device
    assert library.streams[0].closed
    library.missing, library.refuses = False, True
    assert waits.next() == 2.0  # a device that refuses
    library.refuses = False
    library.now_us += 1_000_000
    before = sink.heard_us()
    assert before == pytest.approx(1_500_000, abs=30_000), "time went on without sound"
    waits.go_on_to_the_end()
    assert library.looked == 3, "a device that is plugged in is seen only by one who looks again"
    assert library.play(480, dac_ahead_s=0.01).all()
    assert sink.problem == ""
    for _ in range(49):
        library.play(480, dac_ahead_s=0.01)
    assert sink.heard_us() == pytest.approx(before + 500_000, abs=30_000)
    # And again.
    library.streams[-1].active = False
    sink.heard_us()
    assert "is gone" in sink.problem
    assert waits.next() == 0.5
    waits.go_on_to_the_end()
    library.play(480)
    assert sink.problem == ""
    sink.close()
    assert all(stream.closed for stream in library.streams)


def test_a_microphone_that_is_unplugged_while_it_listens_is_opened_again() -> None:
    library, waits = Library(), Waits()
    source = DeviceSource(library, library.clock, waits)
    blocks: list[NDArray[np.int16]] = []
    source.start(blocks.append)
    library.hear(np.full(BLOCK, 100, np.int16))
    library.streams[0].active, library.missing = False, True
    assert "'the input' is gone: it listens again when one is plugged in" in source.problem
    assert waits.next() == 0.5
    assert waits.next() == 1.0
    assert "is gone" in source.problem
    library.missing, library.takes_16k, library.rate = False, False, 48_000  # another one
    waits.go_on_to_the_end()
    assert source.problem == ""
    assert library.streams[-1].active
    assert library.streams[-1].settings["samplerate"] == 48_000
    for _ in range(10):
        library.hear(np.full(480 * 3, 200, np.int16))
    assert {len(block) for block in blocks} == {BLOCK}
    assert len(blocks) > 5
    source.close()
    assert library.streams[-1].closed


def test_a_microphone_that_is_unplugged_between_two_questions_does_not_stop_the_second() -> None:
    library, waits = Library(), Waits()
    source = DeviceSource(library, library.clock, waits)
    library.streams[0].settings["refuses"] = True
    blocks: list[NDArray[np.int16]] = []
    source.start(blocks.append)
    assert "is gone" in source.problem
    assert waits.next() == 0.5
    waits.go_on_to_the_end()
    assert source.problem == ""
    library.hear(np.full(BLOCK, 100, np.int16))
    assert len(blocks) == 1
    source.close()


def test_another_loudspeaker_goes_on_where_the_first_was() -> None:
    library = Library()
    sink = DeviceSink(library, library.clock, wanted="usb")
    assert (sink.description, library.streams[-1].settings["device"]) == ("USB headset", 1)
    ramp = np.arange(1, 4801, dtype=np.int16)
    sink.write(ramp, 48_000)
    library.play(480)
    sink.choose("hdmi")
    assert [stream.closed for stream in library.streams] == [True, False]
    assert (sink.description, library.streams[-1].settings["device"]) == ("HDMI", 2)
    np.testing.assert_array_equal(library.play(480), ramp[480:960])
    with pytest.raises(InvalidInputError, match="bluetooth"):
        sink.choose("bluetooth")
    assert not library.streams[-1].closed
    sink.close()


def test_a_loudspeaker_that_refuses_leaves_the_one_before() -> None:
    library, waits = Library(), Waits()
    library.broken = 1
    sink = DeviceSink(library, library.clock, wait=waits)
    with pytest.raises(UnavailableError, match="USB headset does not play"):
        sink.choose("usb")
    waits.next()
    waits.go_on_to_the_end()
    assert sink.description == "the output"
    assert library.streams[-1].active
    sink.close()


def test_another_microphone_is_heard_from_then_on() -> None:
    library = Library()
    source, heard = DeviceSource(library, library.clock), queue.Queue[NDArray[np.int16]]()
    source.start(heard.put)
    source.choose("1")
    assert (source.description, library.streams[-1].settings["device"]) == ("USB headset", 1)
    assert [stream.active for stream in library.streams] == [False, True]
    library.hear(np.full(BLOCK, 7, np.int16))
    assert heard.get_nowait().tolist() == [7] * BLOCK
    library.broken = 2
    with pytest.raises(UnavailableError, match="HDMI does not listen"):
        source.choose("hdmi")
    source.close()


def test_devices_are_not_looked_for_while_another_stream_would_end_by_that() -> None:
    library, waits = Library(), Waits()
    sink, source = DeviceSink(library, library.clock, wait=waits), DeviceSource(library, library.clock)
    source.start(lambda block: None)
    library.streams[0].active = False
    sink.heard_us()
    assert waits.next() == 0.5
    waits.go_on_to_the_end()
    assert library.looked == 0
    assert library.streams[-1].active
    sink.close()
    source.close()


def test_two_channels_for_a_listener_where_the_device_has_two() -> None:
    sound = np.random.default_rng(0).integers(-8000, 8000, 9600).astype(np.int16)
    listener = Listener(np.zeros(3))
    listener.mouth = (1.0, 0.0, 0.0)
    library = Library()
    sink = DeviceSink(library, library.clock, listener)
    sink.write(sound, 48_000)
    played = np.concatenate([library.play(480, dac_ahead_s=0.01) for _ in range(20)])
    assert played.shape == (9600, 2)
    assert played[:, 1].std() > 1.3 * played[:, 0].std(), "it is at the right"
    assert sink.heard_us() == 190_000, "positions are those of one channel"
    sink.flush()
    library.play(480)
    assert not library.play(480).any()
    sink.close()
    library = Library(channels=1)
    sink = DeviceSink(library, library.clock, listener)
    assert sink.description == "the output, one channel: no direction"
    sink.write(sound, 48_000)
    assert np.array_equal(library.play(480), sound[:480])
    sink.close()


def test_the_microphones_level_rises_at_once_and_falls_slowly() -> None:
    library = Library()
    source = MeteredSource(DeviceSource(library, library.clock), library.clock)
    blocks: list[NDArray[np.int16]] = []
    assert source.level_dbfs == FLOOR_DBFS
    source.start(blocks.append)
    sine = 32_767 * np.sin(2 * np.pi * 8 * np.arange(BLOCK) / BLOCK)
    library.hear((sine / 10).astype(np.int16))
    assert source.level_dbfs == pytest.approx(-23.0, abs=0.05)
    library.now_us += 100_000
    library.hear(np.zeros(BLOCK, np.int16))
    assert source.level_dbfs == pytest.approx(-29.0, abs=0.05)
    library.hear(sine.astype(np.int16))
    assert source.level_dbfs == pytest.approx(-3.0, abs=0.05)
    assert (source.rate_hz, source.spent, source.problem) == (16_000, False, "")
    assert len(blocks) == 3
    library.now_us += 2_000_000
    assert source.level_dbfs == FLOOR_DBFS
    source.close()


def test_a_recording_is_heard_once_then_a_quiet_room(tmp_path: Path) -> None:
    path = tmp_path / "said.wav"
    soundfile.write(path, np.full(48_000 // 10, 0.5), 48_000)  # 100 ms
    source = FileSource(path)
    blocks: list[NDArray[np.int16]] = []
    enough = threading.Event()

    def take(block: NDArray[np.int16]) -> None:
        blocks.append(block)
        if len(blocks) == 6:
            enough.set()

    source.start(take)
    assert enough.wait(10)
    source.close()
    assert source.spent
    sound = np.concatenate(blocks[:6])
    assert np.median(sound[200:1400]) > 10_000
    assert np.abs(sound[1700:]).max() <= 2
