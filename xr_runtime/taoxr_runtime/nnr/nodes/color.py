"""Color: lights every splat, per frame; the formulas are in docs/nnr-format.md under *Shading*.

Hair follows Kajiya and Kay, "Rendering fur with three dimensional textures" (SIGGRAPH 1989), with
shifted lobes; skin uses a diffuse term that wraps further around for red than for blue.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.nodes.base import BLOCK, F32, F64, Node, Reader, Tensors, gather
from taoxr_runtime.nnr.nodes.color_model import DECODE, HUE_FLOOR, Attributes, Group
from taoxr_runtime.nnr.nodes.shading import Shader, reference_color
from taoxr_runtime.nnr.schema import MAX_SPLATS

TENSORS: Final = {
    "albedo_srgb", "occlusion", "gloss", "material", "normal", "splat_triangle", "tangent",
}  # fmt: skip


class Color(Node):
    """``frames`` [F, 3, 3], ``means`` [N, 3], ``camera`` [3] → ``colors_srgb`` [N, 3]."""

    kind: ClassVar[str] = "color"
    per_splat: ClassVar[frozenset[str]] = frozenset(TENSORS - {"tangent"})

    def __init__(self, reader: Reader) -> None:
        reader.signature(3, 1, TENSORS)
        triangles = reader.input_shape(0, (None, 3, 3))[0]
        count = reader.input_shape(1, (None, 3))[0]
        reader.input_shape(2, (3,))
        reader.limit("inputs[1]", "N", count, 1, MAX_SPLATS)
        self.attributes = a = reader.attributes(Attributes)
        self.albedo = reader.tensor("albedo_srgb", "uint8", (count, 3))
        self.occlusion = reader.tensor("occlusion", "uint8", (count,))
        self.gloss = reader.tensor("gloss", "uint8", (count,))
        self.material = reader.indices("material", "uint8", (count,), len(a.materials))
        self.triangle = reader.indices("splat_triangle", "uint16", (count,), triangles)
        self.normal = _unit_rows(reader, "normal", reader.tensor("normal", "int8", (count, 3)))
        tangent = _unit_rows(reader, "tangent", reader.tensor("tangent", "int8", (None, 3)))
        reader.limit("tensors.tangent", "Nh", len(tangent), 0, count)
        self.tangent = np.zeros((count, 3), np.float32)
        self.tangent[count - len(tangent) :] = tangent
        anisotropic = np.array([m.anisotropic for m in a.materials])[self.material]
        if anisotropic[: count - len(tangent)].any():
            raise reader.fail(
                "tensors.material", "gives a surface splat an anisotropic material (strands only)"
            )
        self.groups = [self._group(i) for i in np.unique(self.material)]
        self._frames: F32 = np.empty((9, triangles), np.float32)
        self._to_camera: F32 = np.empty((3, count), np.float32)
        self._scratch: F32 = np.empty(9 * BLOCK, np.float32)
        self.shader = Shader(a)
        self.output_shapes = ((count, 3),)

    def _group(self, material_index: int) -> Group:
        m = self.attributes.materials[material_index]
        index = np.flatnonzero(self.material == material_index)

        albedo = DECODE[self.albedo[index].T]
        visible = self.occlusion[index] / 255.0
        o = m.occlusion_floor + (1 - m.occlusion_floor) * visible ** np.array(m.occlusion_power)[:, None]
        q = 1 - m.shadow * (1 - o)
        gloss = self.gloss[index] / 255.0
        hue = albedo / np.maximum(albedo.max(0), HUE_FLOOR)
        lobes = [gloss * q * lobe.strength * (1 - lobe.tint + lobe.tint * hue) for lobe in m.lobes]
        return Group(
            material=m,
            index=index,
            triangle=self.triangle[index],
            normal=_planes(self.normal[index].T),
            tangent=_planes(self.tangent[index].T) if m.anisotropic else None,
            ambient=_planes(albedo * o),
            sheen=_planes(m.sheen * o) if m.sheen > 0 else None,
            direct=_planes(albedo * q),
            lobes=tuple(_planes(x) for x in lobes) if gloss.any() else (),
        )

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        frames, means, camera = inputs
        (colors,) = outputs
        np.copyto(self._frames.reshape(3, 3, -1), frames.transpose(1, 2, 0))
        np.copyto(self._to_camera, means.T)
        np.subtract(camera[:, None], self._to_camera, out=self._to_camera)
        for group in self.groups:
            for start in range(0, len(group.index), BLOCK):
                block = slice(start, min(start + BLOCK, len(group.index)))
                rows = _as_range(group.index[block])
                frame = gather(self._frames, group.triangle[block], self._scratch).reshape(3, 3, -1)
                colors[rows] = self.shader.shade(group, block, frame, self._to_camera[:, rows]).T

    def thinned(
        self, attributes: Mapping[str, Any], tensors: Tensors, kept: NDArray[np.intp]
    ) -> tuple[dict[str, Any], Tensors]:
        """See `Node.thinned`."""
        attributes, thin = super().thinned(attributes, tensors, kept)
        tangent = tensors["tangent"]
        first = len(self.albedo) - len(tangent)
        thin["tangent"] = tangent[kept[kept >= first] - first]
        return attributes, thin

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`."""
        return (
            reference_color(self.attributes, self.groups, (self.albedo, self.occlusion, self.gloss), *inputs),
        )


def _as_range(index: NDArray[np.intp]) -> "slice | NDArray[np.intp]":
    """A slice where an ascending index has no holes: most materials fill whole ranges of a scene."""
    first, last = int(index[0]), int(index[-1])
    return slice(first, last + 1) if last - first + 1 == len(index) else index


def _planes(x: NDArray[Any]) -> F32:
    return np.ascontiguousarray(x, np.float32)


def _unit_rows(reader: Reader, key: str, stored: NDArray[Any]) -> F32:
    rows = stored.astype(np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if (length < 1).any():
        raise reader.fail(
            f"tensors.{key}", f"row {int(np.argmin(length))} is zero, expected a unit vector / 127"
        )
    return rows / length[:, None]
