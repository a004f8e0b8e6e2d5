"""The measured scene: a body that moves, covered with as many learned splats as one likes, seeded.

The mesh and its rig are the default avatar's. Everything that cameras would have taught is random, for its
values do not matter to the time: the field that moves the vertices, the coefficients, the splats on the
triangles with their blendshapes of place and colour, and their harmonics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr import container
from taoxr_runtime.nnr.container import Container
from taoxr_runtime.nnr.sample_learned import layers
from taoxr_runtime.nnr.schema import SceneSpec, parse

AVATAR: Final = Path(str(files("taoxr_runtime"))) / "assets" / "default.nnr"
COEFFICIENTS: Final = 28
"""Blendshapes of the splats, of place and of colour: as many as TaoAvatar's (arXiv 2503.17032) has."""
DEGREE: Final = 3
_HIDDEN: Final = (64,) * 5
_OCTAVES: Final = 6
_LATENT: Final = 32
_POSE_BONES: Final = 21
_SIGMA: Final = 0.003
_FLATNESS: Final = 0.3
_SHARED: Final = ("blendshapes", "skinning")

Arrays = dict[str, NDArray[Any]]


def moving_body(count: int, seed: int = 7) -> Container:
    """A scene of TaoAvatar's graph: field, coefficients, blendshapes, skinning, deformer, harmonics.

    Not through a file, which would be larger than a file may be.

    Args:
        count: Number of splats.
        seed: Of everything random.
    """
    avatar = container.read(AVATAR)
    rng = np.random.default_rng(seed)
    specs = {node.kind: node for node in avatar.scene.nodes}
    kept = {
        kind: {key: avatar.tensors[entry] for key, entry in specs[kind].tensors.items()} for kind in _SHARED
    }
    rest = kept["blendshapes"]["rest"].astype(np.float64)
    triangles = avatar.tensors[specs["binding"].tensors["triangles"]]
    bones = np.arange(_POSE_BONES, dtype=np.uint8)
    triangle, splats, opacity, sh = _splats(rng, rest, triangles, count)
    encoded = 3 + 6 * _OCTAVES + 3 * len(bones) + _LATENT
    expression = len(avatar.scene.rig.blendshapes)
    tensors: dict[str, Arrays] = {
        "splats": {"opacity": opacity},
        "field": {
            "canonical": (rest - rest.mean(0)).astype(np.float32),
            "pose_bones": bones,
            **_layers(rng, (encoded, *_HIDDEN, 3), 0.005),
        },
        "coefficients": {
            "pose_bones": bones,
            **_layers(rng, (expression + 3 * len(bones), 64, COEFFICIENTS), 0.5),
        },
        **kept,
        "deformer": {"triangles": triangles, "splat_triangle": triangle, **splats},
        "sh_color": {"sh": sh, "splat_triangle": triangle},
    }
    return _container(avatar, tensors)


def motion(inputs: dict[str, tuple[int, ...]]) -> Callable[[int], Arrays]:
    """What makes a body move: for each number of a frame another face, pose and latent code.

    Args:
        inputs: Shapes of the scene's inputs.
    """
    rng = np.random.default_rng(1)
    faces: NDArray[np.float32] = rng.uniform(0, 0.5, (64, *inputs["expression"])).astype(np.float32)

    def at(frame: int) -> Arrays:
        pose = np.zeros(inputs["pose"], np.float32)
        pose[:, 3] = 1
        pose[:, 0] = 0.02 * np.sin(0.1 * frame + np.arange(len(pose)))
        values: Arrays = {"expression": faces[frame % len(faces)], "pose": pose}
        if "latent" in inputs:
            values["latent"] = np.sin(0.05 * frame + np.arange(*inputs["latent"])).astype(np.float32)
        return values

    return at


def _splats(
    rng: np.random.Generator, rest: NDArray[np.float64], triangles: NDArray[np.uint16], count: int
) -> tuple[NDArray[np.uint16], Arrays, NDArray[np.uint8], NDArray[np.float16]]:
    """Flat splats about 3 mm wide, spread evenly: triangles, the deformer's tensors, opacities, harmonics."""
    p = rest[triangles]
    area = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    edge = np.linalg.norm(p - np.roll(p, 1, axis=1), axis=2).mean(1)
    # Sorted, so that neighbours on the body are neighbours in memory, as training leaves them.
    triangle = np.sort(rng.choice(len(triangles), count, p=area / area.sum()))
    corner = np.sort(rng.random((count, 2)), axis=1)
    barycentric = np.stack([corner[:, 0], corner[:, 1] - corner[:, 0]], 1)
    half_turn = rng.uniform(0, np.pi, count)
    quaternion = np.zeros((count, 4))
    quaternion[:, 2], quaternion[:, 3] = np.sin(half_turn), np.cos(half_turn)
    sigma = np.exp(rng.normal(np.log(_SIGMA), 0.3, (count, 3)))
    sigma[:, 2] *= _FLATNESS
    shapes = (count, COEFFICIENTS, 3)
    tensors: Arrays = {
        "barycentric": barycentric.astype(np.float16),
        "offset": rng.normal(0, 5e-4, count).astype(np.float16),
        "rotation": np.round(quaternion * 32_767).astype(np.int16),
        "scale": np.minimum(sigma / edge[triangle, None], 100).astype(np.float16),
        "position_shapes": rng.normal(0, 2e-4, shapes).astype(np.float16),
        "color_shapes": rng.normal(0, 0.01, shapes).astype(np.float16),
    }
    opacity = rng.integers(128, 256, count).astype(np.uint8)
    return triangle.astype(np.uint16), tensors, opacity, _harmonics(rng, p[triangle].mean(1))


def _harmonics(rng: np.random.Generator, place: NDArray[np.float64]) -> NDArray[np.float16]:
    """Stripes that one can look at, with grain, and some gloss: [N, 16, 3]."""
    strength = np.concatenate([np.full(2 * d + 1, 0.06 / (1 + d)) for d in range(DEGREE + 1)])
    sh = rng.normal(size=(len(place), len(strength), 3)) * strength[:, None]
    waves = place @ np.array([[9.0, 2.0, 1.0], [3.0, 11.0, 2.0], [1.0, 4.0, 8.0]])
    sh[:, 0] += np.sin(waves)  # about 0.28 of a colour's range
    return sh.astype(np.float16)


def _layers(rng: np.random.Generator, widths: tuple[int, ...], size: float) -> Arrays:
    """Random layers of these widths by their keys; the last makes about ``size``."""
    return {name.removeprefix("_"): array for name, array in layers(rng, "", [*widths], size).items()}


_NODES: Final[tuple[tuple[str, str, str, dict[str, Any]], ...]] = (
    # kind, inputs, outputs, attributes
    ("splats", "", "opacities", {}),
    ("field", "pose latent", "displacement", {"octaves": _OCTAVES, "limit": 0.01}),
    ("coefficients", "expression pose", "coefficients", {"limit": 3.0}),
    ("blendshapes", "expression displacement", "shaped", {}),
    ("skinning", "shaped pose root", "vertices bones", {}),
    ("deformer", "vertices coefficients", "means covariances frames compensation", {}),
    ("sh_color", "frames means compensation camera", "colors_srgb", {"irradiance": None}),
    ("sort", "means camera", "order", {}),
)


def _container(avatar: Container, tensors: dict[str, Arrays]) -> Container:
    document: dict[str, Any] = avatar.scene.model_dump(mode="json")
    document.pop("importance", None)  # of the avatar's splats
    inputs = {spec.name: list(spec.shape) for spec in avatar.scene.inputs} | {"latent": [_LATENT]}
    named = {
        f"tensors/{kind}.{key}.npy": array for kind, own in tensors.items() for key, array in own.items()
    }
    listing = {
        name: {"dtype": array.dtype.name, "shape": list(array.shape), "sha256": "0" * 64}
        for name, array in named.items()
    }
    nodes = [
        {
            "kind": kind,
            "inputs": taken.split(),
            "outputs": made.split(),
            "attributes": attributes,
            "tensors": {key: f"tensors/{kind}.{key}.npy" for key in tensors.get(kind, {})},
        }
        for kind, taken, made, attributes in _NODES
    ]
    document |= {
        "name": "bench body",
        "inputs": [{"name": name, "shape": shape, "dtype": "float32"} for name, shape in inputs.items()],
        "nodes": nodes,
        "tensors": listing,
    }
    sizes = {name: array.nbytes for name, array in named.items()}
    return replace(avatar, scene=parse(SceneSpec, document, "scene"), tensors=named, sizes=sizes, sha256="")
