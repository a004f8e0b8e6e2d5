"""taoxr talk: its view, its sound with a scripted PortAudio, and both with a bridge on fake workers."""

import asyncio
import io
import os
import pty
import sys
from contextlib import aclosing
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from taoxr.client import (
    ConversationOptions,
    InputMode,
    Notice,
    SpeechActivity,
    State,
    TextDelta,
    Transcript,
    TurnMetrics,
    TurnState,
)
from taoxr.client.events import GoingAway, Leaving
from taoxr.client.sound import Microphone, Speaker
from taoxr.client.talk_view import LiveView, PlainView
from taoxr.client.talker import Talker
from taoxr.errors import InvalidInputError, UnavailableError

pytestmark = pytest.mark.process

RATE = 22050


class PortAudioError(Exception):
    pass


class Stream:
    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.latency = 0.1
        self.running = False

    def start(self) -> None:
        self.running = True

    def close(self, ignore_errors: bool = False) -> None:
        self.running = False

    def pull(self, frames: int) -> np.ndarray:
        """The next frames that the device plays."""
        out = np.full((frames, 1), 99, np.int16)
        self.settings["callback"](out, frames, None, None)
        return out[:, 0]


class Library:
    """What ``sounddevice`` offers, as far as it is used."""

    PortAudioError = PortAudioError

    def __init__(self, *, rate: int = RATE, missing: bool = False, takes_16k: bool = True) -> None:
        self.rate, self.missing, self.takes_16k = rate, missing, takes_16k
        self.streams: list[Stream] = []

    def query_devices(self, device: int | str | None = None, kind: str = "") -> dict[str, Any]:
        if self.missing or device not in (None, 7, "USB"):
            raise ValueError(f"no {kind} device {device}")
        return {"default_samplerate": float(self.rate), "name": f"USB {kind}", "index": 7}

    def check_input_settings(self, **_: Any) -> None:
        if not self.takes_16k:
            raise PortAudioError("16000 Hz is not supported")

    def OutputStream(self, **settings: Any) -> Stream:  # noqa: N802  sounddevice's name
        self.streams.append(Stream(**settings))
        return self.streams[-1]

    InputStream = OutputStream


def test_the_speaker_plays_one_answer_after_the_other():
    library = Library()
    speaker = Speaker(library)
    [stream] = library.streams
    sound = np.arange(1, 22051, dtype=np.int16)
    speaker.begin(RATE)
    speaker.write(sound[:10000], 453_514, last=False)
    speaker.write(sound[10000:], 1_000_000, last=True)
    np.testing.assert_array_equal(stream.pull(7000), sound[:7000])
    assert speaker.heard_us == pytest.approx((7000 / RATE - 0.1) * 1e6, abs=2)
    np.testing.assert_array_equal(stream.pull(8000), sound[7000:15000])
    speaker.stop()
    assert not stream.pull(100).any()
    assert speaker.heard_us == round((15000 / RATE - 0.1) * 1e6)
    speaker.begin(RATE)
    assert speaker.heard_us == 0
    speaker.write(sound[:50], 2267, last=True)
    np.testing.assert_array_equal(stream.pull(60), [*sound[:50], *[0] * 10])
    assert speaker.heard_us == 2267
    speaker.close()
    assert not stream.running


def test_the_speaker_converts_to_the_rate_of_the_device():
    library = Library(rate=48000)
    speaker = Speaker(library)
    speaker.begin(RATE)
    speaker.write(np.full(RATE, 1000, np.int16), 1_000_000, last=True)
    heard = library.streams[0].pull(48000)
    assert np.median(heard) == 1000
    assert np.count_nonzero(heard > 500) == pytest.approx(48000, abs=200)


async def test_the_microphone_gives_blocks_at_a_rate_that_its_device_takes():
    for takes_16k, rate in ((True, 16000), (False, 44100)):
        library = Library(rate=44100, takes_16k=takes_16k)
        microphone = Microphone(library)
        assert microphone.rate_hz == library.streams[0].settings["samplerate"] == rate
        hear = library.streams[0].settings["callback"]
        for i in range(300):
            await asyncio.to_thread(hear, np.full((10, 1), i, np.int16), 10, None, None)
        async with aclosing(aiter(microphone)) as blocks:
            # The oldest are lost when nobody listens.
            assert (await anext(blocks)).tolist() == [50] * 10
            assert (await anext(blocks)).tolist() == [51] * 10
        microphone.close()


async def test_missing_devices_are_named():
    with pytest.raises(UnavailableError, match="no sound output device"):
        Speaker(Library(missing=True))
    with pytest.raises(UnavailableError, match="no sound input device"):
        Microphone(Library(missing=True))


async def test_devices_can_be_chosen():
    library = Library()
    Speaker(library, "7").close()
    Speaker(library).close()
    Microphone(library, "USB").close()
    assert [stream.settings["device"] for stream in library.streams] == [7, None, 7]
    with pytest.raises(InvalidInputError, match=r"--loudspeaker.*--list-devices"):
        Speaker(library, "8")
    with pytest.raises(InvalidInputError, match="--microphone"):
        Microphone(library, "Bluetooth")


EVENTS = [
    SpeechActivity(1, "", 0, True, 0),
    Transcript(2, "", 0, "what is [that", False, 0, 1),
    Transcript(3, "", 0, "What is [that]?", True, 0, 1),
    TurnState(4, "t", 0, State.THINKING, ""),
    TextDelta(5, "t", 0, "It is "),
    TextDelta(6, "t", 0, "a [bold]cat."),
    TurnMetrics(7, "t", 0, {"total": 900.0, "asr": 101.4, "odd": 5.0}, 1, 2, 3),
    Notice(8, "t", 0, None, UnavailableError("the tts worker [x] stopped")),
    GoingAway(9, "", 0, Leaving.SHUTDOWN, 5_000_000),
]


def test_the_live_view_shows_what_happens_now():
    now = [10.0]
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    view = LiveView(console, lambda: now[0])

    def shown() -> list[str]:
        with console.capture() as capture:
            console.print(view.render())
        return capture.get().splitlines()

    assert shown() == ["○ idle"]
    view.show(EVENTS[0])
    view.show(EVENTS[1])
    assert shown() == ["you: what is [that …", "● hears you"]
    view.show(SpeechActivity(2, "", 0, False, 5))
    for event in EVENTS[2:]:
        view.show(event)
    now[0] += 2.0
    assert shown() == ["avatar: It is a [bold]cat.", "◐ thinking  2.0 s  heard 101 · all 900 ms"]
    view.show(TurnState(9, "t", 0, State.INTERRUPTED, "It is"))
    assert shown() == ["○ idle"]
    assert console.file.getvalue().splitlines() == [
        "you: What is [that]?",
        "notice: the tts worker [x] stopped",
        "notice: the bridge ends the conversation in 5 s (shutdown)",
        "avatar: It is (interrupted)",
        "heard 101 · all 900 ms",
    ]


def test_the_plain_view_keeps_the_answer_apart():
    answers, messages = io.StringIO(), io.StringIO()
    view = PlainView(Console(file=messages, width=200), metrics=True, answers=Console(file=answers))
    for event in [*EVENTS, TurnState(9, "t", 0, State.DONE, "")]:
        view.show(event)
    assert answers.getvalue() == "It is a [bold]cat.\n"
    assert messages.getvalue().splitlines() == [
        "you: What is [that]?",
        "notice: the tts worker [x] stopped",
        "notice: the bridge ends the conversation in 5 s (shutdown)",
        "heard 101 · all 900 ms",
    ]


async def test_speaking_is_heard_answered_played_and_reported(fake_bridge):
    library = Library(rate=48000)
    speaker = Speaker(library)
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)

    class Voice(Microphone):
        def __init__(self) -> None:
            pass

        async def __aiter__(self):
            yield np.full(1600, 3000, np.int16)
            yield np.zeros(1600, np.int16)
            await asyncio.Event().wait()

    async def play() -> None:
        while True:  # a device that plays in real time
            library.streams[0].pull(480)
            await asyncio.sleep(0.01)

    playing = asyncio.create_task(play())
    options = ConversationOptions(audio_in_hz=16000, input_mode=InputMode.HANDS_FREE)
    async with fake_bridge() as (client, _), client.converse(options) as conversation:
        reports: list[tuple[str, int]] = []
        report = conversation.report_playback

        async def remember(turn_id: str, played_us: int, underruns: int = 0) -> None:
            reports.append((turn_id, played_us))
            await report(turn_id, played_us, underruns)

        conversation.report_playback = remember
        talker = Talker(Voice(), LiveView(console), speaker)
        async with aclosing(talker.converse(conversation)) as answers:
            answer = await anext(answers)
    playing.cancel()
    seconds = sum(len(chunk.pcm) for chunk in answer.chunks) / RATE
    assert seconds > 1
    assert {turn_id for turn_id, _ in reports} == {answer.chunks[0].turn_id}
    positions = [played_us for _, played_us in reports]
    assert positions == sorted(set(positions))
    assert positions[-1] == answer.chunks[-1].end_us
    kept = console.file.getvalue()
    assert "you: hello there" in kept
    assert "avatar: You said hello there." in kept


async def test_on_a_terminal_the_answer_is_shown_live(fake_bridge):
    parent, child = pty.openpty()
    async with fake_bridge() as (_, fakes):
        program = "from taoxr.cli import main; main()"
        command = [sys.executable, "-c", program, "talk", "--text", "--silent", "--target", fakes.bridge]
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
        talking = await asyncio.create_subprocess_exec(
            *command, stdin=child, stdout=child, stderr=child, env=environment
        )
        os.close(child)
        os.write(parent, b"hello\n\x04")

        def read() -> str:
            shown = b""
            try:
                while piece := os.read(parent, 65536):
                    shown += piece
            except OSError:  # the other end is closed
                pass
            return shown.decode()

        shown = await asyncio.to_thread(read)
        assert await talking.wait() == 0, shown
    os.close(parent)
    assert "thinking" in shown
    assert "You said hello." in shown
