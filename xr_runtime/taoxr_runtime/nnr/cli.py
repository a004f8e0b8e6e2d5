"""``taoxr nnr``: looks into `.nnr` files."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from taoxr_runtime.nnr.cli_compile import compile_
from taoxr_runtime.nnr.cli_run import read, run
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.errors import NnrFormatError
from taoxr_runtime.nnr.graph import Graph, build

app = typer.Typer(help="Inspect, validate, compile and run .nnr scenes.", no_args_is_help=True)
app.command()(run)
app.command("compile")(compile_)

File = Annotated[Path, typer.Argument(help="A .nnr file.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def inspect(file: File, as_json: AsJson = False) -> None:
    """Show what a scene holds: inputs, nodes, shapes, sizes, licence."""
    contents, graph = _load(file)
    report = describe(contents, graph)
    if as_json:
        print(json.dumps(report, indent=1))
    else:
        _print(file, report)


@app.command()
def validate(file: File, as_json: AsJson = False) -> None:
    """Check a scene completely; exit status 1 and the first fault if it is not valid."""
    try:
        contents, graph = _load(file)
    except NnrFormatError as error:
        if not as_json:
            raise
        print(json.dumps({"valid": False, "field": error.field, "problem": error.problem}))
        raise typer.Exit(1) from error
    if as_json:
        print(json.dumps({"valid": True, "sha256": contents.sha256, "splats": graph.count}))
    else:
        print(f"{file}: valid, {graph.count} splats, sha256 {contents.sha256}")


def describe(contents: Container, graph: Graph) -> dict[str, Any]:
    """The report of ``taoxr nnr inspect --json``."""
    scene = contents.scene
    nodes = [
        {
            "kind": step.node.kind,
            "rate": step.node.rate,
            "inputs": list(step.inputs),
            "outputs": {name: list(graph.shapes[name]) for name in step.outputs},
            "dtypes": {name: graph.dtypes[name].name for name in step.outputs},
            "precision": spec.precision,
            "bytes": sum(contents.sizes[entry] for entry in (*spec.tensors.values(), spec.model) if entry),
        }
        for step, spec in zip(graph.steps, scene.nodes, strict=True)
    ]
    tensors = {
        name: {"dtype": spec.dtype, "shape": list(spec.shape), "bytes": contents.sizes[name]}
        for name, spec in scene.tensors.items()
    }
    return {
        "name": scene.name,
        "licence": scene.licence,
        "credits": [scene.credits] if isinstance(scene.credits, str) else list(scene.credits),
        "version": scene.version,
        "sha256": contents.sha256,
        "bytes": sum(contents.sizes.values()),
        "splats": graph.count,
        "importance": scene.importance,
        "rig": {
            "space": scene.rig.space,
            "blendshapes": len(scene.rig.blendshapes),
            "bones": len(scene.rig.bones),
            "head_bone": scene.rig.head_bone,
            "eye_bones": [scene.rig.eye_bones.left, scene.rig.eye_bones.right],
        },
        "landmarks": scene.landmarks.model_dump(),
        "inputs": {spec.name: list(spec.shape) for spec in scene.inputs},
        "nodes": nodes,
        "tensors": tensors,
    }


def _load(file: Path) -> tuple[Container, Graph]:
    contents = read(file)
    return contents, build(contents)


def _print(file: Path, report: dict[str, Any]) -> None:
    console = Console()
    head = Table(show_header=False, box=None)
    rig = report["rig"]
    height = report["landmarks"]["height"]
    order = "no order of importance" if report["importance"] is None else "the important ones known"
    for key, text in (
        ("file", f"{file} ({_size(report['bytes'])})"),
        ("name", report["name"]),
        ("licence", report["licence"]),
        ("credits", "\n".join(report["credits"])),
        ("splats", f"{report['splats']:,}, {order}"),
        ("rig", f"{rig['space']}, {rig['bones']} bones, head {rig['head_bone']}, {height:.2f} m tall"),
        ("inputs", ", ".join(f"{name} {shape}" for name, shape in report["inputs"].items())),
        ("sha256", report["sha256"]),
    ):
        head.add_row(f"[bold]{key}[/]", Text(text))
    console.print(head)
    nodes = Table("node", "rate", "inputs", "outputs", "size", title="Nodes, in order", title_justify="left")
    for node in report["nodes"]:
        outputs = "\n".join(
            f"{name} {node['dtypes'][name]} {shape}" for name, shape in node["outputs"].items()
        )
        nodes.add_row(
            node["kind"],
            node["rate"],
            "\n".join(node["inputs"]),
            outputs.replace("[", r"\["),
            _size(node["bytes"]),
        )
    console.print(nodes)
    tensors = Table("tensor", "dtype", "shape", "size", title="Tensors", title_justify="left")
    for name, spec in report["tensors"].items():
        tensors.add_row(name, spec["dtype"], "×".join(map(str, spec["shape"])), _size(spec["bytes"]))
    console.print(tensors)


def _size(count: int) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 1e5 else f"{count / 1e3:.1f} kB"
