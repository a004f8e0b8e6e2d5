"""A generated scene of any size: a ball with a hairy top, for tests and measurements."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr import arkit

_CENTER: Final = np.array([0.0, 1.6, 0.0])
_RADIUS: Final = 0.12


def make(
    rings: int = 8, subdivision: int = 3, strands: int = 60, bones: int = 6, seed: int = 0
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Makes a scene with every node kind, every shape moving something, and three materials.

    Args:
        rings: Rings of the ball; it has ``2 · rings²`` vertices and about twice as many triangles.
        subdivision: Every triangle carries ``subdivision²`` surface splats.
        strands: Number of strand splats.
        bones: Number of bones, a branching chain; at least 2.
        seed: Of everything random.

    Returns:
        ``scene`` and ``tensors`` for `taoxr_runtime.nnr.container.write_scene`.
    """
    rng = np.random.default_rng(seed)
    rest, triangles = _ball(rings)
    vertices, count = len(rest), len(triangles)
    per_shape = max(1, vertices // 12)
    moved = [np.sort(rng.choice(vertices, per_shape, replace=False)) for _ in arkit.NAMES]
    indices = rng.integers(0, bones, (vertices, 4))
    weights = rng.dirichlet(np.ones(4), vertices)

    centers = _sub_centers(subdivision)
    surface = np.repeat(np.arange(count), len(centers))
    strand = rng.integers(0, count, strands)
    total = len(surface) + strands
    axis = _unit(rng.normal(size=(strands, 3)))
    normal = _unit(rng.normal(size=(total, 3)) * 0.2 + [0, 0, 1])
    material = np.concatenate([rng.integers(0, 2, len(surface)), np.full(strands, 2)])

    arrays: dict[str, NDArray[Any]] = {
        "rest": rest.astype(np.float32),
        "delta_offsets": (np.arange(len(moved) + 1) * per_shape).astype(np.int32),
        "delta_vertices": np.concatenate(moved).astype(np.uint16),
        "delta_xyz": rng.normal(0, 0.003, (per_shape * len(moved), 3)).astype(np.float16),
        "bone_heads": (_CENTER + rng.normal(0, 0.05, (bones, 3))).astype(np.float32),
        "bone_parents": np.maximum(np.arange(bones) - rng.integers(1, 3, bones), -1).astype(np.int16),
        "bone_indices": indices.astype(np.uint8),
        "bone_weights": weights.astype(np.float32),
        "triangles": triangles.astype(np.uint16),
        "subdivision": np.full(count, subdivision, np.uint8),
        "surface_triangle": surface.astype(np.uint16),
        "surface_barycentric": np.tile(centers, (count, 1)).astype(np.float16),
        "strand_triangle": strand.astype(np.uint16),
        "strand_offset": (axis * 0.01).astype(np.float16),
        "strand_axis": (axis * 0.004).astype(np.float16),
        "strand_width": np.full(strands, 0.0006, np.float16),
        "albedo_srgb": rng.integers(40, 230, (total, 3)).astype(np.uint8),
        "occlusion": rng.integers(60, 256, total).astype(np.uint8),
        "gloss": rng.integers(0, 256, total).astype(np.uint8),
        "material": material.astype(np.uint8),
        "normal": np.round(normal * 127).astype(np.int8),
        "splat_triangle": np.concatenate([surface, strand]).astype(np.uint16),
        "tangent": np.round(axis * 127).astype(np.int8),
        "opacity": np.full(total, 240, np.uint8),
    }
    return _document(bones), {f"tensors/{key}.npy": array for key, array in arrays.items()}


def _document(bones: int) -> dict[str, Any]:
    def node(
        kind: str, inputs: str, outputs: str, attributes: dict[str, Any], tensors: str
    ) -> dict[str, Any]:
        files = {key: f"tensors/{key}.npy" for key in tensors.split()}
        return {
            "kind": kind, "inputs": inputs.split(), "outputs": outputs.split(),
            "attributes": attributes, "tensors": files,
        }  # fmt: skip

    names = [f"bone{i}" for i in range(bones)]
    x, y, z = (float(v) for v in _CENTER)
    return {
        "format": "nnr",
        "version": 1,
        "name": "sample",
        "licence": "CC0-1.0",
        "credits": "generated",
        "rig": {
            "space": arkit.SPACE,
            "blendshapes": list(arkit.NAMES),
            "bones": names,
            "eye_bones": {"left": names[-1], "right": names[-2]},
            "head_bone": names[0],
        },
        "landmarks": {
            "height": y + _RADIUS,
            "eye_left": [0.03, y, z + _RADIUS],
            "eye_right": [-0.03, y, z + _RADIUS],
            "mouth": [0.0, y - 0.05, z + _RADIUS],
            "head_center": [x, y, z],
        },
        "inputs": [
            {"name": "expression", "shape": [len(arkit.NAMES)], "dtype": "float32"},
            {"name": "pose", "shape": [bones, 4], "dtype": "float32"},
            {"name": "root", "shape": [3], "dtype": "float32"},
            {"name": "camera", "shape": [3], "dtype": "float32"},
        ],
        "nodes": [
            node("splats", "", "opacities", {}, "opacity"),
            node(
                "blendshapes", "expression", "shaped", _EXPRESSION,
                "rest delta_offsets delta_vertices delta_xyz",
            ),
            node(
                "skinning", "shaped pose root", "vertices bones", {},
                "bone_heads bone_parents bone_indices bone_weights",
            ),
            node(
                "binding", "vertices", "means covariances frames",
                {"phong": 0.7, "spread": 3.0, "thin": 0.1},
                "triangles subdivision surface_triangle surface_barycentric "
                "strand_triangle strand_offset strand_axis strand_width",
            ),
            node(
                "color", "frames means camera", "colors_srgb", _SHADING,
                "albedo_srgb occlusion gloss material normal splat_triangle tangent",
            ),
            node("sort", "means camera", "order", {}, ""),
        ],
    }  # fmt: skip


_EXPRESSION: Final = {
    "neutral": {"eyeWideLeft": 0.2, "mouthSmileLeft": 0.1},
    "remap": {
        "eyeBlinkLeft": {"power": 1.5, "fades": ["eyeWideLeft", "eyeSquintLeft"]},
        "mouthClose": {"at_most": "jawOpen"},
    },
}


def _material(name: str, anisotropic: bool, lobes: list[list[float]]) -> dict[str, Any]:
    return {
        "name": name,
        "wrap": [0.4, 0.2, 0.1] if name == "skin" else [0.2, 0.2, 0.2],
        "occlusion_power": [0.8, 1.0, 1.2],
        "occlusion_floor": 0.1,
        "shadow": 0.5,
        "sheen": 0.3 if name == "cloth" else 0.0,
        "anisotropic": anisotropic,
        "lobes": [dict(zip(("strength", "shininess", "shift", "tint"), x, strict=True)) for x in lobes],
    }


_SHADING: Final = {
    "sky_linear": [0.30, 0.34, 0.40],
    "ground_linear": [0.16, 0.13, 0.11],
    "lights": [
        {"direction": [0.48, 0.64, 0.6], "color_linear": [0.9, 0.85, 0.8]},
        {"direction": [-0.8, 0.0, 0.6], "color_linear": [0.25, 0.3, 0.4]},
        {"direction": [0.0, 0.6, -0.8], "color_linear": [0.5, 0.5, 0.5]},
    ],
    "materials": [
        _material("skin", False, [[0.2, 20.0, 0.0, 0.0], [0.1, 90.0, 0.0, 0.0]]),
        _material("cloth", False, []),
        _material("hair", True, [[0.4, 80.0, -0.1, 0.0], [0.3, 24.0, 0.15, 0.8]]),
    ],
}


def _ball(rings: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """A grid wrapped around a ball, without its poles; outward triangles."""
    columns = 2 * rings
    theta = np.pi * (np.arange(rings) + 0.5) / rings
    phi = 2 * np.pi * np.arange(columns) / columns
    t, p = np.meshgrid(theta, phi, indexing="ij")
    unit = np.stack([np.sin(t) * np.sin(p), np.cos(t), np.sin(t) * np.cos(p)], axis=2).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(rings - 1), np.arange(columns), indexing="ij")
    a, b = i * columns + j, i * columns + (j + 1) % columns
    c, d = a + columns, b + columns
    triangles = np.stack([np.stack([a, c, b], 2), np.stack([b, c, d], 2)], 2).reshape(-1, 3)
    return _CENTER + _RADIUS * unit, triangles


def _sub_centers(n: int) -> NDArray[np.float64]:
    """Weights of corners 1 and 2 at the centres of n² equal sub-triangles."""
    up = [((i + 1 / 3) / n, (j + 1 / 3) / n) for i in range(n) for j in range(n - i)]
    down = [((i + 2 / 3) / n, (j + 2 / 3) / n) for i in range(n - 1) for j in range(n - 1 - i)]
    return np.array(up + down)


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
