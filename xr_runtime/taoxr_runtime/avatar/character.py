"""Who the default avatar is: every choice of shape and colour in one place."""

from dataclasses import dataclass, field

from .fields import Floats, linear

# Anny's phenotypes, each 0 to 1 (gender 0 is male; age 2/3 is a young adult).
_PHENOTYPES = {
    "gender": 0.14, "age": 0.645, "muscle": 0.58, "weight": 0.46, "height": 0.42, "proportions": 0.78,
    "african": 0.12, "asian": 0.16, "caucasian": 0.72,
}  # fmt: skip

# MakeHuman's local targets give a face of its own; without them it is the average of thousands.
_FACE = {
    "head/head-oval": 0.35, "head/head-fat-decr": 0.30, "head/head-scale-depth-incr": 0.15,
    "chin/chin-bones-incr": 0.22, "chin/chin-prominent-incr": 0.25, "chin/chin-width-decr": 0.35,
    "chin/chin-jaw-drop-decr": 0.15,
    "cheek/l-cheek-bones-incr": 0.35, "cheek/r-cheek-bones-incr": 0.35,
    "cheek/l-cheek-volume-decr": 0.35, "cheek/r-cheek-volume-decr": 0.35,
    "nose/nose-scale-horiz-decr": 0.35, "nose/nose-width2-decr": 0.25, "nose/nose-point-width-decr": 0.35,
    "nose/nose-scale-depth-incr": 0.10, "nose/nose-hump-incr": 0.18, "nose/nose-flaring-decr": 0.25,
    "mouth/mouth-scale-horiz-incr": 0.25, "mouth/mouth-cupidsbow-incr": 0.25,
    "mouth/mouth-lowerlip-volume-incr": 0.10,
    "ears/l-ear-wing-decr": 0.45, "ears/r-ear-wing-decr": 0.45,
    "ears/l-ear-scale-decr": 0.15, "ears/r-ear-scale-decr": 0.15,
    "forehead/forehead-scale-vert-decr": 0.10,
    "eyes/l-eye-height2-incr": 0.55, "eyes/r-eye-height2-incr": 0.55,
    "eyes/l-eye-eyefold-up": 0.25, "eyes/r-eye-eyefold-up": 0.25,
}  # fmt: skip

# The face at rest: Anny's own lids look sleepy and its mouth a little sad.
_NEUTRAL = {
    "eyeWideLeft": 0.38, "eyeWideRight": 0.38, "mouthSmileLeft": 0.20, "mouthSmileRight": 0.20,
}  # fmt: skip

# Anny's teeth sit too high: speaking people show the edge of their upper teeth. Metres, downwards.
_TEETH_DROP = {"helper-upper-teeth": 0.0024, "helper-lower-teeth": 0.0022, "helper-tongue": 0.0015}


@dataclass(frozen=True)
class Character:
    """Shape, colours (linear light) and lengths (metres) of one avatar."""

    name: str = "default"
    phenotypes: dict[str, float] = field(default_factory=lambda: dict(_PHENOTYPES))
    face: dict[str, float] = field(default_factory=lambda: dict(_FACE))
    neutral: dict[str, float] = field(default_factory=lambda: dict(_NEUTRAL))

    teeth_drop: dict[str, float] = field(default_factory=lambda: dict(_TEETH_DROP))

    skin: Floats = field(default_factory=lambda: linear(0.795, 0.625, 0.525))
    flush: Floats = field(default_factory=lambda: linear(0.74, 0.40, 0.34))
    lips: Floats = field(default_factory=lambda: linear(0.68, 0.40, 0.37))
    stubble: float = 0.30
    hair: Floats = field(default_factory=lambda: linear(0.30, 0.205, 0.14))
    iris: Floats = field(default_factory=lambda: linear(0.30, 0.36, 0.33))
    iris_inner: Floats = field(default_factory=lambda: linear(0.42, 0.32, 0.17))
    shirt: Floats = field(default_factory=lambda: linear(0.20, 0.33, 0.44))
    trousers: Floats = field(default_factory=lambda: linear(0.19, 0.20, 0.235))
    shoe: Floats = field(default_factory=lambda: linear(0.26, 0.27, 0.30))
    sole: Floats = field(default_factory=lambda: linear(0.88, 0.865, 0.83))
