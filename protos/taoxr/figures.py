"""What the benchmarks print: tables for people, JSON for programs."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from taoxr import __version__

_DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class Spread:
    """How a time is distributed over `n` measurements; the unit is that of the measurements."""

    p50: float
    p95: float
    max: float
    n: int


def spread(values: Sequence[float]) -> Spread:
    """The distribution of at least one measurement."""
    p50, p95 = (float(np.percentile(values, q)) for q in (50, 95))
    return Spread(round(p50, _DIGITS), round(p95, _DIGITS), round(max(values), _DIGITS), len(values))


def report(figures: Mapping[str, Spread | float | int | str]) -> dict[str, object]:
    """The figures as plain data, with the machine that they come from."""
    plain = {name: asdict(value) if isinstance(value, Spread) else value for name, value in figures.items()}
    machine = {"cpus": os.cpu_count(), "machine": platform.machine(), "load_1min": os.getloadavg()[0]}
    return {"taoxr": __version__, **machine, **plain}


def show(figures: Mapping[str, Spread | float | int | str], as_json: bool) -> None:
    """Prints the figures, as JSON with the machine that they come from, or as a table."""
    if as_json:
        click.echo(json.dumps(report(figures), indent=2))
        return
    table = Table("", "p50", "p95", "max", "n")
    for name, value in figures.items():
        if isinstance(value, Spread):
            table.add_row(name, f"{value.p50:.3g}", f"{value.p95:.3g}", f"{value.max:.3g}", str(value.n))
        else:
            table.add_row(name, value if isinstance(value, str) else f"{value:.4g}")
    Console().print(table)
