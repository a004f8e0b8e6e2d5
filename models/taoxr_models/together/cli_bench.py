"""``taoxr bench all``."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console

from taoxr.figures import show

app = typer.Typer(add_completion=False)


@app.command("all", epilog="Examples:  taoxr bench all  ·  taoxr bench all --seconds 60 --json")
def all_roles(
    seconds: Annotated[float, typer.Option(min=1.0, max=3600.0, help="How long to listen and speak.")] = 30.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Listens and speaks at the same time with the real workers: real-time factors, and memory of each.

    Somebody talks to the ear in real time, with partials, while answers are thought, spoken and animated as
    fast as that goes. One thread each; the bars are for two cores.
    """
    from taoxr_models.together.bench import BARS, bench_all

    with Console(stderr=True, highlight=False).status("") as status:
        figures = asyncio.run(bench_all(seconds, status.update))
    show(figures, as_json, BARS)
