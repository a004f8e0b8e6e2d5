"""``taoxr view``."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Final, cast, get_args

import typer
from rich.console import Console
from rich.markup import escape

from taoxr.errors import InvalidInputError
from taoxr_runtime.audio import MeteredSource, open_sink, open_source
from taoxr_runtime.demo.stage import load_avatar
from taoxr_runtime.live import Companion
from taoxr_runtime.options import picture_size
from taoxr_runtime.render.renderer import Rasterizer
from taoxr_runtime.render.stereo import Stereo
from taoxr_runtime.view.app import Figures, Plan, Viewer
from taoxr_runtime.view.devices import Devices
from taoxr_runtime.view.still import Nobody, is_still
from taoxr_runtime.view.window import window_library

app = typer.Typer(add_completion=False)

INTERRUPTED: Final = 130
"""Exit status after Ctrl-C, as shells have it."""
_SIZES: Final = {"off": "720x900", "sbs": "1280x720", "anaglyph": "720x900"}
_PICTURES: Final = (".png", ".jpg", ".jpeg")
_SCREENSHOT_FRAMES: Final = 30


@app.command()
def view(
    text: Annotated[bool, typer.Option("--text", help="Ask by typing only (the default).")] = False,
    mic: Annotated[bool, typer.Option("--mic", help="Ask by microphone as well (extra `audio`).")] = False,
    wav: Annotated[Path | None, typer.Option(help="Ask with a recording at the start.")] = None,
    ask: Annotated[str, typer.Option(help="Ask a text at the start.")] = "",
    hands_free: Annotated[
        bool, typer.Option("--hands-free", help="The bridge hears when you begin and end; no key to hold.")
    ] = False,
    target: Annotated[str, typer.Option(help="host:port of a running bridge; else one is started.")] = "",
    sound: Annotated[str, typer.Option(help="auto, device, null, or a .wav to write the voice to.")] = "auto",
    microphone: Annotated[
        str | None,
        typer.Option(help="Number or part of its name (`taoxr talk --list-devices`); F3: next."),
    ] = None,
    loudspeaker: Annotated[str | None, typer.Option(help="The same; F2: next.")] = None,
    size: Annotated[str, typer.Option(help="WIDTHxHEIGHT in pixels; 720x900, stereo 1280x720.")] = "",
    fps: Annotated[float, typer.Option(help="Frames per second at most, 5 to 240.")] = 60.0,
    stereo: Annotated[
        str, typer.Option(help="sbs: a picture for each eye, side by side; anaglyph: for red-cyan glasses.")
    ] = "off",
    raster: Annotated[
        Rasterizer, typer.Option(help="What draws; auto: what was the faster on this GPU.")
    ] = "auto",
    fullscreen: Annotated[bool, typer.Option("--fullscreen", help="Cover the screen (F11).")] = False,
    screenshot: Annotated[
        Path | None, typer.Option(help="Write the last frame to a .png or .jpg, and close.")
    ] = None,
    after: Annotated[float | None, typer.Option(help="Close after so many seconds.")] = None,
    frames: Annotated[
        int | None, typer.Option(help="Close after so many frames (30 with --screenshot).")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Close after the first answer.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show all figures (F1), and print them.")] = False,
    avatar: Annotated[
        Path | None, typer.Option(help="Another .nnr scene; one without a body is only looked at.")
    ] = None,
) -> None:
    """Converse with the avatar in a window.

    Type and press Enter. With --mic hold Space (while nothing is typed) to talk. Tab stops the answer.
    Drag to look around, drag with the right button to move up and down, wheel to come closer, Home to
    start over. F1 shows figures, F2 takes the next loudspeaker, F3 the next microphone, F11 covers the
    screen, Ctrl-V pastes, Esc clears the line or quits. Examples:

    taoxr view

    taoxr view --mic --microphone USB

    taoxr view --stereo anaglyph --ask "Who are you?"
    """
    if stereo not in get_args(Stereo):
        raise InvalidInputError("--stereo", stereo, "off, sbs or anaglyph")
    if microphone is not None and (text or wav is not None):
        raise InvalidInputError("--microphone", microphone, "neither --text nor --wav beside it")
    if loudspeaker is not None and sound not in ("auto", "device"):
        raise InvalidInputError("--loudspeaker", loudspeaker, "no --sound beside it but auto or device")
    mic = mic or microphone is not None
    if sum((text, mic, wav is not None)) > 1:
        raise InvalidInputError("--text, --mic, --wav", "more than one", "one of them")
    if hands_free and not (mic or wav):
        raise InvalidInputError("--hands-free", True, "--mic or --wav beside it")
    plan = Plan(
        size=picture_size(size or _SIZES[stereo], 128, 8192, "720x900"),
        fps=_between("--fps", fps, 5, 240),
        stereo=cast("Stereo", stereo),
        raster=raster,
        fullscreen=fullscreen,
        debug=debug,
        talks=mic and not hands_free,
        ask=ask,
        play=wav is not None and not hands_free,
        once=once,
        screenshot=_picture(screenshot),
        after_s=None if after is None else _between("--after", after, 0, 86_400),
        frames=_frames(frames, after, None if once else screenshot),
    )
    console = Console(stderr=True, highlight=False)
    with ExitStack() as stack:
        sink = stack.enter_context(closing(open_sink(sound, wanted=loudspeaker)))
        source = stack.enter_context(closing(open_source(_source(mic, wav), microphone)))
        devices = stack.enter_context(closing(Devices(sink, source)))
        meter = MeteredSource(source) if mic else None
        # Before the avatar is loaded, as the display is the likeliest to be missing.
        window_library()
        scene = stack.enter_context(closing(load_avatar(avatar)))
        companion: Companion | Nobody
        if is_still(scene):
            if plan.ask or plan.once or mic or wav is not None:
                raise InvalidInputError("--avatar", str(avatar), "a scene with a body, to converse with")
            companion = Nobody()
        else:
            companion = stack.enter_context(
                Companion(target or None, sink, meter or source, hands_free=hands_free)
            )
        figures = Viewer(scene, companion, plan, devices, meter).run()
        for notice in companion.notices:
            console.print(f"[yellow]notice:[/] {escape(notice.text)}", soft_wrap=True)
    if debug or plan.frames is not None:
        console.print(summary(figures))
    if plan.screenshot is not None and plan.screenshot.exists():
        console.print(f"  {plan.screenshot}", soft_wrap=True)
    raise typer.Exit(INTERRUPTED if figures.interrupted else 0)


def summary(figures: Figures) -> str:
    """One line of figures."""
    return (
        f"{figures.frames} frames, {figures.fps:.1f} fps, {figures.frame_ms:.0f} ms a frame, "
        f"scene {figures.scene_ms:.0f} ms, {figures.detail.scale:.0%} of the size, "
        f"{figures.detail.splats:.0%} of the splats, {figures.driver}"
    )


def _source(mic: bool, wav: Path | None) -> str:
    if wav is not None:
        if not wav.is_file():
            raise InvalidInputError("--wav", str(wav), "a file that exists")
        return str(wav)
    return "device" if mic else "null"


def _between(field: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise InvalidInputError(field, value, f"{low:g} to {high:g}")
    return value


def _frames(frames: int | None, after: float | None, screenshot: Path | None) -> int | None:
    if frames is None:
        return _SCREENSHOT_FRAMES if screenshot is not None and after is None else None
    if after is not None:
        raise InvalidInputError("--frames", frames, "no --after beside it")
    if frames < 1:
        raise InvalidInputError("--frames", frames, "at least 1")
    return frames


def _picture(path: Path | None) -> Path | None:
    if path is None:
        return None
    if path.suffix.lower() not in _PICTURES:
        raise InvalidInputError("--screenshot", str(path), f"a name that ends in {', '.join(_PICTURES)}")
    if not path.parent.is_dir():
        raise InvalidInputError("--screenshot", str(path), "a file in a folder that exists")
    return path
