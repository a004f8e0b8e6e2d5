"""The measured body, the same splats and eyes, drawn by our renderer and by gsplat: times and pictures.

Needs an NVIDIA GPU with its CUDA toolkit, and besides taoxr `pip install torch==2.11.0 gsplat==1.5.3` (gsplat
compiles its kernels at the first call, in about a minute). Run it as

    python tests/bench/compare_gsplat.py --out FOLDER

gsplat draws both eyes in one call, in the mode ``antialiased``, with spherical harmonics of degree 3 for each
eye, as in the frame in which only the head moves.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.bench.body import DEGREE, motion, moving_body
from taoxr_runtime.bench.stage import Stage
from taoxr_runtime.nnr.gl import GlScene
from taoxr_runtime.nnr.nodes.sh_color import C0, ShColor, harmonics
from taoxr_runtime.render import gl
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.compute_tiles import ComputeTiles
from taoxr_runtime.render.egl import Context

F32 = NDArray[np.float32]
_FLIP = np.diag([1.0, -1.0, -1.0, 1.0])
"""From OpenGL's view (y up, z backwards) to OpenCV's."""


def exported(scene: GlScene) -> dict[str, F32]:
    """A scene's splats as they are now, in the arrays that gsplat takes.

    Returns:
        ``means`` [N, 3], ``quats`` [N, 4] (wxyz), ``scales`` [N, 3], ``opacities`` [N] and ``sh`` [N, 16, 3]
        in the world's axes, with what the coefficients add to the colours in the constant one.
    """
    splats = scene.splats.read()
    (node,) = (step.node for step in scene.graph.steps if isinstance(step.node, ShColor))
    frames = scene.value("frames")[node.triangle].astype(np.float64)
    sh = turned(node.sh.transpose(2, 0, 1).astype(np.float64), frames)
    sh[:, 0] += scene.value("compensation") / C0
    scales, axes = np.linalg.eigh(_full(splats.covariances.astype(np.float64)))
    axes *= np.sign(np.linalg.det(axes))[:, None, None]
    return {
        "means": splats.means,
        "quats": _quaternions(axes).astype(np.float32),
        "scales": np.sqrt(np.maximum(scales, 0)).astype(np.float32),
        "opacities": splats.opacities,
        "sh": sh.astype(np.float32),
    }


def turned(sh: NDArray[np.float64], frames: NDArray[np.float64]) -> NDArray[np.float64]:
    """Harmonics [N, K, 3] of each splat's own frame [N, 3, 3] (columns in the world), in the world's axes.

    They span the same functions, so that values in enough directions decide: solved once for all splats.
    """
    directions = np.random.default_rng(0).normal(size=(3, 4 * sh.shape[1]))
    directions /= np.linalg.norm(directions, axis=0)
    solve = np.linalg.pinv(harmonics(directions, sh.shape[1]).T)  # [K, directions]
    result = np.empty_like(sh)
    for start in range(0, len(sh), 8192):
        block = slice(start, start + 8192)
        local = np.einsum("nxk,xd->knd", frames[block], directions)
        values = harmonics(local.reshape(3, -1), sh.shape[1]).reshape(sh.shape[1], -1, directions.shape[1])
        result[block] = np.einsum("jd,knd,nkc->njc", solve, values, sh[block], optimize=True)
    return result


def cameras(views: list[View]) -> tuple[F32, F32]:
    """Matrices from the world to the eyes [C, 4, 4] and on to pixels [C, 3, 3], as OpenCV has them."""
    to_pixels = np.zeros((len(views), 3, 3))
    for matrix, view in zip(to_pixels, views, strict=True):
        matrix[[0, 1], [0, 1]] = view.focal
        matrix[:2, 2] = view.principal
        matrix[2, 2] = 1
    return np.stack([_FLIP @ view.world_to_view for view in views]).astype(np.float32), to_pixels.astype(
        np.float32
    )


def psnr(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Of two pictures from 0 to 1, in dB."""
    return float(-10 * np.log10(np.square(a.astype(np.float64) - b).mean()))


def with_gsplat(splats: dict[str, F32], views: list[View], frames: int) -> tuple[dict[str, float], F32]:
    """Milliseconds of a frame, packed or not; and the pictures [C, H, W, 4], premultiplied."""
    import gsplat
    import torch

    on_gpu = {name: torch.from_numpy(np.ascontiguousarray(array)).cuda() for name, array in splats.items()}
    to_eye, to_pixels = (torch.from_numpy(array).cuda() for array in cameras(views))

    def draw(packed: bool) -> tuple[Any, Any]:
        colors, alphas, _ = gsplat.rasterization(
            on_gpu["means"], on_gpu["quats"], on_gpu["scales"], on_gpu["opacities"], on_gpu["sh"],
            to_eye, to_pixels, views[0].width, views[0].height,
            sh_degree=DEGREE, packed=packed, rasterize_mode="antialiased", near_plane=views[0].near,
        )  # fmt: skip
        return colors, alphas

    times: dict[str, float] = {}
    with torch.no_grad():
        for packed in (False, True):
            began = time.perf_counter()
            while time.perf_counter() - began < 1:  # until an idle GPU runs at its full clock, too
                draw(packed)
                torch.cuda.synchronize()
            events = [torch.cuda.Event(enable_timing=True) for _ in range(frames + 1)]
            events[0].record()
            for event in events[1:]:
                draw(packed)
                event.record()
            torch.cuda.synchronize()
            took = [a.elapsed_time(b) for a, b in pairwise(events)]
            times[f"gsplat {gsplat.__version__} {'packed' if packed else 'unpacked'}_ms"] = float(
                np.median(took)
            )
        colors, alphas = draw(False)
    return times, torch.cat([colors, alphas], -1).cpu().numpy()


def main() -> None:
    """Draws, times and compares."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splats", type=int, default=250_000)
    parser.add_argument("--size", type=int, nargs=2, default=(2064, 2208), help="pixels of an eye")
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--out", type=Path, help="folder for the pictures")
    options = parser.parse_args()
    context = Context()
    scene = GlScene(moving_body(options.splats))
    stage = Stage(ComputeTiles(), *options.size)
    with gl.borrowed():
        for name, value in motion(dict(scene.inputs))(1).items():
            scene.set(name, value)
        figures: dict[str, Any] = {"driver": gl.describe()}
        figures |= {
            key: getattr(value, "p50", value)
            for key, value in stage.times(
                "head moved", stage.play(scene, moves=False), options.frames
            ).items()
        }
        views = stage.views(0)
        stage.play(scene, moves=False)(0, views)
        ours = np.stack([canvas.read() for canvas in stage.canvases])
        splats = exported(scene)
    stage.release()
    scene.release()
    context.release()
    times, theirs = with_gsplat(splats, views, options.frames)
    figures |= times
    figures["psnr_db"] = [round(psnr(a / 255, b), 2) for a, b in zip(ours, theirs, strict=True)]
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    if options.out:
        from PIL import Image

        rows = [np.concatenate(list(ours), 1), np.concatenate(list(np.clip(theirs * 255 + 0.5, 0, 255)), 1)]
        Image.fromarray(np.concatenate(rows).astype(np.uint8)[:, :, :3]).save(options.out / "gsplat.png")


def _full(upper: NDArray[np.float64]) -> NDArray[np.float64]:
    return upper[:, [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]


def _quaternions(axes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rotations [N, 3, 3] as quaternions wxyz: the eigenvector of Bar-Itzhack's matrix (2000)."""
    m = axes.transpose(1, 2, 0)
    x, y, z = (m[(i + 2) % 3, (i + 1) % 3] - m[(i + 1) % 3, (i + 2) % 3] for i in range(3))
    xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
    a, b, c = m[0, 0], m[1, 1], m[2, 2]
    k = np.array(
        [[a + b + c, x, y, z], [x, a - b - c, xy, xz], [y, xy, b - a - c, yz], [z, xz, yz, c - a - b]]
    )
    return np.linalg.eigh(k.transpose(2, 0, 1))[1][:, :, 3]


if __name__ == "__main__":
    main()
