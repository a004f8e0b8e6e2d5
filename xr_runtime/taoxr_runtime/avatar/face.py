"""Where the features of the head are, and the line where hair begins. Bind space."""

from dataclasses import dataclass

import numpy as np

from .anatomy import Anatomy
from .fields import Floats, smooth


@dataclass(frozen=True)
class Eye:
    """One eyeball: centre [3], radius (m), the direction it looks in at rest [3], +1 left or −1 right."""

    centre: Floats
    radius: float
    axis: Floats
    side: int


@dataclass(frozen=True)
class Face:
    """Landmarks of one head.

    Attributes:
        left, right: the eyes.
        eyes: point between the eyes [3].
        nose, lips: tip of the nose, centre of the lips [3].
        ear: points of both ears [K,3].
        ear_low, ear_high, ear_z: heights of the ears and their middle front to back.
        top: height of the crown.
        scale: size of this head relative to the one that the constants of this package were tuned on.
    """

    left: Eye
    right: Eye
    eyes: Floats
    nose: Floats
    lips: Floats
    ear: Floats
    ear_low: float
    ear_high: float
    ear_z: float
    top: float
    scale: float

    def hair(self, p: Floats) -> Floats:
        """Distance above the hairline [N], metres; positive where hair grows."""
        s = self.scale
        forward = (p[:, 2] - self.ear_z) / s
        aside = np.abs(p[:, 0]) / s
        height = (p[:, 1] - self.eyes[1]) / s
        low, high = (self.ear_low - self.eyes[1]) / s, (self.ear_high - self.eyes[1]) / s
        # The front line rises at the temples (a little receding) and turns down into the sideburns.
        front = 0.0630 + 0.007 * smooth(0.018, 0.040, aside) - 0.030 * smooth(0.047, 0.074, aside)
        side = np.interp(
            forward,
            [-0.12, -0.075, -0.03, -0.008, 0.012, 0.026, 0.036, 0.056, 0.085],
            [
                low - 0.012,
                low - 0.015,
                low - 0.002,
                low + 0.03,
                high - 0.018,
                low + 0.026,
                high + 0.014,
                0.056,
                0.062,
            ],
        )
        ahead = smooth(0.042, 0.072, forward)
        return (height - (side * (1 - ahead) + front * ahead)) * s

    def brow(self, p: Floats, eye: Eye) -> tuple[Floats, Floats, Floats]:
        """Where the eyebrow above ``eye`` is at points [N,3].

        Returns:
            Way along it [N], 0 at the nose to 1 at the temple; height above its middle line and half its
            height there [N], metres.
        """
        k = self.scale
        t = ((p[:, 0] - eye.centre[0]) * eye.side / k + 0.0185) / 0.046
        arch = (
            0.0222 - 0.0032 + 0.0062 * np.sin(np.clip(t, 0, 1) * np.pi * 0.62) - 0.0042 * smooth(0.62, 1, t)
        )
        half = np.interp(t, [0, 0.15, 0.6, 1], [0.0024, 0.0033, 0.0024, 0.0006])
        return t, p[:, 1] - eye.centre[1] - arch * k, half * k


def find(body: Anatomy) -> Face:
    """Measures the landmarks on one person."""
    left, right = _eye(body, "helper-l-eye", 1), _eye(body, "helper-r-eye", -1)
    eyes = (left.centre + right.centre) / 2
    skin = body.groups["body"]
    uv = skin.uv.mean(1)
    ear = body.bind[np.unique(skin.faces[body.mask("ears", uv) > 0.5])]
    lips = body.bind[np.unique(skin.faces[body.mask("lips", uv) > 0.5])]
    vertices = np.unique(skin.faces)
    head = body.bind[vertices[body.weight_of("head")[vertices] > 0.5]]
    top = float(head[:, 1].max())
    return Face(
        left=left,
        right=right,
        eyes=eyes,
        nose=head[head[:, 2].argmax()],
        lips=lips.mean(0) * [0, 1, 1],
        ear=ear,
        ear_low=float(ear[:, 1].min()),
        ear_high=float(ear[:, 1].max()),
        ear_z=float(ear[:, 2].mean()),
        top=top,
        scale=(top - float(eyes[1])) / 0.115,
    )


def _eye(body: Anatomy, group: str, side: int) -> Eye:
    """Fits a sphere to the eyeball."""
    points = body.bind[np.unique(body.groups[group].faces)]
    system = np.concatenate([2 * points, np.ones((len(points), 1))], 1)
    solution = np.linalg.lstsq(system, np.square(points).sum(1), rcond=None)[0]
    centre = solution[:3]
    radius = float(np.sqrt(solution[3] + centre @ centre))
    # MakeHuman's front pole looks 5° up; a person looks ahead, the eyes meeting a few metres away.
    axis = np.array([-0.012 * side, 0.0, 1.0])
    return Eye(centre, radius, axis / np.linalg.norm(axis), side)
