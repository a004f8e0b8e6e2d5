"""``taoxr splat``: splat files of other programs."""

import json
import math
import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from taoxr.errors import InvalidInputError
from taoxr_runtime.options import picture_size
from taoxr_runtime.splat_files import placing, scene
from taoxr_runtime.splat_files.cloud import Cloud
from taoxr_runtime.splat_files.placing import Box
from taoxr_runtime.splat_files.reading import Imported, read
from taoxr_runtime.splats import Splats

app = typer.Typer(help="Import, inspect and draw splat files of other programs.", no_args_is_help=True)

_STEREO: Final = ("off", "sbs")
_FIT: Final = 1.1

File = Annotated[Path, typer.Argument(help="A .ply, compressed .ply, .splat, .spz or .sog file.")]
Up = Annotated[
    str | None,
    typer.Option(help="Axis of the file that points up: x, -x, y, -y, z, -z. Default: y for SPZ, else -y."),
]
Rotate = Annotated[str, typer.Option(help="X,Y,Z: then turn by so many degrees about x, y and z.")]
Scale = Annotated[float, typer.Option(help="Then make it so many times as large; files know no metres.")]
Degree = Annotated[int, typer.Option(min=0, max=3, help="Highest degree of spherical harmonics to keep.")]


@app.command("import")
def import_(
    file: File,
    out: Annotated[Path, typer.Option("--out", "-o", help="The .nnr scene to write.")],
    up: Up = None,
    rotate: Rotate = "0,0,0",
    scale: Scale = 1.0,
    keep_place: Annotated[
        bool, typer.Option("--keep-place", help="Do not shift it so that it stands on the origin.")
    ] = False,
    degree: Degree = 3,
    max_splats: Annotated[int | None, typer.Option(min=1, help="Keep those that cover most.")] = None,
    name: Annotated[str, typer.Option(help="Name of the scene; default: of the file.")] = "",
    licence: Annotated[str, typer.Option(help="Under which terms it is.")] = "unknown",
    credits: Annotated[str, typer.Option(help="Who made it.")] = "unknown",
) -> None:
    """Turn a splat file into a static .nnr scene, for `taoxr view --avatar`."""
    if out.suffix.lower() != ".nnr":
        raise InvalidInputError("--out", str(out), "a name that ends in .nnr")
    if not out.parent.is_dir():
        raise InvalidInputError("--out", str(out), "a file in a folder that exists")
    found = read(file)
    cloud = _placed(found, up, rotate, scale).cut(degree)
    if max_splats is not None:
        cloud = placing.most_seen(cloud, max_splats)
    if not keep_place:
        cloud = placing.stood(cloud)
    scene.write(out, cloud, name or file.stem, licence, credits)
    console = Console(stderr=True, highlight=False)
    if found.dropped.total:
        console.print(f"[yellow]{_losses(found)}[/]", soft_wrap=True)
    print(f"{out}: {len(cloud)} splats, degree {cloud.degree}")


@app.command()
def info(file: File, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show what a splat file holds."""
    report = describe(read(file), file)
    if as_json:
        print(json.dumps(report, indent=1))
        return
    table = Table(show_header=False, box=None)
    for key, value in report.items():
        table.add_row(f"[bold]{key}[/]", Text(value if isinstance(value, str) else json.dumps(value)))
    Console().print(table)


@app.command()
def render(
    file: Annotated[Path, typer.Argument(help="A splat file, or a .nnr scene in its rest pose.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The .png to write.")],
    yaw: Annotated[float, typer.Option(help="Degrees around it; 0 looks from +z, 90 from +x.")] = 0.0,
    pitch: Annotated[float, typer.Option(help="Degrees above the horizon.")] = 0.0,
    roll: Annotated[float, typer.Option(help="Degrees; positive tips the head to its left shoulder.")] = 0.0,
    distance: Annotated[
        float | None, typer.Option(help="Metres; default: so that all of it is seen.")
    ] = None,
    target: Annotated[str, typer.Option(help="X,Y,Z in metres to look at; default: its middle.")] = "",
    fov: Annotated[float, typer.Option(help="Vertical field of view in degrees.")] = 40.0,
    near: Annotated[float, typer.Option(help="Near plane in metres.")] = 0.05,
    size: Annotated[str, typer.Option(help="WIDTHxHEIGHT in pixels, of each eye.")] = "512x512",
    background: Annotated[str, typer.Option(help="none (transparent) or #RRGGBB.")] = "none",
    stereo: Annotated[str, typer.Option(help="off, or sbs: left and right eye side by side.")] = "off",
    raster: Annotated[
        Literal["auto", "quads", "tiles"],
        typer.Option(help="What draws; auto: what was the faster on this GPU."),
    ] = "auto",
    up: Up = None,
    rotate: Rotate = "0,0,0",
    scale: Scale = 1.0,
    degree: Degree = 3,
) -> None:
    """Draw a splat file or a scene as a PNG."""
    # Here, because the rest of the command needs no OpenGL and no Pillow.
    from PIL import Image

    from taoxr_runtime.render import OffscreenRenderer
    from taoxr_runtime.splat_files.viewpoint import Viewpoint

    if out.suffix.lower() != ".png" or not out.parent.is_dir():
        raise InvalidInputError("--out", str(out), "a .png in a folder that exists")
    if stereo not in _STEREO:
        raise InvalidInputError("--stereo", stereo, f"one of {', '.join(_STEREO)}")
    width, height = picture_size(size, 1, 8192, "512x512")
    behind = _background(background)
    still = file.suffix.lower() == ".nnr"
    cloud = None if still else _placed(read(file), up, rotate, scale).cut(degree)
    drawn = _Drawn(file) if cloud is None else cloud
    around = drawn.box if isinstance(drawn, _Drawn) else placing.box(drawn.means)
    viewpoint = Viewpoint(
        target=_three("--target", target) if target else around.center,
        distance=_fitting(around, fov, width / height) if distance is None else distance,
        yaw=yaw, pitch=pitch, roll=roll, fov=fov, near=near,
    )  # fmt: skip
    views = viewpoint.pair(width, height) if stereo == "sbs" else (viewpoint.view(width, height),)
    with OffscreenRenderer(rasterizer=raster) as renderer:
        splats = drawn.splats(viewpoint.position)
        pictures = renderer.render(splats, views, behind)
    picture = np.concatenate(pictures, axis=1)
    Image.fromarray(_straight(picture)).save(out, optimize=True)
    print(f"{out}: {len(splats)} splats, {picture.shape[1]}x{picture.shape[0]}")


def describe(found: Imported, file: Path) -> dict[str, Any]:
    """The report of ``taoxr splat info --json``; lengths in the file's own units and axes."""
    cloud = found.cloud
    around = placing.box(cloud.means)
    sigma = np.sort(cloud.sigmas, axis=1)
    return {
        "file": str(file),
        "format": found.form,
        "bytes": file.stat().st_size,
        "splats": len(cloud),
        "dropped": asdict(found.dropped),
        "degree": cloud.degree,
        "up": found.up,
        "low": _rounded(cloud.means.min(axis=0)),
        "high": _rounded(cloud.means.max(axis=0)),
        "most_low": _rounded(around.low),
        "most_high": _rounded(around.high),
        "median_sigma": _rounded(np.median(sigma, axis=0)),
        "mean_opacity": round(float(cloud.opacities.mean()), 4),
    }


class _Drawn:
    """A `.nnr` scene in its rest pose."""

    def __init__(self, file: Path) -> None:
        from taoxr_runtime import nnr

        if not file.is_file():
            raise InvalidInputError("file", str(file), "a file that exists")
        self._scene = nnr.load(file)

    @property
    def box(self) -> Box:
        return placing.box(self._scene.splats.means)

    def splats(self, camera: np.ndarray[Any, np.dtype[np.float64]]) -> Splats:
        if "camera" in self._scene.inputs:
            self._scene.set("camera", camera)
        return self._scene.update()


def _placed(found: Imported, up: str | None, rotate: str, scale: float) -> Cloud:
    if not 1e-4 <= scale <= 1e4:
        raise InvalidInputError("--scale", scale, "0.0001 to 10000")
    rotation = placing.turning(found.up if up is None else up, [float(x) for x in _three("--rotate", rotate)])
    return found.cloud.moved(rotation, scale)


def _losses(found: Imported) -> str:
    reasons = [
        f"{count} {reason.replace('_', ' ')}" for reason, count in asdict(found.dropped).items() if count
    ]
    return f"{found.dropped.total} splats left out: {', '.join(reasons)}"


def _three(field: str, text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        numbers = np.array([float(part) for part in text.split(",")])
    except ValueError as error:
        raise InvalidInputError(field, text, "three numbers such as 0,90,0") from error
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise InvalidInputError(field, text, "three numbers such as 0,90,0")
    return numbers


def _background(text: str) -> tuple[float, float, float] | None:
    if text == "none":
        return None
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", text):
        raise InvalidInputError("--background", text, "none or a colour such as #336699")
    red, green, blue = (int(text[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def _fitting(around: Box, fov: float, aspect: float) -> float:
    """Distance at which the ball around a box fills the narrower side of the picture."""
    half = math.atan(math.tan(math.radians(min(max(fov, 1.0), 150.0)) / 2) * min(aspect, 1.0))
    return _FIT * around.radius / math.sin(half)


def _straight(premultiplied: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """RGBA as PNG has it: colour not multiplied by alpha."""
    alpha = premultiplied[..., 3:].astype(np.float32)
    color = premultiplied[..., :3] * (255 / np.maximum(alpha, 1))
    return np.concatenate([np.minimum(np.round(color), 255), alpha], axis=-1).astype(np.uint8)


def _rounded(values: np.ndarray[Any, np.dtype[Any]]) -> list[float]:
    return [round(float(value), 4) for value in values]
