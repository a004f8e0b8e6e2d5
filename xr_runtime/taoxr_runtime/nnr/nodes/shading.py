"""The shading formulas of the color node: in float32 by blocks, and plainly in float64."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.nodes.base import F32, F64
from taoxr_runtime.nnr.nodes.color_model import GAMMA, HUE_FLOOR, Attributes, Group, Lobe, Material

_TINY: Final = np.float32(1e-12)
_LEAST_LOG: Final = 60.0
_LEAST_BASE: Final = 1e-12


class Shader:
    """Lights blocks of splats of one material.

    Uses ``n·h = (n·l + n·v) / |l + v|`` and ``|l + v|² = 2 + 2 l·v``, so that no half vector is ever made.
    """

    def __init__(self, attributes: Attributes) -> None:
        self.directions: F32 = np.array([li.direction for li in attributes.lights], np.float32).reshape(-1, 3)
        self.colors: F32 = np.array([li.color_linear for li in attributes.lights], np.float32).reshape(-1, 3)
        sky, ground = np.array(attributes.sky_linear), np.array(attributes.ground_linear)
        # The hemisphere as base + slope · n.y
        self.base = ((sky + ground) / 2).astype(np.float32)[:, None]
        self.slope = ((sky - ground) / 2).astype(np.float32)[:, None]

    def shade(self, group: Group, block: slice, frame: F32, offset: F32) -> F32:
        """Colours of a block.

        Args:
            group: Its material and constants.
            block: Its part of the group.
            frame: Frames of its triangles [3, 3, n].
            offset: Camera minus means [3, n].

        Returns:
            sRGB-encoded colours [3, n].
        """
        n = _rotate(frame, group.normal[:, block])
        v = offset * _inverse_root(_dot(offset, offset))
        n_v = _dot(n, v)

        hemisphere = self.slope * n[1]
        hemisphere += self.base
        color = group.ambient[:, block].copy()
        if group.sheen is not None:
            edge = 1 - np.clip(n_v, 0, 1)
            edge *= edge
            edge *= edge
            color += group.sheen[:, block] * edge
        color *= hemisphere
        if len(self.directions):
            self._add_lights(color, group, block, frame, n, v, n_v)
        return _power(color, 1 / GAMMA)

    def _add_lights(
        self, color: F32, group: Group, block: slice, frame: F32, n: F32, v: F32, n_v: F32
    ) -> None:
        n_l: F32 = self.directions @ n  # [lights, n]
        wraps = group.material.wrap
        diffuse = [_wrapped(n_l, w) for w in wraps] if len(set(wraps)) > 1 else [_wrapped(n_l, wraps[0])] * 3
        inverse_h = _inverse_root(2 + 2 * (self.directions @ v))
        n_h: F32 = (n_l + n_v) * inverse_h
        if group.tangent is None:
            self._add_diffuse(color, group, block, diffuse)
            for lobe, tinted in zip(group.material.lobes, group.lobes, strict=False):
                highlight = _power(n_h.copy(), lobe.shininess)
                highlight *= np.clip(4 * n_l, 0, 1)
                color += tinted[:, block] * (self.colors.T @ highlight)
            return

        t = _rotate(frame, group.tangent[:, block])
        t_l: F32 = self.directions @ t
        across = np.sqrt(np.maximum(1 - t_l * t_l, 0))
        self._add_diffuse(color, group, block, [d * across for d in diffuse])
        facing = (diffuse[0] + diffuse[1] + diffuse[2]) * np.float32(1 / 3)
        t_h: F32 = (t_l + _dot(t, v)) * inverse_h
        t_n = _dot(t, n)
        for lobe, tinted in zip(group.material.lobes, group.lobes, strict=False):
            s = np.float32(lobe.shift)
            along = np.multiply(t_h + s * n_h, _inverse_root(1 + s * s + 2 * s * t_n))
            highlight = _power(1 - along * along, lobe.shininess / 2)
            highlight *= facing
            color += tinted[:, block] * (self.colors.T @ highlight)

    def _add_diffuse(self, color: F32, group: Group, block: slice, weights: list[F32]) -> None:
        for c in range(3):
            color[c] += group.direct[c, block] * (self.colors[:, c] @ weights[c])


def reference_color(
    attributes: Attributes,
    groups: list[Group],
    tables: "tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]",
    frames: F64,
    means: F64,
    camera: F64,
) -> F64:
    """The format's formulas, splat by splat in float64: colours [N, 3]."""
    result = np.zeros_like(means)
    albedo, occlusion, gloss = (t / 255.0 for t in tables)
    sky, ground = np.array(attributes.sky_linear), np.array(attributes.ground_linear)
    for group in groups:
        i, m = group.index, group.material
        R = frames[group.triangle]
        A = albedo[i] ** GAMMA
        n = _unit(np.einsum("nij,jn->ni", R, group.normal.astype(np.float64)))
        t = None
        if group.tangent is not None:
            t = _unit(np.einsum("nij,jn->ni", R, group.tangent.astype(np.float64)))
        v = _unit(camera - means[i])
        o = m.occlusion_floor + (1 - m.occlusion_floor) * occlusion[i, None] ** np.array(m.occlusion_power)
        a = ground + (sky - ground) * (n[:, 1:2] + 1) / 2
        q = 1 - m.shadow * (1 - o)
        diffuse, specular = np.zeros_like(A), np.zeros_like(A)
        for light in attributes.lights:
            direct, highlights = _light(m, np.array(light.direction), n, t, v, A)
            diffuse += np.array(light.color_linear) * direct * q
            specular += np.array(light.color_linear) * highlights * q
        rim = (1 - np.clip(np.sum(n * v, 1, keepdims=True), 0, 1)) ** 4
        C = A * (a * o + diffuse) + gloss[i, None] * specular + m.sheen * rim * a * o
        result[i] = np.clip(C, 0, 1) ** (1 / GAMMA)
    return result


def _light(m: Material, light: F64, n: F64, t: F64 | None, v: F64, A: F64) -> tuple[F64, F64]:
    """Diffuse and specular answer [n, 3] to a white light, for the reference."""
    n_l = (n @ light)[:, None]
    wrap = np.array(m.wrap)
    d = np.clip((n_l + wrap) / (1 + wrap), 0, 1)
    h = _unit(light + v)

    def tint(lobe: Lobe) -> F64:
        hue = A / np.maximum(A.max(1, keepdims=True), HUE_FLOOR)
        return lobe.strength * (1 - lobe.tint + lobe.tint * hue)

    specular = np.zeros_like(A)
    for lobe in m.lobes:
        if t is None:
            e = np.clip(np.sum(n * h, 1, keepdims=True), 0, 1)
            f = np.clip(4 * n_l, 0, 1)
        else:
            u = _unit(t + lobe.shift * n)
            e = np.sqrt(np.maximum(1 - np.sum(u * h, 1, keepdims=True) ** 2, 0))
            f = d.mean(1, keepdims=True)
        specular += tint(lobe) * e**lobe.shininess * f
    if t is not None:
        d = d * np.sqrt(np.maximum(1 - (t @ light)[:, None] ** 2, 0))
    return d, specular


def _rotate(frame: F32, vector: F32) -> F32:
    """Products of matrices [3, 3, n] and vectors [3, n]."""
    result = frame[:, 0] * vector[0]
    result += frame[:, 1] * vector[1]
    result += frame[:, 2] * vector[2]
    return result


def _inverse_root(x: F32) -> F32:
    return np.reciprocal(np.sqrt(np.maximum(x, _TINY)))


def _wrapped(n_l: F32, wrap: float) -> F32:
    d = n_l + np.float32(wrap)
    d *= np.float32(1 / (1 + wrap))
    return np.clip(d, 0, 1, out=d)


def _power(base: F32, exponent: float) -> F32:
    """``clip(base, 0, 1) ** exponent`` in place.

    By log and exp, which NumPy vectorises on every x86 (power only with AVX-512), and with the base kept
    so far above 0 that the result stays a normal number: zeros and denormals take the slow way, up to
    fifty times slower. What this adds to the result is under 4e-6.
    """
    least = math.exp(-_LEAST_LOG / exponent) if exponent > 1 else _LEAST_BASE
    np.clip(base, np.float32(least), np.float32(1), out=base)
    np.log(base, out=base)
    base *= np.float32(exponent)
    return np.exp(base, out=base)


def _dot(a: F32, b: F32) -> F32:
    return np.einsum("kn,kn->n", a, b)


def _unit(rows: F64) -> F64:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)
