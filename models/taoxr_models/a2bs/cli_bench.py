"""``taoxr bench a2bs``."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from taoxr_models.a2bs.bench import bench

app = typer.Typer(add_completion=False)


@app.command()
def a2bs(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Times lips for any voice, live and on whole clauses, and its trunk beside onnxruntime."""
    figures = bench()
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    table = Table("", "")
    for key, value in figures.items():
        table.add_row(key, str(value))
    Console().print(table)
