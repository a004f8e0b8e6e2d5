"""Keys that change loudspeaker and microphone, behind a scripted PortAudio."""

import pytest
from tests.runtime.test_audio_device import Library

from taoxr_runtime.audio import NullSink, NullSource, device
from taoxr_runtime.audio.device import DeviceSink
from taoxr_runtime.audio.recovery import Streams
from taoxr_runtime.view.devices import Devices

pytestmark = pytest.mark.unit


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    monkeypatch.setattr(device, "STREAMS", Streams())
    return Library()


def said_after(kind: device.Kind, sink: DeviceSink | NullSink, library: Library) -> str:
    devices = Devices(sink, NullSource(), library)
    devices.take_next(kind)
    devices.close()
    text, at_us = devices.said
    assert at_us > 0
    return text


def test_each_loudspeaker_has_its_turn(library: Library) -> None:
    sink = DeviceSink(library, library.clock)
    said = [said_after("output", sink, library) for _ in range(4)]
    expected = ["USB headset", "HDMI", "the output", "USB headset"]
    assert said == [f"loudspeaker: {name}" for name in expected]
    assert sink.device == "USB headset"
    assert [stream.active for stream in library.streams] == [False] * 4 + [True]
    sink.close()


def test_one_that_does_not_play_is_told(library: Library) -> None:
    sink = DeviceSink(library, library.clock)
    library.broken = 1
    assert "USB headset does not play" in said_after("output", sink, library)
    sink.close()


def test_there_is_no_other(library: Library) -> None:
    library.others = []
    sink = DeviceSink(library, library.clock)
    assert said_after("output", sink, library) == "there is no loudspeaker but 'the output'"
    sink.close()


def test_none_is_in_use(library: Library) -> None:
    sink = NullSink(problem="no sound: PortAudio is missing")
    assert said_after("output", sink, library) == ("no loudspeaker is in use: no sound: PortAudio is missing")
    assert said_after("input", sink, library).startswith("no microphone is in use: ")
