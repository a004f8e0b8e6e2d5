"""The conversation as the headset's frame loop sees it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr import arkit
from taoxr_runtime.animation import Activity
from taoxr_runtime.live import Companion, CompanionState
from taoxr_runtime.xr.captions import Words
from taoxr_runtime.xr.controls import Wishes
from taoxr_runtime.xr.muting import MutableSource

_NOTES: Final = {
    CompanionState.STARTING: "Waking up …",
    CompanionState.DISCONNECTED: "The connection is lost; trying again …",
    CompanionState.LISTENING: "Listening …",
    CompanionState.THINKING: "…",
}
_MUTED: Final = "The microphone is off."
_ANSWERED_S: Final = 0.5
_UNHEARD_S: Final = 20.0


class Nobody:
    """A person who only looks; see ``live.actor.Person``."""

    activity = Activity.IDLE

    def face(self, now_us: int, ahead_us: int = 0) -> NDArray[np.float32]:
        """A face at rest, float32 [52]."""
        return np.zeros(len(arkit.NAMES), np.float32)

    def body(self, now_us: int, ahead_us: int = 0) -> None:
        """No body track: the stage's own idle motion."""


class Conversation:
    """Hands the user's wishes and prepared questions to a companion, and its words to the captions.

    Args:
        companion: Whom the user talks with.
        source: The microphone that the companion hears.
        questions: Asked one after the other, each when the answer before has been heard.
        hands_free: Whether the companion hears by itself when the user speaks; the key interrupts it then.
        tell: Called with a line for the user.
        pause_when_away: Whether the avatar falls silent and deaf while the user does not see it, such as with
            the headset off; else the conversation goes on.
    """

    def __init__(
        self,
        companion: Companion,
        source: MutableSource,
        questions: Sequence[str],
        hands_free: bool,
        tell: Callable[[str], None],
        *,
        pause_when_away: bool = False,
    ) -> None:
        self._companion, self._source, self._hands_free, self._tell = companion, source, hands_free, tell
        self._pause_when_away = pause_when_away
        self._paused = False
        self._questions = deque(questions)
        self._pressed = self._unheard = False
        self._quiet_since = time.monotonic()
        self._told_us = 0

    @property
    def listening(self) -> bool:
        """Whether the companion hears the user speak."""
        return self._companion.state is CompanionState.LISTENING

    def tick(self, wishes: Wishes) -> Words:
        """Once a frame: take in what the user wants, give the captions."""
        self._pause(wishes.away and self._pause_when_away)
        self._source.muted = wishes.muted or self._paused
        self._press(wishes.talk and not self._source.muted)
        state = self._companion.state
        if not self._paused:
            self._ask_next(state)
        for remark in self._companion.notices:
            if remark.at_us > self._told_us:
                self._told_us = remark.at_us
                self._tell(remark.text)
        if state in (CompanionState.STARTING, CompanionState.DISCONNECTED):
            return Words(note=_NOTES[state])
        if wishes.muted and (wishes.talk or not wishes.captions):
            return Words(note=_MUTED)
        if not wishes.captions:
            return Words()
        captions = self._companion.captions()
        waiting = "Just speak." if self._hands_free else "Hold the trigger, or pinch, and speak."
        note = _MUTED if wishes.muted else _NOTES.get(state, waiting)
        return Words(captions.user, captions.avatar, note)

    @property
    def over(self) -> bool:
        """Whether every prepared question has been answered."""
        return not self._questions and self._quiet()

    def _pause(self, paused: bool) -> None:
        if paused and not self._paused:
            self._companion.interrupt()
            self._tell("paused until you are back")
        elif self._paused and not paused:
            self._tell("you are back: the conversation goes on")
        self._paused = paused

    def _press(self, pressed: bool) -> None:
        if pressed == self._pressed:
            return
        self._pressed = pressed
        if not self._hands_free:
            self._companion.talk(pressed)
        elif pressed:
            self._companion.interrupt()

    def _ask_next(self, state: CompanionState) -> None:
        if state is not CompanionState.IDLE:
            self._quiet_since, self._unheard = time.monotonic(), False
        elif self._questions and self._quiet():
            self._quiet_since, self._unheard = time.monotonic(), True
            self._companion.ask(self._questions.popleft())

    def _quiet(self) -> bool:
        """Whether nothing has gone on for a moment; a question takes a while until it shows in the state."""
        return time.monotonic() - self._quiet_since > (_UNHEARD_S if self._unheard else _ANSWERED_S)
