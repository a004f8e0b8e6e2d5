"""The skeleton as the animation sees it, and where its bones are in a pose."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from taoxr.errors import InvalidInputError
from taoxr_runtime.animation import rotation
from taoxr_runtime.nnr import Scene
from taoxr_runtime.nnr.nodes.skinning import Skinning

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Skeleton:
    """Bones by name; a parent comes before its children.

    Attributes:
        names: One name per bone.
        parents: int [B], -1 for the root.
        heads: float64 [B, 3], where each bone starts at rest, model frame, metres.
        head_bone: Name of the bone that carries the head.
        eye_bones: Names of the left and of the right eye's bone.
        eyes: float64 [2, 3], centres of the left and right eye at rest.
    """

    names: tuple[str, ...]
    parents: npt.NDArray[np.int64]
    heads: Array
    head_bone: str
    eye_bones: tuple[str, str]
    eyes: Array
    index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Checks that the parts fit together.

        Raises:
            InvalidInputError: A bone named is missing, or a shape is wrong.
        """
        object.__setattr__(self, "index", {name: i for i, name in enumerate(self.names)})
        count = len(self.names)
        if self.parents.shape != (count,) or self.heads.shape != (count, 3):
            raise InvalidInputError(
                "skeleton", (self.parents.shape, self.heads.shape), f"shapes ({count},) and ({count}, 3)"
            )
        for name in (self.head_bone, *self.eye_bones):
            if name not in self.index:
                raise InvalidInputError("bone", name, "a bone of the rig")

    @classmethod
    def of(cls, scene: Scene) -> "Skeleton":
        """The skeleton of a scene.

        Raises:
            InvalidInputError: The scene has no skinning node, so nothing can move.
        """
        for step in scene.graph.steps:
            if isinstance(step.node, Skinning):
                rig, landmarks = scene.rig, scene.landmarks
                return cls(
                    tuple(rig.bones),
                    step.node.parents.astype(np.int64),
                    step.node.heads.astype(np.float64),
                    rig.head_bone,
                    (rig.eye_bones.left, rig.eye_bones.right),
                    np.array([landmarks.eye_left, landmarks.eye_right], np.float64),
                )
        raise InvalidInputError("scene", scene.name, "a scene with a skinning node")

    def rest_pose(self) -> Array:
        """Identity rotations, float64 [B, 4]."""
        return np.tile(np.array(rotation.IDENTITY), (len(self.names), 1))

    def transform(self, pose: Array, bone: int) -> tuple[Array, Array]:
        """Where a pose takes what is fixed to ``bone``: ``x -> turn @ x + shift``, in the model frame.

        Follows the definition in the ``.nnr`` format: each bone turns about its own head, in model
        axes, and then moves with its parent.

        Args:
            pose: float64 [B, 4], one rotation per bone, xyzw.
            bone: Index of the bone; -1 gives the identity.

        Returns:
            Turn [3, 3] and shift [3].
        """
        turn, shift = np.eye(3), np.zeros(3)
        while bone >= 0:
            own = rotation.to_matrix(pose[bone])
            head = self.heads[bone]
            turn, shift = own @ turn, own @ (shift - head) + head
            bone = int(self.parents[bone])
        return turn, shift
