"""``taoxr ar``."""

from contextlib import ExitStack
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from taoxr.client import ConversationOptions, Track
from taoxr_runtime.ar.assistant import Assistant, tools
from taoxr_runtime.ar.attention import PATIENCE_S, Attention
from taoxr_runtime.ar.follow import Follower
from taoxr_runtime.ar.timers import Timers
from taoxr_runtime.audio import open_sink, open_source
from taoxr_runtime.demo.options import check_text
from taoxr_runtime.demo.stage import load_avatar
from taoxr_runtime.live import Actor, Companion
from taoxr_runtime.xr.app import Figure, Options, run
from taoxr_runtime.xr.conversation import Conversation
from taoxr_runtime.xr.environment import Surroundings, missing
from taoxr_runtime.xr.floor import OnFloor, floor, shadow
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
from taoxr_runtime.xr.runtime import Runtime, extensions
from taoxr_runtime.xr.stature import eye_height, feet

app = typer.Typer(
    add_completion=False, rich_markup_mode="markdown", help="The avatar as an assistant in your room."
)


@app.command()
def ar(
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Stand in front of another OpenXR app (Monado, WiVRn).")
    ] = False,
    wake: Annotated[
        str, typer.Option(metavar="PHRASE", help="What to begin with when you speak to it; '': nothing.")
    ] = "hey joe",
    patience: Annotated[
        float, typer.Option(min=1, max=3600, help="Seconds of silence until the phrase is needed again.")
    ] = PATIENCE_S,
    follow: Annotated[
        bool, typer.Option("--follow/--stay", help="Come along when you walk away or turn round.")
    ] = True,
    use_tools: Annotated[
        bool, typer.Option("--tools/--no-tools", help="Time, date, timers, reminders, and installed tools.")
    ] = True,
    target: Target = None,
    text: Questions = None,
    sound: Sound = "auto",
    flat_sound: FlatSound = False,
    mic: Mic = "auto",
    avatar: AvatarFile = None,
    frames: Frames = 0,
    screenshot: Screenshot = None,
    binding: Binding = BindingChoice.AUTO,
    scale: Scale = 1.0,
    raster: Raster = "auto",
    depth: Depth = True,
) -> None:
    """Keep the avatar around in a headset (OpenXR): in your room, or in front of another app.

    Say "hey joe" and what you want; it answers as long as you talk to each other. It stays in view when you
    walk about. Timers speak up. Headsets that show your room show it; others show a plain floor. Ctrl-C ends.

    For example:

    ```
    taoxr ar
    taoxr ar --wake "okay joe" --patience 60
    taoxr ar --wake "" --stay
    taoxr ar --overlay
    taoxr ar --text "Set a timer for five minutes." --mic null
    ```
    """
    questions = [check_text(words) for words in text or []]
    attention, timers = Attention(wake, patience), Timers()
    console = Console(stderr=True, highlight=False, soft_wrap=True)

    def tell(line: str) -> None:
        console.print(f"[dim]\\[ar][/] {escape(line)}")

    save = saving(screenshot, tell)

    def on_main_app(visible: bool) -> None:
        tell(
            "another app is there: the avatar stands in front of it"
            if visible
            else "no other app is seen: the avatar waits for one, and can be talked with meanwhile"
        )

    surroundings = Surroundings(
        room=not overlay, overlay=overlay, follow=Follower() if follow else None, on_main_app=on_main_app
    )
    with Runtime((), surroundings) as runtime:
        environment, modes = runtime.environment, runtime.blend_modes
    tell(f"beside the avatar you see {environment.behind}")
    if environment.opaque:
        tell(missing(modes, extensions()))
    with ExitStack() as stack:
        scene = load_avatar(avatar)
        stack.callback(scene.close)
        ears = listening(scene, flat_sound)
        sink, source = open_sink(sound, ears), MutableSource(open_source(mic))
        stack.callback(source.close)
        stack.callback(sink.close)
        hands_free = source.rate_hz > 0
        if not hands_free:
            tell(f"it hears nothing: {source.problem or 'there is no microphone'}")
        wishes = ConversationOptions(
            tracks=frozenset({Track.BODY, Track.CUES}), tools=tools(timers, attention) if use_tools else ()
        )
        companion = stack.enter_context(
            Companion(target, sink, source, hands_free=hands_free, options=wishes, addressed=attention.hears)
        )
        talk = Conversation(companion, source, questions, hands_free, tell)
        assistant = Assistant(companion, talk, attention, timers, tell)
        # Light that is added cannot darken the floor.
        ground = floor(feet(scene)) if environment.opaque else None
        ground = shadow(feet(scene)) if environment.can_darken else ground
        figure: Figure = stack.enter_context(Actor(scene, assistant, beside=ground))
        if ground is not None:
            figure = OnFloor(figure, ground)
        options = Options(
            binding.value,
            Pictures(scale=scale, smallest=SMALLEST, depth=depth),
            frames,
            eye_height(scene),
            raster,
            surroundings,
        )

        timing = run(options, figure, assistant, tell, save, ears and ears.look)
        for line in timing.summary():
            tell(line)
