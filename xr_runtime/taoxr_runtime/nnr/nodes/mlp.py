"""Small multilayer perceptrons, and what they are told about the pose."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from taoxr_runtime.nnr.nodes.base import F32, F64, Reader

MAX_LAYERS: Final = 8
MAX_WIDTH: Final = 1024
_MOST: Final = 1e30
TFloat = TypeVar("TFloat", np.float32, np.float64)


def layer_keys(reader: Reader) -> list[tuple[str, str]]:
    """Keys of the weights and the bias of each layer that a node has, ``weight0``, ``bias0``, ...

    Raises:
        NnrFormatError: There are too many, or none.
    """
    count = sum(key.startswith("weight") for key in reader.tensors)
    reader.limit("tensors", "number of weight tensors", count, 1, MAX_LAYERS)
    return [(f"weight{i}", f"bias{i}") for i in range(count)]


class Mlp:
    """Layers with ReLU between them and none after the last.

    Args:
        reader: The node; its tensors ``weight{i}`` f32 [out, in] and ``bias{i}`` f32 [out] are the layers.
        inputs: Width of what goes in.
        outputs: Width of what comes out; None for any.
        hidden: The widest hidden layer that the node allows.
        largest: Bound on the absolute values that go in.

    Attributes:
        layers: Weights [out, in] and bias [out] of each.

    Raises:
        NnrFormatError: A layer does not fit the one before, or the values could leave float32.
    """

    def __init__(self, reader: Reader, inputs: int, outputs: int | None, hidden: int, largest: float) -> None:
        self.layers: list[tuple[F32, F32]] = []
        keys = layer_keys(reader)
        width, bound = inputs, largest
        for i, (weight_key, bias_key) in enumerate(keys):
            last = i == len(keys) - 1
            weight: F32 = reader.tensor(weight_key, "float32", (outputs if last else None, width))
            width = len(weight)
            reader.limit(f"tensors.{weight_key}", "width", width, 1, MAX_WIDTH if last else hidden)
            bias: F32 = reader.tensor(bias_key, "float32", (width,))
            # The largest value that the layer can make; float64, so that the sum itself cannot overflow.
            rows = np.abs(weight.astype(np.float64)).sum(1) * bound + np.abs(bias.astype(np.float64))
            bound = max(float(rows.max()), 1.0)
            if bound > _MOST:
                raise reader.fail(
                    f"tensors.{weight_key}", f"makes values up to {bound:.0e}, over {_MOST:.0e}"
                )
            self.layers.append((weight, bias))

    @property
    def width(self) -> int:
        """Width of what comes out."""
        return len(self.layers[-1][1])

    def run(self, values: NDArray[TFloat]) -> NDArray[TFloat]:
        """Rows [n, in] through all layers, in their own precision: [n, out]."""
        return run_layers(self.layers, values)


def run_layers(layers: list[tuple[F32, F32]], values: NDArray[TFloat]) -> NDArray[TFloat]:
    """Rows [n, in] through some layers; ReLU between them."""
    result: Any = values
    for i, (weight, bias) in enumerate(layers):
        if i:
            np.maximum(result, 0, out=result)  # what the layer before made; never the caller's
        result = result @ weight.T.astype(values.dtype, copy=False) + bias.astype(values.dtype, copy=False)
    return result


def pose_features(pose: NDArray[TFloat], bones: NDArray[np.intp]) -> NDArray[TFloat]:
    """What a network sees of a pose [B, 4]: ``sin(angle / 2) · axis`` of some bones, flat [3 · bones].

    A quaternion and its negative are one rotation, so the sign is the one that makes w positive.
    """
    q = pose[bones]
    length = np.maximum(np.sqrt((q * q).sum(1, keepdims=True)), 1e-30)
    sign = np.where(q[:, 3:] < 0, -1, 1)
    return (q[:, :3] * sign / length).astype(pose.dtype).reshape(-1)


def encode_positions(positions: F64, octaves: int) -> F64:
    """Positions [V, 3] with sine and cosine of ``2^k π`` times them, k < octaves: [V, 3 + 6 · octaves].

    The positional encoding of Mildenhall et al., "NeRF" (ECCV 2020), in the order x, y, z; sin x, sin y,
    sin z, cos x, cos y, cos z of octave 0; and so on.
    """
    angles = [positions * (np.pi * 2.0**k) for k in range(octaves)]
    return np.concatenate([positions, *(f(a) for a in angles for f in (np.sin, np.cos))], axis=1)
