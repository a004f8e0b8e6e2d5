"""``taoxr bench llm``: how fast prompts are read and answers written, beside llama.cpp on the same GGUF.

The weights of a model of a given shape may be random: how long a product of matrices takes does not depend on
what is in them. So a model that is not at hand can be timed by its shape.
"""

import importlib
import importlib.util
import statistics
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil
from numpy.typing import NDArray

from taoxr.engine import Llm
from taoxr.errors import ModelError
from taoxr_models.catalog.recipes.gguf import F32, Q4_1, Q8_0

PROMPT_TOKENS: Final = 178
ANSWER_TOKENS: Final = 64
_ROUNDS: Final = 5
_CONTEXT_TOKENS: Final = 4096
# Attention over a thousand tokens at once is a sixth slower than over these (llama.cpp takes 512 by itself).
_STEP_TOKENS: Final = 256
# A chunk of random blocks is repeated, so that a gigabyte of them is written at the disk's speed.
_CHUNK_BLOCKS: Final = 1 << 16
_AVX: Final = ("AVX", "AVX2", "AVX_VNNI", "AVX512", "AVX512_VBMI", "AVX512_VNNI", "AVX512_BF16", "AMX_INT8")

Feed = Callable[[Sequence[int]], NDArray[np.float32]]
"""Appends tokens to what was read, and gives the logits after the last one: float32 ``[vocabulary]``."""


@dataclass(frozen=True)
class Speed:
    """How fast an engine is, round by round.

    Attributes:
        prefill_s: Seconds for the prompt.
        decode_s: Seconds for `ANSWER_TOKENS`.
        load_s: Seconds until the model can be used.
        rss_mb: Resident memory that it added, in 10^6 bytes.
    """

    prefill_s: Sequence[float]
    decode_s: Sequence[float]
    load_s: float
    rss_mb: float


@dataclass(frozen=True)
class Shape:
    """A Qwen2 by its numbers, with the embedding tied to the head."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    feed_forward: int
    vocabulary: int


SHAPES: Final = {
    "qwen2.5-0.5b": Shape(24, 896, 14, 2, 4864, 151936),
    "qwen2.5-1.5b": Shape(28, 1536, 12, 2, 8960, 151936),
}


@dataclass(frozen=True)
class Engine:
    """A loaded model.

    Attributes:
        feed: Reads tokens.
        forget: Empties the cache.
    """

    feed: Feed
    forget: Callable[[], None]


def ours(folder: Path, threads: int = 1) -> Engine:
    """MNN on a model's folder."""
    llm = Llm(folder, threads=threads)

    def feed(ids: Sequence[int]) -> NDArray[np.float32]:
        last = (len(ids) - 1) // _STEP_TOKENS * _STEP_TOKENS
        for at in range(0, last, _STEP_TOKENS):
            llm.feed(ids[at : at + _STEP_TOKENS])
        return llm.feed(ids[last:])

    return Engine(feed, lambda: llm.rewind(0))


def has_peer() -> bool:
    """Whether llama.cpp's Python package is installed (``pip install llama-cpp-python``)."""
    return importlib.util.find_spec("llama_cpp") is not None


def peer_features() -> str:
    """What of the processor llama.cpp was built for, since that decides how fast it is."""
    llama: Any = importlib.import_module("llama_cpp")
    told = dict(
        part.split(" = ") for part in llama.llama_print_system_info().decode().split(" | ") if "=" in part
    )
    return " ".join(name for name in _AVX if told.get(name) == "1")


def peer(gguf: Path, threads: int = 1) -> Engine:
    """llama.cpp on a GGUF file, by its C functions: its Python classes would take time of their own.

    Raises:
        ModelError: It cannot load the file.
    """
    llama: Any = importlib.import_module("llama_cpp")
    llama.llama_backend_init()
    silent = llama.llama_log_callback(_silent)
    llama.llama_log_set(silent, None)
    model = llama.llama_model_load_from_file(str(gguf).encode(), llama.llama_model_default_params())
    if not model:
        raise ModelError(f"llama.cpp cannot load {gguf}")
    wishes = llama.llama_context_default_params()
    wishes.n_ctx = _CONTEXT_TOKENS
    wishes.n_threads = wishes.n_threads_batch = threads
    context = llama.llama_init_from_model(model, wishes)
    size = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(model))

    def feed(ids: Sequence[int]) -> NDArray[np.float32]:
        # As many at once as it takes by default.
        for at in range(0, len(ids), wishes.n_batch):
            part = ids[at : at + wishes.n_batch]
            tokens = (llama.llama_token * len(part))(*part)  # lives as long as the batch that points to it
            if llama.llama_decode(context, llama.llama_batch_get_one(tokens, len(part))):
                raise ModelError(f"llama.cpp cannot run {gguf}")
        return np.ctypeslib.as_array(llama.llama_get_logits_ith(context, -1), shape=(size,))

    def forget() -> None:
        assert silent  # lives as long as the engine may log
        llama.llama_memory_clear(llama.llama_get_memory(context), True)

    return Engine(feed, forget)


def _silent(_level: int, _text: bytes, _data: object) -> None:
    pass


def compare(folder: Path, gguf: Path | None, threads: int, prompt_tokens: int) -> list[Speed]:
    """Times our engine on a folder, and llama.cpp on a GGUF file if there are both.

    Raises:
        ModelError: One of them cannot load the model.
    """
    loads = [lambda: ours(folder, threads)]
    if gguf is not None and has_peer():
        loads.append(lambda: peer(gguf, threads))
    return time_engines(loads, prompt_tokens)


def time_engines(loads: Sequence[Callable[[], Engine]], prompt_tokens: int = PROMPT_TOKENS) -> list[Speed]:
    """Times engines in turns, so that a load that comes and goes slows all."""
    process, engines, loaded = psutil.Process(), list[Engine](), list[tuple[float, int]]()
    ids = np.random.default_rng(0).integers(10, 250, prompt_tokens).tolist()
    rounds: list[list[tuple[float, float]]] = [[] for _ in loads]
    for load in loads:
        before, begun = process.memory_info().rss, time.perf_counter()
        engines.append(load())
        load_s = time.perf_counter() - begun
        _round(engines[-1], ids)  # warms up, and is not counted
        loaded.append((load_s, process.memory_info().rss - before))
    for _ in range(_ROUNDS):
        for engine, times in zip(engines, rounds, strict=True):
            times.append(_round(engine, ids))
    return [
        Speed([r[0] for r in times], [r[1] for r in times], load_s, rss / 1e6)
        for times, (load_s, rss) in zip(rounds, loaded, strict=True)
    ]


def _round(engine: Engine, ids: Sequence[int]) -> tuple[float, float]:
    engine.forget()
    begun = time.perf_counter()
    token = int(np.argmax(engine.feed(ids)))
    middle = time.perf_counter()
    for _ in range(ANSWER_TOKENS):
        token = int(np.argmax(engine.feed([token])))
    return middle - begun, time.perf_counter() - middle


def ratio(ours: Sequence[float], peers: Sequence[float]) -> float:
    """Median of our time by the peer's, round by round."""
    return round(statistics.median(a / b for a, b in zip(ours, peers, strict=True)), 3)


def write_random_gguf(path: Path, shape: Shape) -> None:
    """Writes a Qwen2 of a shape with random weights: Q4_1 matrices, Q8_0 embedding, F32 norms and biases."""
    head = shape.hidden // shape.heads
    tensors: dict[str, tuple[int, list[int]]] = {
        "token_embd.weight": (Q8_0, [shape.hidden, shape.vocabulary]),
        "output_norm.weight": (F32, [shape.hidden]),
    }
    for layer in range(shape.layers):
        block, kv = f"blk.{layer}", shape.kv_heads * head
        for part, rows in (("q", shape.hidden), ("k", kv), ("v", kv)):
            tensors[f"{block}.attn_{part}.weight"] = (Q4_1, [shape.hidden, rows])
            tensors[f"{block}.attn_{part}.bias"] = (F32, [rows])
        tensors |= {
            f"{block}.attn_norm.weight": (F32, [shape.hidden]),
            f"{block}.ffn_norm.weight": (F32, [shape.hidden]),
            f"{block}.attn_output.weight": (Q4_1, [shape.hidden, shape.hidden]),
            f"{block}.ffn_gate.weight": (Q4_1, [shape.hidden, shape.feed_forward]),
            f"{block}.ffn_up.weight": (Q4_1, [shape.hidden, shape.feed_forward]),
            f"{block}.ffn_down.weight": (Q4_1, [shape.feed_forward, shape.hidden]),
        }
    random = np.random.default_rng(0)
    infos, at, sizes = b"", 0, list[tuple[int, int]]()
    for name, (kind, dims) in tensors.items():
        infos += _string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, at)
        size = int(np.prod(dims)) * {F32: 4 * 32, Q4_1: 20, Q8_0: 34}[kind] // 32
        sizes.append((kind, size))
        at += size + -size % 32
    pairs = _metadata(shape)
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs) + infos
    with path.open("wb") as file:
        file.write(header + bytes(-len(header) % 32))
        for kind, size in sizes:
            chunk = _random_blocks(random, kind)
            for start in range(0, size, len(chunk)):
                file.write(chunk[: min(len(chunk), size - start)])
            file.write(bytes(-size % 32))


def _random_blocks(random: np.random.Generator, kind: int) -> bytes:
    if kind == F32:
        return random.uniform(0.5, 1.5, _CHUNK_BLOCKS).astype("<f4").tobytes()
    data = random.integers(0, 256, (_CHUNK_BLOCKS, 20 if kind == Q4_1 else 34), dtype=np.uint8)
    scale = random.uniform(0.001, 0.003, _CHUNK_BLOCKS).astype("<f2")
    data[:, 0:2] = scale.view(np.uint8).reshape(-1, 2)
    if kind == Q4_1:
        data[:, 2:4] = (scale * np.float16(-7.5)).view(np.uint8).reshape(-1, 2)
    return data.tobytes()


def _metadata(shape: Shape) -> list[bytes]:
    letters = [chr(c) for c in (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))]
    letters += [chr(0x100 + i) for i in range(256 - len(letters))]
    words = [a + b for a in letters for b in letters] + [a + b + "a" for a in letters for b in letters]
    words += [a + b + "b" for a in letters for b in letters]
    ends = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokens = [*letters, *words[: shape.vocabulary - len(letters) - len(ends)], *ends]
    template = "{% for m in messages %}{{ m.role + m.content }}{% endfor %}"

    def pair(key: str, kind: int, value: bytes) -> bytes:
        return _string(key) + struct.pack("<I", kind) + value

    numbers = {
        "block_count": shape.layers,
        "embedding_length": shape.hidden,
        "feed_forward_length": shape.feed_forward,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.kv_heads,
        "context_length": _CONTEXT_TOKENS,
    }
    floats = {"rope.freq_base": 1e6, "attention.layer_norm_rms_epsilon": 1e-6}
    texts = {
        "general.architecture": "qwen2",
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.chat_template": template,
    }
    kinds = [1] * (shape.vocabulary - len(ends)) + [3] * len(ends)
    merges = [f"{a} {b}" for a in letters[:8] for b in letters[:8]]
    return [
        *(pair(key, 8, _string(text)) for key, text in texts.items()),
        *(pair(f"qwen2.{key}", 4, struct.pack("<I", n)) for key, n in numbers.items()),
        *(pair(f"qwen2.{key}", 6, struct.pack("<f", x)) for key, x in floats.items()),
        pair("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, len(tokens)) + b"".join(map(_string, tokens))),
        pair("tokenizer.ggml.merges", 9, struct.pack("<IQ", 8, len(merges)) + b"".join(map(_string, merges))),
        pair(
            "tokenizer.ggml.token_type",
            9,
            struct.pack("<IQ", 5, len(kinds)) + np.array(kinds, "<i4").tobytes(),
        ),
        pair("tokenizer.ggml.bos_token_id", 4, struct.pack("<I", shape.vocabulary - 3)),
        pair("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", shape.vocabulary - 1)),
    ]


def _string(text: str) -> bytes:
    data = text.encode("utf-8")
    return struct.pack("<Q", len(data)) + data
