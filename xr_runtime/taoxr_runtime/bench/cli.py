"""``taoxr bench render``."""

from typing import Annotated

import typer
from rich.console import Console

from taoxr.figures import show
from taoxr_runtime.bench.pace import Pacing, bench_pace
from taoxr_runtime.bench.render import More, Size, bars, bench_render
from taoxr_runtime.render.egl import Context

app = typer.Typer(add_completion=False)
_console = Console(stderr=True, highlight=False)


@app.command()
def render(
    splats: Annotated[int, typer.Option(min=1, help="Splats of the measured body.")] = 250_000,
    width: Annotated[int, typer.Option(min=16, help="Pixels of an eye.")] = 2064,
    height: Annotated[int, typer.Option(min=16, help="Pixels of an eye.")] = 2208,
    frames: Annotated[int, typer.Option(min=2, help="Frames to time.")] = 200,
    scaling: Annotated[
        bool, typer.Option("--scaling", help="Also 50,000 to 5,000,000 splats, 1 to 4 views.")
    ] = False,
    floats: Annotated[
        bool, typer.Option("--floats", help="Also the body with its learned numbers in 32 bits, not 16.")
    ] = False,
    sorts: Annotated[bool, typer.Option("--sorts", help="Also every plan of the sort.")] = False,
    offscreen: Annotated[
        bool,
        typer.Option("--offscreen", help="Also pictures that are read back, 512x512, for software drivers."),
    ] = False,
    seconds: Annotated[
        float, typer.Option(min=0, help="Also keep a headset's rate for so long; 0: not.")
    ] = 0.0,
    fps: Annotated[float, typer.Option(min=1, help="That rate.")] = 90.0,
    quick: Annotated[bool, typer.Option("--quick", help="30,000 splats at 512x512, 5 frames.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Times stereo frames of a seeded moving body and of the default avatar, pass by pass on the GPU's clock.

    Example: `taoxr bench render --quick --json`
    """
    size = Size(30_000, 512, 512, 5) if quick else Size(splats, width, height, frames)
    asked: dict[More, bool] = {
        "floats": floats or scaling,
        "sorts": sorts,
        "scaling": scaling,
        "offscreen": offscreen,
    }
    more: list[More] = [name for name, wanted in asked.items() if wanted]
    context = Context()
    try:
        with _console.status("") as status:
            figures = bench_render(size, lambda what: status.update(f"measuring {what}"), more)
            if seconds:
                status.update(f"keeping {fps:g} frames per second")
                figures |= bench_pace(Pacing(size, fps, seconds))
        wanted = bars(size)
    finally:
        context.release()
    show(figures, as_json, wanted)
