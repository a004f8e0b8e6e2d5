"""Voice and face on the clock of the sound that is heard; memory and inbox. No bridge."""

import asyncio

import numpy as np
import pytest

from taoxr import arkit
from taoxr.client import MediaChunk, Phoneme
from taoxr_runtime.audio import NullSink
from taoxr_runtime.live.commands import Ask, Inbox, Interrupt, Talk
from taoxr_runtime.live.memory import Memory
from taoxr_runtime.live.speech import Speech

pytestmark = pytest.mark.unit

RATE = 22_050
STEP_US = 20_000
JAW = arkit.INDEX["jawOpen"]


class Stage:
    """Speech on a clock of the test's own."""

    def __init__(self) -> None:
        self.now_us = 1_000_000
        self.sink = NullSink(clock=lambda: self.now_us)
        self.speech = Speech(self.sink)

    def jaw_after(self, us: int) -> float:
        """Lets time pass in display frames; how open the mouth is then."""
        for _ in range(us // STEP_US):
            self.now_us += STEP_US
            face = self.speech.face(self.now_us)
        return float(face[JAW])


def chunk(
    start_us: int, length_us: int, *, turn: str = "turn-1", epoch: int = 0, jaw: float = 0.6,
    last: bool = False, text: str = "", phonemes: tuple[Phoneme, ...] = (),
) -> MediaChunk:  # fmt: skip
    times = np.arange(start_us, start_us + length_us, 33_333, np.int64)
    weights = np.zeros((len(times), len(arkit.NAMES)), np.float32)
    weights[:, JAW] = jaw
    pcm = np.full(length_us * RATE // 1_000_000, 3000, np.int16)
    return MediaChunk(0, turn, epoch, start_us, RATE, pcm, times, weights, 0, text, phonemes, last)


def test_mouth_moves_while_sound_is_heard_and_rests_after() -> None:
    stage = Stage()
    stage.speech.add(chunk(0, 500_000))
    stage.speech.add(chunk(500_000, 500_000, last=True))
    assert not stage.speech.speaking
    assert stage.jaw_after(300_000) == pytest.approx(0.6)
    assert stage.speech.speaking
    assert 250_000 <= stage.speech.heard_us <= 300_000
    assert stage.jaw_after(1_200_000) == 0.0
    assert stage.speech.finished
    assert not stage.speech.speaking
    assert stage.speech.heard_us == 1_000_000


def test_underrun_stops_the_mouth_and_more_sound_moves_it_again() -> None:
    stage = Stage()
    stage.speech.add(chunk(0, 300_000))
    assert stage.jaw_after(200_000) == pytest.approx(0.6)
    assert stage.jaw_after(700_000) == 0.0
    assert stage.speech.speaking  # the turn is not over
    assert not stage.speech.finished
    assert stage.speech.underruns == 1
    stuck = stage.speech.heard_us
    assert stage.jaw_after(500_000) == 0.0
    assert stage.speech.heard_us == stuck
    stage.speech.add(chunk(300_000, 300_000, last=True))
    assert stage.jaw_after(200_000) == pytest.approx(0.6)
    assert stage.jaw_after(600_000) == 0.0
    assert stage.speech.finished


def test_interruption_silences_and_the_next_turn_speaks() -> None:
    stage = Stage()
    stage.speech.add(chunk(0, 2_000_000))
    stage.jaw_after(500_000)
    stage.speech.stop(1)
    assert stage.speech.heard_us == 0
    assert stage.jaw_after(300_000) == 0.0
    stage.speech.add(chunk(0, 500_000, turn="turn-2", epoch=1, jaw=0.4, last=True))
    assert stage.jaw_after(300_000) == pytest.approx(0.4)
    assert stage.speech.turn_id == "turn-2"


def test_a_new_conversation_counts_turns_from_the_start_again() -> None:
    stage = Stage()
    stage.speech.add(chunk(0, 2_000_000, epoch=3))
    stage.jaw_after(500_000)
    stage.speech.restart()
    stage.speech.add(chunk(0, 500_000, epoch=0, jaw=0.3, last=True))
    assert stage.jaw_after(300_000) == pytest.approx(0.3)


def test_face_of_a_later_time_is_that_of_the_sound_heard_then() -> None:
    stage = Stage()
    stage.speech.add(chunk(0, 330_000, jaw=0.0))
    stage.speech.add(chunk(330_000, 670_000, jaw=0.8, last=True))
    stage.jaw_after(260_000)
    assert stage.speech.face(stage.now_us)[JAW] == pytest.approx(0.0, abs=0.05)
    assert stage.speech.face(stage.now_us, 200_000)[JAW] == pytest.approx(0.8)


def test_captions_grow_with_what_is_heard() -> None:
    memory = Memory()
    memory.said("Where are you?")
    assert memory.captions(0) == ("Where are you?", "")
    memory.begin()
    sounds = tuple(Phoneme("a", i * 100_000, (i + 1) * 100_000) for i in range(10))
    pause = Phoneme("_", 1_000_000, 1_400_000)
    memory.add(chunk(0, 1_400_000, text="I am here in the room.", phonemes=(*sounds, pause)))
    memory.add(chunk(1_400_000, 500_000, text="Truly!"))
    assert memory.captions(0).avatar == ""
    assert memory.captions(200_000).avatar == "I am"
    assert memory.captions(1_000_000).avatar == "I am here in the room."
    assert memory.captions(1_900_000).avatar == "I am here in the room. Truly!"
    memory.answered("I am here in the room.")
    assert memory.captions(0).avatar == "I am here in the room."  # it stays when it is over
    assert memory.history() == (("user", "Where are you?"), ("assistant", "I am here in the room."))
    memory.said("And")
    assert memory.captions(1_900_000) == ("And", "")


def test_history_leaves_out_what_nobody_heard_and_is_bounded() -> None:
    memory = Memory()
    memory.answered("nobody asked")
    assert memory.history() == ()
    memory.said("one")
    memory.begin()
    memory.answered("")
    assert memory.history() == (("user", "one"),)
    for n in range(100):
        memory.said(f"q{n}")
        memory.begin()
        memory.answered(f"a{n}")
    assert len(memory.history()) == 40
    assert memory.history()[-1] == ("assistant", "a99")


async def test_inbox_keeps_questions_over_a_lost_connection() -> None:
    inbox = Inbox(asyncio.get_running_loop())
    waiting = asyncio.create_task(inbox.first())
    await asyncio.sleep(0)
    await asyncio.to_thread(inbox.put, Talk(True, 1))
    assert await asyncio.wait_for(waiting, 5) == Talk(True, 1)
    for command in (Ask("a"), Interrupt(), Ask("b")):
        inbox.put(command)
    inbox.keep_questions()
    assert await inbox.first() == Ask("a")
    inbox.done()
    inbox.again(Ask("a"))
    assert await inbox.first() == Ask("a")
    inbox.done()
    assert await inbox.first() == Ask("b")
