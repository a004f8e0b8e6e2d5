"""A static cloud of splats whose colours depend on the direction that they are seen from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taoxr.errors import InvalidInputError
from taoxr_runtime.nnr.nodes.sh_color import harmonics as basis
from taoxr_runtime.nnr.nodes.skinning import rotations
from taoxr_runtime.splat_files import harmonics
from taoxr_runtime.splats import Splats, upper

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """N splats; metres, right-handed, +Y up.

    Attributes:
        means: float32 [N, 3], centres.
        rotations: float32 [N, 4], unit quaternions (x, y, z, w) that turn the splat's axes to the cloud's.
        sigmas: float32 [N, 3], standard deviations along the splat's axes.
        opacities: float32 [N], alpha at the centre, 0 to 1.
        harmonics: float32 [N, K, 3], K = 1, 4, 9 or 16, coefficients of the sRGB-encoded colour less 0.5.

    Raises:
        InvalidInputError: A field has another type or shape.
    """

    means: F32
    rotations: F32
    sigmas: F32
    opacities: F32
    harmonics: F32

    def __post_init__(self) -> None:
        count, terms = len(self.means), self.harmonics.shape[1] if self.harmonics.ndim == 3 else 0
        if terms not in (1, 4, 9, 16):
            raise InvalidInputError("cloud.harmonics", list(self.harmonics.shape), "[N, 1, 4, 9 or 16, 3]")
        shapes = {
            "means": (count, 3),
            "rotations": (count, 4),
            "sigmas": (count, 3),
            "opacities": (count,),
            "harmonics": (count, terms, 3),
        }
        for field, shape in shapes.items():
            array: F32 = getattr(self, field)
            if array.dtype != np.float32 or array.shape != shape:
                found = f"{array.dtype} {list(array.shape)}"
                raise InvalidInputError(f"cloud.{field}", found, f"float32 {list(shape)}")

    def __len__(self) -> int:
        return len(self.means)

    @property
    def degree(self) -> int:
        """Degree of the spherical harmonics, 0 to 3."""
        return round(self.harmonics.shape[1] ** 0.5) - 1

    @property
    def covariances(self) -> F32:
        """float32 [N, 6], upper triangles (xx, xy, xz, yy, yz, zz) in square metres."""
        axes = rotations(self.rotations.astype(np.float64)) * self.sigmas.astype(np.float64)[:, None, :]
        return upper(axes @ axes.transpose(0, 2, 1)).astype(np.float32)

    def colors_srgb(self, camera: ArrayLike) -> F32:
        """Colours as seen from a point, float32 [N, 3], sRGB-encoded, 0 to 1.

        Args:
            camera: [3], metres.
        """
        away = self.means.astype(np.float64) - np.asarray(camera, np.float64)
        away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12)
        values = basis(away.T, self.harmonics.shape[1])
        color = np.einsum("kn,nkc->nc", values, self.harmonics.astype(np.float64)) + 0.5
        return np.clip(color, 0, 1).astype(np.float32)

    def splats(self, camera: ArrayLike) -> Splats:
        """What the renderer draws for a viewer at a point."""
        return Splats(self.means, self.covariances, self.opacities, self.colors_srgb(camera))

    def moved(self, rotation: F64, scale: float = 1.0, shift: ArrayLike = (0.0, 0.0, 0.0)) -> Cloud:
        """The cloud turned about the origin, then scaled, then shifted; its colours turn with it.

        Args:
            rotation: float64 [3, 3], a rotation.
            scale: Factor on all lengths.
            shift: [3], metres.
        """
        means = self.means.astype(np.float64) @ rotation.T * scale + np.asarray(shift, np.float64)
        return Cloud(
            means.astype(np.float32),
            product(quaternion(rotation), self.rotations),
            self.sigmas * np.float32(scale),
            self.opacities,
            harmonics.turned(self.harmonics, rotation),
        )

    def taken(self, kept: NDArray[np.intp] | NDArray[np.bool_]) -> Cloud:
        """Some of the splats, by number or by mask."""
        return Cloud(
            self.means[kept],
            self.rotations[kept],
            self.sigmas[kept],
            self.opacities[kept],
            self.harmonics[kept],
        )

    def cut(self, degree: int) -> Cloud:
        """Without the harmonics over a degree."""
        terms = harmonics.count(min(degree, self.degree))
        return Cloud(self.means, self.rotations, self.sigmas, self.opacities, self.harmonics[:, :terms])


def quaternion(rotation: F64) -> F64:
    """The quaternion (x, y, z, w) of a rotation [3, 3].

    It is the eigenvector of Bar-Itzhack's matrix ("New method for extracting the quaternion from a
    rotation matrix", 2000), which no rotation makes ill-conditioned.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rotation
    matrix = np.array(
        [
            [xx - yy - zz, xy + yx, xz + zx, zy - yz],
            [xy + yx, yy - xx - zz, yz + zy, xz - zx],
            [xz + zx, yz + zy, zz - xx - yy, yx - xy],
            [zy - yz, xz - zx, yx - xy, xx + yy + zz],
        ]
    )
    return np.linalg.eigh(matrix)[1][:, -1]


def product(first: F64, others: F32) -> F32:
    """A quaternion [4] times quaternions [N, 4], xyzw: first the right one's rotation."""
    x, y, z, w = first
    left = np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])
    return (others.astype(np.float64) @ left.T).astype(np.float32)
