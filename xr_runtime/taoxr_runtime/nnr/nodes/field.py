"""Field: a small network that moves the vertices of the rest mesh, such as folds that come with a pose.

The non-rigid field of Chen et al., "TaoAvatar" (CVPR 2025, arXiv 2503.17032, section 4.2): a multilayer
perceptron over the canonical position of a vertex, the pose and a latent code. What the first layer makes
of the position never changes, and what it makes of pose and latent is the same for all vertices: so it
costs one vector per run instead of one matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Final

import numpy as np
from pydantic import Field as Limits

from taoxr_runtime.nnr.nodes.base import BLOCK, F32, F64, MAX_INPUT, Node, Rate, Reader
from taoxr_runtime.nnr.nodes.blendshapes import MAX_VERTICES
from taoxr_runtime.nnr.nodes.mlp import Mlp, encode_positions, layer_keys, pose_features, run_layers
from taoxr_runtime.nnr.schema import Strict

MAX_HIDDEN: Final = 64
MAX_LATENT: Final = 256


class Attributes(Strict):
    """The field's encoding and its bounds.

    Attributes:
        octaves: Octaves of the positional encoding.
        limit: Bound on each coordinate of a displacement, in metres: a network that meets a pose unlike those
            that it has learned from must not tear the mesh apart.
    """

    octaves: Annotated[int, Limits(ge=0, le=10)]
    limit: Annotated[float, Limits(gt=0, le=10)]


class Field(Node):
    """``pose`` [B, 4], ``latent`` [L] → ``displacement`` [V, 3]."""

    kind: ClassVar[str] = "field"
    rate: Rate = "animation"

    def __init__(self, reader: Reader) -> None:
        keys = layer_keys(reader)
        reader.signature(2, 1, {"canonical", "pose_bones", *(key for pair in keys for key in pair)})
        bones = reader.input_shape(0, (None, 4))[0]
        latent = reader.input_shape(1, (None,))[0]
        reader.limit("inputs[1]", "L", latent, 1, MAX_LATENT)
        self.attributes = reader.attributes(Attributes)
        canonical: F32 = reader.tensor("canonical", "float32", (None, 3))
        reader.limit("tensors.canonical", "V", len(canonical), 1, MAX_VERTICES)
        reader.lengths("canonical", canonical)
        self.pose_bones = reader.indices("pose_bones", "uint8", (None,), bones)
        reader.limit("tensors.pose_bones", "number of bones", len(self.pose_bones), 1, bones)
        encoded = encode_positions(canonical.astype(np.float64), self.attributes.octaves)
        width = encoded.shape[1]
        inputs = width + 3 * len(self.pose_bones) + latent
        self.mlp = Mlp(reader, inputs, 3, MAX_HIDDEN, MAX_INPUT)
        weight, bias = self.mlp.layers[0]
        if len(self.mlp.layers) < 2:
            raise reader.fail("tensors.weight0", "is the only layer, expected at least two")
        self._encoded = encoded
        self.at_rest: F32 = (encoded @ weight[:, :width].T.astype(np.float64) + bias).astype(np.float32)
        """What the first layer makes of each vertex, [V, hidden]."""
        self.of_pose: F32 = np.ascontiguousarray(weight[:, width:])
        """The rest of the first layer's weights, [hidden, 3 · bones + L]."""
        self.output_shapes = ((len(canonical), 3),)

    def first(self, pose: F32, latent: F32) -> F32:
        """What the first layer makes of pose and latent, the same for every vertex: [hidden]."""
        return self.of_pose @ np.concatenate([pose_features(pose, self.pose_bones), latent])

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        first = self.first(*inputs)
        for start in range(0, len(self.at_rest), BLOCK):
            block = slice(start, start + BLOCK)
            hidden = np.maximum(self.at_rest[block] + first, 0)
            moved = run_layers(self.mlp.layers[1:], hidden)
            np.clip(moved, -self.attributes.limit, self.attributes.limit, out=outputs[0][block])

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`."""
        pose, latent = inputs
        same = np.concatenate([pose_features(pose, self.pose_bones), latent])
        rows = np.concatenate([self._encoded, np.broadcast_to(same, (len(self._encoded), len(same)))], axis=1)
        return (np.clip(self.mlp.run(rows), -self.attributes.limit, self.attributes.limit),)
