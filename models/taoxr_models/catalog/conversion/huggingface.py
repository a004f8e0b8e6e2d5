"""Reads the folder of a Hugging Face Llama as if it were a GGUF: safetensors, config and tokenizer.

Needs neither torch nor transformers: safetensors is a JSON header and raw arrays
(https://huggingface.co/docs/safetensors), the tokenizer is JSON.
"""

import json
import math
import struct
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import ModelError
from taoxr_models.catalog.recipes.gguf import BF16, BLOCKS, F16, F32, Gguf, Tensor, Value
from taoxr_models.catalog.recipes.llama_weights import half_split_order

_MOST_HEADER_BYTES: Final = 100_000_000
_KINDS: Final = {"F32": F32, "F16": F16, "BF16": BF16}
PROJECTIONS: Final = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""The matrices of a layer, by their names in Hugging Face's models and in GGUF."""
_NAMES: Final = PROJECTIONS | {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
_TOP: Final = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}


def read_folder(folder: Path) -> Gguf:
    """The model in a folder.

    Raises:
        ModelError: A file is missing or damaged, or the model is no plain Llama with a byte-level BPE.
    """
    try:
        return _read(folder)
    except (KeyError, TypeError, IndexError) as error:
        raise ModelError(f"{folder}: something is missing or of the wrong type: {error!r}") from error


def _read(folder: Path) -> Gguf:
    config = _json(folder / "config.json")
    if config.get("model_type") != "llama":
        raise ModelError(
            f"{folder}: model_type is {config.get('model_type')!r}; only 'llama' can be converted"
        )
    scaling: dict[str, Any] = config.get("rope_scaling") or {}
    if (
        scaling.get("rope_type", "default") != "default"
        or config.get("attention_bias")
        or config.get("mlp_bias")
    ):
        raise ModelError(f"{folder}: it has rope scaling or biases; only a plain Llama can be converted")
    heads = int(config["num_attention_heads"])
    kv_heads = int(config.get("num_key_value_heads") or heads)
    if config.get("head_dim") not in (None, config["hidden_size"] // heads):
        raise ModelError(
            f"{folder}: head_dim is {config['head_dim']}; only hidden_size / heads can be converted"
        )
    tensors: dict[str, Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        for name, tensor in read_safetensors(path).items():
            renamed = _renamed(name, folder)
            if renamed is not None:
                tensors[renamed] = _interleaved(renamed, tensor, heads, kv_heads)
    if "token_embd.weight" not in tensors:
        raise ModelError(f"{folder} holds no *.safetensors with the weights of a Llama")
    if config.get("tie_word_embeddings", False):
        tensors.pop("output.weight", None)
    elif "output.weight" not in tensors:
        raise ModelError(f"{folder}: lm_head.weight is missing, and tie_word_embeddings is not set")
    rows = tensors["token_embd.weight"].rows
    metadata: dict[str, Value] = {
        "general.architecture": "llama",
        "llama.block_count": int(config["num_hidden_layers"]),
        "llama.embedding_length": int(config["hidden_size"]),
        "llama.feed_forward_length": int(config["intermediate_size"]),
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": kv_heads,
        "llama.rope.freq_base": float(config.get("rope_theta") or 10000.0),
        "llama.attention.layer_norm_rms_epsilon": float(config["rms_norm_eps"]),
        **_tokenizer(folder, config, rows),
    }
    return Gguf.of(folder.name, metadata, tensors)


def _renamed(name: str, folder: Path) -> str | None:
    if name in _TOP:
        return _TOP[name]
    if name.endswith("rotary_emb.inv_freq"):
        return None
    parts = name.removeprefix("model.layers.").removesuffix(".weight").split(".", 1)
    if not name.startswith("model.layers.") or len(parts) != 2 or parts[1] not in _NAMES:
        raise ModelError(f"{folder}: tensor {name!r} is none of a plain Llama's")
    return f"blk.{parts[0]}.{_NAMES[parts[1]]}.weight"


def _interleaved(name: str, tensor: Tensor, heads: int, kv_heads: int) -> Tensor:
    """Rows of query and key as in GGUF: the halves of each head interleaved."""
    count = {"attn_q": heads, "attn_k": kv_heads}.get(name.split(".")[-2], 0)
    if not count:
        return tensor
    order = np.argsort(half_split_order(tensor.rows, count))
    return Tensor(tensor.kind, tensor.rows, tensor.columns, tensor.data[order])


def safetensors_header(path: Path) -> dict[str, dict[str, Any]]:
    """What a safetensors file says of each tensor: ``dtype``, ``shape``, ``data_offsets``.

    Raises:
        ModelError: It is no such file.
    """
    try:
        with path.open("rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header: dict[str, Any] = json.loads(file.read(min(size, _MOST_HEADER_BYTES)))
    except (OSError, struct.error, ValueError) as error:
        raise ModelError(f"{path} is no safetensors file: {error}") from error
    header.pop("__metadata__", None)
    return header


def read_safetensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file, as views of the mapped file.

    Raises:
        ModelError: It is no such file, or a tensor is not of floats.
    """
    header = safetensors_header(path)
    data: NDArray[np.uint8] = np.memmap(path, np.uint8, mode="r")
    size = int.from_bytes(data[:8].tobytes(), "little")
    tensors: dict[str, Tensor] = {}
    for name, entry in header.items():
        kind = _KINDS.get(entry["dtype"])
        if kind is None:
            raise ModelError(f"{path}: {name} is {entry['dtype']}; expected one of {', '.join(_KINDS)}")
        shape: list[int] = entry["shape"]
        start, end = entry["data_offsets"]
        rows, columns = (1, shape[0]) if len(shape) == 1 else (shape[0], math.prod(shape[1:]))
        raw = data[8 + size + start : 8 + size + end]
        if raw.size != rows * columns * BLOCKS[kind][1]:
            raise ModelError(f"{path} ends inside tensor {name}")
        tensors[name] = Tensor(kind, rows, columns, raw.reshape(rows, -1))
    return tensors


def _tokenizer(folder: Path, config: dict[str, Any], rows: int) -> dict[str, Value]:
    tokenizer, extra = _json(folder / "tokenizer.json"), _json(folder / "tokenizer_config.json")
    model: dict[str, Any] = tokenizer["model"]
    if model.get("type") != "BPE" or not _byte_level(tokenizer.get("pre_tokenizer")):
        raise ModelError(
            f"{folder}: the tokenizer is {model.get('type')!r}; only a byte-level BPE can be converted"
        )
    tokens = [f"<|unused{i}|>" for i in range(rows)]
    kinds = [3] * rows  # control, unless it is used
    for token, i in model["vocab"].items():
        tokens[i], kinds[i] = token, 1
    for added in tokenizer.get("added_tokens", []):
        tokens[added["id"]], kinds[added["id"]] = added["content"], 3 if added["special"] else 4
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    template = extra.get("chat_template")
    if not isinstance(template, str) and (folder / "chat_template.jinja").is_file():
        template = (folder / "chat_template.jinja").read_text(encoding="utf-8")
    if not isinstance(template, str):
        raise ModelError(f"{folder}: there is no chat_template; the model is none for conversations")
    end: int | list[int] = config["eos_token_id"]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm" if _single_digits(tokenizer["pre_tokenizer"]) else "gpt-2",
        "tokenizer.ggml.tokens": list(tokens),
        "tokenizer.ggml.token_type": list(kinds),
        "tokenizer.ggml.merges": list(merges),
        "tokenizer.ggml.bos_token_id": int(config["bos_token_id"]),
        "tokenizer.ggml.eos_token_id": end[0] if isinstance(end, list) else int(end),
        "tokenizer.chat_template": template,
    }


def _steps(pre_tokenizer: dict[str, Any] | None) -> list[dict[str, Any]]:
    if pre_tokenizer is None:
        return []
    return pre_tokenizer["pretokenizers"] if pre_tokenizer["type"] == "Sequence" else [pre_tokenizer]


def _byte_level(pre_tokenizer: dict[str, Any] | None) -> bool:
    """GPT-2's splitting, with or without digits apart; nothing else."""
    kinds = [step["type"] for step in _steps(pre_tokenizer)]
    return kinds in (["ByteLevel"], ["Digits", "ByteLevel"])


def _single_digits(pre_tokenizer: dict[str, Any]) -> bool:
    return any(step["type"] == "Digits" and step["individual_digits"] for step in _steps(pre_tokenizer))


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ModelError(f"{path} is missing")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{path} is no JSON: {error}") from error
