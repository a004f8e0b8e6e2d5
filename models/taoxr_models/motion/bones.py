"""The bones that are moved: humanoid bones of VRM 1.0, see https://github.com/vrm-c/vrm-specification.

The rest pose is VRM's T-pose: arms to the sides, palms down, the axes of every bone those of the avatar
(+X to its left, +Y up, +Z to the front).
"""

from typing import Final

_TRUNK: Final = {
    "hips": None,
    "spine": "hips",
    "chest": "spine",
    "upperChest": "chest",
    "neck": "upperChest",
    "head": "neck",
    "leftEye": "head",
    "rightEye": "head",
}
_LIMBS: Final = {
    "Shoulder": "upperChest",
    "UpperArm": "Shoulder",
    "LowerArm": "UpperArm",
    "Hand": "LowerArm",
    "UpperLeg": "hips",
    "LowerLeg": "UpperLeg",
    "Foot": "LowerLeg",
}
FINGERS: Final = ("Index", "Middle", "Ring", "Little")
_THUMB: Final = ("ThumbMetacarpal", "ThumbProximal", "ThumbDistal")
_JOINTS: Final = ("Proximal", "Intermediate", "Distal")


def _parents() -> dict[str, str | None]:
    parents: dict[str, str | None] = dict(_TRUNK)
    for side in ("left", "right"):
        for name, parent in _LIMBS.items():
            parents[side + name] = side + parent if parent in _LIMBS else parent
        for chain in (_THUMB, *([finger + joint for joint in _JOINTS] for finger in FINGERS)):
            above = "Hand"
            for name in chain:
                parents[side + name] = side + above
                above = name
    return parents


PARENTS: Final = _parents()
"""Parent by name; a parent comes before its children."""
BONES: Final = tuple(PARENTS)
INDEX: Final = {name: i for i, name in enumerate(BONES)}
