"""``taoxr bench llm``: how fast prompts are read and answers written, beside llama.cpp on the same GGUF.

The weights of a model of a given shape may be random: how long a product of matrices takes does not depend on
what is in them. So a model that is not at hand can be timed by its shape.
"""

import importlib
import importlib.util
import statistics
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil

from taoxr.engine import Llm
from taoxr_models.catalog.recipes.gguf import F32, Q4_1, Q8_0

PROMPT_TOKENS: Final = 178
ANSWER_TOKENS: Final = 64
_ROUNDS: Final = 3
# A chunk of random blocks is repeated, so that a gigabyte of them is written at the disk's speed.
_CHUNK_BLOCKS: Final = 1 << 16


@dataclass(frozen=True)
class Speed:
    """Medians of some rounds.

    Attributes:
        prefill_s: Seconds for `PROMPT_TOKENS`.
        decode_s: Seconds for `ANSWER_TOKENS`.
        load_s: Seconds until the model can be used.
        rss_mb: Resident memory that it added, in 10^6 bytes.
    """

    prefill_s: float
    decode_s: float
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


def time_ours(folder: Path, threads: int = 1) -> Speed:
    """Times MNN on a model's folder."""

    def load() -> Llm:
        return Llm(folder, threads=threads)

    def run(llm: Llm, ids: list[int]) -> Iterator[None]:
        llm.rewind(0)
        token = int(np.argmax(llm.feed(ids)))
        yield
        for _ in range(ANSWER_TOKENS):
            token = int(np.argmax(llm.feed([token])))

    return _time(load, run)


def has_peer() -> bool:
    """Whether llama.cpp's Python package is installed (``pip install llama-cpp-python``)."""
    return importlib.util.find_spec("llama_cpp") is not None


def time_peer(gguf: Path, threads: int = 1) -> Speed:
    """Times llama.cpp on a GGUF file."""
    llama: Any = importlib.import_module("llama_cpp")

    def load() -> Any:
        return llama.Llama(
            str(gguf), n_ctx=512, n_batch=512, n_threads=threads, n_threads_batch=threads, verbose=False
        )

    def run(model: Any, ids: list[int]) -> Iterator[None]:
        model.reset()
        model.eval(ids)
        yield
        for _ in range(ANSWER_TOKENS):
            model.eval([model.sample(temp=0.0)])

    return _time(load, run)


def _time(load: Callable[[], Any], run: Callable[[Any, list[int]], Iterator[None]]) -> Speed:
    process = psutil.Process()
    before, begun = process.memory_info().rss, time.perf_counter()
    model = load()
    load_s = time.perf_counter() - begun
    ids = np.random.default_rng(0).integers(10, 250, PROMPT_TOKENS).tolist()
    for _ in run(model, ids):  # warms up, and is not counted
        pass
    prefill: list[float] = []
    decode: list[float] = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        steps = run(model, ids)
        next(steps)
        middle = time.perf_counter()
        for _ in steps:
            pass
        prefill.append(middle - begun)
        decode.append(time.perf_counter() - middle)
    rss = (process.memory_info().rss - before) / 1e6
    return Speed(statistics.median(prefill), statistics.median(decode), load_s, rss)


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
        "context_length": 4096,
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
