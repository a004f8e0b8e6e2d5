"""Whisper tiny.en from CTranslate2 weights: graphs written from the weights, decoder in int8.

Two graphs, so that an utterance is encoded once and decoded token by token:

* ``encoder.mnn``: ``mel`` [1, 80, t] to the cross-attention keys and values of all decoder layers,
  ``ck`` and ``cv`` [layers, heads, t / 2, size].
* ``decoder.mnn``: ``x`` [1, n, width] (token + position embedding), ``mask`` [n, p + n] (added to the
  scores), past ``pk``, ``pv`` [layers, heads, p, size] and ``ck``, ``cv`` to ``logits`` [1, 1, vocabulary]
  of the last token and ``nk``, ``nv`` [layers, heads, p + n, size].

Token and position embeddings lie in ``token_embedding.npy`` and ``position_embedding.npy`` (float16):
looking them up is the caller's. Architecture: Radford et al. 2022, "Robust Speech Recognition via
Large-Scale Weak Supervision".
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.engine import convert_onnx
from taoxr_models.catalog.recipes import ct2
from taoxr_models.catalog.recipes.onnx_graph import OnnxGraph

_MELS: Final = 80


@dataclass(frozen=True)
class _Weights:
    """Variables of a CTranslate2 Whisper, cast to float32 when asked for."""

    variables: Mapping[str, NDArray[Any]]

    def __call__(self, name: str) -> NDArray[np.float32]:
        return self.variables[name].astype(np.float32)

    @property
    def layers(self) -> int:
        return sum(name.endswith("/attention/linear_0/weight") for name in self.variables)

    @property
    def heads(self) -> int:
        return int(self.variables["decoder/num_heads"])

    @property
    def width(self) -> int:
        return self.variables["encoder/conv2/bias"].shape[0]


def convert_whisper(model: Path, config: Path, tokenizer: Path, target: Path) -> None:
    """Writes ``encoder.mnn``, ``decoder.mnn``, the two embeddings, ``config.json`` and ``tokenizer.json``.

    Args:
        model: CTranslate2 ``model.bin``.
        config: Its ``config.json`` (suppressed tokens).
        tokenizer: Its ``tokenizer.json``.
        target: Existing folder to write into.

    Raises:
        ModelError: The file is not a Whisper of the kind expected, or MNN refused a graph.
    """
    weights = _Weights(ct2.read(model, "WhisperSpec"))
    onnx_file = target / "graph.onnx"
    _encoder(weights).save(onnx_file)
    convert_onnx(onnx_file, target / "encoder.mnn")
    _decoder(weights).save(onnx_file)
    convert_onnx(onnx_file, target / "decoder.mnn", ["--weightQuantBits", "8"])
    onnx_file.unlink()
    # Not one .npz: how zip headers are written differs between Python's releases, and so would the digest.
    np.save(target / "token_embedding.npy", weights.variables["decoder/embeddings/weight"])
    np.save(target / "position_embedding.npy", weights.variables["decoder/position_encodings/encodings"])
    shutil.copyfile(config, target / "config.json")
    shutil.copyfile(tokenizer, target / "tokenizer.json")


class _Layers(OnnxGraph):
    """Whisper's layers by the names of their weights."""

    def __init__(self, name: str, weights: _Weights) -> None:
        super().__init__(name)
        self.weights = weights

    def norm(self, x: str, name: str) -> str:
        return self.layer_norm(x, self.weights(f"{name}/gamma"), self.weights(f"{name}/beta"))

    def dense(self, x: str, name: str) -> str:
        return self.linear(x, self.weights(f"{name}/weight"), self.weights(f"{name}/bias"))

    def split(self, x: str, name: str, parts: int) -> list[str]:
        """One dense layer, its result cut into parts, each split into heads."""
        w = self.weights
        wide = self.ops("Split", parts, self.dense(x, name), self.integers(*[w.width] * parts), axis=-1)
        return [self.by_head(part) for part in wide]

    def by_head(self, x: str) -> str:
        return self.heads(x, self.weights.heads, self.weights.width // self.weights.heads)

    def scaled(self, q: str) -> str:
        factor = (self.weights.width // self.weights.heads) ** -0.5
        return self.op("Mul", q, self.constant(np.array(factor, np.float32)))

    def attend(self, q: str, k: str, v: str, mask: str | None = None) -> str:
        return self.attention(self.scaled(q), k, v, self.weights.width, mask)

    def feed_forward(self, x: str, name: str) -> str:
        h = self.dense(self.norm(x, f"{name}/layer_norm"), f"{name}/linear_0")
        return self.op("Add", x, self.dense(self.gelu(h), f"{name}/linear_1"))


def _encoder(w: _Weights) -> OnnxGraph:
    g = _Layers("whisper_encoder", w)
    x = g.input("mel", [1, _MELS, "t"])
    for name, stride in (("encoder/conv1", 1), ("encoder/conv2", 2)):
        weight, bias = g.constant(w(f"{name}/weight")), g.constant(w(f"{name}/bias"))
        x = g.gelu(g.op("Conv", x, weight, bias, kernel_shape=[3], strides=[stride], pads=[1, 1]))
    x = g.op("Transpose", x, perm=[0, 2, 1])
    # A table of 1500 positions cut to the length at hand.
    length = g.op("Slice", g.op("Shape", x), g.integers(1), g.integers(2))
    positions = g.constant(w("encoder/position_encodings/encodings"))
    x = g.op("Add", x, g.op("Slice", positions, g.integers(0), length, g.integers(0)))
    for layer in range(w.layers):
        name = f"encoder/layer_{layer}"
        q, k, v = g.split(
            g.norm(x, f"{name}/self_attention/layer_norm"), f"{name}/self_attention/linear_0", 3
        )
        x = g.op("Add", x, g.dense(g.attend(q, k, v), f"{name}/self_attention/linear_1"))
        x = g.feed_forward(x, f"{name}/ffn")
    x = g.norm(x, "encoder/layer_norm")
    pairs = [g.split(x, f"decoder/layer_{layer}/attention/linear_1", 2) for layer in range(w.layers)]
    dims = [w.layers, w.heads, "s", w.width // w.heads]
    for index, name in enumerate(("ck", "cv")):
        g.output(name, g.op("Concat", *(pair[index] for pair in pairs), axis=0), dims)
    return g


def _decoder(w: _Weights) -> OnnxGraph:
    g = _Layers("whisper_decoder", w)
    size = w.width // w.heads
    x = g.input("x", [1, "n", w.width])
    mask = g.input("mask", ["n", "m"])
    past = [g.input(name, [w.layers, w.heads, "p", size]) for name in ("pk", "pv")]
    cross = [g.input(name, [w.layers, w.heads, "s", size]) for name in ("ck", "cv")]
    past_k, past_v, cross_k, cross_v = (
        g.ops("Split", w.layers, tensor, g.integers(*[1] * w.layers), axis=0) for tensor in past + cross
    )
    keys: list[str] = []
    values: list[str] = []
    for layer in range(w.layers):
        name = f"decoder/layer_{layer}"
        q, k, v = g.split(
            g.norm(x, f"{name}/self_attention/layer_norm"), f"{name}/self_attention/linear_0", 3
        )
        keys.append(g.op("Concat", past_k[layer], k, axis=2))
        values.append(g.op("Concat", past_v[layer], v, axis=2))
        h = g.attend(q, keys[-1], values[-1], mask)
        x = g.op("Add", x, g.dense(h, f"{name}/self_attention/linear_1"))
        q = g.by_head(g.dense(g.norm(x, f"{name}/attention/layer_norm"), f"{name}/attention/linear_0"))
        h = g.attend(q, cross_k[layer], cross_v[layer])
        x = g.op("Add", x, g.dense(h, f"{name}/attention/linear_2"))
        x = g.feed_forward(x, f"{name}/ffn")
    last = g.op("Slice", x, g.integers(-1), g.integers(np.iinfo(np.int64).max), g.integers(1))
    vocabulary = w("decoder/embeddings/weight")  # tied to the output projection
    logits = g.linear(g.norm(last, "decoder/layer_norm"), vocabulary)
    g.output("logits", logits, [1, 1, vocabulary.shape[0]])
    g.output("nk", g.op("Concat", *keys, axis=0), [w.layers, w.heads, "m", size])
    g.output("nv", g.op("Concat", *values, axis=0), [w.layers, w.heads, "m", size])
    return g
