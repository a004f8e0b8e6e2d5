"""Data of the color node: lights, materials, and splats grouped by material."""

from dataclasses import dataclass
from typing import Annotated, Final, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from taoxr_runtime.nnr.nodes.base import F32
from taoxr_runtime.nnr.schema import Strict, Vector

GAMMA: Final = 2.2
DECODE: Final = (np.arange(256) / 255.0) ** GAMMA
HUE_FLOOR: Final = 0.01

Unit = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(ge=0, le=1000)]
Light3 = tuple[Positive, Positive, Positive]


class Light(Strict):
    """A light at infinity; ``direction`` is a unit vector towards it."""

    direction: Vector
    color_linear: Light3

    @model_validator(mode="after")
    def _unit(self) -> Self:
        if abs(sum(x * x for x in self.direction) - 1) > 2e-3:
            raise ValueError("direction must have length 1")
        return self


class Lobe(Strict):
    """One highlight of a material."""

    strength: Positive
    shininess: Annotated[float, Field(ge=0, le=10_000)]
    shift: Annotated[float, Field(ge=-10, le=10)]
    tint: Unit


class Material(Strict):
    """How a kind of surface answers to light."""

    name: str
    wrap: tuple[Unit, Unit, Unit]
    occlusion_power: tuple[Positive, Positive, Positive]
    occlusion_floor: Unit
    shadow: Unit
    sheen: Positive
    anisotropic: bool
    lobes: Annotated[tuple[Lobe, ...], Field(max_length=3)]


class Attributes(Strict):
    """The light around the avatar and its materials."""

    sky_linear: Light3
    ground_linear: Light3
    lights: Annotated[tuple[Light, ...], Field(max_length=8)]
    materials: Annotated[tuple[Material, ...], Field(min_length=1, max_length=255)]


@dataclass(frozen=True)
class Group:
    """The splats of one material, with all that does not depend on the pose or the viewer.

    Attributes:
        material: Their material.
        index: Their places in the scene [n].
        triangle: Their triangles [n].
        normal: Unit shading normals in the triangle's frame [3, n].
        tangent: Unit strand directions there [3, n]; of an anisotropic material only.
        ambient: Albedo times occlusion [3, n].
        sheen: Sheen times occlusion [3, n]; None without sheen.
        direct: Albedo times the part of direct light that arrives [3, n].
        lobes: Strength and colour of each highlight [3, n].
    """

    material: Material
    index: NDArray[np.intp]
    triangle: NDArray[np.intp]
    normal: F32
    tangent: F32 | None
    ambient: F32
    sheen: F32 | None
    direct: F32
    lobes: tuple[F32, ...]
