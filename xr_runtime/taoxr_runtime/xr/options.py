"""What the commands that show the avatar in a headset, ``taoxr xr`` and ``taoxr ar``, have in common."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import numpy as np
import typer
from PIL import Image

from taoxr.errors import InvalidInputError
from taoxr_runtime.audio import Listener
from taoxr_runtime.nnr import Scene
from taoxr_runtime.render.renderer import Rasterizer
from taoxr_runtime.xr.app import side_by_side
from taoxr_runtime.xr.link import Shot


class BindingChoice(StrEnum):
    """How OpenXR gets at OpenGL."""

    AUTO = "auto"
    EGL = "egl"
    GLX = "glx"
    WGL = "wgl"


Target: TypeAlias = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="A running bridge; else one is started.")
]
Questions: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="A question to begin with; may be repeated.")
]
Sound: TypeAlias = Annotated[str, typer.Option(help="Loudspeaker: auto, device, null, or a .wav to write.")]
FlatSound: TypeAlias = Annotated[
    bool,
    typer.Option("--flat-sound", help="The voice comes from no direction and is as loud from anywhere."),
]
Mic: TypeAlias = Annotated[str, typer.Option(help="Microphone: auto, device, null, or a recording.")]
AvatarFile: TypeAlias = Annotated[Path | None, typer.Option(help="Another .nnr scene.")]
Frames: TypeAlias = Annotated[int, typer.Option(min=0, help="End after as many frames; 0: at Ctrl-C.")]
Screenshot: TypeAlias = Annotated[
    Path | None, typer.Option(help="Save the last frame, both eyes side by side (.png).")
]
Binding: TypeAlias = Annotated[BindingChoice, typer.Option(help="How OpenXR gets at OpenGL.")]
Scale: TypeAlias = Annotated[
    float, typer.Option(min=0.1, max=2.0, help="Width and height as part of what the headset recommends.")
]
Depth: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--depth/--no-depth", help="Tell the headset's software how far the avatar is, where it takes that."
    ),
]
Raster: TypeAlias = Annotated[
    Rasterizer, typer.Option(help="What draws; auto: what was the faster on this GPU.")
]

SMALLEST: Final = 0.6
"""Part of width and height that pictures may shrink to, unless the user says otherwise."""


def listening(scene: Scene, flat: bool) -> Listener | None:
    """The ears that hear an avatar's voice from its mouth; None where it shall come from everywhere.

    Args:
        scene: The avatar.
        flat: What the user says.
    """
    return None if flat else Listener(np.array(scene.landmarks.mouth))


def saving(screenshot: Path | None, tell: Callable[[str], None]) -> Callable[[Shot], None] | None:
    """What saves the last frame, for ``app.run``; None without a file.

    Args:
        screenshot: Where.
        tell: Called with a line for the user.

    Raises:
        InvalidInputError: Not a name that ends in .png.
    """
    if screenshot is None:
        return None
    if screenshot.suffix.lower() != ".png":
        raise InvalidInputError("--screenshot", str(screenshot), "a name that ends in .png")

    def save(shot: Shot) -> None:
        Image.fromarray(side_by_side(shot.pictures)).save(screenshot)
        tell(f"saved {screenshot}")

    return save
