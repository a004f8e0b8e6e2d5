"""``taoxr bench render``."""

from typing import Annotated

import typer
from rich.console import Console

from taoxr.figures import show
from taoxr_runtime.bench.render import Size, bench_render
from taoxr_runtime.render.egl import Context

app = typer.Typer(add_completion=False)
_console = Console(stderr=True, highlight=False)


@app.command()
def render(
    splats: Annotated[int, typer.Option(min=1, help="Splats of the measured person.")] = 250_000,
    width: Annotated[int, typer.Option(min=16, help="Pixels of an eye.")] = 2064,
    height: Annotated[int, typer.Option(min=16, help="Pixels of an eye.")] = 2208,
    frames: Annotated[int, typer.Option(min=2, help="Frames to time.")] = 200,
    quick: Annotated[bool, typer.Option("--quick", help="30,000 splats at 512x512, 5 frames.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Times stereo frames of a seeded cloud and of the default avatar, pass by pass, on the GPU's clock.

    Example: `taoxr bench render --quick --json`
    """
    size = Size(30_000, 512, 512, 5) if quick else Size(splats, width, height, frames)
    context = Context()
    try:
        with _console.status("") as status:
            figures = bench_render(size, lambda what: status.update(f"measuring {what}"))
    finally:
        context.release()
    show(figures, as_json)
