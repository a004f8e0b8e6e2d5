"""The assistant as the frame loop sees it: a conversation that rests until it is called."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from taoxr.client import Tool
from taoxr.client.tools import installed_tools
from taoxr_runtime.animation import Activity
from taoxr_runtime.animation.body_player import HumanoidPose
from taoxr_runtime.ar.attention import Attention
from taoxr_runtime.ar.timers import Timers
from taoxr_runtime.live import CompanionState
from taoxr_runtime.live.actor import Person
from taoxr_runtime.xr.app import Partner
from taoxr_runtime.xr.captions import Words
from taoxr_runtime.xr.controls import Wishes

_HINT_S: Final = 15.0
"""For how long after it went to rest it says how to call it."""
_LOST_S: Final = 20.0
"""What is said and not heard until then has been lost."""
_BUSY: Final = (CompanionState.LISTENING, CompanionState.THINKING, CompanionState.SPEAKING)
_AWAY: Final = (CompanionState.STARTING, CompanionState.DISCONNECTED)


class Companion(Person, Protocol):
    """Whom the user talks with; `live.Companion`."""

    @property
    def state(self) -> CompanionState:
        """What it is doing."""
        ...

    def say(self, text: str) -> None:
        """Let it say a text."""
        ...


class Asking(Partner, Protocol):
    """Its conversation; ``xr.conversation.Conversation``."""

    @property
    def over(self) -> bool:
        """Whether every prepared question has been answered."""
        ...


class Assistant:
    """Wakes and rests with the attention it gets, and speaks up when a timer is due.

    Args:
        companion: Whom the user talks with.
        conversation: What passes between them.
        attention: Whether the user speaks to it; the companion asks the same.
        timers: What it must remember.
        tell: Called with a line for the user.
        clock: Seconds.
    """

    def __init__(
        self,
        companion: Companion,
        conversation: Asking,
        attention: Attention,
        timers: Timers,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._companion, self._conversation = companion, conversation
        self._attention, self._timers = attention, timers
        self._tell, self._clock = tell, clock
        self._asking = True
        # Since when it has been about to say what is due, and whether that has begun to sound.
        self._since: float | None = None
        self._sounds = False

    @property
    def listening(self) -> bool:
        """Whether it hears the user speak to it."""
        return self._attention.awake and self._conversation.listening

    def tick(self, wishes: Wishes) -> Words:
        """Once a frame: take in what the user wants, give the captions."""
        words = self._conversation.tick(wishes)
        state, attention = self._companion.state, self._attention
        self._asking = self._asking and not self._conversation.over
        speaks = state is CompanionState.SPEAKING
        if self._asking or wishes.talk or speaks or (attention.awake and state in _BUSY):
            attention.wake()
        self._remember(state)
        if attention.awake or state in _AWAY or wishes.muted:
            return words
        if not wishes.captions or attention.resting_s > _HINT_S:
            return Words()
        return Words(note=f"Say “{attention.phrase}”." if attention.phrase else "Just speak.")

    def _remember(self, state: CompanionState) -> None:
        """Say what is due, when nobody speaks; one thing after the other."""
        if self._since is not None:
            self._sounds = self._sounds or state is CompanionState.SPEAKING
            heard = self._sounds and state is CompanionState.IDLE
            if heard or self._clock() - self._since > _LOST_S:
                self._since = None
            return
        if state is CompanionState.IDLE and (words := self._timers.due()) is not None:
            self._since, self._sounds = self._clock(), False
            self._attention.wake()
            self._companion.say(words)
            self._tell(words)

    # The avatar's body: at rest it does not take part in what others say.

    @property
    def activity(self) -> Activity:
        """What the body shows."""
        return self._companion.activity if self._attention.awake else Activity.IDLE

    def face(self, now_us: int, ahead_us: int = 0) -> NDArray[np.float32]:
        """The companion's."""
        return self._companion.face(now_us, ahead_us)

    def body(self, now_us: int, ahead_us: int = 0) -> HumanoidPose | None:
        """The companion's."""
        return self._companion.body(now_us, ahead_us)


def tools(timers: Timers, attention: Attention) -> tuple[Tool, ...]:
    """What the assistant can do: the installed tools, with timers that speak.

    Nothing is done for words that were not meant for the avatar, though the language model may have heard
    them before they were known not to be.
    """
    by_name = {tool.name: tool for tool in (*installed_tools(), *timers.tools())}
    return tuple(_guarded(tool, attention) for tool in by_name.values())


def _guarded(tool: Tool, attention: Attention) -> Tool:
    act = tool.run
    if act is None:
        return tool

    def run(given: dict[str, Any]) -> Any:
        if attention.phrase and not attention.awake:
            raise PermissionError("nobody asked the avatar")
        return act(given)

    return replace(tool, run=run)
