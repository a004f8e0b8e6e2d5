"""What the conversation makes of the user's wishes, and a session of the runtime's: without a runtime."""

import ctypes
from collections import deque
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from taoxr.errors import InvalidInputError
from taoxr_runtime.audio.protocols import BLOCK, SOURCE_HZ, Deliver
from taoxr_runtime.live import CompanionState
from taoxr_runtime.live.status import Captions
from taoxr_runtime.xr import api
from taoxr_runtime.xr.app import Options, Silence, _Loop
from taoxr_runtime.xr.captions import Words
from taoxr_runtime.xr.cli import app as xr_app
from taoxr_runtime.xr.controls import Wishes
from taoxr_runtime.xr.conversation import Conversation
from taoxr_runtime.xr.muting import MutableSource
from taoxr_runtime.xr.session import Session

pytestmark = pytest.mark.unit

TALKING = Wishes(talking=(True, False))


@pytest.mark.parametrize("rate", ["fast", "0", "nan", "1e9"])
def test_a_rate_that_is_none(rate: str) -> None:
    done = CliRunner().invoke(xr_app, ["--refresh-rate", rate])
    assert isinstance(done.exception, InvalidInputError)
    assert "auto, or 1 to 1000 hertz" in str(done.exception)


class Companion:
    """Does nothing, and notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.state, self.notices = CompanionState.IDLE, ()

    def talk(self, pressed: bool) -> None:
        self.told.append(f"talk {pressed}")

    def interrupt(self) -> None:
        self.told.append("interrupt")

    def ask(self, text: str) -> None:
        self.told.append(text)

    def captions(self) -> Captions:
        return Captions("a question", "an answer")


class Microphone:
    """Delivers what the test says."""

    rate_hz = SOURCE_HZ

    def start(self, deliver: Deliver) -> None:
        self.deliver = deliver


def conversation(
    hands_free: bool = False, pause: bool = False, questions: tuple[str, ...] = ()
) -> tuple[Conversation, Companion, MutableSource]:
    companion, source = Companion(), MutableSource(Microphone())
    partner = Conversation(companion, source, questions, hands_free, print, pause_when_away=pause)
    return partner, companion, source


def test_the_key_to_talk() -> None:
    partner, companion, _ = conversation()
    for wishes in (Wishes(), TALKING, TALKING, Wishes()):
        partner.tick(wishes)
    assert companion.told == ["talk True", "talk False"]
    partner, companion, _ = conversation(hands_free=True)
    for wishes in (TALKING, TALKING, Wishes()):
        partner.tick(wishes)
    assert companion.told == ["interrupt"]
    assert not partner.listening
    companion.state = CompanionState.LISTENING
    assert partner.listening


def test_a_microphone_that_is_off_hears_nothing_and_says_so() -> None:
    partner, companion, source = conversation()
    heard: list[np.ndarray] = []
    source.start(heard.append)
    block = np.arange(BLOCK, dtype=np.int16)
    partner.tick(TALKING)
    source._source.deliver(block)
    off = replace(TALKING, muted=True)
    assert "microphone is off" in partner.tick(off).note
    source._source.deliver(block)
    assert companion.told == ["talk True", "talk False"], "switching it off ends the turn"
    np.testing.assert_array_equal(heard, [block, np.zeros_like(block)])
    partner.tick(TALKING)
    source._source.deliver(block)
    np.testing.assert_array_equal(heard[-1], block)


def test_captions_that_are_off_tell_only_what_is_wrong() -> None:
    partner, companion, _ = conversation()
    assert partner.tick(Wishes())[:2] == ("a question", "an answer")
    off = Wishes(captions=False)
    assert partner.tick(off) == Words()
    assert partner.tick(replace(off, muted=True)).note
    companion.state = CompanionState.DISCONNECTED
    assert "connection is lost" in partner.tick(off).note


@pytest.mark.parametrize("pause", [False, True])
def test_away_the_conversation_goes_on_or_pauses(pause: bool) -> None:
    away = Wishes(away=True)
    partner, companion, source = conversation(hands_free=True, pause=pause, questions=("What?",))
    partner._quiet_since = 0.0  # it has been quiet for long
    partner.tick(away)
    assert source.muted == pause
    assert companion.told == (["interrupt"] if pause else ["What?"])
    partner.tick(away)
    partner.tick(Wishes())
    assert not source.muted
    assert companion.told == (["interrupt", "What?"] if pause else ["What?"])


def test_a_hand_feels_what_it_holds_and_that_the_avatar_listens_to_its_key() -> None:
    """The link is played: it notes which hand it was to pulse."""
    partner, felt = Silence(), list[int]()
    loop = _Loop(Options(), None, partner, None, None, None, print, None)
    link = SimpleNamespace(pulse=felt.append)

    def after(listening: bool, wishes: Wishes) -> list[int]:
        felt.clear()
        partner.listening = listening
        loop._pulse(link, wishes)
        return felt.copy()

    assert after(False, TALKING) == []  # the key is down; it does not listen yet
    assert after(True, TALKING) == [0]
    assert after(True, TALKING) == []
    assert after(True, Wishes(grabbed=(False, True))) == [1]
    assert after(False, Wishes()) == []
    assert after(True, Wishes()) == [], "who speaks hands-free is not shaken at each word"


def test_states_of_a_session_whose_headset_is_taken_off_and_which_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The runtime's side is played, for Monado neither sleeps nor ends an app by itself."""
    xr = api.xr()
    events: deque[str | bool] = deque()
    calls: list[str] = []

    def call(name: str, *arguments: object) -> object:
        if name != "poll_event":
            calls.append(name)
            return None
        if not events:
            return None
        event = events.popleft()
        if isinstance(event, bool):
            changed = xr.EventDataUserPresenceChangedEXT(is_user_present=event)
        else:
            changed = xr.EventDataSessionStateChanged(state=getattr(xr.SessionState, event))
        buffer = xr.EventDataBuffer()
        ctypes.memmove(ctypes.byref(buffer), ctypes.byref(changed), ctypes.sizeof(changed))
        return buffer

    monkeypatch.setattr(api, "call", call)
    session = Session.__new__(Session)
    session.state, session.running, session.over, session.handle = "UNKNOWN", False, False, None
    session.worn = True
    session._runtime = SimpleNamespace(
        instance=None, view_configuration=xr.ViewConfigurationType.PRIMARY_STEREO
    )

    def after(*states: str | bool) -> tuple[str, bool, bool]:
        events.extend(states)
        session.poll()
        return session.state, session.running, session.over

    assert after("IDLE", "READY") == ("READY", True, False)
    assert after("SYNCHRONIZED", "VISIBLE", "FOCUSED") == ("FOCUSED", True, False)
    assert after("VISIBLE") == ("VISIBLE", True, False)
    assert calls == ["begin_session"]
    # Off the head, and on again, where the runtime tells that but keeps the session visible.
    assert after(False) == ("VISIBLE", True, False)
    assert not session.worn
    after(True)
    assert session.worn
    # Off the head, and on again.
    assert after("SYNCHRONIZED", "STOPPING", "IDLE") == ("IDLE", False, False)
    assert after("READY") == ("READY", True, False)
    assert calls == ["begin_session", "end_session", "begin_session"]
    # Ended in the runtime's menu.
    assert after("STOPPING", "IDLE", "EXITING") == ("EXITING", False, True)
    with pytest.raises(api.LostError, match="takes the session back"):
        after("LOSS_PENDING")
