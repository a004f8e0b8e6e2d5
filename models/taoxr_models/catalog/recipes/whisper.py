"""Whisper from CTranslate2 weights: graphs written from the weights, decoder in int8.

A call holds the GIL and shall not last much over 100 ms, so the encoder is cut into graphs of two blocks, and
between the two stands ``half``, which is an output or an input as the one who loads the graph likes.

* ``trunk.mnn``: ``mel`` [1, bands, t] through the convolutions; of their t / 2 places those that ``source``
  [n] names, with the encoded ``position`` [n, width] of each; then the first two blocks to ``x``
  [1, n, width], before any final normalisation: also a good feature of what a mouth does. ``log_count`` [n]
  is added to the scores of attention: a place that stands for k equal ones has log k.
* ``encoder_1.mnn``, ``encoder_2.mnn`` ...: ``x`` and ``log_count`` through two more blocks each. The last one
  ends in the cross-attention keys and values of all decoder layers, ``ck`` and ``cv`` [layers, heads, n,
  size].
* ``decoder.mnn``: ``x`` [1, m, width] (token + position embedding), ``mask`` [m, p + m] (added to the
  scores), past ``pk``, ``pv`` [layers, heads, p, size], ``ck``, ``cv`` and ``log_count`` to ``logits`` [1, m,
  vocabulary], ``nk``, ``nv`` [layers, heads, p + m, size], and ``attention`` [1, a, m, n]: the cross
  attention of the ``alignment_heads`` of ``config.json``, which tells when a token is said. Who does not ask
  for it does not pay for it.

Token and position embeddings lie in ``token_embedding.npy`` and ``position_embedding.npy`` (float16):
looking them up is the caller's. Architecture: Radford et al. 2022, "Robust Speech Recognition via
Large-Scale Weak Supervision".
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from taoxr.engine import convert_onnx
from taoxr_models.catalog.recipes import ct2
from taoxr_models.catalog.recipes.onnx_graph import OnnxGraph

# Blocks of one encoder graph.
_GROUP: Final = 2


@dataclass(frozen=True)
class _Weights:
    """Variables of a CTranslate2 Whisper, cast to float32 when asked for."""

    variables: Mapping[str, NDArray[Any]]

    def __call__(self, name: str) -> NDArray[np.float32]:
        return self.variables[name].astype(np.float32)

    @property
    def mels(self) -> int:
        return self.variables["encoder/conv1/weight"].shape[1]

    @property
    def encoder_layers(self) -> int:
        return sum(name.endswith("/self_attention/linear_0/weight") for name in self._of("encoder"))

    @property
    def layers(self) -> int:
        return sum(name.endswith("/self_attention/linear_0/weight") for name in self._of("decoder"))

    @property
    def heads(self) -> int:
        return int(self.variables["decoder/num_heads"])

    @property
    def width(self) -> int:
        return self.variables["encoder/conv2/bias"].shape[0]

    def _of(self, part: str) -> list[str]:
        return [name for name in self.variables if name.startswith(f"{part}/")]


def convert_whisper(model: Path, config: Path, tokenizer: Path, target: Path) -> None:
    """Writes the graphs, the two embeddings, ``config.json`` and ``tokenizer.json``.

    Args:
        model: CTranslate2 ``model.bin``.
        config: Its ``config.json`` (suppressed tokens, alignment heads).
        tokenizer: Its ``tokenizer.json``.
        target: Existing folder to write into.

    Raises:
        ModelError: The file is not a Whisper of the kind expected, or MNN refused a graph.
    """
    weights = _Weights(ct2.read(model, "WhisperSpec"))
    onnx_file = target / "graph.onnx"
    starts = range(0, weights.encoder_layers, _GROUP)
    for index, start in enumerate(starts):
        name = f"encoder_{index}.mnn" if index else "trunk.mnn"
        _encoder(weights, start, min(start + _GROUP, weights.encoder_layers)).save(onnx_file)
        # The weights are float16 already: stored so they lose nothing.
        convert_onnx(onnx_file, target / name, ["--fp16"])
    heads: list[tuple[int, int]] = json.loads(config.read_text(encoding="utf-8"))["alignment_heads"]
    _decoder(weights, heads).save(onnx_file)
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

    def attend_openly(self, q: str, k: str, v: str, mask: str) -> tuple[str, str]:
        """As `attend`, with the weights [1, heads, m, n]."""
        weights = self.attention_weights(self.scaled(q), k, mask)
        return self.mix(weights, v, self.weights.width), weights

    def head(self, weights: str, head: int) -> str:
        return self.op("Slice", weights, self.integers(head), self.integers(head + 1), self.integers(1))

    def feed_forward(self, x: str, name: str) -> str:
        h = self.dense(self.norm(x, f"{name}/layer_norm"), f"{name}/linear_0")
        return self.op("Add", x, self.dense(self.gelu(h), f"{name}/linear_1"))


def random_trunk(rng: np.random.Generator) -> OnnxGraph:
    """A trunk of tiny.en's size with random weights, to time others on."""
    width, wide = 384, 1536
    shapes: dict[str, tuple[int, ...]] = {
        "conv1/weight": (width, 80, 3),
        "conv1/bias": (width,),
        "conv2/weight": (width, width, 3),
        "conv2/bias": (width,),
    }
    for layer in range(_GROUP):
        attention, forward = f"layer_{layer}/self_attention", f"layer_{layer}/ffn"
        for norm in (f"{attention}/layer_norm", f"{forward}/layer_norm"):
            shapes |= {f"{norm}/gamma": (width,), f"{norm}/beta": (width,)}
        for name, out, into in (
            (f"{attention}/linear_0", 3 * width, width),
            (f"{attention}/linear_1", width, width),
            (f"{forward}/linear_0", wide, width),
            (f"{forward}/linear_1", width, wide),
        ):
            shapes |= {f"{name}/weight": (out, into), f"{name}/bias": (out,)}
    variables = {f"encoder/{n}": rng.normal(0.0, 0.02, s).astype(np.float16) for n, s in shapes.items()}
    # A layer more, so that this is not the last.
    more = {f"encoder/layer_{_GROUP}/self_attention/linear_0/weight": np.zeros((0, 0))}
    return _encoder(_Weights(variables | more | {"decoder/num_heads": np.array(6)}), 0, _GROUP)


def _encoder(w: _Weights, start: int, end: int) -> OnnxGraph:
    """Blocks from start to end, with what comes before the first and after the last of all."""
    g = _Layers("whisper_encoder", w)
    x = _stem(g) if start == 0 else g.input("x", [1, "n", w.width])
    log_count = g.input("log_count", ["n"])
    for layer in range(start, end):
        if layer == start + 1:
            g.output("half", x, [1, "n", w.width])
            x = "half"
        name = f"encoder/layer_{layer}"
        q, k, v = g.split(
            g.norm(x, f"{name}/self_attention/layer_norm"), f"{name}/self_attention/linear_0", 3
        )
        x = g.op("Add", x, g.dense(g.attend(q, k, v, log_count), f"{name}/self_attention/linear_1"))
        x = g.feed_forward(x, f"{name}/ffn")
    if end < w.encoder_layers:
        g.output("y" if start else "x", x, [1, "n", w.width])
        return g
    x = g.norm(x, "encoder/layer_norm")
    pairs = [g.split(x, f"decoder/layer_{layer}/attention/linear_1", 2) for layer in range(w.layers)]
    dims = [w.layers, w.heads, "n", w.width // w.heads]
    for index, name in enumerate(("ck", "cv")):
        g.output(name, g.op("Concat", *(pair[index] for pair in pairs), axis=0), dims)
    return g


def _stem(g: _Layers) -> str:
    w = g.weights
    x = g.input("mel", [1, w.mels, "t"])
    for name, stride in (("encoder/conv1", 1), ("encoder/conv2", 2)):
        weight, bias = g.constant(w(f"{name}/weight")), g.constant(w(f"{name}/bias"))
        x = g.gelu(g.op("Conv", x, weight, bias, kernel_shape=[3], strides=[stride], pads=[1, 1]))
    x = g.op("Transpose", x, perm=[0, 2, 1])
    x = g.op("Gather", x, g.input("source", ["n"], TensorProto.INT32), axis=1)
    return g.op("Add", x, g.input("position", ["n", w.width]))


def _decoder(w: _Weights, alignment_heads: Sequence[tuple[int, int]]) -> OnnxGraph:
    g = _Layers("whisper_decoder", w)
    size = w.width // w.heads
    x = g.input("x", [1, "m", w.width])
    mask = g.input("mask", ["m", "q"])
    past = [g.input(name, [w.layers, w.heads, "p", size]) for name in ("pk", "pv")]
    cross = [g.input(name, [w.layers, w.heads, "n", size]) for name in ("ck", "cv")]
    log_count = g.input("log_count", ["n"])
    past_k, past_v, cross_k, cross_v = (
        g.ops("Split", w.layers, tensor, g.integers(*[1] * w.layers), axis=0) for tensor in past + cross
    )
    keys: list[str] = []
    values: list[str] = []
    attention: list[str] = []
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
        h, weights = g.attend_openly(q, cross_k[layer], cross_v[layer], log_count)
        attention += [g.head(weights, head) for at, head in alignment_heads if at == layer]
        x = g.op("Add", x, g.dense(h, f"{name}/attention/linear_2"))
        x = g.feed_forward(x, f"{name}/ffn")
    vocabulary = w("decoder/embeddings/weight")  # tied to the output projection
    logits = g.linear(g.norm(x, "decoder/layer_norm"), vocabulary)
    g.output("logits", logits, [1, "m", vocabulary.shape[0]])
    g.output("attention", g.op("Concat", *attention, axis=1), [1, len(attention), "m", "n"])
    g.output("nk", g.op("Concat", *keys, axis=0), [w.layers, w.heads, "q", size])
    g.output("nv", g.op("Concat", *values, axis=0), [w.layers, w.heads, "q", size])
    return g
