"""Which part of which controller does what; the paths are those of the OpenXR specification's profiles.

A runtime maps a controller that is not listed to one that is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from taoxr_runtime.xr.runtime import HAND_INTERACTION

HANDS: Final = ("left", "right")

Paths = dict[str, tuple[str, ...]]
"""Of each action the components, after ``/user/hand/.../``."""


@dataclass(frozen=True, slots=True)
class Profile:
    """An interaction profile.

    Attributes:
        name: After ``/interaction_profiles/``.
        both: What both hands have.
        left: What only the left hand has, or uses.
        right: The same for the right hand.
        extension: Without which the profile does not exist.
    """

    name: str
    both: Paths
    left: Paths = field(default_factory=Paths)
    right: Paths = field(default_factory=Paths)
    extension: str = ""

    def bindings(self) -> list[tuple[str, str, str]]:
        """Action, hand and path of each binding, such as "talk", "left", "/user/hand/left/input/...".."""
        return [
            (action, hand, f"/user/hand/{hand}/{path}")
            for hand, own in zip(HANDS, (self.left, self.right), strict=True)
            for paths in (self.both, own)
            for action, found in paths.items()
            for path in found
        ]


_GRIP: Final[Paths] = {"grip": ("input/grip/pose",)}
_PULSE: Final[Paths] = {"pulse": ("output/haptic",)}

PROFILES: Final = (
    # No key to grab with, and one button on each hand.
    Profile(
        "khr/simple_controller",
        {"talk": ("input/select/click",), **_GRIP, **_PULSE},
        left={"menu": ("input/menu/click",)},
        right={"mute": ("input/menu/click",)},
    ),
    Profile(
        "oculus/touch_controller",
        {"talk": ("input/trigger/value",), "grab": ("input/squeeze/value",), **_GRIP, **_PULSE},
        left={"menu": ("input/menu/click", "input/y/click"), "mute": ("input/x/click",)},
        right={"menu": ("input/b/click",), "mute": ("input/a/click",)},
    ),
    # Its squeeze/value grows when fingers only lie on the grip: the force tells a squeeze.
    Profile(
        "valve/index_controller",
        {
            "talk": ("input/trigger/value",),
            "grab": ("input/squeeze/force",),
            "menu": ("input/b/click",),
            "mute": ("input/a/click",),
            **_GRIP,
            **_PULSE,
        },
    ),
    Profile(
        "htc/vive_controller",
        {
            "talk": ("input/trigger/value",),
            "grab": ("input/squeeze/click",),
            "menu": ("input/menu/click",),
            "mute": ("input/trackpad/click",),
            **_GRIP,
            **_PULSE,
        },
    ),
    Profile(
        "microsoft/motion_controller",
        {
            "talk": ("input/trigger/value",),
            "grab": ("input/squeeze/click",),
            "menu": ("input/menu/click",),
            "mute": ("input/thumbstick/click",),
            **_GRIP,
            **_PULSE,
        },
    ),
    # Bare hands.
    Profile(
        "ext/hand_interaction_ext",
        {"talk": ("input/pinch_ext/value",), "grab": ("input/grasp_ext/value",), **_GRIP},
        extension=HAND_INTERACTION,
    ),
)
