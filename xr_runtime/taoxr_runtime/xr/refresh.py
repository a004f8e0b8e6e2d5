"""The headset's refresh rate: which are offered, and which to ask for."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import quantiles
from typing import Any, Final

from taoxr.errors import UnavailableError
from taoxr_runtime.xr import api
from taoxr_runtime.xr.runtime import REFRESH_RATE, Runtime
from taoxr_runtime.xr.session import Session

_WARM_UP: Final = 15
_MEASURED: Final = 60
_ROOM: Final = 0.85
"""Part of a period that a frame's work may fill."""
_SAME_HZ: Final = 0.5
"""Rates such as 59.94 are asked for as 60."""


class RefreshChoice:
    """Chooses a rate.

    Args:
        offered: Rates in hertz; none where the runtime has no say.
        wanted: The user's choice; None takes the highest that the measured time of frames can hold.

    Attributes:
        measuring: Whether frames are still needed for the choice.
        held_ms: What nine frames in ten took at most; 0 before that is known.

    Raises:
        UnavailableError: The wanted rate is not offered.
    """

    def __init__(self, offered: Sequence[float], wanted: float | None) -> None:
        self._offered, self._wanted = sorted(offered), wanted
        self._works: list[float] = []
        self._seen = 0
        self.held_ms = 0.0
        self.measuring = wanted is None and len(offered) > 1
        if wanted is not None and self._match(wanted) is None:
            rates = ", ".join(f"{rate:g}" for rate in self._offered) or "no choice"
            raise UnavailableError(
                f"the headset does not offer {wanted:g} Hz: use --refresh-rate of {rates}, or auto"
            )

    def first(self) -> float | None:
        """The rate to ask for at the start; None asks for none."""
        return None if self._wanted is None else self._match(self._wanted)

    def frame(self, work_ms: float) -> float | None:
        """Take in how long a frame took; returns the rate to ask for once it is clear.

        Args:
            work_ms: Waiting taken off.
        """
        if not self.measuring:
            return None
        self._seen += 1
        if self._seen <= _WARM_UP:
            return None
        self._works.append(work_ms)
        if len(self._works) < _MEASURED:
            return None
        self.measuring = False
        self.held_ms = quantiles(self._works, n=10)[-1]
        return highest_held(self._offered, self.held_ms)

    def _match(self, wanted: float) -> float | None:
        found = [rate for rate in self._offered if abs(rate - wanted) <= _SAME_HZ]
        return min(found, key=lambda rate: abs(rate - wanted)) if found else None


def highest_held(offered: Sequence[float], work_ms: float) -> float:
    """The highest rate in whose period the work fits with room to spare; the lowest if none.

    Args:
        offered: Hertz; not empty.
        work_ms: Of nine frames in ten at most.
    """
    held = [rate for rate in offered if work_ms <= _ROOM * 1000 / rate]
    return max(held) if held else min(offered)


class DisplayRate:
    """The headset's rate, through ``XR_FB_display_refresh_rate`` where that is offered.

    Attributes:
        offered: Hertz; empty where the runtime lacks the extension.
    """

    def __init__(self, runtime: Runtime, session: Session) -> None:
        self._session = session
        self.offered: list[float] = []
        if REFRESH_RATE in runtime.extensions:
            found = api.call("enumerate_display_refresh_rates_fb", session.handle)
            self.offered = [float(rate) for rate in found]

    def request(self, hz: float) -> None:
        """Ask for one of the rates offered."""
        api.call("request_display_refresh_rate_fb", self._session.handle, hz)

    def current(self) -> float | None:
        """The rate of now in hertz; None where the runtime does not say."""
        if not self.offered:
            return None
        found: Any = api.call("get_display_refresh_rate_fb", self._session.handle)
        return float(getattr(found, "value", found)) or None  # pyopenxr 1.1.6501 gives ctypes' box
