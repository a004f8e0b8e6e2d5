"""The color node as a compute program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.gl.kernels import PerEye, Value, as_array, as_buffer, dispatch
from taoxr_runtime.nnr.nodes.color import Color
from taoxr_runtime.nnr.nodes.color_model import Material
from taoxr_runtime.render import objects

_MAX_LOBES = 3


class GlColor(PerEye):
    """Twin of `Color`."""

    def __init__(self, node: Color, first: int, pooled: int) -> None:
        super().__init__()
        self._count = node.output_shapes[0][0]
        self._program = self.program("nnr_color.comp")
        self._looks = self.constant(_looks(node))
        self._materials = self.constant(np.stack([_packed(m) for m in node.attributes.materials]))
        a, program = node.attributes, self._program
        program.set_uint("count", self._count)
        program.set_uint("first", first)
        program.set_uint("pooled", pooled)
        program.set("sky", *a.sky_linear)
        program.set("ground", *a.ground_linear)
        program.set_uint("light_count", len(a.lights))
        for i, light in enumerate(a.lights):
            program.set(f"directions[{i}]", *light.direction)
            program.set(f"light_colors[{i}]", *light.color_linear)

    def run(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """See `Kernel.run`."""
        frames, means, colors = (as_buffer(value) for value in (*inputs[:2], outputs[0]))
        self.show_to(self._program, as_array(inputs[2]))
        objects.bind_storage(0, frames, means, self._looks, self._materials, colors)
        dispatch(self._program, self._count)


def _looks(node: Color) -> NDArray[np.uint32]:
    """Four words a splat: albedo and occlusion, normal and gloss, tangent and material, triangle."""
    count = len(node.albedo)
    words = np.empty((count, 4), np.uint32)
    bytes_ = words.view(np.uint8).reshape(count, 16)
    bytes_[:, 0:3], bytes_[:, 3] = node.albedo, node.occlusion
    bytes_[:, 4:7] = np.round(node.normal * 127).astype(np.int8).view(np.uint8)
    bytes_[:, 7] = node.gloss
    bytes_[:, 8:11] = np.round(node.tangent * 127).astype(np.int8).view(np.uint8)
    bytes_[:, 11] = node.material
    words[:, 3] = node.triangle
    return words


def _packed(material: Material) -> NDArray[np.float32]:
    """A material as the shader's structure has it."""
    rows = np.zeros((3 + _MAX_LOBES, 4), np.float32)
    rows[0] = *material.wrap, material.sheen
    rows[1] = *material.occlusion_power, material.occlusion_floor
    rows[2, :3] = material.shadow, material.anisotropic, len(material.lobes)
    for row, lobe in zip(rows[3:], material.lobes, strict=False):
        row[:] = lobe.strength, lobe.shininess, lobe.shift, lobe.tint
    return rows
