"""Coefficients: a small network from expression and pose to the weights of the splats' blendshapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Final

import numpy as np
from pydantic import Field as Limits

from taoxr_runtime.nnr.nodes.base import F32, F64, MAX_INPUT, Node, Rate, Reader
from taoxr_runtime.nnr.nodes.mlp import Mlp, layer_keys, pose_features
from taoxr_runtime.nnr.schema import Strict

MAX_COEFFICIENTS: Final = 64
MAX_HIDDEN: Final = 256


class Attributes(Strict):
    """The bound on each coefficient."""

    limit: Annotated[float, Limits(gt=0, le=100)]


class Coefficients(Node):
    """``expression`` [52], ``pose`` [B, 4] → ``coefficients`` [n].

    TaoAvatar's two mapping networks (arXiv 2503.17032, section 4.3) in one: blocks of zeros keep the face's
    coefficients from seeing the body and the other way round.
    """

    kind: ClassVar[str] = "coefficients"
    rate: Rate = "animation"

    def __init__(self, reader: Reader) -> None:
        keys = layer_keys(reader)
        reader.signature(2, 1, {"pose_bones", *(key for pair in keys for key in pair)})
        shapes = reader.input_shape(0, (None,))[0]
        bones = reader.input_shape(1, (None, 4))[0]
        self.attributes = reader.attributes(Attributes)
        self.pose_bones = reader.indices("pose_bones", "uint8", (None,), bones)
        reader.limit("tensors.pose_bones", "number of bones", len(self.pose_bones), 1, bones)
        self.mlp = Mlp(reader, shapes + 3 * len(self.pose_bones), None, MAX_HIDDEN, MAX_INPUT)
        reader.limit("tensors", "number of coefficients", self.mlp.width, 1, MAX_COEFFICIENTS)
        self.output_shapes = ((self.mlp.width,),)

    def evaluate(self, inputs: Sequence[F32], outputs: Sequence[Any]) -> None:
        """See `Node.evaluate`."""
        expression, pose = inputs
        row = np.concatenate([expression, pose_features(pose, self.pose_bones)])
        limit = np.float32(self.attributes.limit)
        np.clip(self.mlp.run(row[None])[0], -limit, limit, out=outputs[0])

    def reference(self, inputs: Sequence[F64]) -> tuple[F64, ...]:
        """See `Node.reference`."""
        expression, pose = inputs
        row = np.concatenate([expression, pose_features(pose, self.pose_bones)])
        return (np.clip(self.mlp.run(row[None])[0], -self.attributes.limit, self.attributes.limit),)
