"""What `taoxr ar` decides by itself: attention, timers, and how the room is shown."""

import re

import pytest
from typer.testing import CliRunner

from taoxr.client import ConversationOptions
from taoxr.errors import InvalidInputError
from taoxr_runtime.ar.attention import Attention, after
from taoxr_runtime.ar.cli import app
from taoxr_runtime.ar.timers import Timers
from taoxr_runtime.xr.environment import Behind, Surroundings, choose_environment, missing

pytestmark = pytest.mark.unit


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("hey joe", ""),
        ("Hey Joe, what time is it?", "what time is it?"),
        ("Hey, Jo. What time is it?", "What time is it?"),
        ("Hey Joel, set a timer.", "set a timer."),
        ("Oh, hey Joe!", ""),
        ("Héy Joe - a timer", "a timer"),
        ("HeyJoe what's up", "what's up"),
        ("Hey Jo is it late?", "is it late?"),
    ],
)
def test_the_phrase_is_heard_and_left_out(text: str, rest: str) -> None:
    assert after("hey joe", text) == rest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hey",
        "joe",
        "Hey you, come here.",
        "Hey John, what time is it?",
        "They know what time it is.",
        "What did you say, hey Joe?",
        "He goes there.",
        "Hey, show me.",
        "The day goes by.",
        "...",
    ],
)
def test_other_words_are_not_the_phrase(text: str) -> None:
    assert after("hey joe", text) is None


def test_a_phrase_of_three_words() -> None:
    assert after("okay my avatar", "OK, my avatar, hello") == "hello"
    assert after("okay my avatar", "Okay, my neighbour says hello") is None


def test_the_phrase_wakes_it_and_silence_lets_it_rest() -> None:
    clock = Clock()
    attention = Attention("hey joe", 20, clock)
    assert not attention.awake
    assert attention.hears("nice weather today", True) is None
    assert attention.hears("hey joe", False) == ""  # a guess may still turn into something else
    assert not attention.awake
    assert attention.hears("Hey Joe, hello", True) == "hello"
    clock.now += 19
    assert attention.hears("and how are you", True) == "and how are you"
    clock.now += 19
    assert attention.awake
    clock.now += 2
    assert attention.resting_s == pytest.approx(1)
    assert attention.hears("not to you", True) is None
    attention.wake()
    assert attention.hears("to you", True) == "to you"


def test_silence_is_no_word() -> None:
    clock = Clock()
    attention = Attention("hey joe", 20, clock)
    attention.wake()
    clock.now += 15
    assert attention.hears("", True) == ""
    clock.now += 6
    assert not attention.awake


def test_without_a_phrase_every_word_is_meant() -> None:
    clock = Clock()
    attention = Attention("", 20, clock)
    clock.now += 100
    assert not attention.awake
    assert attention.hears("hello", True) == "hello"
    assert attention.awake


def test_a_phrase_that_anything_resembles_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="at least 4 letters"):
        Attention("hi!")
    refused = CliRunner().invoke(app, ["--wake", "hi"])
    assert isinstance(refused.exception, InvalidInputError)


def test_timers_are_told_once_in_their_order() -> None:
    clock = Clock()
    timers = Timers(clock)
    assert re.fullmatch(r"The timer rings at \d\d:\d\d\.", timers.set_timer(5))
    assert re.fullmatch(r"I will remind you at \d\d:\d\d\.", timers.set_reminder(1, "call mother"))
    timers.set_timer(1)
    assert timers.due() is None
    clock.now += 60
    assert timers.due() == "You wanted to be reminded: call mother."
    assert timers.due() == "Your timer of 1 minute is over."
    assert timers.due() is None
    clock.now += 1000
    assert timers.due() == "Your timer of 5 minutes is over."


def test_the_tools_have_schemas() -> None:
    timer, reminder = ConversationOptions(tools=Timers().tools()).tools
    assert timer.name == "set_timer"  # it takes the place of the one that only rings
    assert timer.parameters["properties"]["minutes"]["maximum"] == 1440
    assert set(reminder.parameters["properties"]) == {"minutes", "text"}


# Offers that are mocked: Monado has OPAQUE only, and no passthrough.
ROOM = Surroundings(room=True)


@pytest.mark.parametrize(
    ("modes", "passthrough", "behind", "mode"),
    [
        (["OPAQUE", "ALPHA_BLEND", "ADDITIVE"], True, Behind.ALPHA_BLEND, "ALPHA_BLEND"),
        (["ALPHA_BLEND"], False, Behind.ALPHA_BLEND, "ALPHA_BLEND"),
        (["OPAQUE"], True, Behind.PASSTHROUGH, "OPAQUE"),
        (["ADDITIVE", "OPAQUE"], True, Behind.PASSTHROUGH, "OPAQUE"),
        (["ADDITIVE"], True, Behind.ADDITIVE, "ADDITIVE"),
        (["OPAQUE", "ADDITIVE"], False, Behind.ADDITIVE, "ADDITIVE"),
        (["OPAQUE"], False, Behind.NOTHING, "OPAQUE"),
    ],
)
def test_mocked_offers_of_the_room(modes: list[str], passthrough: bool, behind: Behind, mode: str) -> None:
    chosen = choose_environment(modes, passthrough, ROOM)
    assert (chosen.behind, chosen.blend_mode) == (behind, mode)
    assert chosen.opaque == (behind is Behind.NOTHING)
    assert chosen.passthrough == (behind is Behind.PASSTHROUGH)
    assert chosen.can_darken == (behind in (Behind.ALPHA_BLEND, Behind.PASSTHROUGH))
    assert (chosen.brightness_floor > 0) == (behind is Behind.ADDITIVE)


@pytest.mark.parametrize("mode", ["OPAQUE", "ALPHA_BLEND", "ADDITIVE"])
def test_mocked_offers_where_the_room_is_not_asked_for(mode: str) -> None:
    chosen = choose_environment([mode, "OPAQUE", "ALPHA_BLEND"], True, Surroundings())
    assert chosen.blend_mode == mode
    assert not chosen.passthrough


@pytest.mark.parametrize("mode", ["OPAQUE", "ALPHA_BLEND", "ADDITIVE"])
def test_over_another_app_its_own_mode_counts(mode: str) -> None:
    chosen = choose_environment([mode, "ALPHA_BLEND"], True, Surroundings(room=True, overlay=True))
    assert (chosen.behind, chosen.blend_mode, chosen.opaque) == (Behind.APP, mode, False)
    assert chosen.can_darken == (mode != "ADDITIVE")


def test_what_is_missing_is_said() -> None:
    assert "it lacks XR_FB_passthrough" in missing(["OPAQUE"], set())
    assert "its headset cannot" in missing(["OPAQUE"], {"XR_FB_passthrough"})
