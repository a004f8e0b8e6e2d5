"""``taoxr servers``: finds bridges on the local network."""

import asyncio
import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from taoxr.client.cli_common import console
from taoxr.discovery import find_servers

app = typer.Typer(
    add_completion=False, rich_markup_mode="markdown", help="Find bridges on the local network."
)


@app.command()
def servers(
    seconds: Annotated[float, typer.Option(min=0.1, max=60.0, help="How long to listen.")] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Lists the bridges that announce themselves (`taoxr serve --announce`).

    Needs the extra `discovery`. The exit status is 1 when there are none.

    For example:
    ```
    taoxr servers
    taoxr talk --target $(taoxr servers --json | jq -r '.[0].target') --tls-ca ca.pem
    ```
    """
    found = asyncio.run(find_servers(seconds))
    if as_json:
        sys.stdout.write(json.dumps([asdict(server) for server in found], indent=1) + "\n")
    elif found:
        table = Table("name", "target", "TLS", "version", box=box.SIMPLE)
        for server in found:
            table.add_row(server.name, server.target, "yes" if server.tls else "no", server.version)
        Console(highlight=False).print(table)
    else:
        console.print(f"no bridge announced itself within {seconds:g} s (`taoxr serve --announce` does)")
    raise typer.Exit(0 if found else 1)
