"""The splats of the eyeballs, which are rigid and turn faster than a scene is deformed on the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.nodes.base import F32, F64
from taoxr_runtime.nnr.nodes.binding import Binding
from taoxr_runtime.nnr.nodes.deformer import Deformer
from taoxr_runtime.nnr.nodes.skinning import Skinning, rotations
from taoxr_runtime.nnr.scene import Scene
from taoxr_runtime.splats import full, upper

# A triangle is an eyeball's when the bone has nearly all of each corner.
_OWNS: Final = 0.99


class Key(Protocol):
    """What is read of a keyframe."""

    @property
    def means(self) -> F32:
        """Centres [N, 3]."""
        ...

    @property
    def covariances(self) -> F32:
        """Upper triangles [N, 6]."""
        ...

    @property
    def bones(self) -> F32:
        """Transforms of the bones [B, 3, 4]."""
        ...

    @property
    def pose(self) -> F32:
        """Rotations of the bones [B, 4]."""
        ...


@dataclass(frozen=True)
class Eye:
    """One eyeball.

    Attributes:
        bone: Number of its bone.
        parent: Number of the bone that it sits in.
        head: Where it turns about, at rest [3].
        splats: Its splats.
    """

    bone: int
    parent: int
    head: F64
    splats: NDArray[np.intp]

    def turn(
        self, means: F32, covariances: F32, before: Key, after: Key, pose: NDArray[Any], amount: float
    ) -> None:
        """Puts its splats where the eye is now: in the head as interpolated, turned as of now.

        Args:
            means: [N, 3], to be changed in place.
            covariances: [N, 6], likewise.
            before: The keyframe before.
            after: The keyframe after.
            pose: Rotations of the bones now [B, 4].
            amount: How far between the keyframes.
        """
        socket = before.bones[self.parent] * (1 - amount) + after.bones[self.parent] * amount
        now = _square(socket) @ self._local(pose[self.bone])
        then = _square(after.bones[self.parent]) @ self._local(after.pose[self.bone])
        change = now @ np.linalg.inv(then)
        turn, i = change[:3, :3], self.splats
        means[i] = after.means[i] @ turn.T + change[:3, 3]
        covariances[i] = upper(turn @ full(after.covariances[i]) @ turn.T)

    def _local(self, quaternion: NDArray[Any]) -> F64:
        """Turns about the eye's centre, [4, 4]."""
        matrix = np.eye(4)
        matrix[:3, :3] = rotations(quaternion[None].astype(np.float64))[0]
        matrix[:3, 3] = self.head - matrix[:3, :3] @ self.head
        return matrix


def eyes_of(scene: Scene) -> list[Eye]:
    """The eyeballs that a scene has splats for."""
    nodes = [step.node for step in scene.graph.steps]
    skinning = next((node for node in nodes if isinstance(node, Skinning)), None)
    binder = next((node for node in nodes if isinstance(node, Binding | Deformer)), None)
    if skinning is None or binder is None:
        return []
    of_splat = (
        binder.triangle
        if isinstance(binder, Deformer)
        else np.concatenate([binder.surface_triangle, binder.strand_triangle])
    )
    eyes: list[Eye] = []
    for name in (scene.rig.eye_bones.left, scene.rig.eye_bones.right):
        bone = scene.rig.bones.index(name)
        owned = (skinning.dense[bone] >= _OWNS)[binder.triangles].all(1)
        splats = np.flatnonzero(owned[of_splat])
        parent = int(skinning.parents[bone])
        if len(splats) and parent >= 0:
            eyes.append(Eye(bone, parent, skinning.heads[bone].astype(np.float64), splats))
    return eyes


def _square(transform: NDArray[Any]) -> F64:
    return np.vstack([transform.astype(np.float64), [0, 0, 0, 1]])
