"""``taoxr doctor``."""

import dataclasses
import json
from collections import Counter
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from taoxr.doctor.entry import Entry, Status
from taoxr.doctor.runner import LIMIT_S, diagnose, registered

app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})

_COLOURS: Final = {Status.OK: "green", Status.WARN: "yellow", Status.FAIL: "red"}


def _names(incomplete: str) -> list[str]:
    return [name for name in registered() if name.startswith(incomplete)]


@app.command(epilog="Examples:  taoxr doctor  ·  taoxr doctor --json  ·  taoxr doctor graphics sound")
def doctor(
    checks: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CHECK...]", help="Only these checks.", autocompletion=_names),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
    limit: Annotated[float, typer.Option(min=0.1, help="Most seconds of one check.")] = LIMIT_S,
) -> None:
    """Checks this machine: engine, models, bridge, graphics, headset, sound.

    Exit status 1 if something fails; what is only missing or slow is a warning.
    """
    if as_json:
        entries = diagnose(checks or (), limit)
        print(json.dumps([dataclasses.asdict(entry) for entry in entries], indent=1, ensure_ascii=False))
    else:
        with Console(stderr=True).status("checking..."):
            entries = diagnose(checks or (), limit)
        _print(entries)
    raise typer.Exit(any(entry.status is Status.FAIL for entry in entries))


def _print(entries: list[Entry]) -> None:
    console = Console(highlight=False)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for entry in entries:
        colour = _COLOURS[entry.status]
        hint = f"\n[{colour}]→ {escape(entry.hint)}[/]" if entry.hint else ""
        table.add_row(f"[{colour}]{entry.status}[/]", escape(entry.name), escape(entry.detail) + hint)
    console.print(table)
    counts = Counter(entry.status for entry in entries)
    console.print(", ".join(f"[{_COLOURS[s]}]{counts[s]} {s}[/]" for s in Status if counts[s]))
