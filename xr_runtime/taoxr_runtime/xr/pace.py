"""Keeps up with the headset: asks for a refresh rate that we can hold, and draws no larger than we can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from taoxr_runtime.xr.refresh import RefreshChoice
from taoxr_runtime.xr.resolution import Resolution

_ASK_FRAMES: Final = 90
"""The user may change the rate in the headset's menu."""


class Display(Protocol):
    """Whose rate may be asked for; see ``DisplayRate``."""

    offered: list[float]

    def request(self, hz: float) -> None:
        """Ask for one of the rates offered."""
        ...

    def current(self) -> float | None:
        """The rate of now; None where that is not known."""
        ...


class Pace:
    """The pace of one session.

    Args:
        display: The headset's.
        refresh_rate: Hertz as the user wants it; None takes the highest that the measured frames can hold.
        smallest: Part of the full width and height that pictures may shrink to.
        tell: Called with lines for the user.

    Attributes:
        scale: Part of the full width and height to draw now.

    Raises:
        UnavailableError: The headset does not offer the rate.
    """

    def __init__(
        self, display: Display, refresh_rate: float | None, smallest: float, tell: Callable[[str], None]
    ) -> None:
        self._display, self._tell = display, tell
        self._choice = RefreshChoice(display.offered, refresh_rate)
        self._resolution = Resolution(smallest)
        self._hz: float | None = None
        self._frames = 0
        if (rate := self._choice.first()) is not None:
            display.request(rate)
            tell(f"refresh rate {rate:g} Hz, as wanted")
        elif len(display.offered) == 1:
            tell(f"refresh rate {display.offered[0]:g} Hz, the only one offered")

    @property
    def scale(self) -> float:
        """See above."""
        return self._resolution.scale

    def period_ns(self, told_ns: int) -> int:
        """Between two pictures of the headset, nanoseconds; to be asked for in each frame.

        Runtimes tell apps that are late a longer one, such as that of every third picture (Monado does), with
        which such an app would be content.

        Args:
            told_ns: By the runtime for this frame; 0 when it does not say.
        """
        if self._frames % _ASK_FRAMES == 0:
            self._hz = self._display.current()
        self._frames += 1
        return told_ns if self._hz is None else min(told_ns, round(1e9 / self._hz))

    def frame(self, work_ms: float, period_ms: float) -> None:
        """Take in how long a frame took.

        Args:
            work_ms: Waiting taken off.
            period_ms: Between two pictures of the headset, see `period_ns`; 0 when the runtime does not say.
        """
        if self._choice.measuring:
            # At full size, or the rate would be one that only blurred pictures hold.
            rate = self._choice.frame(work_ms)
            if rate is not None:
                self._display.request(rate)
                offered = ", ".join(f"{hz:g}" for hz in sorted(self._display.offered))
                self._tell(
                    f"refresh rate {rate:g} Hz of {offered}: frames take {self._choice.held_ms:.1f} ms"
                )
        elif period_ms > 0:
            self._resolution.frame(work_ms, period_ms)
