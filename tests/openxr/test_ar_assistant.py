"""The assistant's days: it is called, answers, rests, and speaks up; with a small fake of the companion."""

import json

import numpy as np
import pytest

from taoxr.client import State, Transcript, TurnState, as_tool
from taoxr.client.tools import result_of
from taoxr.v1 import tools_pb2
from taoxr_runtime.animation import Activity
from taoxr_runtime.ar.assistant import Assistant, tools
from taoxr_runtime.ar.attention import Attention
from taoxr_runtime.ar.timers import Timers
from taoxr_runtime.live import CompanionState
from taoxr_runtime.live.overheard import Overheard
from taoxr_runtime.live.status import ACTIVITIES
from taoxr_runtime.xr.captions import Words
from taoxr_runtime.xr.controls import Wishes

pytestmark = pytest.mark.unit

WORDS = Words("what the user said", "what the avatar says", "a note")


class Day:
    """An assistant with its clock, and fakes of its companion and conversation."""

    def __init__(self, phrase: str = "hey joe") -> None:
        self.now = 0.0
        self.state = CompanionState.IDLE
        self.said: list[str] = []
        self.told: list[str] = []
        self.over = True
        self.attention = Attention(phrase, 20, self.clock)
        self.timers = Timers(self.clock)
        self.assistant = Assistant(self, self, self.attention, self.timers, self.told.append, self.clock)

    def clock(self) -> float:
        return self.now

    # As the companion.

    @property
    def activity(self) -> Activity:
        return ACTIVITIES[self.state]

    def face(self, now_us: int, ahead_us: int = 0) -> np.ndarray:
        return np.full(52, 0.5, np.float32)

    def body(self, now_us: int, ahead_us: int = 0) -> None:
        return None

    def say(self, text: str) -> None:
        self.said.append(text)

    # As its conversation.

    @property
    def listening(self) -> bool:
        return self.state is CompanionState.LISTENING

    def tick(self, wishes: Wishes) -> Words:
        return WORDS

    def after(self, seconds: float, state: CompanionState | None = None, **wishes: bool) -> Words:
        """What is shown, so much later."""
        self.now += seconds
        self.state = state or self.state
        return self.assistant.tick(Wishes(**wishes))


def test_it_says_how_to_call_it_and_falls_silent() -> None:
    day = Day()
    assert day.after(1) == Words(note="Say “hey joe”.")
    assert day.after(20) == Words()


def test_others_may_talk_beside_it() -> None:
    day = Day()
    assert day.after(1, CompanionState.LISTENING) == Words(note="Say “hey joe”.")
    assert not day.assistant.listening
    assert day.assistant.activity is Activity.IDLE
    assert day.attention.hears("nice weather today", True) is None
    assert day.after(1, CompanionState.THINKING) == Words(note="Say “hey joe”.")


def test_called_it_takes_part_until_nobody_speaks() -> None:
    day = Day()
    day.after(1, CompanionState.LISTENING)
    assert day.attention.hears("Hey Joe, hello", True)
    assert day.after(1) == WORDS
    assert day.assistant.listening
    assert day.assistant.activity is Activity.LISTENING
    day.after(30, CompanionState.SPEAKING)  # a long answer keeps it awake
    assert day.after(19, CompanionState.IDLE) == WORDS
    assert day.after(2) == Words(note="Say “hey joe”.")
    assert day.after(0, muted=True) == WORDS  # which says that the microphone is off
    assert day.after(0, captions=False) == Words()


def test_without_a_phrase_it_rests_too() -> None:
    day = Day("")
    assert day.after(1) == WORDS
    assert day.after(20) == Words(note="Just speak.")
    assert day.attention.hears("hello", True)
    assert day.after(0) == WORDS


def test_prepared_questions_need_no_phrase() -> None:
    day = Day()
    day.over = False
    assert day.after(60) == WORDS
    day.over = True
    assert day.after(25) == Words(note="Say “hey joe”.")


def test_a_connection_that_is_lost_is_said_at_rest_too() -> None:
    assert Day().after(100, CompanionState.DISCONNECTED) == WORDS


def test_what_is_due_is_said_when_nobody_speaks_one_after_the_other() -> None:
    day = Day()
    day.timers.set_timer(1)
    day.timers.set_reminder(1, "call mother")
    day.after(59)
    day.after(2, CompanionState.SPEAKING)
    assert day.said == []
    day.after(1, CompanionState.IDLE)
    day.after(1)
    assert day.said == ["Your timer of 1 minute is over."] == day.told
    assert day.attention.awake
    assert day.after(1, CompanionState.SPEAKING) == WORDS
    assert len(day.said) == 1
    day.after(1, CompanionState.IDLE)
    day.after(0.1)
    assert day.said[1:] == ["You wanted to be reminded: call mother."]
    day.timers.set_timer(0.01)
    day.after(10)
    assert len(day.said) == 2
    day.after(11)  # the reminder was never heard: the connection may have been lost
    day.after(0.1)
    assert len(day.said) == 3


async def test_tools_do_nothing_for_words_of_others() -> None:
    day = Day()
    by_name = {tool.name: tool for tool in tools(day.timers, day.attention)}
    assert {"get_time", "get_date", "set_timer", "set_reminder"} <= set(by_name)
    call = tools_pb2.ToolCall(
        name="set_timer", arguments_json=json.dumps({"minutes": 1}), timeout_us=5_000_000
    )
    assert (await result_of(by_name["set_timer"], call)).error == "nobody asked the avatar"
    day.attention.wake()
    assert (await result_of(by_name["set_timer"], call)).output.startswith("The timer rings at")
    day.now += 61
    assert day.timers.due() == "Your timer of 1 minute is over."
    assert as_tool(by_name["get_time"]) is by_name["get_time"]


def transcript(turn_id: str, text: str, final: bool) -> Transcript:
    return Transcript(0, turn_id, 0, text, final, 0, 0)


def test_events_of_words_for_others_are_hidden() -> None:
    """Up to the turn's end; the next turn is looked at anew."""
    overheard = Overheard(lambda text, final: text.removeprefix("hey ") if "hey" in text else None)
    assert overheard.hides(transcript("turn-1", "nice", False))
    assert not overheard.hides(TurnState(0, "turn-1", 0, State.LISTENING, ""))
    assert overheard.hides(transcript("turn-1", "nice weather", True))
    assert overheard.hides(TurnState(0, "turn-1", 0, State.THINKING, ""))
    assert overheard.hides(TurnState(0, "turn-1", 0, State.INTERRUPTED, ""))
    assert not overheard.hides(TurnState(0, "", 0, State.LISTENING, ""))
    assert overheard.meant is None
    assert not overheard.hides(transcript("turn-2", "hey y", False))
    assert overheard.hides(transcript("turn-2", "hey you", True))
    assert overheard.meant == "you"  # which is asked in its place
    assert overheard.hides(TurnState(0, "turn-2", 0, State.THINKING, ""))
    assert not overheard.hides(transcript("turn-3", "heyday", True))
    assert not overheard.hides(TurnState(0, "turn-3", 0, State.THINKING, ""))
    assert not Overheard(None).hides(transcript("turn-3", "nice weather", True))
