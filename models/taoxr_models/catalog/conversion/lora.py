"""Merges a LoRA adapter, as PEFT saves it, into the matrices of a language model.

A merged model runs like any other, and the adapter reaches every projection; MNN's own adapters beside a
graph do not (see `taoxr_models.llm.adapters`). A matrix becomes W + s B A, with s = alpha / r (Hu et al.
2021, "LoRA", arXiv:2106.09685) or alpha / sqrt(r) (Kalajdzievski 2023, "rsLoRA", arXiv:2312.03732).
"""

import json
import math
import re
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import ModelError
from taoxr_models.catalog.conversion.blocks import floats
from taoxr_models.catalog.conversion.huggingface import PROJECTIONS, read_safetensors
from taoxr_models.catalog.recipes.gguf import F32, Gguf, Tensor
from taoxr_models.catalog.recipes.llama_weights import half_split_order

_NAME: Final = re.compile(r"base_model\.model\.model\.layers\.(\d+)\.(\w+\.\w+)\.lora_([AB])\.weight")
# What an adapter may hold besides matrices, each with the only value that can be merged here.
_PLAIN: Final[dict[str, tuple[Any, ...]]] = {
    "peft_type": ("LORA",),
    "bias": (None, "none"),
    "use_dora": (None, False),
    "fan_in_fan_out": (None, False),
    "rank_pattern": (None, {}),
    "alpha_pattern": (None, {}),
    "modules_to_save": (None, []),
    "layer_replication": (None, []),
}


def merged(gguf: Gguf, adapter: Path) -> Gguf:
    """The model with an adapter merged into it; the matrices that it changes become float32.

    Args:
        gguf: The model that the adapter was trained on.
        adapter: Its folder: ``adapter_config.json`` and ``adapter_model.safetensors``.

    Raises:
        ModelError: The adapter cannot be read, holds what cannot be merged, or fits another model.
    """
    scale = _scale(adapter)
    tensors = dict(gguf.tensors)
    for name, (a, b) in _pairs(adapter).items():
        tensor = tensors.get(name)
        if (
            tensor is None
            or (tensor.rows, tensor.columns) != (b.shape[0], a.shape[1])
            or len(a) != b.shape[1]
        ):
            had = "none" if tensor is None else f"{tensor.rows} x {tensor.columns}"
            shapes = " and ".join(f"{half.shape[0]} x {half.shape[1]}" for half in (a, b))
            raise ModelError(f"{adapter} fits another model: halves of {name} are {shapes}, it is {had} here")
        change = scale * (b.astype(np.float64) @ a.astype(np.float64))
        if heads := _permuted_heads(gguf, name):
            change = change[np.argsort(half_split_order(tensor.rows, heads))]
        values = (floats(tensor) + change).astype("<f4")
        tensors[name] = Tensor(
            F32, tensor.rows, tensor.columns, values.view(np.uint8).reshape(tensor.rows, -1)
        )
    return Gguf.of(gguf.name, gguf.metadata, tensors)


def _scale(adapter: Path) -> float:
    path = adapter / "adapter_config.json"
    try:
        config: dict[str, Any] = json.loads(path.read_text("utf-8"))
        rank, alpha = int(config["r"]), float(config["lora_alpha"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"cannot read {path}: {error!r}") from error
    for key, allowed in _PLAIN.items():
        if config.get(key) not in allowed:
            raise ModelError(
                f"{path}: {key} is {config.get(key)!r}, which cannot be merged; expected {allowed[-1]!r}"
            )
    return alpha / (math.sqrt(rank) if config.get("use_rslora") else rank)


def _pairs(adapter: Path) -> dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """By the GGUF name of a matrix: A [rank, columns] and B [rows, rank]."""
    path = adapter / "adapter_model.safetensors"
    if not path.is_file():
        raise ModelError(f"{path} is missing")
    halves: dict[str, dict[str, NDArray[np.float32]]] = {}
    for name, tensor in read_safetensors(path).items():
        found = _NAME.fullmatch(name)
        if found is None or found[2] not in PROJECTIONS:
            raise ModelError(
                f"{path}: {name} belongs to none of {', '.join(PROJECTIONS)}, and cannot be merged"
            )
        halves.setdefault(f"blk.{found[1]}.{PROJECTIONS[found[2]]}.weight", {})[found[3]] = floats(tensor)
    if lone := [name for name, both in halves.items() if len(both) < 2]:
        raise ModelError(f"{path} holds only one half of {lone[0]}")
    if not halves:
        raise ModelError(f"{path} holds no adapter")
    return {name: (both["A"], both["B"]) for name, both in halves.items()}


def _permuted_heads(gguf: Gguf, name: str) -> int:
    """The heads within which llama.cpp has re-ordered the rows of a matrix; 0: it has not."""
    if gguf.text("general.architecture") != "llama":
        return 0
    heads = gguf.integer("llama.attention.head_count")
    kv_heads = gguf.integer("llama.attention.head_count_kv", heads)
    return {"attn_q": heads, "attn_k": kv_heads}.get(name.split(".")[-2], 0)
