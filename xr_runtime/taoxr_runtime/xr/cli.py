"""``taoxr xr``."""

from contextlib import ExitStack
from enum import StrEnum
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape

from taoxr.errors import InvalidInputError
from taoxr_runtime.audio import open_sink, open_source
from taoxr_runtime.demo.options import check_text
from taoxr_runtime.demo.stage import load_avatar
from taoxr_runtime.live import Actor, Companion
from taoxr_runtime.live.actor import Person
from taoxr_runtime.xr.app import Options, Partner, Silence, run
from taoxr_runtime.xr.conversation import Conversation, Nobody
from taoxr_runtime.xr.floor import OnFloor, floor
from taoxr_runtime.xr.link import Pictures
from taoxr_runtime.xr.muting import MutableSource
from taoxr_runtime.xr.options import (
    SMALLEST,
    AvatarFile,
    Binding,
    BindingChoice,
    Depth,
    FlatSound,
    Frames,
    Mic,
    Questions,
    Raster,
    Scale,
    Screenshot,
    Sound,
    Target,
    listening,
    saving,
)
from taoxr_runtime.xr.runtime import Runtime
from taoxr_runtime.xr.stature import eye_height, feet

app = typer.Typer(add_completion=False)


class FormatChoice(StrEnum):
    """Of the pictures."""

    AUTO = "auto"
    SRGB8 = "srgb8"
    RGBA8 = "rgba8"
    RGBA16F = "rgba16f"


class LayersChoice(StrEnum):
    """Of the swapchains."""

    AUTO = "auto"
    TWO_SWAPCHAINS = "1"
    TWO_LAYERS = "2"


@app.command()
def xr(
    target: Target = None,
    hands_free: Annotated[
        bool, typer.Option("--hands-free", help="Just speak; else hold a trigger while speaking.")
    ] = False,
    text: Questions = None,
    conversation: Annotated[
        bool, typer.Option("--conversation/--no-conversation", help="Talk, or only look.")
    ] = True,
    sound: Sound = "auto",
    flat_sound: FlatSound = False,
    mic: Mic = "auto",
    avatar: AvatarFile = None,
    frames: Frames = 0,
    screenshot: Screenshot = None,
    binding: Binding = BindingChoice.AUTO,
    format: Annotated[FormatChoice, typer.Option(help="Of the swapchains.")] = FormatChoice.AUTO,
    layers: Annotated[
        LayersChoice, typer.Option(help="1: a swapchain for each eye; 2: one with two; auto: what can be.")
    ] = LayersChoice.AUTO,
    scale: Scale = 1.0,
    raster: Raster = "auto",
    depth: Depth = True,
    refresh_rate: Annotated[
        str,
        typer.Option(
            metavar="auto|HZ", help="Of the headset, where it can be chosen; auto: the highest we can hold."
        ),
    ] = "auto",
    smallest: Annotated[
        float,
        typer.Option(
            min=0.3,
            max=1.0,
            help="Width and height that pictures may shrink to, to keep up; 1: they never do.",
        ),
    ] = SMALLEST,
    pause_when_idle: Annotated[
        bool,
        typer.Option(
            "--pause-when-idle", help="Headset off: the avatar falls silent and deaf until you are back."
        ),
    ] = False,
) -> None:
    """Meet the avatar in a headset (OpenXR) and converse with it.

    It stands in front of you; hold a controller's trigger while you speak, squeeze its grip to carry and turn
    the avatar, hold its menu button to bring it back. Ctrl-C ends. Without a headset, Monado simulates one:
    see docs/xr.md.
    """
    rate = _refresh_rate(refresh_rate)
    questions = [check_text(words) for words in text or []]
    if questions and not conversation:
        raise InvalidInputError("--text", questions[0], "no --no-conversation beside it")
    console = Console(stderr=True, highlight=False, soft_wrap=True)

    def tell(line: str) -> None:
        console.print(f"[dim]\\[xr][/] {escape(line)}")

    save = saving(screenshot, tell)
    Runtime().close()  # says what is missing before anything is started for nothing

    with ExitStack() as stack:
        scene = load_avatar(avatar)
        stack.callback(scene.close)
        ears = listening(scene, flat_sound)
        partner: Partner = Silence()
        person: Person = Nobody()
        if conversation:
            sink, source = open_sink(sound, ears), MutableSource(open_source(mic))
            stack.callback(source.close)
            stack.callback(sink.close)
            person = companion = stack.enter_context(Companion(target, sink, source, hands_free=hands_free))
            partner = Conversation(
                companion, source, questions, hands_free, tell, pause_when_away=pause_when_idle
            )
        ground = floor(feet(scene))
        figure = OnFloor(stack.enter_context(Actor(scene, person, beside=ground)), ground)
        swapchains: Literal[1, 2] | None = None
        if layers is not LayersChoice.AUTO:
            swapchains = 1 if layers is LayersChoice.TWO_SWAPCHAINS else 2
        pictures = Pictures(format.value, swapchains, scale, smallest=smallest, depth=depth)
        options = Options(binding.value, pictures, frames, eye_height(scene), raster, refresh_rate=rate)

        timing = run(options, figure, partner, tell, save, ears and ears.look)
        for line in timing.summary():
            tell(line)


def _refresh_rate(text: str) -> float | None:
    """Hertz; None for auto."""
    if text == "auto":
        return None
    try:
        hertz = float(text)
    except ValueError:
        hertz = 0.0
    if not 1 <= hertz <= 1000:
        raise InvalidInputError("--refresh-rate", text, "auto, or 1 to 1000 hertz")
    return hertz
