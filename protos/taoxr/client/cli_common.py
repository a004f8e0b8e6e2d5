"""What the client's commands share."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, TypeAlias

import typer
from rich.console import Console

from taoxr.client.channel import access_from_environment
from taoxr.client.client import Client, connect
from taoxr.client.private_bridge import private_bridge

# Messages go to stderr: stdout is for what was asked for.
console = Console(stderr=True, highlight=False)

Target: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="A running bridge (`taoxr serve`); otherwise one is started."),
]


@asynccontextmanager
async def client_for(target: str | None) -> AsyncGenerator[Client]:
    """A client of the bridge at `target`, or of one that is started for the length of the block.

    Certificates and the token for `target` come from the environment, see `access_from_environment`.
    """
    if target is not None:
        async with connect(target, **access_from_environment()) as client:
            yield client
        return
    with console.status("starting the bridge and its models …") as status:
        async with private_bridge() as own, connect(own) as client:
            status.stop()
            yield client
