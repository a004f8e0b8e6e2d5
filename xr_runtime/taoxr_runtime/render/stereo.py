"""Two eyes on one screen: their views, and their pictures side by side or through coloured glasses."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.render import gl, objects
from taoxr_runtime.render.camera import View
from taoxr_runtime.render.targets import WindowTarget

Stereo = Literal["off", "sbs", "anaglyph"]
"""One eye; left and right eye side by side; both in one picture, for red-cyan glasses."""
Picture = NDArray[np.uint8]

EYE_DISTANCE_M: Final = 0.063
RED_CYAN: Final = np.array(
    [
        [[0.437, 0.449, 0.164], [-0.062, -0.062, -0.024], [-0.048, -0.050, -0.017]],
        [[-0.011, -0.032, -0.007], [0.377, 0.761, 0.009], [-0.026, -0.093, 1.234]],
    ]
)
"""What the left and the right eye's light, linear RGB, add to the picture's.

Least squares in CIE XYZ of a screen's primaries seen through each filter: Dubois, "A projection method to
generate anaglyph stereo images" (ICASSP 2001), with the author's numbers for red-cyan. Plain red of the left
and cyan of the right picture would let more of each eye's picture through to the other."""


def pair(view: View, distance: float) -> tuple[View, View]:
    """The left and the right eye of a viewer.

    Args:
        view: From midway between the eyes.
        distance: Of what has no disparity, straight ahead, metres: what lies there appears on the screen.

    Returns:
        Parallel eyes, `EYE_DISTANCE_M` apart, whose frustums are skewed to meet at that distance.
    """
    left, right = (_eye(view, shift, distance) for shift in (-EYE_DISTANCE_M / 2, EYE_DISTANCE_M / 2))
    return left, right


def side_by_side(left: Picture, right: Picture) -> Picture:
    """One picture [H, 2 W, ...] of two [H, W, ...]."""
    return np.concatenate([left, right], axis=1)


def anaglyph(left: Picture, right: Picture) -> Picture:
    """One picture for red-cyan glasses; the twin of `Anaglyph`.

    Args:
        left: uint8 [H, W, 3], sRGB-encoded, opaque.
        right: The same.

    Returns:
        uint8 [H, W, 3], sRGB-encoded.
    """
    light = sum(_decoded(eye / 255.0) @ matrix.T for eye, matrix in zip((left, right), RED_CYAN, strict=True))
    return np.round(255.0 * _encoded(np.clip(light, 0, 1))).astype(np.uint8)


class Anaglyph:
    """The pass that puts both eyes' pictures on a window; needs a current context.

    Raises:
        GlError: The driver refuses a shader.
    """

    def __init__(self) -> None:
        self._program = objects.Program("present.vert", "anaglyph.frag")
        self._vertices = objects.VertexArray()
        for eye, matrix in zip(("left", "right"), RED_CYAN, strict=True):
            for row, weights in enumerate(matrix.tolist()):
                self._program.set(f"{eye}_weights[{row}]", *weights)

    def present(self, textures: tuple[int, int], target: WindowTarget) -> None:
        """Draw the whole of a target.

        Args:
            textures: OpenGL's names of the left and the right eye's pictures, sRGB-encoded and opaque, row 0
                at the bottom, of any one size.
            target: What to draw on.
        """
        g = gl.gl()
        with gl.borrowed():
            g.glBindFramebuffer(g.GL_DRAW_FRAMEBUFFER, 0)
            g.glViewport(target.x, target.y, target.width, target.height)
            gl.overwrite()
            gl.encode_srgb_formats(False)
            for unit, texture in enumerate(textures):
                g.glBindTextureUnit(unit, texture)
            self._program.set("origin", target.x, target.y)
            self._program.set("size", target.width, target.height)
            self._program.use()
            self._vertices.draw_triangles()

    def release(self) -> None:
        """Delete everything from the GPU."""
        self._vertices.release()
        self._program.release()


def _eye(view: View, shift: float, distance: float) -> View:
    pose, projection = view.world_to_view.copy(), view.projection.copy()
    pose[0, 3] -= shift
    projection[0, 2] -= projection[0, 0] * shift / distance
    return replace(view, world_to_view=pose, projection=projection)


def _decoded(srgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """IEC 61966-2-1."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _encoded(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
