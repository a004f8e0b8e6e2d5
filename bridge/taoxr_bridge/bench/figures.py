"""What the benchmarks print."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from taoxr import __version__

_DIGITS: Final = 3
# What the figures of `taoxr bench turn` are to be at most, in milliseconds: p50 or p95 of a spread.
_BARS: Final = {
    "first_media_ms": ("p50", 700.0),
    "interrupt_ms": ("p95", 80.0),
    "idle_ms": ("p95", 300.0),
    "barge_in_ms": ("p95", 400.0),
}


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


def bars(figures: Mapping[str, Spread | float | int]) -> dict[str, dict[str, object]]:
    """The figures that have a bar: which quantile, its bar in milliseconds, and whether it passes."""
    judged: dict[str, dict[str, object]] = {}
    for name, (quantile, most) in _BARS.items():
        value = figures.get(name)
        if isinstance(value, Spread):
            judged[name] = {"quantile": quantile, "bar": most, "pass": getattr(value, quantile) <= most}
    return judged


def report(figures: Mapping[str, Spread | float | int]) -> dict[str, object]:
    """The figures as plain data, with the machine that they come from."""
    plain = {name: asdict(value) if isinstance(value, Spread) else value for name, value in figures.items()}
    machine = {"cpus": os.cpu_count(), "machine": platform.machine(), "load_1min": os.getloadavg()[0]}
    return {"taoxr": __version__, **machine, **plain, "bars": bars(figures)}
