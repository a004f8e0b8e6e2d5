"""``taoxr nnr run``: runs a scene headless and tells which nodes ran in which frame."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr import container
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.keyframes import Keyframes
from taoxr_runtime.nnr.rates import PERIOD_US
from taoxr_runtime.nnr.scene import Scene
from taoxr_runtime.nnr.timeline import Inputs, Timeline

Backend = Literal["numpy", "mnn", "gl"]
Report = dict[str, Any]

_EXPRESSIONS: Final = 8


def run(
    file: Annotated[Path, typer.Argument(help="A .nnr file.", show_default=False)],
    frames: Annotated[int, typer.Option(min=1, max=100_000, help="How many display frames.")] = 90,
    fps: Annotated[float, typer.Option(min=1, max=1000, help="Of the display.")] = 90.0,
    backend: Annotated[Backend, typer.Option(help="What runs the nodes.")] = "numpy",
    seed: Annotated[int, typer.Option(help="Of the motion.")] = 1,
    trace: Annotated[bool, typer.Option("--trace", help="Show every frame.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Move a scene at 20 animation frames a second and show it at any rate; print what ran."""
    contents = read(file)
    made = list(_frames(contents, backend, frames, fps, seed))
    report: Report = {"file": str(file), "backend": backend, "fps": fps, "summary": _summary(made, fps)}
    if as_json:
        print(json.dumps({**report, "frames": made} if trace else report, indent=1))
    else:
        _print(report, made if trace else [])


def read(file: Path) -> Container:
    """The file that a command was given.

    Raises:
        InvalidInputError: There is none.
        NnrFormatError: It breaks the format.
    """
    if not file.is_file():
        raise InvalidInputError("file", str(file), "an existing .nnr file")
    return container.read(file)


def animation(contents: Container, seed: int) -> Timeline:
    """Half a minute of smooth, seeded motion, 20 frames a second."""
    rng = np.random.default_rng(seed)
    shapes = {spec.name: spec.shape for spec in contents.scene.inputs}
    bones = shapes.get("pose", (0, 4))[0]
    axis, rate = rng.normal(0, 0.04, (bones, 3)), rng.uniform(0.3, 1.2, (bones, 1))
    chosen, own_rate = rng.choice(52, _EXPRESSIONS, replace=False), rng.uniform(0.3, 1.5, _EXPRESSIONS)
    timeline = Timeline(most=30 * 1_000_000 // PERIOD_US)
    for k in range(30 * 1_000_000 // PERIOD_US):
        t = 2 * math.pi * k * PERIOD_US / 1e6
        pose = np.concatenate([axis * np.sin(rate * t), np.ones((bones, 1))], axis=1)
        expression = np.zeros(52)
        expression[chosen] = 0.3 - 0.3 * np.cos(own_rate * t)
        inputs: dict[str, NDArray[np.float64]] = {
            "pose": pose / np.linalg.norm(pose, axis=1, keepdims=True),
            "expression": expression,
            "root": np.array([0.01 * math.sin(0.4 * t), 0, 0]),
        }
        for name in ("latent", "coefficients"):
            inputs[name] = 0.3 * np.sin(np.arange(shapes.get(name, (0,))[0]) + 0.5 * t)
        timeline.add(k * PERIOD_US, {name: value for name, value in inputs.items() if name in shapes})
    return timeline


def _frames(contents: Container, backend: Backend, count: int, fps: float, seed: int) -> Iterator[Report]:
    timeline = animation(contents, seed)
    center = np.array(contents.scene.landmarks.head_center)
    times = [round(i * 1e6 / fps) for i in range(count)]
    cameras = [center + np.array([0.05 * math.sin(t / 4e5), 0, 1.2]) for t in times]
    if backend == "gl":
        yield from _on_gpu(contents, timeline, times, cameras)
        return
    scene = Scene(contents, backend)
    with Keyframes(scene, timeline.at, wait=True) as keyframes:
        for time_us, camera in zip(times, cameras, strict=True):
            keyframes.show(time_us, camera, timeline.at(time_us).get("pose"))
            nodes = [{"kind": run.kind, "ms": run.ms} for run in keyframes.trace]
            yield {"time_us": time_us, "nodes": nodes, "uploaded_bytes": 0}


def _on_gpu(
    contents: Container, timeline: Timeline, times: list[int], cameras: list[NDArray[np.float64]]
) -> Iterator[Report]:
    # Here, because what runs without a GPU must not need OpenGL.
    from taoxr_runtime.nnr.gl import GlScene
    from taoxr_runtime.render.egl import Context
    from taoxr_runtime.render.objects import GpuClock

    context = Context()
    scene, clock = GlScene(contents), GpuClock()
    for time_us, camera in zip(times, cameras, strict=True):
        inputs: Inputs = {**timeline.at(time_us), "camera": camera}
        for name in inputs.keys() & scene.inputs.keys():
            scene.set(name, inputs[name])
        clock.mark("")
        scene.update(clock, time_us)
        took = clock.read()
        nodes = [{"kind": kind, "ms": took.get(kind, 0.0)} for kind in scene.trace]
        yield {"time_us": time_us, "nodes": nodes, "uploaded_bytes": scene.uploaded}
    clock.release()
    scene.release()
    context.release()


def _summary(frames: list[Report], fps: float) -> Report:
    """By kind of node: runs, runs a second, and milliseconds of one run."""
    runs: dict[str, list[float]] = {}
    for frame in frames:
        for node in frame["nodes"]:
            runs.setdefault(node["kind"], []).append(node["ms"])
    seconds = len(frames) / fps
    return {
        kind: {
            "runs": len(took),
            "runs_per_second": round(len(took) / seconds, 2),
            "median_ms": round(float(np.median(took)), 4),
        }
        for kind, took in runs.items()
    }


def _print(report: Report, frames: list[Report]) -> None:
    console = Console()
    kinds = list(report["summary"])
    if frames:
        table = Table("frame", "ms", *kinds, title="Milliseconds of each node that ran", title_justify="left")
        for i, frame in enumerate(frames):
            took: dict[str, float] = {}
            for node in frame["nodes"]:
                took[node["kind"]] = took.get(node["kind"], 0.0) + node["ms"]
            cells = [f"{took[kind]:.2f}" if kind in took else "" for kind in kinds]
            table.add_row(str(i), f"{frame['time_us'] / 1e3:.1f}", *cells)
        console.print(table)
    summary = Table("node", "runs", "per second", "median ms", title=report["file"], title_justify="left")
    for kind, line in report["summary"].items():
        summary.add_row(kind, str(line["runs"]), f"{line['runs_per_second']:g}", f"{line['median_ms']:.3f}")
    console.print(summary)
