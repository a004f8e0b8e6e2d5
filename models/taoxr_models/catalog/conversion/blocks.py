"""Quantises a model's matrices into GGUF blocks of 32: Q8_0 and Q4_1, rounded to the nearest."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import ModelError
from taoxr_models.catalog.recipes.gguf import BF16, F16, F32, Q4_0, Q4_1, Q8_0, Gguf, Tensor

_SIZE: Final = 32

Floats = NDArray[np.float32]


def requantised(gguf: Gguf, bits: int) -> Gguf:
    """The same model with all matrices in 4 or 8 bits; vectors (norms) become float32.

    Raises:
        ModelError: A tensor's type is not known, or its rows do not divide into blocks.
    """
    tensors = {name: _converted(name, tensor, bits) for name, tensor in gguf.tensors.items()}
    return Gguf.of(gguf.name, gguf.metadata, tensors)


def _converted(name: str, tensor: Tensor, bits: int) -> Tensor:
    if tensor.rows == 1:
        data = floats(tensor).astype("<f4").view(np.uint8).reshape(1, -1)
        return Tensor(F32, 1, tensor.columns, data)
    if tensor.columns % _SIZE:
        raise ModelError(f"{name} has {tensor.columns} columns, not a multiple of {_SIZE}")
    kind = Q8_0 if bits == 8 else Q4_1
    if tensor.kind == kind:
        return tensor
    values = floats(tensor).reshape(-1, _SIZE)
    blocks = _q8(values) if bits == 8 else _q4(values)
    return Tensor(kind, tensor.rows, tensor.columns, blocks.reshape(tensor.rows, -1))


def floats(tensor: Tensor) -> Floats:
    """The values of a tensor, [rows, columns].

    Raises:
        ModelError: Its type is not known.
    """
    shape = (tensor.rows, tensor.columns)
    if tensor.kind == F32:
        return np.ascontiguousarray(tensor.data).view("<f4").reshape(shape)
    if tensor.kind == F16:
        return np.ascontiguousarray(tensor.data).view("<f2").astype(np.float32).reshape(shape)
    if tensor.kind == BF16:
        wide = np.ascontiguousarray(tensor.data).view("<u2").astype(np.uint32) << 16
        return wide.view(np.float32).reshape(shape)
    blocks = tensor.blocks()
    scale = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
    if tensor.kind == Q8_0:
        return (blocks[:, 2:].view(np.int8) * scale).reshape(shape)
    if tensor.kind not in (Q4_0, Q4_1):
        raise ModelError(f"GGUF tensor type {tensor.kind} cannot be read")
    nibbles = blocks[:, -16:]
    values = np.concatenate([nibbles & 15, nibbles >> 4], axis=1).astype(np.float32)
    if tensor.kind == Q4_0:
        return ((values - 8) * scale).reshape(shape)
    least = np.ascontiguousarray(blocks[:, 2:4]).view("<f2").astype(np.float32)
    return (values * scale + least).reshape(shape)


def _q8(values: Floats) -> NDArray[np.uint8]:
    """Float32 [blocks, 32] to uint8 [blocks, 34]: float16 scale, int8 values."""
    scale = (np.abs(values).max(axis=1, keepdims=True) / 127).astype("<f2")
    wide = scale.astype(np.float32)
    quantised = np.rint(values / np.where(wide == 0, 1, wide)).clip(-127, 127).astype(np.int8)
    return np.hstack([scale.view(np.uint8), quantised.view(np.uint8)])


def _q4(values: Floats) -> NDArray[np.uint8]:
    """Float32 [blocks, 32] to uint8 [blocks, 20]: float16 scale and minimum, 4-bit values."""
    least = values.min(axis=1, keepdims=True).astype("<f2")
    scale = ((values.max(axis=1, keepdims=True) - least) / 15).astype("<f2")
    wide = scale.astype(np.float32)
    steps = (values - least.astype(np.float32)) / np.where(wide == 0, 1, wide)
    quantised = np.rint(steps).clip(0, 15).astype(np.uint8)
    return np.hstack([scale.view(np.uint8), least.view(np.uint8), quantised[:, :16] | quantised[:, 16:] << 4])
