"""Devices behind a scripted PortAudio: latency, failures, loss; and recordings as microphones."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from taoxr.errors import UnavailableError
from taoxr_runtime.audio import BLOCK, FileSource
from taoxr_runtime.audio.device import LOST_US, DeviceSink, DeviceSource

pytestmark = pytest.mark.unit


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
        self.active = True

    def stop(self, ignore_errors: bool = False) -> None:
        self.active = False

    def close(self, ignore_errors: bool = False) -> None:
        self.active, self.closed = False, True


class Library:
    """What ``sounddevice`` offers, as far as it is used."""

    PortAudioError = PortAudioError

    def __init__(self, *, rate: int = 48_000, missing: bool = False, takes_16k: bool = True) -> None:
        self.rate, self.missing, self.takes_16k = rate, missing, takes_16k
        self.streams: list[Stream] = []
        self.now_us = 5_000_000

    def clock(self) -> int:
        return self.now_us

    def query_devices(self, kind: str) -> dict[str, Any]:
        if self.missing:
            raise PortAudioError("Error querying device -1")
        return {"name": f"the {kind}", "default_samplerate": float(self.rate)}

    def check_input_settings(self, **settings: Any) -> None:
        if not self.takes_16k:
            raise PortAudioError("Invalid sample rate")

    def _open(self, **settings: Any) -> Stream:
        self.streams.append(Stream(**settings))
        return self.streams[-1]

    OutputStream = _open
    InputStream = _open

    def play(self, frames: int, *, dac_ahead_s: float = 0.1, underflow: bool = False) -> NDArray[np.int16]:
        """The device asks for a block; time passes by its length."""
        out = np.full((frames, 1), -1, np.int16)
        time = SimpleNamespace(outputBufferDacTime=7.0 + dac_ahead_s, currentTime=7.0)
        self.streams[0].callback(out, frames, time, SimpleNamespace(output_underflow=underflow))
        self.now_us += frames * 1_000_000 // self.rate
        return out[:, 0]

    def hear(self, data: NDArray[np.int16]) -> None:
        """The device delivers a block."""
        self.streams[0].callback(data[:, None], len(data), None, None)


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
    assert np.count_nonzero(played) == 4800
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
    assert not library.play(480).any()


@pytest.mark.parametrize("how", ["stopped", "silent"])
def test_a_lost_device_is_told_and_time_goes_on(how: str) -> None:
    library = Library()
    sink = DeviceSink(library, library.clock)
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
    source = DeviceSource(library, library.clock)
    library.now_us += 10 * LOST_US
    assert source.problem == ""  # it does not listen yet
    source.start(lambda block: None)
    assert source.problem == ""
    library.now_us += LOST_US + 1
    assert "'the input' is gone" in source.problem


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
