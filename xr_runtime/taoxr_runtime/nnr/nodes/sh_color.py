"""Color by spherical harmonics: what the cameras saw, by direction, in the frame of each splat's triangle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Final, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field as Limits

from taoxr_runtime.nnr.nodes.base import BLOCK, F32, F64, Node, Reader
from taoxr_runtime.nnr.nodes.color_model import GAMMA
from taoxr_runtime.nnr.schema import MAX_SPLATS, Strict

SIZES: Final = (1, 4, 9, 16)
"""Coefficients of degrees 0 to 3."""
TFloat = TypeVar("TFloat", np.float32, np.float64)
Factor = Annotated[float, Limits(ge=-1000, le=1000)]
Irradiance = Annotated[tuple[tuple[Factor, Factor, Factor], ...], Limits(min_length=9, max_length=9)]


class Attributes(Strict):
    """How splats answer to light that was not there when they were captured.

    Attributes:
        irradiance: Nine coefficients of spherical harmonics, red, green and blue each, in model axes: by how
            much light that falls on a normal is brighter than at capture (1 in the first, divided by the
            constant harmonic, changes nothing). Degree 2 holds the light of a whole environment (Ramamoorthi
            and Hanrahan, "An efficient representation for irradiance environment maps", SIGGRAPH 2001).
            None: as captured.
    """

    irradiance: Irradiance | None


class ShColor(Node):
    """``frames`` [F, 3, 3], ``means``, ``compensation`` [N, 3], ``camera`` [3] → ``colors_srgb`` [N, 3]."""

    kind: ClassVar[str] = "sh_color"
    per_splat: ClassVar[frozenset[str]] = frozenset({"sh", "splat_triangle", "normal"})

    def __init__(self, reader: Reader) -> None:
        self.attributes = reader.attributes(Attributes)
        relit = self.attributes.irradiance is not None
        reader.signature(4, 1, {"sh", "splat_triangle"} | ({"normal"} if relit else set()))
        triangles = reader.input_shape(0, (None, 3, 3))[0]
        count = reader.input_shape(1, (None, 3))[0]
        reader.limit("inputs[1]", "N", count, 1, MAX_SPLATS)
        reader.input_shape(2, (count, 3))
        reader.input_shape(3, (3,))
        self.triangle = reader.indices("splat_triangle", "uint16", (count,), triangles)
        stored = reader.tensor("sh", "float16", (count, None, 3))
        if stored.shape[1] not in SIZES:
            raise reader.fail("tensors.sh", f"has {stored.shape[1]} coefficients, expected one of {SIZES}")
        self.sh: F32 = np.ascontiguousarray(stored.transpose(1, 2, 0), np.float32)
        """Coefficients [K, 3, N]."""
        reader.lengths("sh", self.sh)
        self.normal: F32 | None = None
        """Unit shading normals in the triangle's frame [3, N], where splats are relit."""
        if relit:
            rows = reader.tensor("normal", "int8", (count, 3)).astype(np.float32)
            length = np.sqrt((rows * rows).sum(1))
            if (length < 1).any():
                raise reader.fail("tensors.normal", f"row {int(np.argmin(length))} is zero")
            self.normal = np.ascontiguousarray((rows / length[:, None]).T)
        self.irradiance: F32 = np.array(self.attributes.irradiance or np.zeros((9, 3)), np.float32)
        self.output_shapes = ((count, 3),)

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        frames, means, compensation, camera = inputs
        for start in range(0, len(means), BLOCK):
            block = slice(start, start + BLOCK)
            frame = frames[self.triangle[block]].transpose(1, 2, 0)
            color = self._shade(block, frame, (means[block] - camera).T, compensation[block].T)
            outputs[0][block] = color.T

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`."""
        frames, means, compensation, camera = inputs
        frame = frames[self.triangle].transpose(1, 2, 0)
        return (self._shade(slice(None), frame, (means - camera).T, compensation.T).T,)

    def _shade(
        self,
        block: slice,
        frame: NDArray[TFloat],
        offset: NDArray[TFloat],
        compensation: NDArray[TFloat],
    ) -> NDArray[TFloat]:
        """Colours [3, n], from frames [3, 3, n] and the way from the camera to each splat [3, n]."""
        away = offset / np.sqrt(np.maximum(np.einsum("xn,xn->n", offset, offset), 1e-12))
        local = np.einsum("xkn,xn->kn", frame, away)
        sh = self.sh[:, :, block].astype(offset.dtype, copy=False)
        color = np.einsum("kn,kcn->cn", harmonics(local, len(sh)), sh) + 0.5 + compensation
        color = np.clip(color, 0, 1)
        if self.normal is None:
            return color.astype(offset.dtype, copy=False)
        world = np.einsum("xkn,kn->xn", frame, self.normal[:, block].astype(offset.dtype, copy=False))
        light = self.irradiance.T.astype(offset.dtype, copy=False) @ harmonics(world, 9)
        lit = color ** np.asarray(GAMMA, offset.dtype) * np.maximum(light, 0)
        return np.clip(lit, 0, 1) ** np.asarray(1 / GAMMA, offset.dtype)


def harmonics(direction: NDArray[TFloat], count: int) -> NDArray[TFloat]:
    """Real spherical harmonics of unit directions [3, n], as [count, n]; count is 1, 4, 9 or 16.

    In the order and with the signs of 3D Gaussian Splatting (Kerbl et al., SIGGRAPH 2023): within a degree by
    rising order, odd orders negative.
    """
    x, y, z = direction
    rows = [np.ones_like(x) * C0]
    if count > 1:
        rows += [-C1 * y, C1 * z, -C1 * x]
    if count > 4:
        xx, yy, zz = x * x, y * y, z * z
        rows += [C2 * x * y, -C2 * y * z, C20 * (2 * zz - xx - yy), -C2 * x * z, C2 / 2 * (xx - yy)]
        if count > 9:
            rows += [
                -C33 * y * (3 * xx - yy), C32 * x * y * z, -C31 * y * (4 * zz - xx - yy),
                C30 * z * (2 * zz - 3 * xx - 3 * yy), -C31 * x * (4 * zz - xx - yy),
                C32 / 2 * z * (xx - yy), -C33 * x * (xx - 3 * yy),
            ]  # fmt: skip
    return np.stack(rows).astype(direction.dtype, copy=False)


# Plain floats, so that they leave float32 as it is.
C0: Final = float(np.sqrt(1 / (4 * np.pi)))
C1: Final = float(np.sqrt(3 / (4 * np.pi)))
C2: Final = float(np.sqrt(15 / (4 * np.pi)))
C20: Final = float(np.sqrt(5 / (16 * np.pi)))
C30: Final = float(np.sqrt(7 / (16 * np.pi)))
C31: Final = float(np.sqrt(21 / (32 * np.pi)))
C32: Final = float(np.sqrt(105 / (4 * np.pi)))
C33: Final = float(np.sqrt(35 / (32 * np.pi)))
