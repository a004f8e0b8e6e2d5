"""A generated scene of the kind that is learned from cameras (TaoAvatar's graph), of any size, for tests."""

from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr import sample

LATENT: Final = 8
COEFFICIENTS: Final = 28
OCTAVES: Final = 6


def make(
    rings: int = 8,
    per_triangle: int = 5,
    bones: int = 6,
    degree: int = 3,
    *,
    relit: bool = False,
    seed: int = 0,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Makes a scene with a field, coefficients, a deformer and colours by spherical harmonics.

    Args:
        rings: Of the ball that is the mesh; see `sample.make`.
        per_triangle: Splats on each triangle.
        bones: Number of bones.
        degree: Of the harmonics, 0 to 3.
        relit: Whether the splats answer to another light.
        seed: Of everything random.

    Returns:
        ``scene`` and ``tensors`` for `taoxr_runtime.nnr.container.write_scene`.
    """
    base, shared = sample.make(rings, 1, 0, bones, seed)
    rng = np.random.default_rng([seed, 1])
    rest = shared["tensors/rest.npy"]
    triangles = shared["tensors/triangles.npy"]
    splat_triangle = np.repeat(np.arange(len(triangles)), per_triangle).astype(np.uint16)
    count = len(splat_triangle)
    pose_bones = np.arange(min(bones, 21), dtype=np.uint8)
    corner = np.sort(rng.random((count, 2)), axis=1)
    quaternion: NDArray[np.float64] = rng.normal(size=(count, 4)) * 0.3 + [0, 0, 0, 1]
    quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    encoded = 3 + 6 * OCTAVES + 3 * len(pose_bones) + LATENT
    arrays: dict[str, NDArray[Any]] = {
        "canonical": ((rest - rest.mean(0)) / np.abs(rest - rest.mean(0)).max()).astype(np.float32),
        "pose_bones": pose_bones,
        **layers(rng, "field", [encoded, *[64] * 5, 3], 0.01),
        **layers(rng, "coefficients", [52 + 3 * len(pose_bones), 32, COEFFICIENTS], 0.5),
        "splat_triangle": splat_triangle,
        "barycentric": np.stack([corner[:, 0], corner[:, 1] - corner[:, 0]], 1).astype(np.float16),
        "offset": rng.normal(0, 1e-3, count).astype(np.float16),
        "rotation": np.round(quaternion * 32_767).astype(np.int16),
        "scale": (rng.uniform(0.1, 0.3, (count, 3)) * np.array([1, 1, 0.05])).astype(np.float16),
        "position_shapes": rng.normal(0, 3e-4, (count, COEFFICIENTS, 3)).astype(np.float16),
        "color_shapes": rng.normal(0, 0.01, (count, COEFFICIENTS, 3)).astype(np.float16),
        "sh": (rng.normal(0, 1, (count, (degree + 1) ** 2, 3)) * _falloff(degree)).astype(np.float16),
        "opacity": rng.integers(120, 256, count).astype(np.uint8),
    }
    if relit:
        normal: NDArray[np.float64] = rng.normal(size=(count, 3)) * 0.2 + [0, 0, 1]
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        arrays["normal"] = np.round(normal * 127).astype(np.int8)
    kept = {name: array for name, array in shared.items() if name.split("/")[1][:-4] in _SHARED}
    made = {f"tensors/{key}.npy": array for key, array in arrays.items()}
    return {**base, "inputs": _inputs(bones), "nodes": _nodes(relit)}, kept | made


_SHARED: Final = {
    "rest", "delta_offsets", "delta_vertices", "delta_xyz", "triangles",
    "bone_heads", "bone_parents", "bone_indices", "bone_weights",
}  # fmt: skip


def layers(
    rng: np.random.Generator, name: str, widths: list[int], size: float
) -> dict[str, NDArray[np.float32]]:
    """Random layers of these widths, ``{name}_weight{i}`` and ``{name}_bias{i}``.

    Args:
        rng: Makes the numbers.
        name: Prefix of the tensors.
        widths: Of what goes in, of each layer, of what comes out.
        size: About what the last layer makes.
    """
    made: dict[str, NDArray[np.float32]] = {}
    for i, (inputs, outputs) in enumerate(pairwise(widths)):
        spread = np.sqrt(2 / inputs) * (size if i == len(widths) - 2 else 1.0)
        made[f"{name}_weight{i}"] = rng.normal(0, spread, (outputs, inputs)).astype(np.float32)
        made[f"{name}_bias{i}"] = rng.normal(0, 0.1 * spread, outputs).astype(np.float32)
    return made


def _falloff(degree: int) -> NDArray[np.float64]:
    """How strong the harmonics of each degree are, [K, 1]."""
    return np.concatenate([np.full(2 * d + 1, 0.5 / (1 + 2 * d)) for d in range(degree + 1)])[:, None]


def _inputs(bones: int) -> list[dict[str, Any]]:
    shapes = {"expression": [52], "pose": [bones, 4], "root": [3], "latent": [LATENT], "camera": [3]}
    return [{"name": name, "shape": shape, "dtype": "float32"} for name, shape in shapes.items()]


def _nodes(relit: bool) -> list[dict[str, Any]]:
    def node(
        kind: str, inputs: str, outputs: str, attributes: dict[str, Any], *tensors: str, layers: int = 0
    ) -> dict[str, Any]:
        files = {key: f"tensors/{key}.npy" for key in tensors}
        for i in range(layers):
            files |= {f"{part}{i}": f"tensors/{kind}_{part}{i}.npy" for part in ("weight", "bias")}
        return {
            "kind": kind, "inputs": inputs.split(), "outputs": outputs.split(),
            "attributes": attributes, "tensors": files,
        }  # fmt: skip

    sun = np.zeros((9, 3))
    sun[0], sun[1], sun[2] = 2.5, -0.8, 0.5
    return [
        node("splats", "", "opacities", {}, "opacity"),
        node(
            "field", "pose latent", "displacement", {"octaves": OCTAVES, "limit": 0.05},
            "canonical", "pose_bones", layers=6,
        ),
        node("coefficients", "expression pose", "coefficients", {"limit": 5.0}, "pose_bones", layers=2),
        node(
            "blendshapes", "expression displacement", "shaped", {},
            "rest", "delta_offsets", "delta_vertices", "delta_xyz",
        ),
        node(
            "skinning", "shaped pose root", "vertices bones", {},
            "bone_heads", "bone_parents", "bone_indices", "bone_weights",
        ),
        node(
            "deformer", "vertices coefficients", "means covariances frames compensation", {},
            "triangles", "splat_triangle", "barycentric", "offset", "rotation", "scale",
            "position_shapes", "color_shapes",
        ),
        node(
            "sh_color", "frames means compensation camera", "colors_srgb",
            {"irradiance": sun.tolist() if relit else None},
            "sh", "splat_triangle", *(["normal"] if relit else []),
        ),
        node("sort", "means camera", "order", {}),
    ]  # fmt: skip
