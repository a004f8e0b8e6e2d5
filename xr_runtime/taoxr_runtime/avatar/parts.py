"""What the makers of skin, eyes, clothes and hair hand to the writer."""

from dataclasses import dataclass, field

import numpy as np

from .fields import Floats, Ints, unit
from .mesh import Mesh, areas, at, cells, frames, normals, subdivisions

SEGMENTS = 6
"""Splats of one strand of hair; a part lists the first ones of all strands, then the second ones, ..."""


@dataclass
class Surface:
    """Splats that tile a mesh: one for each equal part of every triangle.

    Attributes:
        name: of the part.
        mesh: what it lies on.
        subdivision: n of each triangle [F].
        triangle, bary: where each splat is [N], [N,3].
        albedo: linear light [N,3].
        material: name in look.MATERIALS, or one index into it per splat [N].
        gloss: scale of highlights [N], 0 to 1.
        opacity: [N], 0 to 1.
        tilt: gradient of a fine height field in bind space [N,3]; bends the shading normal.
        shade: fixed factor on the occlusion [N].
    """

    name: str
    mesh: Mesh
    subdivision: Ints
    triangle: Ints
    bary: Floats
    material: str
    albedo: Floats = field(init=False)
    gloss: Floats = field(init=False)
    opacity: Floats = field(init=False)
    tilt: Floats = field(init=False)
    shade: Floats = field(init=False)
    materials: dict[str, Floats] = field(default_factory=dict)
    shading_normal: Floats | None = None

    def __post_init__(self) -> None:
        n = len(self.triangle)
        self.albedo = np.zeros((n, 3))
        self.gloss = np.ones(n)
        self.opacity = np.full(n, 0.985)
        self.tilt = np.zeros((n, 3))
        self.shade = np.ones(n)

    @property
    def bind(self) -> Floats:
        """Splat centres in bind space [N,3]."""
        return at(self.mesh.vertices.bind, self.mesh.faces, self.triangle, self.bary)

    def value(self, per_vertex: Floats) -> Floats:
        """Interpolated vertex values."""
        return at(per_vertex, self.mesh.faces, self.triangle, self.bary)

    def keep(self, mask: Floats) -> None:
        """Drops the splats where ``mask`` is false."""
        for name in ("triangle", "bary", "albedo", "gloss", "opacity", "tilt", "shade"):
            setattr(self, name, getattr(self, name)[mask])
        self.materials = {k: v[mask] for k, v in self.materials.items()}
        if self.shading_normal is not None:
            self.shading_normal = self.shading_normal[mask]

    def local_normals(self) -> Floats:
        """Shading normals in each triangle's frame [N,3]."""
        v, f = self.mesh.vertices, self.mesh.faces
        bind_frames = frames(v.bind, f)[self.triangle]
        if self.shading_normal is not None:
            local = np.einsum("nij,ni->nj", bind_frames, self.shading_normal)
        else:
            n = unit(self.value(normals(v.rest, f)))
            local = np.einsum("nij,ni->nj", frames(v.rest, f)[self.triangle], n)
        tilt = np.einsum("nij,ni->nj", bind_frames, self.tilt)
        tilt -= (tilt * local).sum(1, keepdims=True) * local
        return unit(local - tilt)


def tile(name: str, mesh: Mesh, cell: Floats | float, material: str) -> Surface:
    """A surface whose splats cover about ``cell`` m² each (a number, or one per triangle)."""
    n = subdivisions(areas(mesh.vertices.rest, mesh.faces), cell)
    triangle, bary = cells(n)
    return Surface(name, mesh, n, triangle, bary, material)


@dataclass
class Strands:
    """Elongated splats that hang on triangles of a surface (hair, brows, lashes), in bind space.

    Attributes:
        name: of the part.
        surface: name of the surface part whose triangles carry them.
        triangle: index into that part's mesh [N].
        centre: [N,3]. axis: one standard deviation along the strand [N,3]. width: across [N].
        normal: shading normal, away from the head [N,3].
        albedo: linear light [N,3]. gloss, opacity: [N].
    """

    name: str
    surface: str
    material: str
    triangle: Ints
    centre: Floats
    axis: Floats
    width: Floats
    normal: Floats
    albedo: Floats
    opacity: Floats
    gloss: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.gloss = np.ones(len(self.triangle))


def strands_joined(parts: list[Strands]) -> Strands:
    """All of ``parts`` (same surface and material) as one."""
    names = ("triangle", "centre", "axis", "width", "normal", "albedo", "opacity")
    first = parts[0]
    columns = [np.concatenate([getattr(p, n) for p in parts]) for n in names]
    return Strands(first.name, first.surface, first.material, *columns)
