"""``taoxr bench xr``."""

from contextlib import ExitStack, closing
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from taoxr.figures import show
from taoxr_runtime.audio import open_sink
from taoxr_runtime.bench.xr import BARS, WARM, Figures, bench_alone, bench_ears, bench_talking
from taoxr_runtime.demo.stage import load_avatar
from taoxr_runtime.render import gl
from taoxr_runtime.render.egl import Context
from taoxr_runtime.xr.app import Options
from taoxr_runtime.xr.link import Pictures
from taoxr_runtime.xr.options import AvatarFile, Binding, BindingChoice, Target
from taoxr_runtime.xr.runtime import Runtime
from taoxr_runtime.xr.stature import eye_height

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
_console = Console(stderr=True, highlight=False, soft_wrap=True)
_SOFTWARE_SCALE = 0.25
_PUPPET_EYE_HEIGHT_M = 1.7


class SceneChoice(StrEnum):
    """What is drawn."""

    AUTO = "auto"
    TRIVIAL = "trivial"
    FULL = "full"


@app.command()
def xr(
    frames: Annotated[int, typer.Option(min=60, help=f"Frames of each run, {WARM} more to warm up.")] = 900,
    scene: Annotated[
        SceneChoice,
        typer.Option(help="The avatar, or a few splats; auto: those on drivers that draw in software."),
    ] = SceneChoice.AUTO,
    scale: Annotated[
        float | None,
        typer.Option(
            min=0.05,
            max=2.0,
            help="Width and height as part of what the headset recommends; by default 1, in software 0.25.",
        ),
    ] = None,
    target: Target = None,
    talk: Annotated[bool, typer.Option("--talk/--no-talk", help="Also with a conversation.")] = True,
    sound: Annotated[str, typer.Option(help="Loudspeaker: auto, device, null, or a .wav to write.")] = "null",
    avatar: AvatarFile = None,
    binding: Binding = BindingChoice.AUTO,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Times the headset's frame loop with the running OpenXR runtime, alone and while the avatar talks.

    "interval" is the time between frames, "missed" are pictures that the headset had to do without,
    "pose_to_display" is how long after the head's pose was asked for the picture is to be seen, "work" the
    frame without its waiting, "avatar", "draw" and "submit" its parts, "gpu" the same by the GPU's clock.
    "av_skew" compares the sound that the shown face was made for with the sound heard at the predicted
    display time; bar 40 ms (p99). "missed_more": pictures missed while the bridge works on this machine that
    the renderer alone does not miss; bar 0. "binaural": what it costs to let the voice come from the avatar's
    mouth, for each 10 ms of sound.

    For example:

    ```
    taoxr bench xr --json
    taoxr bench xr --scene full --frames 5000
    taoxr bench xr --sound device --target 192.168.1.20:50061
    taoxr bench xr --no-talk
    ```
    """

    def tell(line: str) -> None:
        _console.print(f"[dim]\\[bench xr][/] {escape(line)}")

    # Before anything is started for nothing.
    with Runtime(()) as runtime:
        figures: Figures = {"runtime": runtime.name, "headset": runtime.headset}
    software, figures["driver"] = _driver()
    full = scene is SceneChoice.FULL or (scene is SceneChoice.AUTO and not software)
    figures["scene"] = "full" if full else "trivial"
    scale = scale or (_SOFTWARE_SCALE if software else 1.0)
    figures["scale"] = scale
    with ExitStack() as stack:
        shown = stack.enter_context(closing(load_avatar(avatar))) if full else None
        height = eye_height(shown) if shown is not None else _PUPPET_EYE_HEIGHT_M
        options = Options(binding.value, Pictures(scale=scale), WARM + frames, height)
        tell("the renderer alone")
        alone = bench_alone(options, shown, tell)
        figures["period_ms"] = round(alone.period_ms, 3)
        figures |= alone.figures("alone")
        if talk:
            tell("with a conversation")
            sink = stack.enter_context(closing(open_sink(sound)))
            talking = bench_talking(options, shown, tell, target, sink)
            figures |= talking.figures("talking")
            figures["missed_more"] = talking.missed() - alone.missed()
    show(figures | bench_ears(), as_json, BARS)


def _driver() -> tuple[bool, str]:
    """Whether it draws in software, and its name."""
    context = Context()
    try:
        return gl.is_software(), gl.describe()
    finally:
        context.release()
