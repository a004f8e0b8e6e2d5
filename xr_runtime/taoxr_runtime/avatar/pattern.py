"""Where clothes end: signed fields in bind space, positive where the cloth covers (metres)."""

from dataclasses import dataclass

import numpy as np

from .anatomy import Anatomy
from .fields import Floats

_ARM = ("upperarm", "lowerarm", "wrist", "finger", "metacarpal")


@dataclass(frozen=True)
class Pattern:
    """Cut of the clothes on one body; fields take points [N,3] and their arm weight [N]."""

    body: Anatomy
    sleeve: float = 0.42

    def arm(self, weights: Floats) -> Floats:
        """How much a vertex belongs to an arm, from its skinning weights [V,B] → [V]."""
        return weights[:, [b.startswith(_ARM) for b in self.body.bones]].sum(1)

    def along_arm(self, p: Floats) -> Floats:
        """0 at the shoulder joint, 1 at the wrist."""
        t = np.zeros(len(p))
        for side in "LR":
            a, b = self.body.head(f"upperarm01.{side}"), self.body.head(f"wrist.{side}")
            here = (p[:, 0] > 0) == (side == "L")
            t[here] = (p[here] - a) @ (b - a) / ((b - a) @ (b - a))
        return t

    def arm_length(self) -> float:
        """Shoulder to wrist."""
        return float(np.linalg.norm(self.body.head("wrist.L") - self.body.head("upperarm01.L")))

    @property
    def hip(self) -> float:
        """Height of the hip joints."""
        return float(self.body.head("upperleg01.L")[1])

    @property
    def knee(self) -> float:
        """Height of the knees."""
        return float(self.body.head("lowerleg01.L")[1])

    @property
    def ankle(self) -> float:
        """Height of the ankles."""
        return float(self.body.head("foot.L")[1])

    @property
    def trouser_hem(self) -> float:
        """Height of the trousers' lower edge before they settle on the shoe."""
        return self.ankle - 0.016

    def collar(self, p: Floats) -> Floats:
        """Below a plane through the base of the neck that tilts down to the front."""
        neck = self.body.head("neck01")
        return neck[1] + 0.012 - 0.42 * (p[:, 2] - neck[2]) - p[:, 1]

    def cuff(self, p: Floats, arm: Floats) -> Floats:
        """Distance above the end of the sleeve; large off the arms."""
        return np.where(arm > 0.35, (self.sleeve - self.along_arm(p)) * self.arm_length(), 9.0)

    def shirt(self, p: Floats, arm: Floats) -> Floats:
        """Hem, sleeves and collar."""
        hem = np.where(arm > 0.35, 9.0, p[:, 1] - (self.hip - 0.002))
        return np.minimum(np.minimum(hem, self.cuff(p, arm)), self.collar(p))

    def trousers(self, p: Floats, arm: Floats) -> Floats:
        """From above the hip to the ankle."""
        return np.where(arm > 0.35, -9.0, np.minimum(self.hip + 0.015 - p[:, 1], p[:, 1] - self.trouser_hem))

    def shoes(self, p: Floats, arm: Floats) -> Floats:
        """Up to just above the ankle bone."""
        return np.where(arm > 0.35, -9.0, self.ankle + 0.016 - p[:, 1])

    def hidden(self) -> Floats:
        """How deep each Anny vertex lies under the clothes [V], minus the margin that must stay (metres)."""
        p, arm = self.body.bind, self.arm(self.body.weights)
        neck = self.body.head("neck01")[1]
        margin = np.where((p[:, 1] > neck - 0.07) & (arm < 0.3), 0.050, 0.020)
        depth = np.maximum(np.maximum(self.shirt(p, arm), self.trousers(p, arm)), self.shoes(p, arm))
        # Between trousers and shirt, and trousers and shoes, nothing shows.
        return depth - margin
