"""What the user wants, from what the hands do: free of OpenXR, so that it can be tried without a headset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from taoxr_runtime.xr.poses import Pose

LONG_PRESS_S: Final = 0.8
_ON: Final = 0.6
_OFF: Final = 0.4


class Hand(NamedTuple):
    """What one hand does.

    Attributes:
        talk: How far the trigger is pulled, or finger and thumb are pinched: 0 to 1.
        grab: How far the grip is squeezed, or the fist is closed: 0 to 1.
        menu: Whether the menu's button is down.
        mute: Whether the microphone's button is down.
        grip: Where the hand is, in the session's space; None while it is not tracked.
    """

    talk: float = 0.0
    grab: float = 0.0
    menu: bool = False
    mute: bool = False
    grip: Pose | None = None


Hands = tuple[Hand, Hand]
"""Left and right."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user wants in a frame.

    Attributes:
        talking: Whether the left and the right hand hold the key to talk.
        grips: Poses of the hands that hold the avatar, left and right.
        grabbed: Whether a hand has just taken hold.
        muted: Whether the microphone shall be off.
        captions: Whether the captions shall be seen.
        reset: Whether the avatar shall come back in front of the user.
        away: Whether the user does not see us, such as with the headset off.
    """

    talking: tuple[bool, bool] = (False, False)
    grips: tuple[Pose | None, Pose | None] = (None, None)
    grabbed: tuple[bool, bool] = (False, False)
    muted: bool = False
    captions: bool = True
    reset: bool = False
    away: bool = False

    @property
    def talk(self) -> bool:
        """Whether the key to talk is held."""
        return any(self.talking)


class Switch:
    """An analogue key as one that is down or up, without chatter between (a Schmitt trigger).

    What is held when it starts does not count until it has been let go.

    Attributes:
        down: As of the last update.
    """

    def __init__(self) -> None:
        self.down = False
        self._armed = False

    def update(self, value: float) -> bool:
        """Take in how far it is pressed, 0 to 1; returns whether it has just gone down."""
        before = self.down
        if value < _OFF:
            self.down, self._armed = False, True
        elif value > _ON and self._armed:
            self.down = True
        return self.down and not before

    def release(self) -> None:
        """It is up, and must be seen up before it counts again."""
        self.down = self._armed = False


class Press(NamedTuple):
    """How a button was pressed: for a moment, or for long; each told once."""

    short: bool = False
    long: bool = False


class Button:
    """Tells short presses, at their end, from long ones, as soon as they are long."""

    def __init__(self) -> None:
        self._switch = Switch()
        self._since = 0.0
        self._told = False

    def update(self, down: bool, now_s: float) -> Press:
        """Take in whether it is down.

        Args:
            down: Now.
            now_s: Seconds on any steady clock.
        """
        before = self._switch.down
        if self._switch.update(float(down)):
            self._since, self._told = now_s, False
        if not self._switch.down:
            return Press(short=before and not self._told)
        long = not self._told and now_s - self._since >= LONG_PRESS_S
        self._told = self._told or long
        return Press(long=long)

    def release(self) -> None:
        """Forget a press under way."""
        self._switch.release()


class Controls:
    """The user's hands over the whole run; knows what is switched on."""

    def __init__(self) -> None:
        self._talk, self._grab = (Switch(), Switch()), (Switch(), Switch())
        self._talking = [False, False]
        self._menu, self._mute = Button(), Button()
        self._captions, self._muted = True, False

    def update(self, hands: Hands | None, now_s: float, away: bool = False) -> Wishes:
        """Take in what the hands do.

        Args:
            hands: None while they are not ours: another app or the system has the focus. Everything held is
                let go, and a key still held afterwards must be pressed anew.
            now_s: Seconds on any steady clock.
            away: Whether the user does not see us.
        """
        if hands is None:
            self._let_go()
            return Wishes(muted=self._muted, captions=self._captions, away=away)
        grabbed = [False, False]
        grips: list[Pose | None] = [None, None]
        for side, hand in enumerate(hands):
            grabbed[side] = self._grab[side].update(hand.grab)
            holds = self._grab[side].down
            # A fist pinches, too: a hand that holds the avatar does not begin to talk.
            begins = self._talk[side].update(hand.talk) and not holds
            self._talking[side] = begins or (self._talking[side] and self._talk[side].down)
            grips[side] = hand.grip if holds else None
        menu = self._menu.update(any(hand.menu for hand in hands), now_s)
        mute = self._mute.update(any(hand.mute for hand in hands), now_s)
        self._captions ^= menu.short
        self._muted ^= mute.short
        return Wishes(
            talking=(self._talking[0], self._talking[1]),
            grips=(grips[0], grips[1]),
            grabbed=(grabbed[0], grabbed[1]),
            muted=self._muted,
            captions=self._captions,
            reset=menu.long,
            away=away,
        )

    def _let_go(self) -> None:
        for switch in (*self._talk, *self._grab):
            switch.release()
        self._talking = [False, False]
        self._menu.release()
        self._mute.release()
