"""How the body holds itself: numbers only. Degrees about X (forward), Y (to its left), Z (to its right)."""

from dataclasses import dataclass
from typing import Final

from taoxr_runtime.animation.activity import Activity
from taoxr_runtime.animation.body import Skeleton
from taoxr_runtime.animation.curves import smoothstep

BREATH_PERIOD_S: Final = 4.3

BREATH: Final[dict[str, tuple[float, float, float]]] = {
    "spine02": (-0.5, 0.0, 0.0),
    "spine01": (-0.7, 0.0, 0.0),
    # The head stays where it is while the chest rises.
    "neck01": (0.9, 0.0, 0.0),
    "clavicle.L": (0.0, 0.0, 1.1),
    "clavicle.R": (0.0, 0.0, -1.1),
    # Arms hang on.
    "upperarm01.L": (0.0, 0.0, -0.7),
    "upperarm01.R": (0.0, 0.0, 0.7),
}
"""Turns at the top of a breath, by the bone names of Anny and MakeHuman."""

SPINE_SHARES: Final = {"spine04": 0.3, "spine03": 0.25, "spine02": 0.25, "spine01": 0.2}
HEAD_SHARES: Final = {"neck01": 0.25, "neck02": 0.2, "neck03": 0.15, "head": 0.4}


@dataclass(frozen=True)
class Manner:
    """Bearing of the body during an activity.

    Attributes:
        lean_deg: Forward lean of the torso.
        head_deg: Turn of the head, X, Y, Z.
        brows: browInnerUp, browOuterUp (both sides), browDown (both sides).
    """

    lean_deg: float
    head_deg: tuple[float, float, float]
    brows: tuple[float, float, float]


_MANNERS: Final = {
    Activity.IDLE: Manner(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    Activity.LISTENING: Manner(2.0, (1.5, 0.0, -5.0), (0.22, 0.1, 0.0)),
    Activity.THINKING: Manner(-0.6, (-5.0, 4.0, 2.5), (0.05, 0.0, 0.25)),
    Activity.SPEAKING: Manner(0.5, (0.0, 0.0, 0.0), (0.05, 0.04, 0.0)),
}
MANNERS: Final = tuple(_MANNERS[activity] for activity in Activity)


def shares(skeleton: Skeleton, wanted: dict[str, float]) -> dict[str, float]:
    """The shares of the bones that a rig has, in the rig's order, summing to 1."""
    present = {name: wanted[name] for name in skeleton.names if name in wanted}
    total = sum(present.values())
    return {name: share / total for name, share in present.items()}


def breath_at(time_s: float) -> float:
    """Depth of the breath, 0 to 1: in for 40 % of the cycle, out for 50 %, then a pause."""
    phase = (time_s / BREATH_PERIOD_S) % 1.0
    return smoothstep(phase / 0.4) - smoothstep((phase - 0.4) / 0.5)
