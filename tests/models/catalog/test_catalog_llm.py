"""The repacked LLM: weights bit for bit, logits against a float64 forward pass, tokenizer bytes."""

import hashlib
import json
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from taoxr.errors import ModelError
from taoxr_models.catalog import verified
from taoxr_models.catalog.recipes.llama import convert_llama

pytestmark = pytest.mark.models

HERE = Path(__file__).parent
KL_TOLERANCE = 1e-6  # nats, mean over positions
CHAT = (
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
    "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
)
ANSWER = "The capital of France is Paris. It lies on the river Seine, and about 2,100,000 people live there."
TEXTS = [
    "",
    " two  spaces\n\n\tand a tab",
    "I'll say: naïve café, 北京, Ελλάδα, 🙂👩‍👩‍👧!",
    "٣ Arabic and 12345 ASCII digits, x²",
    "\x01\x7f control",
    CHAT,
]

BIASED = ("attn_q", "attn_k", "attn_v")

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Llama:
    """Shape of a model under test."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    feed_forward: int
    vocabulary: int
    theta: float
    epsilon: float
    tied: bool
    qwen2: bool = False
    mixed: bool = False  # blocks of several types in one matrix, and centred ones of 4 bits


SMOLLM2 = Llama(30, 576, 9, 3, 1536, 49152, 100000.0, 1e-5, tied=True)
SMALL = [
    Llama(2, 64, 2, 1, 128, 320, 10000.0, 1e-6, tied=True),
    Llama(3, 96, 3, 3, 160, 300, 500000.0, 1e-5, tied=False),
    Llama(2, 64, 4, 2, 96, 300, 1000000.0, 1e-6, tied=True, qwen2=True),
    Llama(2, 64, 2, 1, 128, 320, 10000.0, 1e-6, tied=True, mixed=True),
]


def read_weights(path: Path, llama: Llama) -> dict[str, Floats]:
    """Decodes ``llm.mnn.weight`` from its layout alone; matrices in Hugging Face's row order."""
    data, at, weights = np.fromfile(path, np.uint8), 0, dict[str, Floats]()

    def norm(name: str) -> None:
        nonlocal at
        gamma, beta = data[at : at + 8 * llama.hidden].view("<f4").reshape(2, -1)
        assert not beta.any()
        weights[name], at = gamma, at + 8 * llama.hidden

    def matrix(*names: str, rows: list[int] | None = None) -> None:
        nonlocal at
        two, total, columns, count = struct.unpack_from("<BHHB", data, at)
        assert two == 2
        count = count or 256
        values = data[at + 6 : at + 6 + count].view(np.int8).astype(np.float32)
        at += 6 + count
        size = total * columns * (1 if count == 256 else 4) // (1 if count == 256 else 8)
        indexes, at = data[at : at + size], at + size
        if count == 16:
            indexes = np.stack([indexes >> 4, indexes & 15], axis=1).ravel()
        blocks = total * columns // 32
        centred = count == 256
        if llama.mixed:
            centred = {"attn_q": False, "ffn_gate": True}.get(names[0].split(".")[-2], centred)
        if centred:
            zero, scale = np.zeros(blocks, np.float32), data[at : at + 4 * blocks].view("<f4")
        else:
            zero, scale = data[at : at + 8 * blocks].view("<f4").reshape(blocks, 2).T
        at += (4 if centred else 8) * blocks
        decoded = scale[:, None] * values[indexes].reshape(blocks, 32) + zero[:, None]
        borders = np.cumsum(rows or [total])
        assert borders[-1] == total
        parts = np.split(decoded.reshape(total, columns), borders[:-1])
        weights.update(zip(names, parts, strict=True))
        if llama.qwen2 and names[0].split(".")[-2] in BIASED:
            biases = np.split(data[at : at + 4 * total].view("<f4"), borders[:-1])
            weights.update(zip((n.replace("weight", "bias") for n in names), biases, strict=True))
            at += 4 * total

    values = llama.hidden // llama.heads * llama.kv_heads
    for layer in range(llama.layers):
        block = f"blk.{layer}"
        norm(f"{block}.attn_norm.weight")
        matrix(*(f"{block}.attn_{c}.weight" for c in "qkv"), rows=[llama.hidden, values, values])
        matrix(f"{block}.attn_output.weight")
        norm(f"{block}.ffn_norm.weight")
        matrix(f"{block}.ffn_gate.weight", f"{block}.ffn_up.weight", rows=[llama.feed_forward] * 2)
        matrix(f"{block}.ffn_down.weight")
    norm("output_norm.weight")
    matrix("token_embd.weight" if llama.tied else "output.weight")
    if not llama.tied:
        matrix("token_embd.weight")
    assert at == len(data)
    return weights


def forward(weights: dict[str, Floats], llama: Llama, ids: list[int]) -> NDArray[np.float64]:
    """A plain Llama in float64, written from the paper: logits [tokens, vocabulary]."""
    n, size = len(ids), llama.hidden // llama.heads

    def linear(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return x @ weights[name].astype(np.float64).T + weights.get(name.replace("weight", "bias"), 0.0)

    def norm(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + llama.epsilon) * weights[name]

    angles = np.arange(n)[:, None] * llama.theta ** (-np.arange(0, size, 2) / size)
    turn = np.exp(1j * angles)[:, None]  # the two halves of a head are the parts of complex numbers

    def rotated(x: NDArray[np.float64]) -> NDArray[np.float64]:
        z = (x[..., : size // 2] + 1j * x[..., size // 2 :]) * turn
        return np.concatenate([z.real, z.imag], -1)

    x = weights["token_embd.weight"][ids].astype(np.float64)
    future = np.triu(np.full((n, n), -np.inf), 1)
    for layer in range(llama.layers):
        block = f"blk.{layer}"
        h = norm(x, f"{block}.attn_norm.weight")
        q = rotated(linear(h, f"{block}.attn_q.weight").reshape(n, llama.heads, size))
        k = rotated(linear(h, f"{block}.attn_k.weight").reshape(n, llama.kv_heads, size))
        v = linear(h, f"{block}.attn_v.weight").reshape(n, llama.kv_heads, size)
        k, v = (a.repeat(llama.heads // llama.kv_heads, axis=1) for a in (k, v))
        scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(size) + future
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        h = np.einsum("hqk,khd->qhd", scores / scores.sum(-1, keepdims=True), v).reshape(n, -1)
        x = x + linear(h, f"{block}.attn_output.weight")
        h = norm(x, f"{block}.ffn_norm.weight")
        gate = linear(h, f"{block}.ffn_gate.weight")
        x = x + linear(
            gate / (1 + np.exp(-gate)) * linear(h, f"{block}.ffn_up.weight"), f"{block}.ffn_down.weight"
        )
    return linear(norm(x, "output_norm.weight"), "token_embd.weight" if llama.tied else "output.weight")


def divergence(reference: NDArray[np.float64], logits: Floats) -> float:
    """Mean Kullback-Leibler divergence of rows of logits, in nats."""

    def log_softmax(x: NDArray[np.float64]) -> NDArray[np.float64]:
        x = x - x.max(-1, keepdims=True)
        return x - np.log(np.exp(x).sum(-1, keepdims=True))

    p, q = log_softmax(reference), log_softmax(logits.astype(np.float64))
    return float((np.exp(p) * (p - q)).sum(-1).mean())


def run_mnn(
    folder: Path,
    tmp_path: Path,
    texts: list[str],
    prefill: list[int],
    decode: list[int],
    memory: str = "normal",
) -> dict[str, NDArray[Any]]:
    """Runs MNN's engine on a folder in another process."""
    ours = tmp_path / f"run_{memory}"
    ours.mkdir()
    for file in folder.iterdir():
        (ours / file.name).symlink_to(file)
    (ours / "config.json").unlink()
    config = json.loads((folder / "config.json").read_text()) | {"memory": memory, "precision": "normal"}
    (ours / "config.json").write_text(json.dumps(config))
    request, result = tmp_path / "request.json", tmp_path / "result.npz"
    request.write_text(json.dumps({"texts": texts, "prefill": prefill, "decode": decode}))
    subprocess.run(
        [sys.executable, HERE / "mnn_logits.py", ours, request, result],
        check=True,
        capture_output=True,
        timeout=120,
    )
    with np.load(result) as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def folder() -> Path:
    return verified("smollm2-135m-instruct")


@pytest.fixture(scope="module")
def weights(folder: Path) -> dict[str, Floats]:
    return read_weights(folder / "llm.mnn.weight", SMOLLM2)


@pytest.fixture(scope="module")
def vocabulary(folder: Path) -> list[bytes]:
    return read_vocabulary(folder / "vocab.bin")


def read_vocabulary(path: Path) -> list[bytes]:
    data, at, tokens = path.read_bytes(), 0, list[bytes]()
    while at < len(data):
        (size,) = struct.unpack_from("<H", data, at)
        tokens.append(data[at + 2 : at + 2 + size])
        at += 2 + size
    return tokens


def test_all_weights_are_the_ggufs_bit_for_bit(weights: dict[str, Floats]) -> None:
    expected = json.loads((HERE / "references/references.json").read_text())["llm_weights"]
    assert weights.keys() == expected.keys()
    heads = {"attn_q": SMOLLM2.heads, "attn_k": SMOLLM2.kv_heads}
    count = 0
    for name, values in weights.items():
        part = name.split(".")[2] if name.startswith("blk.") else ""
        if part in heads:  # llama.cpp interleaves the halves of each head
            rows, columns = values.shape
            values = values.reshape(heads[part], 2, -1, columns).swapaxes(1, 2).reshape(rows, columns)
        assert list(values.shape) == expected[name]["shape"], name
        assert hashlib.sha256(values.astype("<f4").tobytes()).hexdigest() == expected[name]["sha256"], name
        count += values.size
    assert count == 134_515_008


@dataclass(frozen=True)
class Dialogue:
    """A prompt and an answer in ids, and the reference's logits of each answer token."""

    prompt: list[int]
    answer: list[int]
    reference: NDArray[np.float64]


@pytest.fixture(scope="module")
def dialogue(folder: Path, weights: dict[str, Floats], tmp_path_factory: pytest.TempPathFactory) -> Dialogue:
    encoded = run_mnn(folder, tmp_path_factory.mktemp("encode"), [CHAT, ANSWER], [], [])
    prompt, answer = encoded["encoded_0"].tolist(), encoded["encoded_1"].tolist()
    return Dialogue(prompt, answer, forward(weights, SMOLLM2, prompt + answer)[len(prompt) - 1 :])


def test_logits_are_those_of_a_float64_forward_pass(folder: Path, dialogue: Dialogue, tmp_path: Path) -> None:
    logits = run_mnn(folder, tmp_path, [], dialogue.prompt, dialogue.answer)["logits"]
    assert divergence(dialogue.reference, logits) < KL_TOLERANCE
    assert np.array_equal(dialogue.reference.argmax(-1), logits.argmax(-1))
    # transformers 5.24 on the dequantised weights gives these two for the first answer token.
    assert np.sort(logits[0])[-2:] == pytest.approx([25.243, 25.325], abs=2e-3)


def test_shipped_configuration_stays_close(folder: Path, dialogue: Dialogue, tmp_path: Path) -> None:
    """Int8 activations diverge; how far is up to the configuration."""
    logits = run_mnn(folder, tmp_path, [], dialogue.prompt, dialogue.answer, memory="low")["logits"]
    assert divergence(dialogue.reference, logits) < 0.01


def test_tokens_of_any_text_are_its_bytes(folder: Path, vocabulary: list[bytes], tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    pool = "aZ 09\n\t.,'é€字🙂\u0301\u00a0"
    texts = TEXTS + ["".join(random.choice(list(pool), 30)) for _ in range(200)]
    encoded = run_mnn(folder, tmp_path, texts, [], [])
    for number, text in enumerate(texts):
        ids = encoded[f"encoded_{number}"].astype(int)
        assert b"".join(vocabulary[i] for i in ids) == text.encode(), text
    assert len(vocabulary) == SMOLLM2.vocabulary
    assert (vocabulary[1], vocabulary[2]) == (b"<|im_start|>", b"<|im_end|>")
    # Digits stand alone; special tokens are single.
    assert encoded[f"encoded_{TEXTS.index(CHAT)}"][0] == 1
    assert all(
        len([c for c in token if c in b"0123456789"]) <= 1 for token in vocabulary if token[:1] != b"<"
    )


@pytest.mark.parametrize("llama", SMALL, ids=["tied", "untied", "qwen2", "mixed"])
def test_other_shapes_convert_right(llama: Llama, tmp_path: Path) -> None:
    source, target = tmp_path / "small.gguf", tmp_path / "small"
    target.mkdir()
    source.write_bytes(small_gguf(llama))
    convert_llama(source, target)
    weights = read_weights(target / "llm.mnn.weight", llama)
    random = np.random.default_rng(3)
    ids = random.integers(0, llama.vocabulary, 40).tolist()
    logits = run_mnn(target, tmp_path, [], ids[:25], ids[25:])["logits"]
    reference = forward(weights, llama, ids)[24:]
    assert reference.std() > 0.1  # else the divergence says nothing
    assert divergence(reference, logits) < KL_TOLERANCE


def small_gguf(llama: Llama, architecture: str = "") -> bytes:
    """A GGUF file of random blocks: Q4_1 layers (unless mixed), Q8_0 embedding, byte tokens only."""
    random = np.random.default_rng(0)
    size = llama.hidden // llama.heads
    arch = architecture or ("qwen2" if llama.qwen2 else "llama")

    def string(text: str) -> bytes:
        return struct.pack("<Q", len(text.encode())) + text.encode()

    def pair(key: str, value: object) -> bytes:
        if isinstance(value, list):
            code, pack = (8, string) if isinstance(value[0], str) else (5, lambda v: struct.pack("<i", v))
            return string(key) + struct.pack("<IIQ", 9, code, len(value)) + b"".join(pack(v) for v in value)
        if isinstance(value, str):
            return string(key) + struct.pack("<I", 8) + string(value)
        kind, code = (6, "f") if isinstance(value, float) else (4, "I")
        return string(key) + struct.pack("<I" + code, kind, value)

    letters = [chr(0x41 + i % 26) + chr(0x61 + i // 26) for i in range(llama.vocabulary - 3)]
    letters[:52] = [chr(c) for c in (*range(0x41, 0x5B), *range(0x61, 0x7B))]
    tokens = [*letters, "<|x|>", "<|im_start|>", "<|im_end|>"]
    pairs: dict[str, object] = {
        "general.architecture": arch,
        f"{arch}.block_count": llama.layers,
        f"{arch}.embedding_length": llama.hidden,
        f"{arch}.feed_forward_length": llama.feed_forward,
        f"{arch}.attention.head_count": llama.heads,
        f"{arch}.attention.head_count_kv": llama.kv_heads,
        f"{arch}.rope.freq_base": llama.theta,
        f"{arch}.attention.layer_norm_rms_epsilon": llama.epsilon,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2" if llama.qwen2 else "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [1] * (llama.vocabulary - 3) + [3] * 3,
        "tokenizer.ggml.merges": ["B c"],
        "tokenizer.ggml.bos_token_id": llama.vocabulary - 2,
        "tokenizer.ggml.eos_token_id": llama.vocabulary - 1,
        "tokenizer.chat_template": "{{ messages }}",
    }

    def norm() -> tuple[int, list[int], bytes]:
        return 0, [llama.hidden], random.uniform(0.5, 1.5, llama.hidden).astype("<f4").tobytes()

    def matrix(rows: int, columns: int, kind: int = 3) -> tuple[int, list[int], bytes]:
        blocks = rows * columns // 32
        scale = random.uniform(0.01, 0.03, blocks).astype("<f2")
        data = random.integers(0, 256, (blocks, {2: 18, 3: 20, 8: 34}[kind]), dtype=np.uint8)
        data[:, 0:2] = scale.view(np.uint8).reshape(-1, 2)
        if kind == 3:
            data[:, 2:4] = (scale * np.float16(-7.5)).view(np.uint8).reshape(-1, 2)
        return kind, [columns, rows], data.tobytes()

    q, k, gate = (2, 8, 2) if llama.mixed else (3, 3, 3)
    tensors = {"token_embd.weight": matrix(llama.vocabulary, llama.hidden, 8), "output_norm.weight": norm()}
    for layer in range(llama.layers):
        tensors |= {
            f"blk.{layer}.attn_norm.weight": norm(),
            f"blk.{layer}.ffn_norm.weight": norm(),
            f"blk.{layer}.attn_q.weight": matrix(llama.hidden, llama.hidden, q),
            f"blk.{layer}.attn_k.weight": matrix(llama.kv_heads * size, llama.hidden, k),
            f"blk.{layer}.attn_v.weight": matrix(llama.kv_heads * size, llama.hidden),
            f"blk.{layer}.attn_output.weight": matrix(llama.hidden, llama.hidden),
            f"blk.{layer}.ffn_gate.weight": matrix(llama.feed_forward, llama.hidden, gate),
            f"blk.{layer}.ffn_up.weight": matrix(llama.feed_forward, llama.hidden, gate),
            f"blk.{layer}.ffn_down.weight": matrix(llama.hidden, llama.feed_forward),
        }
    if llama.qwen2:
        for name, (_, dims, _) in list(tensors.items()):
            if name.split(".")[-2] in BIASED:
                bias = random.normal(0, 0.3, dims[1]).astype("<f4")
                tensors[name.replace("weight", "bias")] = 0, [dims[1]], bias.tobytes()
    if not llama.tied:
        tensors["output.weight"] = matrix(llama.vocabulary, llama.hidden, 8)
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    header += b"".join(pair(k, v) for k, v in pairs.items())
    body = b""
    for name, (kind, dims, data) in tensors.items():
        header += string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, len(body))
        body += data + bytes(-len(data) % 32)
    return header + bytes(-len(header) % 32) + body


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_cut_short_gguf_is_refused(share: float, tmp_path: Path) -> None:
    whole = small_gguf(SMALL[0])
    source = tmp_path / "cut.gguf"
    source.write_bytes(whole[: int(len(whole) * share)] or b"\0")
    with pytest.raises(ModelError):
        convert_llama(source, tmp_path)


def test_other_architecture_is_refused_by_name(tmp_path: Path) -> None:
    source = tmp_path / "other.gguf"
    source.write_bytes(small_gguf(SMALL[0], "gemma3"))
    with pytest.raises(ModelError, match="gemma3"):
        convert_llama(source, tmp_path)
