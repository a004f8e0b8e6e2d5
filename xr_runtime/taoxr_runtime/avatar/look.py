"""Materials and lights of the avatar, in the terms of the `color` node (docs/nnr-format.md, Shading)."""

from typing import Any

import numpy as np


def _lobe(strength: float, shininess: float, shift: float = 0.0, tint: float = 0.0) -> dict[str, float]:
    return {"strength": strength, "shininess": shininess, "shift": shift, "tint": tint}


def _material(
    name: str,
    wrap: tuple[float, float, float],
    lobes: list[dict[str, float]],
    *,
    occlusion_power: tuple[float, float, float] = (1.0, 1.0, 1.0),
    occlusion_floor: float = 0.0,
    shadow: float = 0.65,
    sheen: float = 0.0,
    anisotropic: bool = False,
) -> dict[str, Any]:
    return {
        "name": name,
        "wrap": list(wrap),
        "occlusion_power": list(occlusion_power),
        "occlusion_floor": occlusion_floor,
        "shadow": shadow,
        "sheen": sheen,
        "anisotropic": anisotropic,
        "lobes": lobes,
    }


# Light scatters under skin, red farthest: the terminator is soft and red, and creases do not go black.
_SKIN_WRAP = (0.44, 0.31, 0.26)
_SKIN_OCCLUSION = (0.75, 1.0, 1.05)

MATERIALS: list[dict[str, Any]] = [
    _material(
        "skin", _SKIN_WRAP, [_lobe(0.16, 12), _lobe(0.26, 55)], occlusion_power=_SKIN_OCCLUSION, sheen=0.05
    ),
    _material("scalp", (0.3, 0.3, 0.3), []),
    _material("mouth", (0.6, 0.5, 0.5), [_lobe(0.22, 40)], occlusion_floor=0.55, shadow=0.5),
    # Teeth are lit as if open: their occlusion was measured with the mouth shut.
    _material("teeth", (0.8, 0.8, 0.8), [_lobe(0.22, 60)], occlusion_floor=0.80, shadow=0.4),
    _material("eye", (0.9, 0.9, 0.9), [_lobe(3.0, 110), _lobe(0.05, 20)], occlusion_floor=0.45, shadow=0.35),
    _material("cloth", (0.20, 0.20, 0.20), [], sheen=0.14),
    _material("denim", (0.15, 0.15, 0.15), [_lobe(0.02, 8)], sheen=0.10),
    _material("shoe", (0.15, 0.15, 0.15), [_lobe(0.03, 12)], sheen=0.06),
    _material("rubber", (0.2, 0.2, 0.2), [_lobe(0.06, 18)]),
    # First lobe: light off the surface; the second, tinted, has been through the hair (Marschner 2003).
    _material(
        "hair",
        (0.35, 0.35, 0.35),
        [_lobe(0.075, 90, -0.10), _lobe(0.16, 26, 0.12, 1.0)],
        anisotropic=True,
        shadow=0.75,
    ),
    _material(
        "brow",
        (0.6, 0.6, 0.6),
        [_lobe(0.03, 30, 0.0, 0.5)],
        anisotropic=True,
        shadow=0.2,
        occlusion_floor=0.4,
    ),
    _material("lash", (0.6, 0.6, 0.6), [], anisotropic=True, shadow=0.2, occlusion_floor=0.4),
]
INDEX = {m["name"]: i for i, m in enumerate(MATERIALS)}


def _direction(x: float, y: float, z: float) -> list[float]:
    d = np.array([x, y, z])
    return [float(v) for v in np.round(d / np.linalg.norm(d), 6)]


def colour_attributes() -> dict[str, Any]:
    """Attributes of the `color` node: a warm key from the upper left, cool fill, rim from behind."""
    return {
        "sky_linear": [0.44, 0.445, 0.465],
        "ground_linear": [0.30, 0.245, 0.22],
        "lights": [
            {"direction": _direction(-0.55, 0.62, 0.80), "color_linear": [1.06, 0.99, 0.90]},
            {"direction": _direction(0.85, 0.15, 0.45), "color_linear": [0.26, 0.26, 0.28]},
            {"direction": _direction(0.35, 0.5, -0.9), "color_linear": [0.24, 0.25, 0.27]},
        ],
        "materials": MATERIALS,
    }
