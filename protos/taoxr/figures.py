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


Figures = Mapping[str, Spread | float | int | str]
Bars = Mapping[str, tuple[str, float]]
"""For a figure by its name: which quantile of a spread ("value" of a number) has to stay below what."""


def judged(figures: Figures, bars: Bars) -> dict[str, dict[str, object]]:
    """The figures that have a bar: which quantile, its bar, and whether it passes."""
    found: dict[str, dict[str, object]] = {}
    for name, (quantile, most) in bars.items():
        figure = figures.get(name)
        value = getattr(figure, quantile) if isinstance(figure, Spread) else figure
        if isinstance(value, float | int):
            found[name] = {"quantile": quantile, "bar": most, "pass": value <= most}
    return found


def report(figures: Figures, bars: Bars | None = None) -> dict[str, object]:
    """The figures as plain data, with the machine that they come from and the bars that they have."""
    plain = {name: asdict(value) if isinstance(value, Spread) else value for name, value in figures.items()}
    machine = {"cpus": os.cpu_count(), "machine": platform.machine(), "load_1min": os.getloadavg()[0]}
    found: dict[str, object] = {"taoxr": __version__, **machine, **plain}
    if bars:
        found["bars"] = judged(figures, bars)
    return found


def show(figures: Figures, as_json: bool, bars: Bars | None = None) -> None:
    """Prints the figures, as JSON with the machine that they come from, or as a table."""
    if as_json:
        click.echo(json.dumps(report(figures, bars), indent=2))
        return
    table = Table("", "p50", "p95", "max", "n")
    for name, value in figures.items():
        if isinstance(value, Spread):
            table.add_row(name, f"{value.p50:.4g}", f"{value.p95:.4g}", f"{value.max:.4g}", str(value.n))
        else:
            table.add_row(name, value if isinstance(value, str) else f"{value:.4g}")
    Console().print(table)
    for name, bar in judged(figures, bars or {}).items():
        verdict = "passes" if bar["pass"] else "fails"
        click.echo(f"{name}: {bar['quantile']} {verdict} the bar of {bar['bar']}")
