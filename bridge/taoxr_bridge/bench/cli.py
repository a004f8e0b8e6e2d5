"""``taoxr bench``: figures for people, or with ``--json`` for programs."""

import asyncio
from typing import Annotated, Final

import typer
from rich.console import Console

from taoxr.client.cli_common import Server, Target, client_for
from taoxr.figures import Spread, show
from taoxr_bridge.bench.barge_in import bench_barge_ins
from taoxr_bridge.bench.overhead import bench_overhead
from taoxr_bridge.bench.turn import bench_interrupts, bench_turns

turn_app = typer.Typer(add_completion=False)
bridge_app = typer.Typer(add_completion=False)
_console = Console(stderr=True, highlight=False)

# What the figures of `taoxr bench turn` are to be at most, in milliseconds: p50 or p95 of a spread.
_BARS: Final = {
    "first_media_ms": ("p50", 700.0),
    "interrupt_ms": ("p95", 80.0),
    "idle_ms": ("p95", 300.0),
    "barge_in_ms": ("p95", 400.0),
}
# gRPC's own share depends on the machine: what counts is what the bridge adds to it, in microseconds.
_BRIDGE_BARS: Final = {"own_us": ("value", 150.0), "late_messages": ("value", 0.0)}
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@turn_app.command()
def turn(
    questions: Annotated[int, typer.Option(min=0, help="Spoken questions to ask.")] = 20,
    interrupts: Annotated[int, typer.Option(min=0, help="Answers to interrupt.")] = 10,
    barge_ins: Annotated[int, typer.Option(min=0, help="Answers to speak over.")] = 10,
    as_json: Json = False,
    target: Target = None,
) -> None:
    """Times spoken turns, stage by stage, and interruptions, with the real models."""
    figures = asyncio.run(_turn(questions, interrupts, barge_ins, target))
    show(figures, as_json, _BARS)


@bridge_app.command()
def bridge(
    messages: Annotated[int, typer.Option(min=10, help="Messages to time.")] = 5000,
    streams: Annotated[int, typer.Option(min=0, help="AnimateAudio streams at once.")] = 50,
    seconds: Annotated[float, typer.Option(min=1.0, help="How long the streams last.")] = 10.0,
    as_json: Json = False,
) -> None:
    """Times what the bridge itself adds, with a worker that does nothing."""
    show(asyncio.run(bench_overhead(messages, streams, seconds)), as_json, _BRIDGE_BARS)


async def _turn(
    questions: int, interrupts: int, barge_ins: int, target: str | None
) -> dict[str, Spread | float | int]:
    figures: dict[str, Spread | float | int] = {}
    async with client_for(Server(target)) as client:
        with _console.status("") as status:
            if questions:
                figures |= await bench_turns(client, questions, status.update)
            if interrupts:
                figures |= await bench_interrupts(client, interrupts, status.update)
            if barge_ins:
                figures |= await bench_barge_ins(client, barge_ins, status.update)
    return figures
