"""``taoxr nnr compile``: makes a `.nnr` file of arrays and networks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from taoxr_runtime.nnr import container
from taoxr_runtime.nnr.schema import Precision

if TYPE_CHECKING:
    from taoxr_runtime.nnr.compiler import Compiled


def compile_(
    source: Annotated[
        Path,
        typer.Argument(
            help="A folder with scene.json, tensors/*.npy and, for model nodes, models/node<i>.onnx.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The .nnr file to write.", show_default=False)],
    precision: Annotated[Precision, typer.Option(help="Of the weights of MNN models.")] = "fp32",
    tolerance: Annotated[
        float, typer.Option(min=0, help="Relative error up to which a node gets them; others keep fp32.")
    ] = 0.02,
    measure: Annotated[bool, typer.Option(help="Compare all precisions with float32.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compile a scene; print for every node what smaller weights cost."""
    # Here, because it imports onnx, which the other commands do without.
    from taoxr_runtime.nnr.compiler import compile_scene, read_source

    compiled = compile_scene(*read_source(source), precision=precision, tolerance=tolerance, measure=measure)
    container.write(out, compiled.data)
    if as_json:
        report = {"file": str(out), "bytes": len(compiled.data), "errors": compiled.report()}
        print(json.dumps(report, indent=1))
        return
    console = Console()
    console.print(f"{out}: {len(compiled.data) / 1e6:.2f} MB, weights {precision}", highlight=False)
    if compiled.errors:
        console.print(_table(compiled))


def _table(compiled: Compiled) -> Table:
    table = Table("node", "output", "weights", "model", "largest error", "of the largest value")
    for error in compiled.errors:
        table.add_row(
            f"{error.node} {error.kind}",
            error.output,
            error.precision,
            f"{error.model_bytes / 1e3:.1f} kB",
            f"{error.largest:.2e}",
            f"{error.relative:.2e}",
        )
    return table
