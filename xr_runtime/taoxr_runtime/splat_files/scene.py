"""Clouds as `.nnr` files: a graph whose only input is where the viewer is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr import arkit
from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr import container
from taoxr_runtime.nnr.nodes.cloud import UNIT
from taoxr_runtime.nnr.schema import MAX_SPLATS
from taoxr_runtime.splat_files.cloud import Cloud
from taoxr_runtime.splat_files.placing import box

_ROOT: Final = "root"
_CLOUD: Final = "means covariances opacities frames compensation"
_MARGIN_BYTES: Final = 1 << 20  # of a file, for what is not tensors


def write(path: Path, cloud: Cloud, name: str, licence: str, credits: str) -> None:
    """Writes a cloud as a scene.

    Args:
        path: The target; replaced only when the new file is complete.
        cloud: In our frame.
        name: Of the scene.
        licence: Under which terms the splats are.
        credits: Who made them.

    Raises:
        InvalidInputError: There are more splats than a file may hold.
        NnrFormatError: A text breaks the format.
    """
    tensors = _tensors(cloud)
    size = sum(array.nbytes for array in tensors.values())
    if len(cloud) > MAX_SPLATS or size + _MARGIN_BYTES > container.MAX_FILE_BYTES:
        found = f"{len(cloud):,} splats of degree {cloud.degree}, {size / 2**20:.0f} MiB"
        most = f"at most {MAX_SPLATS:,} and {container.MAX_FILE_BYTES >> 20} MiB"
        raise InvalidInputError("splats", found, f"{most}: see --max-splats and --degree")
    scene = _document(cloud, name, licence, credits)
    container.write_scene(path, scene, {f"tensors/{key}.npy": array for key, array in tensors.items()})


def _tensors(cloud: Cloud) -> dict[str, NDArray[Any]]:
    return {
        "mean": cloud.means,
        "rotation": np.round(cloud.rotations * UNIT).astype(np.int16),
        "sigma": cloud.sigmas.astype(np.float16),
        "opacity": np.round(cloud.opacities * 255).astype(np.uint8),
        "sh": np.clip(cloud.harmonics, -1000, 1000).astype(np.float16),
        "splat_triangle": np.zeros(len(cloud), np.uint16),
    }


def _document(cloud: Cloud, name: str, licence: str, credits: str) -> dict[str, Any]:
    found = box(cloud.means)
    middle = [float(x) for x in found.center]
    return {
        "format": "nnr",
        "version": 1,
        "name": name,
        "licence": licence,
        "credits": credits,
        # The format asks for a rig: one bone, which nothing moves.
        "rig": {
            "space": arkit.SPACE,
            "blendshapes": list(arkit.NAMES),
            "bones": [_ROOT],
            "eye_bones": {"left": _ROOT, "right": _ROOT},
            "head_bone": _ROOT,
        },
        "landmarks": {
            "height": max(float(found.high[1]), 1e-3),
            "eye_left": middle,
            "eye_right": middle,
            "mouth": middle,
            "head_center": middle,
        },
        "inputs": [{"name": "camera", "shape": [3], "dtype": "float32"}],
        "nodes": [
            _node("cloud", "", _CLOUD, {}, "mean rotation sigma opacity"),
            _node(
                "sh_color", "frames means compensation camera", "colors_srgb",
                {"irradiance": None}, "sh splat_triangle",
            ),
            _node("sort", "means camera", "order", {}, ""),
        ],
    }  # fmt: skip


def _node(kind: str, inputs: str, outputs: str, attributes: dict[str, Any], tensors: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "inputs": inputs.split(),
        "outputs": outputs.split(),
        "attributes": attributes,
        "tensors": {key: f"tensors/{key}.npy" for key in tensors.split()},
    }
