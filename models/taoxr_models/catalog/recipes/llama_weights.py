"""Writes a GGUF model's quantised blocks as MNN's ``llm.mnn.weight``, bit for bit the same weights.

Layout of a quantised matrix (measured on MNN 3.6.1), little endian: u8 2 | rows, columns (u16, or
i32 where one does not fit) | u8 count of index values (256 as 0) | i8 those values | indexes row by
row, 4-bit ones with the even element in the high nibble | float32 [rows, blocks, 2] = (zero, scale), or
[rows, blocks] = scale where all zeros are 0 | float32 [rows] of a bias, if there is one.
A weight is ``scale * (index - 2 ** (bits - 1)) + zero``.
"""

from collections.abc import Generator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import ModelError
from taoxr_models.catalog.recipes.gguf import Q4_0, Q4_1, Q8_0, Gguf, Tensor
from taoxr_models.catalog.recipes.llama_layout import Part, Slot


def write_weights(gguf: Gguf, slots: list[Slot], target: Path) -> None:
    """Writes the slots one after another.

    Raises:
        ModelError: A tensor does not fill its slot.
    """
    with target.open("wb") as file:
        for slot in slots:
            for chunk in _norm(gguf, slot) if slot.bits == 0 else _matrix(gguf, slot):
                file.write(chunk)
            if file.tell() != slot.end:
                name, end = slot.parts[-1].tensor, file.tell()
                raise ModelError(f"tensor {name} ends at {end} in {target.name}, expected {slot.end}")


def _norm(gguf: Gguf, slot: Slot) -> Generator[bytes]:
    gamma = gguf.tensors[slot.parts[0].tensor].floats()
    yield gamma.tobytes()
    yield bytes(gamma.nbytes)  # RMS norms have no beta; MNN reads one


def _matrix(gguf: Gguf, slot: Slot) -> Generator[bytes]:
    tensors = [_ordered(gguf.tensors[part.tensor], part) for part in slot.parts]
    yield _header(slot)
    for tensor in tensors:
        yield indexes(tensor.kind, tensor.blocks(), slot.bits).tobytes()
    for tensor in tensors:
        both = zeros_and_scales(tensor.kind, tensor.blocks())
        yield (both[:, 1] if slot.centred else both).tobytes()
    for part in slot.parts:
        if part.bias:
            yield gguf.tensors[part.bias].floats().tobytes()


def _ordered(tensor: Tensor, part: Part) -> Tensor:
    if not part.permuted_heads:
        return tensor
    order = half_split_order(tensor.rows, part.permuted_heads)
    return Tensor(tensor.kind, tensor.rows, tensor.columns, tensor.data[order])


def half_split_order(rows: int, heads: int) -> NDArray[np.intp]:
    """Row order that undoes llama.cpp's: it interleaves the two halves of each query and key head.

    Whole rows move, so quantised blocks stay as they are.

    Returns:
        Int [rows]: for each row wanted, the GGUF row.
    """
    return np.arange(rows).reshape(heads, rows // heads // 2, 2).swapaxes(1, 2).ravel()


def _header(slot: Slot) -> bytes:
    count = 1 << slot.bits
    dims = np.array([slot.rows, slot.columns], "<i4" if slot.wide else "<u2").tobytes()
    values = np.arange(-count // 2, count // 2, dtype=np.int8).tobytes()
    return b"\x02" + dims + bytes([count & 0xFF]) + values


def indexes(kind: int, blocks: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Quantised values as MNN stores them in 4 or 8 bits; uint8 [blocks, 16 or 32].

    Values of 4 bits keep their meaning in 8, beside a matrix that has as many.
    """
    if kind == Q8_0:
        return blocks[:, 2:] ^ np.uint8(0x80)  # int8 + 128
    nibbles = blocks[:, -16:]  # element j in the low half of byte j, element j + 16 in its high half
    values = np.concatenate([nibbles & np.uint8(15), nibbles >> np.uint8(4)], axis=1)
    if bits == 8:
        return values + np.uint8(120)  # less 128 what it was less 8
    return values[:, 0::2] << np.uint8(4) | values[:, 1::2]


def zeros_and_scales(kind: int, blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Float32 [blocks, 2]."""
    halves = np.ascontiguousarray(blocks[:, :4]).view("<f2").astype(np.float32)
    scale = halves[:, 0]
    if kind == Q4_1:  # scale * q + minimum, q from 0 to 15; MNN subtracts 8
        zero = halves[:, 1] + 8 * scale
    elif kind in (Q4_0, Q8_0):  # centred
        zero = np.zeros_like(scale)
    else:
        raise ModelError(f"GGUF tensor type {kind} cannot be repacked")
    return np.stack([zero, scale], axis=1)
