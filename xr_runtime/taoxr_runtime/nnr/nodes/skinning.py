"""Skinning: linear blend of bone transforms."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from taoxr_runtime.nnr.nodes.base import F32, F64, Node, Reader
from taoxr_runtime.nnr.schema import MAX_BONES, Strict


class Attributes(Strict):
    """Skinning has none."""


class Skinning(Node):
    """``shaped`` [V, 3], ``pose`` [B, 4], ``root`` [3] → ``vertices`` [V, 3], ``bones`` [B, 3, 4].

    Quaternions are normalised; an all-zero one is the identity.
    """

    kind: ClassVar[str] = "skinning"

    def __init__(self, reader: Reader) -> None:
        reader.signature(3, 2, {"bone_heads", "bone_parents", "bone_indices", "bone_weights"})
        reader.attributes(Attributes)
        vertices = reader.input_shape(0, (None, 3))[0]
        bones = reader.input_shape(1, (None, 4))[0]
        reader.input_shape(2, (3,))
        reader.limit("inputs[1]", "B", bones, 1, MAX_BONES)
        self.heads: F32 = reader.tensor("bone_heads", "float32", (bones, 3))
        reader.lengths("bone_heads", self.heads)
        self.parents = reader.tensor("bone_parents", "int16", (bones,)).astype(np.intp)
        bad = (self.parents < -1) | (self.parents >= np.arange(bones))
        if bad.any():
            first = int(np.argmax(bad))
            raise reader.fail(
                "tensors.bone_parents", f"bone {first}: the parent must be −1 or come before it"
            )
        index = reader.indices("bone_indices", "uint8", (vertices, None), bones)
        weights: F32 = reader.tensor("bone_weights", "float32", index.shape)
        if (weights < 0).any() or (np.abs(weights.sum(1) - 1) > 1e-3).any():
            raise reader.fail("tensors.bone_weights", "must be at least 0 and sum to 1 in each row")
        self.bone_indices, self.bone_weights = index, weights
        self.levels = _levels(self.parents)
        self._jumps = _jumps(self.parents)
        # Dense [B, V]: a matrix product over all bones takes less time than gathering the few that count.
        self.dense: F32 = np.zeros((bones, vertices), np.float32)
        np.add.at(self.dense, (index, np.arange(vertices)[:, None]), weights)
        self._blend: F32 = np.empty((12, vertices), np.float32)
        self._planes: F32 = np.empty((3, vertices), np.float32)
        self._scratch: F32 = np.empty((3, vertices), np.float32)
        self.output_shapes = ((vertices, 3), (bones, 3, 4))

    def bone_transforms(self, pose: F64, root: F64) -> F64:
        """Transforms from rest to posed [B, 3, 4] for rotations [B, 4] (xyzw) and a translation [3]."""
        # Each bone turns about its own head, after all that its ancestors do. A round doubles how many of
        # these are taken in, so that as many rounds as the depth has bits take in all.
        count = len(self.heads)
        turned = np.zeros((count + 1, 4, 4))
        turned[:, 3, 3] = 1
        turned[count] = np.eye(4)
        turned[:count, :3, :3] = turns = rotations(pose)
        heads = self.heads.astype(np.float64)
        turned[:count, :3, 3] = heads - (turns @ heads[:, :, None])[:, :, 0]
        turned[:count, :3, 3][self.parents < 0] += root
        for ancestors in self._jumps:
            turned = turned[ancestors] @ turned
        return np.ascontiguousarray(turned[:count, :3])

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        shaped, pose, root = inputs
        vertices, bones = outputs
        bones[...] = self.bone_transforms(pose.astype(np.float64), root.astype(np.float64))
        np.matmul(bones.reshape(-1, 12).T, self.dense, out=self._blend)
        blend = self._blend.reshape(3, 4, -1)
        np.copyto(self._planes, shaped.T)
        position, scratch = blend[:, 3], self._scratch
        for axis in range(3):
            np.multiply(blend[:, axis], self._planes[axis], out=scratch)
            position += scratch
        np.copyto(vertices, position.T)

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`."""
        shaped, pose, root = inputs
        bones = self.bone_transforms(pose, root)
        vertices = np.zeros_like(shaped)
        for index, weight in zip(self.bone_indices.T, self.bone_weights.T.astype(np.float64), strict=True):
            moved = np.einsum("vij,vj->vi", bones[index, :, :3], shaped) + bones[index, :, 3]
            vertices += weight[:, None] * moved
        return vertices, bones


def rotations(quaternions: F64) -> F64:
    """Rotation matrices [B, 3, 3] of quaternions [B, 4], xyzw."""
    q = quaternions / np.maximum(np.linalg.norm(quaternions, axis=1, keepdims=True), 1e-30)
    x, y, z, w = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def _jumps(parents: np.ndarray[Any, np.dtype[np.intp]]) -> list[Any]:
    """For 1, 2, 4, ... steps each bone's ancestor [B + 1]; B stands for none."""
    count = len(parents)
    ancestors = np.append(np.where(parents < 0, count, parents), count)
    jumps: list[Any] = []
    while (ancestors < count).any():
        jumps.append(ancestors)
        ancestors = ancestors[ancestors]
    return jumps


def _levels(parents: np.ndarray[Any, np.dtype[np.intp]]) -> list[Any]:
    """Bones grouped by their distance from a root, so that a level's parents are all known."""
    depth = np.zeros(len(parents), np.intp)
    for bone, parent in enumerate(parents):
        depth[bone] = 0 if parent < 0 else depth[parent] + 1
    return [np.flatnonzero(depth == d) for d in range(int(depth.max()) + 1)]
