"""How the avatar meets what is around it: the room, another app, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from taoxr_runtime.xr.poses import Matrix, Pose

PASSTHROUGH: Final = "XR_FB_passthrough"
OVERLAY: Final = "XR_EXTX_overlay"
_ADDITIVE_FLOOR: Final = 0.3


class Follow(Protocol):
    """Moves the avatar after the user."""

    def __call__(self, model: Pose, head: Matrix, display_time: int) -> Pose:
        """Where the avatar stands in this frame.

        Args:
            model: Where it stands.
            head: float64 [4, 4], pose of the user's head in the same space.
            display_time: When the frame is seen, nanoseconds on the runtime's clock.
        """
        ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Among what the avatar shall stand.

    Attributes:
        room: Show the room around the user where the headset can; else what the runtime prefers.
        overlay: Stand in front of another OpenXR app.
        follow: Moves the avatar after the user; None: it stays.
        on_main_app: Told, in an overlay, whether the other app can be seen, whenever that changes.
    """

    room: bool = False
    overlay: bool = False
    follow: Follow | None = None
    on_main_app: Callable[[bool], None] | None = None


class Behind(StrEnum):
    """What is seen beside the avatar."""

    ALPHA_BLEND = "the room, behind our picture's alpha"
    PASSTHROUGH = f"the room, by {PASSTHROUGH}"
    ADDITIVE = "the room, to which our light is added"
    APP = "another app"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Environment:
    """How pictures are handed over.

    Attributes:
        behind: What is seen beside the avatar.
        blend_mode: Name of the ``XrEnvironmentBlendMode`` to submit.
    """

    behind: Behind
    blend_mode: str

    @property
    def opaque(self) -> bool:
        """Whether we fill the whole picture; else it is transparent beside the avatar."""
        return self.behind is Behind.NOTHING

    @property
    def passthrough(self) -> bool:
        """Whether the room is a layer of its own below ours."""
        return self.behind is Behind.PASSTHROUGH

    @property
    def can_darken(self) -> bool:
        """Whether a shadow can fall on what is behind; light that is added only brightens."""
        return not self.opaque and self.blend_mode != "ADDITIVE"

    @property
    def brightness_floor(self) -> float:
        """What black is raised to, sRGB-encoded, 0 to 1; where light is added, black would be a hole."""
        return _ADDITIVE_FLOOR if self.blend_mode == "ADDITIVE" else 0.0


def choose_environment(modes: Sequence[str], passthrough: bool, surroundings: Surroundings) -> Environment:
    """The best of what a runtime offers.

    Args:
        modes: Names of its ``XrEnvironmentBlendMode``, the preferred first.
        passthrough: Whether its headset can show the room by ``XR_FB_passthrough``.
        surroundings: What is wanted.
    """
    if surroundings.overlay:
        return Environment(Behind.APP, modes[0])
    own = {"ALPHA_BLEND": Behind.ALPHA_BLEND, "ADDITIVE": Behind.ADDITIVE}
    if surroundings.room:
        if "ALPHA_BLEND" in modes:
            return Environment(Behind.ALPHA_BLEND, "ALPHA_BLEND")
        if passthrough and "OPAQUE" in modes:  # the extension's layer is composed by itself
            return Environment(Behind.PASSTHROUGH, "OPAQUE")
        if "ADDITIVE" in modes:
            return Environment(Behind.ADDITIVE, "ADDITIVE")
    return Environment(own.get(modes[0], Behind.NOTHING), modes[0])


def missing(modes: Sequence[str], extensions: Collection[str]) -> str:
    """What to tell a user who wanted to see the room and cannot.

    Args:
        modes: Names of the runtime's blend modes.
        extensions: The runtime's.
    """
    cannot = "its headset cannot" if PASSTHROUGH in extensions else f"it lacks {PASSTHROUGH}"
    return (
        f"your room stays hidden: this runtime offers the blend mode {', '.join(modes)} only, and {cannot}; "
        "the avatar stands on a plain floor instead"
    )
