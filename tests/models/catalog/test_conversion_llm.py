"""Language models of the user's: from floats and from other blocks, with perplexity before and after."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from tests.models.catalog.test_catalog_llm import (
    KL_TOLERANCE,
    SMALL,
    divergence,
    forward,
    read_weights,
    run_mnn,
    small_gguf,
)

from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.catalog.conversion.blocks import floats, requantised
from taoxr_models.catalog.conversion.huggingface import read_folder
from taoxr_models.catalog.conversion.language import convert_language_model, perplexity
from taoxr_models.catalog.conversion.precision import Storage
from taoxr_models.catalog.recipes.gguf import F32, Q4_0, Q4_1, Q8_0, Gguf, Tensor

pytestmark = pytest.mark.models

TEXT = "ABCabc" * 6


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "small.gguf"
    path.write_bytes(small_gguf(SMALL[0]))
    return path


@pytest.mark.parametrize(("bits", "error"), [(8, 0.008), (4, 0.11)])
def test_floats_become_blocks_and_back(bits: int, error: float) -> None:
    values = np.random.default_rng(0).standard_normal((6, 64)).astype(np.float32)
    values[0, :32] = 0.0
    values[1, :32] = 2.5
    tensor = Tensor(F32, 6, 64, values.view(np.uint8).reshape(6, -1))
    made = requantised(Gguf.of("x", {}, {"w": tensor}), bits).tensors["w"]
    assert made.kind == (Q8_0 if bits == 8 else Q4_1)
    back = floats(made)
    assert back.shape == values.shape
    assert not back[0, :32].any()
    np.testing.assert_allclose(back[1, :32], 2.5, rtol=0.01)
    assert 0 < np.sqrt(np.mean((back[2:] - values[2:]) ** 2)) < error
    # Once more changes nothing: the values lie on the grid.
    np.testing.assert_array_equal(
        requantised(Gguf.of("x", {}, {"w": made}), bits).tensors["w"].data, made.data
    )


def test_old_blocks_are_read_right() -> None:
    scale = np.float16(0.5).tobytes()
    data = np.frombuffer(scale + bytes(range(16)), np.uint8).reshape(1, -1)
    (row,) = floats(Tensor(Q4_0, 1, 32, data))
    np.testing.assert_allclose(row, [*((np.arange(16) - 8) * 0.5), *([-4.0] * 16)])


def test_a_language_model_is_quantised_with_its_perplexity(
    gguf: Path, weights: dict[str, np.ndarray], tmp_path: Path
) -> None:
    target, folder = tmp_path / "small", hugging_face(tmp_path / "hf", weights)
    report = convert_language_model(folder, "huggingface", target, Storage("int4", 32), text=TEXT)
    assert report.before is not None
    assert report.after is not None
    assert report.before != report.after  # 8 bits before
    assert report.after == pytest.approx(report.before, rel=0.5)
    # It is that of a forward pass in float64 with the stored weights, up to the engine's 8-bit activations.
    ids = [0, 1, 2, 26, 27, 28] * 6  # TEXT
    logits = forward(read_weights(target / "llm.mnn.weight", SMALL[0]), SMALL[0], ids)[:-1]
    shifted = logits - logits.max(axis=1, keepdims=True)
    losses = np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(35), ids[1:]]
    assert report.tokens == len(ids)
    assert np.log(report.after) == pytest.approx(losses.mean(), rel=0.02)
    # The number is that of the logits.
    assert perplexity(target, TEXT)[0] == pytest.approx(report.after, rel=1e-3)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hf", "small", "small.gguf"]


def test_as_it_is_nothing_changes(gguf: Path, tmp_path: Path) -> None:
    report = convert_language_model(gguf, "gguf", tmp_path / "small", Storage(), text=TEXT)
    assert report.before == report.after


def test_wrong_requests_leave_nothing(gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(InvalidInputError, match="a folder that does not exist yet"):
        convert_language_model(gguf, "gguf", tmp_path / "there", Storage())
    with pytest.raises(InvalidInputError, match="int8 or int4, in blocks of 32"):
        convert_language_model(gguf, "gguf", tmp_path / "small", Storage("int4", 64))
    with pytest.raises(InvalidInputError, match="--text"):
        convert_language_model(gguf, "gguf", tmp_path / "small", Storage(), text="A")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["small.gguf", "there"]


def hugging_face(folder: Path, weights: dict[str, np.ndarray], kind: str = "BF16") -> Path:
    """Writes a folder as transformers does, for the first small Llama."""
    llama = SMALL[0]
    folder.mkdir()
    config = {
        "model_type": "llama",
        "hidden_size": llama.hidden,
        "intermediate_size": llama.feed_forward,
        "num_hidden_layers": llama.layers,
        "num_attention_heads": llama.heads,
        "num_key_value_heads": llama.kv_heads,
        "rope_theta": llama.theta,
        "rms_norm_eps": llama.epsilon,
        "tie_word_embeddings": True,
        "bos_token_id": llama.vocabulary - 2,
        "eos_token_id": [llama.vocabulary - 1],
    }
    (folder / "config.json").write_text(json.dumps(config))
    metadata = Gguf(folder.parent / "small.gguf")
    tokens = metadata.texts("tokenizer.ggml.tokens")
    special = [{"id": i, "content": t, "special": True} for i, t in enumerate(tokens) if t.startswith("<|")]
    digits = {"type": "Digits", "individual_digits": True}
    tokenizer = {
        "model": {
            "type": "BPE",
            "vocab": {t: i for i, t in enumerate(tokens) if not t.startswith("<|")},
            "merges": [["B", "c"]],
        },
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits, {"type": "ByteLevel"}]},
        "added_tokens": special,
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    header, body = {"__metadata__": {"format": "pt"}}, b""
    for name, array in weights.items():
        wide = np.ascontiguousarray(array, np.float32)
        data = wide.tobytes() if kind == "F32" else (wide.view(np.uint32) >> 16).astype("<u2").tobytes()
        span = [len(body), len(body) + len(data)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": span}
        body += data
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + body)
    return folder


@pytest.fixture
def weights() -> dict[str, np.ndarray]:
    llama, random = SMALL[0], np.random.default_rng(5)
    size = llama.hidden // llama.heads
    shapes = {
        "self_attn.q_proj": (llama.hidden, llama.hidden),
        "self_attn.k_proj": (llama.kv_heads * size, llama.hidden),
        "self_attn.v_proj": (llama.kv_heads * size, llama.hidden),
        "self_attn.o_proj": (llama.hidden, llama.hidden),
        "mlp.gate_proj": (llama.feed_forward, llama.hidden),
        "mlp.up_proj": (llama.feed_forward, llama.hidden),
        "mlp.down_proj": (llama.hidden, llama.feed_forward),
    }
    made = {"model.embed_tokens.weight": random.standard_normal((llama.vocabulary, llama.hidden)) * 0.3}
    for layer in range(llama.layers):
        for name, shape in shapes.items():
            made[f"model.layers.{layer}.{name}.weight"] = random.standard_normal(shape) / np.sqrt(shape[1])
        for name in ("input_layernorm", "post_attention_layernorm"):
            made[f"model.layers.{layer}.{name}.weight"] = random.uniform(0.5, 1.5, llama.hidden)
    made["model.norm.weight"] = random.uniform(0.5, 1.5, llama.hidden)
    return made


@pytest.mark.parametrize("kind", ["BF16", pytest.param("F32", marks=pytest.mark.slow)])
def test_a_hugging_face_folder_converts(
    gguf: Path, weights: dict[str, np.ndarray], kind: str, tmp_path: Path
) -> None:
    llama = SMALL[0]
    folder = hugging_face(tmp_path / "hf", weights, kind)
    target = tmp_path / "model"
    report = convert_language_model(folder, "huggingface", target, Storage("int8"), text=TEXT)
    assert report.after is not None
    stored = read_weights(target / "llm.mnn.weight", llama)
    query = weights["model.layers.0.self_attn.q_proj.weight"]
    np.testing.assert_allclose(stored["blk.0.attn_q.weight"], query, atol=0.02)
    np.testing.assert_allclose(stored["token_embd.weight"], weights["model.embed_tokens.weight"], atol=0.02)
    ids = np.random.default_rng(3).integers(0, llama.vocabulary, 30).tolist()
    logits = run_mnn(target, tmp_path, [], ids[:20], ids[20:])["logits"]
    reference = forward(stored, llama, ids)[19:]
    assert reference.std() > 0.1
    assert divergence(reference, logits) < KL_TOLERANCE


def test_what_is_no_plain_llama_is_refused(
    gguf: Path, weights: dict[str, np.ndarray], tmp_path: Path
) -> None:
    folder = hugging_face(tmp_path / "hf", weights)
    config = json.loads((folder / "config.json").read_text())

    def refused(match: str, **changes: object) -> None:
        (folder / "config.json").write_text(json.dumps(config | changes))
        with pytest.raises(ModelError, match=match):
            read_folder(folder)

    refused("model_type is 'qwen2'", model_type="qwen2")
    refused("rope scaling or biases", rope_scaling={"rope_type": "llama3"})
    refused("head_dim is 7", head_dim=7)
    refused("missing or of the wrong type", rms_norm_eps=None)
    refused(r"lm_head\.weight is missing", tie_word_embeddings=False)
    (folder / "model.safetensors").write_bytes(b"short")
    refused("is no safetensors file")
    (folder / "model.safetensors").unlink()
    refused(r"holds no \*\.safetensors")
