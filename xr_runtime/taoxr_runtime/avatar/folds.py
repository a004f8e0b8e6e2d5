"""Folds of the clothes, laid by hand: strokes along which fabric is pulled, as a height over the cloth.

The drape gives the large shape; its mesh is too coarse for creases, and which creases a garment has depends
on how it was sewn and worn. A stroke runs between two points in bind space; across it the height is a crest
between two shallow valleys, along it a crest that tapers off.
"""

from dataclasses import dataclass

import numpy as np

from .fields import Floats, noise
from .pattern import Pattern


@dataclass(frozen=True)
class Stroke:
    """A crease from ``a`` to ``b`` [3], ``width`` across and ``height`` at its middle (metres)."""

    a: Floats
    b: Floats
    width: float
    height: float


class _Hand:
    """Draws strokes on both sides of the body, each a little off, always the same way."""

    def __init__(self, seed: int) -> None:
        self.strokes: list[Stroke] = []
        self._rng = np.random.default_rng(seed)

    def draw(self, start: Floats, along: tuple[float, float, float], width: float, height: float) -> None:
        """A stroke from ``start`` by ``along`` (left side of the body), and its mirror image."""
        for side in (1.0, -1.0):
            a, b = (p + 0.008 * self._rng.normal(size=3) for p in (start, start + np.array(along)))
            mirror = np.array([side, 1.0, 1.0])
            self.strokes.append(Stroke(a * mirror, b * mirror, width, height))


def shirt(pattern: Pattern) -> list[Stroke]:
    """Pull from the armpits, slack at the waist, bends of the sleeves."""
    hand = _Hand(3)
    shoulder, elbow = pattern.body.head("upperarm01.L"), pattern.body.head("lowerarm01.L")
    pit = shoulder + np.array([-0.015, -0.075, 0.0])
    for front in (1.0, -1.0):
        for k, (across, down) in enumerate(((0.055, 0.10), (0.085, 0.19), (0.10, 0.30))):
            start = pit + np.array([0.01, -0.02 - 0.025 * k, 0.09 * front])
            hand.draw(start, (-across, -down, 0.03 * front), 0.014, 0.0042)
        for k in range(4):
            start = np.array([pit[0] - 0.005, pattern.hip + 0.055 + 0.050 * k, 0.03 * front])
            hand.draw(start, (-0.075 - 0.010 * k, -0.030 + 0.012 * k, 0.10 * front), 0.012, 0.0040)
    for t, z in ((0.16, 0.03), (0.30, -0.02), (0.42, 0.035)):
        start = shoulder + t * (elbow - shoulder) + np.array([-0.02, -0.06, z])
        hand.draw(start, (0.09, 0.095, -2 * z), 0.012, 0.0032)
    return hand.strokes


def trousers(pattern: Pattern) -> list[Stroke]:
    """Whiskers from the crotch, creases beside the knees, slack over the shoes."""
    hand = _Hand(5)
    body, hip, knee, ankle = pattern.body, pattern.hip, pattern.knee, pattern.ankle
    thigh, shin, foot = body.head("upperleg02.L"), body.head("lowerleg01.L"), body.head("foot.L")
    for k in range(4):
        start = np.array([0.015, hip - 0.085 - 0.022 * k, 0.075])
        hand.draw(start, (0.085 + 0.012 * k, 0.040 - 0.030 * k, -0.01), 0.011, 0.0040)
    for k in range(5):
        start = np.array([shin[0] - 0.06, knee + 0.087 - 0.036 * k, shin[2] - 0.03])
        hand.draw(start, (0.115, -0.030, -0.02 if k % 2 else 0.06), 0.013, 0.0042)
    for k in range(6):
        front = 1.0 if k % 2 else -1.0
        start = np.array([foot[0] - 0.055, ankle + 0.015 + 0.030 * k + 0.012 * front, foot[2] + 0.02 * front])
        hand.draw(start, (0.11, -0.024 * front, 0.035 * front), 0.011, 0.0048)
    hand.draw(np.array([thigh[0] - 0.05, (hip + knee) / 2 + 0.10, 0.05]), (0.08, -0.16, 0.04), 0.016, 0.0030)
    return hand.strokes


def height(strokes: list[Stroke], p: Floats) -> Floats:
    """Height of all strokes at bind points [N,3] → [N], metres."""
    # Depth counts a quarter, so that a stroke drawn near the cloth lies on it, but not on the far side.
    flat = np.array([1.0, 1.0, 0.25])
    bent = p + 0.010 * np.stack([noise(p, 0.055, 80 + k) for k in range(3)], 1)
    total = np.zeros(len(p))
    for s in strokes:
        ab = (s.b - s.a) * flat
        t = ((bent - s.a) * flat) @ ab / (ab @ ab)
        near = np.flatnonzero((t > -0.3) & (t < 1.3))
        u = np.clip(t[near], 0, 1)
        x = np.linalg.norm((bent[near] - s.a) * flat - u[:, None] * ab, axis=1) / s.width
        taper = np.sin(np.pi * np.clip(0.15 + 0.75 * u, 0, 1)) ** 1.2
        # The second derivative of a Gaussian: a crest with a valley on either side.
        total[near] += s.height * taper * (1 - 0.8 * x**2) * np.exp(-0.5 * x**2)
    return total


def gradient(strokes: list[Stroke], p: Floats, step: float = 0.0015) -> Floats:
    """Gradient of ``height`` [N,3] by finite differences."""
    h = height(strokes, p)
    return np.stack([(height(strokes, p + step * np.eye(3)[a]) - h) / step for a in range(3)], 1)
