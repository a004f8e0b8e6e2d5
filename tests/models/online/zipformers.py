"""Makes small streaming zipformer transducers with random weights, in ONNX and MNN form.

``python tests/models/online/zipformers.py FOLDER`` writes ``FOLDER/zipformer``, ``FOLDER/zipformer2`` and
one of a real model's size, ``FOLDER/bilingual-size``: ``encoder``, ``decoder`` and ``joiner`` as ``.onnx``
(what sherpa-onnx loads) and ``.mnn`` (converted from the former), and ``tokens.txt``.

The graphs follow the paper (Yao et al. 2023, "Zipformer: A faster and better encoder for automatic speech
recognition"; the first version is that of icefall's ``pruned_transducer_stateless7_streaming``) and have the
inputs, outputs and metadata of icefall's exports. The weights mean nothing: the joiner's bias makes blanks
about as frequent as in speech, so that tokens come out.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

from taoxr.engine import convert_onnx
from taoxr_models.catalog.recipes.onnx_graph import Dims, OnnxGraph

JOINER = 32
CONTEXT = 2
SYMBOLS = [
    "<blk>",
    "<sos/eos>",
    "<unk>",
    *(f"<0x{i:02X}>" for i in range(256)),
    *["▁A", "▁B", "▁C", "D", "E", "F", "G", "H", "ING", "S", "你", "好", "世", "界", "▁THE", "▁TO"],
]
FEATURES = 80


class Graph(OnnxGraph):
    """A graph with random weights and metadata."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name)
        self.random = np.random.default_rng(seed)

    def integer_input(self, name: str, dims: Dims) -> str:
        self._inputs.append(helper.make_tensor_value_info(name, TensorProto.INT64, list(dims)))
        return name

    def integer_output(self, name: str, tensor: str, dims: Dims) -> None:
        self._nodes.append(helper.make_node("Identity", [tensor], [name]))
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.INT64, list(dims)))

    def weights(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else shape[0]
        return (self.random.standard_normal(shape) * scale / np.sqrt(fan_in)).astype(np.float32)

    def number(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def dense(self, x: str, inputs: int, outputs: int, scale: float = 1.0, bias: bool = True) -> str:
        return self.linear(
            x, self.weights(outputs, inputs, scale=scale), self.weights(outputs, scale=0.3) if bias else None
        )

    def conv(
        self, x: str, inputs: int, outputs: int, kernel: Sequence[int], groups: int = 1, **attributes: object
    ) -> str:
        weight = self.weights(outputs, inputs // groups, *kernel)
        return self.op(
            "Conv",
            x,
            self.constant(weight),
            self.constant(self.weights(outputs, scale=0.3)),
            group=groups,
            **attributes,
        )

    def sum(self, *terms: str) -> str:
        total = terms[0]
        for term in terms[1:]:
            total = self.op("Add", total, term)
        return total

    def cut(self, x: str, axis: int, start: int, end: int = 2**31 - 1) -> str:
        return self.op("Slice", x, self.integers(start), self.integers(end), self.integers(axis))

    def split(self, x: str, sizes: Sequence[int]) -> list[str]:
        ends = np.cumsum(sizes)
        return [self.cut(x, 2, int(e - s), int(e)) for s, e in zip(sizes, ends, strict=True)]

    def reshape(self, x: str, *shape: int) -> str:
        return self.op("Reshape", x, self.integers(*shape))

    def swoosh(self, x: str, shift: float, offset: float) -> str:
        """SwooshL (4, 0.035) and SwooshR (1, 0.313261687)."""
        soft = self.op("Softplus", self.op("Sub", x, self.number(shift)))
        return self.op("Sub", self.op("Sub", soft, self.op("Mul", x, self.number(0.08))), self.number(offset))

    def double_swish(self, x: str) -> str:
        return self.op("Mul", x, self.op("Sigmoid", self.op("Sub", x, self.number(1.0))))

    def rms_norm(self, x: str, size: int, epsilon: float) -> str:
        centred = self.op("Sub", x, self.constant(self.weights(size, scale=0.1)))
        square = self.op("ReduceMean", self.op("Mul", centred, centred), axes=[-1], keepdims=1)
        return self.op(
            "Mul", x, self.op("Pow", self.op("Add", square, self.number(epsilon)), self.number(-0.5))
        )

    def bypass(self, old: str, new: str, size: int) -> str:
        scale = self.constant(self.random.uniform(0.3, 0.8, size).astype(np.float32))
        return self.sum(old, self.op("Mul", self.op("Sub", new, old), scale))

    def extended(self, cache: str, x: str, keep: int, axis: int = 0) -> tuple[str, str]:
        """The cache with x behind it, and its last ``keep`` elements: the next cache."""
        both = self.op("Concat", cache, x, axis=axis)
        return both, self.cut(both, axis, -keep)

    def relative(self, p: str, heads: int, frames: int, keys: int, head: int, width: int = 16) -> str:
        """Scores by relative position; p [heads, 1, frames, head] to [heads, 1, frames, keys]."""
        span = frames + keys - 1
        position = np.arange(span)[:, None] - (keys - 1)
        table = np.tanh(position / (1.0 + np.arange(width))).astype(np.float32)[None]
        pos = self.dense(self.constant(table), width, heads * head, bias=False)
        pos = self.op("Transpose", self.reshape(pos, 1, span, heads, head), perm=[2, 0, 3, 1])
        scores = self.reshape(self.op("MatMul", p, pos), heads * frames, span)
        index = np.tile(np.arange(frames - 1, -1, -1), heads)[:, None] + np.arange(keys)
        scores = self.op("GatherElements", scores, self.constant(index.astype(np.int64)), axis=1)
        return self.reshape(scores, heads, 1, frames, keys)

    def to_heads(self, x: str, heads: int, perm: Sequence[int] = (2, 1, 0, 3)) -> str:
        return self.op("Transpose", self.op("Reshape", x, self.integers(0, 0, heads, -1)), perm=list(perm))

    def attend(self, weights: str, values: str, heads: int) -> str:
        """[heads, 1, n, m] weights over [m, 1, c] values to [n, 1, c]."""
        mixed = self.op("MatMul", weights, self.to_heads(values, heads))
        return self.op("Reshape", self.op("Transpose", mixed, perm=[2, 1, 0, 3]), self.integers(0, 0, -1))

    def downsample(self, x: str, frames: int, by: int, size: int) -> str:
        """[n, 1, c] to [ceil(n / by), 1, c]: a weighted mean."""
        if by == 1:
            return x
        rows = -(-frames // by)
        missing = rows * by - frames
        if missing:
            x = self.op("Concat", x, *[self.cut(x, 0, -1)] * missing, axis=0)
        mix = np.exp(self.weights(by))
        grouped = self.op(
            "Mul", self.reshape(x, rows, by, 1, size), self.constant((mix / mix.sum()).reshape(by, 1, 1))
        )
        return self.op("ReduceSum", grouped, self.integers(1), keepdims=0)

    def upsample(self, x: str, frames: int, by: int, size: int) -> str:
        if by == 1:
            return x
        rows = -(-frames // by)
        bias = self.constant(self.weights(by, 1, size, scale=0.1))
        wide = self.op("Add", self.reshape(x, rows, 1, 1, size), bias)
        return self.cut(self.reshape(wide, rows * by, 1, size), 0, 0, frames)

    def resize(self, x: str, old: int, new: int) -> str:
        """More channels by zeros, fewer by cutting."""
        if new <= old:
            return x if new == old else self.cut(x, 2, 0, new)
        rows = self.op("Mul", self.cut(x, 2, 0, 1), self.number(0.0))
        return self.op("Concat", x, *[rows] * (new - old), axis=2)

    def finish(self, path: Path, metadata: Mapping[str, str]) -> None:
        self.save(path)
        model = onnx.ModelProto.FromString(path.read_bytes())
        helper.set_model_props(model, dict(metadata))
        onnx.checker.check_model(model)
        path.write_bytes(model.SerializeToString())


class Zipformer2:
    """Encoder of the second version: two stacks, states per layer."""

    dims, layers, heads, query, value, kernels, left, down = (
        (24, 32),
        (2, 1),
        (4, 4),
        (8, 8),
        (6, 6),
        (9, 7),
        (16, 8),
        (1, 2),
    )
    position, feed = 4, 48
    chunk, T = 32, 45

    def metadata(self) -> dict[str, str]:
        rows = {
            "encoder_dims": self.dims,
            "query_head_dims": self.query,
            "value_head_dims": self.value,
            "num_heads": self.heads,
            "num_encoder_layers": self.layers,
            "cnn_module_kernels": self.kernels,
            "left_context_len": self.left,
        }
        listed = {name: ",".join(map(str, row)) for name, row in rows.items()}
        return {
            "model_type": "zipformer2",
            "version": "1",
            "decode_chunk_len": str(self.chunk),
            "T": str(self.T),
            **listed,
        }

    def write(self, path: Path, seed: int) -> None:
        g = Graph("zipformer2", seed)
        x = g.input("x", [1, self.T, FEATURES])
        names: list[tuple[str, str, list[int]]] = []  # state, its next value, shape
        frames = self.chunk // 2
        embed = g.input("embed_states", [1, 128, 3, 19])
        lens = g.integer_input("processed_lens", [1])
        # sherpa-onnx passes states in the order of the inputs, these two last: see the end.
        h, new_embed = self._embed(g, x, embed, frames)
        h = g.op("Transpose", h, perm=[1, 0, 2])
        mask = g.op(
            "LessOrEqual", g.op("Unsqueeze", lens, g.integers(1)), g.constant(np.arange(self.left[0])[None])
        )
        reverse = g.constant(np.arange(self.left[0])[::-1].astype(np.int64).copy())
        old = g.op("Gather", g.op("Cast", mask, to=TensorProto.FLOAT), reverse, axis=1)
        padding = g.op("Concat", old, g.constant(np.zeros((1, frames), np.float32)), axis=1)
        outputs: list[tuple[str, int]] = []
        for i, dim in enumerate(self.dims):
            h = g.resize(h, self.dims[i - 1] if i else dim, dim)
            by, rows = self.down[i], -(-frames // self.down[i])
            at = g.constant(np.arange(0, self.left[0] + frames, by).astype(np.int64))
            stack_mask = g.op("Mul", g.op("Gather", padding, at, axis=1), g.number(-1000.0))
            inner = g.downsample(h, frames, by, dim)
            for _ in range(self.layers[i]):
                inner = self._layer(g, inner, i, rows, stack_mask, names)
            h = inner if by == 1 else g.bypass(h, g.upsample(inner, frames, by, dim), dim)
            outputs.append((h, dim))
        # The output takes each channel from the last stack that has it.
        (first, size), (second, wide) = outputs
        h = second if wide >= size else g.op("Concat", second, g.cut(first, 2, wide), axis=2)
        out = g.op("Transpose", g.downsample(h, frames, 2, max(self.dims)), perm=[1, 0, 2])
        g.output("encoder_out", g.dense(out, max(self.dims), JOINER, scale=4.0), [1, frames // 2, JOINER])
        for name, tensor, shape in names:
            g.output(f"new_{name}", tensor, shape)
        g.output("new_embed_states", new_embed, [1, 128, 3, 19])
        g.integer_output("new_processed_lens", g.op("Add", lens, g.integers(frames)), [1])
        g._inputs.extend([g._inputs.pop(1), g._inputs.pop(1)])
        g.finish(path, self.metadata())

    def _embed(self, g: Graph, x: str, cache: str, frames: int) -> tuple[str, str]:
        x = g.op("Unsqueeze", x, g.integers(1))
        x = g.swoosh(g.conv(x, 1, 8, (3, 3), pads=[0, 1, 0, 1]), 1.0, 0.313261687)
        x = g.swoosh(g.conv(x, 8, 32, (3, 3), strides=[2, 2]), 1.0, 0.313261687)
        x = g.swoosh(g.conv(x, 32, 128, (3, 3), strides=[1, 2]), 1.0, 0.313261687)
        old = g.cut(x, 2, 0, frames)
        both = g.op("Concat", cache, x, axis=2)
        y = g.conv(both, 128, 128, (7, 7), groups=128, pads=[0, 3, 0, 3])
        y = g.conv(g.swoosh(g.conv(y, 128, 96, (1, 1)), 4.0, 0.035), 96, 128, (1, 1))
        y = g.op("Transpose", g.sum(old, y), perm=[0, 2, 1, 3])
        y = g.dense(g.reshape(y, 1, frames, 128 * 19), 128 * 19, self.dims[0])
        return g.rms_norm(y, self.dims[0], 0.0), g.cut(both, 2, frames, frames + 3)

    def _layer(
        self, g: Graph, x: str, i: int, frames: int, mask: str, names: list[tuple[str, str, list[int]]]
    ) -> str:
        dim, heads, left, half = self.dims[i], self.heads[i], self.left[i], self.kernels[i] // 2
        k_dim, v_dim, n_dim = self.query[i] * heads, self.value[i] * heads, 3 * dim // 4
        keys, number, scale = left + frames, len(names) // 6, 0.5
        shapes = {
            "cached_key": [left, 1, k_dim],
            "cached_nonlin_attn": [1, 1, left, n_dim],
            "cached_val1": [left, 1, v_dim],
            "cached_val2": [left, 1, v_dim],
            "cached_conv1": [1, dim, half],
            "cached_conv2": [1, dim, half],
        }
        cache = {name: g.input(f"{name}_{number}", shape) for name, shape in shapes.items()}
        new: dict[str, str] = {}

        def feed(x: str, width: int) -> str:
            return g.dense(g.swoosh(g.dense(x, dim, width), 4.0, 0.035), width, dim, scale=scale)

        def attention(x: str, name: str) -> str:
            values, new[name] = g.extended(cache[name], g.dense(x, dim, v_dim), left)
            return g.dense(g.attend(weights, values, heads), v_dim, dim, scale=scale)

        def convolution(x: str, name: str) -> str:
            y, gate = g.split(g.dense(x, dim, 2 * dim), [dim, dim])
            y = g.op("Transpose", g.op("Mul", y, g.op("Sigmoid", gate)), perm=[1, 2, 0])
            both, new[name] = g.extended(cache[name], y, half, axis=2)
            causal = g.conv(both, dim, dim, (half + 1,), groups=dim)
            near = g.conv(y, dim, dim, (self.kernels[i],), groups=dim, pads=[half, half])
            edge = g.constant(g.random.uniform(0.5, 1.5, (dim, frames)).astype(np.float32))
            y = g.op("Transpose", g.sum(causal, g.op("Mul", near, edge)), perm=[2, 0, 1])
            return g.dense(g.swoosh(y, 1.0, 0.313261687), dim, dim, scale=scale)

        q, k, p = g.split(
            g.dense(x, dim, 2 * k_dim + heads * self.position), [k_dim, k_dim, heads * self.position]
        )
        k, new["cached_key"] = g.extended(cache["cached_key"], k, left)
        scores = g.op("MatMul", g.to_heads(q, heads), g.to_heads(k, heads, (2, 1, 3, 0)))
        scores = g.sum(scores, g.relative(g.to_heads(p, heads), heads, frames, keys, self.position), mask)
        weights = g.op("Softmax", scores, axis=-1)
        start = x
        x = g.sum(x, feed(x, self.feed * 3 // 4))
        s, y, gate = g.split(g.dense(x, dim, 3 * n_dim), [n_dim] * 3)
        y = g.op(
            "Transpose", g.op("Unsqueeze", g.op("Mul", y, g.op("Tanh", s)), g.integers(0)), perm=[0, 2, 1, 3]
        )
        y, new["cached_nonlin_attn"] = g.extended(cache["cached_nonlin_attn"], y, left, axis=2)
        y = g.op("MatMul", g.cut(weights, 0, 0, 1), y)
        y = g.op("Squeeze", g.op("Transpose", y, perm=[0, 2, 1, 3]), g.integers(0))
        x = g.sum(x, g.dense(g.op("Mul", y, gate), n_dim, dim, scale=scale))
        x = g.sum(x, attention(x, "cached_val1"))
        x = g.sum(x, convolution(x, "cached_conv1"))
        x = g.bypass(start, g.sum(x, feed(x, self.feed)), dim)
        x = g.sum(x, attention(x, "cached_val2"))
        x = g.sum(x, convolution(x, "cached_conv2"))
        x = g.rms_norm(g.sum(x, feed(x, self.feed * 5 // 4)), dim, 0.0)
        names.extend((f"{name}_{number}", new[name], shape) for name, shape in shapes.items())
        return g.bypass(start, x, dim)


class Zipformer1:
    """Encoder of the first version: two stacks, states of all layers of a stack in one tensor."""

    dims, attention, layers, kernels, left, down = (24, 24), (16, 16), (2, 1), (7, 5), (16, 8), (1, 2)
    heads, position, feed = 4, 4, 48
    chunk, T = 32, 39

    def metadata(self) -> dict[str, str]:
        rows = {
            "encoder_dims": self.dims,
            "attention_dims": self.attention,
            "num_encoder_layers": self.layers,
            "cnn_module_kernels": self.kernels,
            "left_context_len": self.left,
        }
        listed = {name: ",".join(map(str, row)) for name, row in rows.items()}
        return {
            "model_type": "zipformer",
            "version": "1",
            "decode_chunk_len": str(self.chunk),
            "T": str(self.T),
            **listed,
        }

    def _shapes(self, i: int) -> dict[str, list[int]]:
        n, dim, a, left, k = self.layers[i], self.dims[i], self.attention[i], self.left[i], self.kernels[i]
        return {
            "cached_len": [n, 1],
            "cached_avg": [n, 1, dim],
            "cached_key": [n, left, 1, a],
            "cached_val": [n, left, 1, a // 2],
            "cached_val2": [n, left, 1, a // 2],
            "cached_conv1": [n, 1, dim, k - 1],
            "cached_conv2": [n, 1, dim, k - 1],
        }

    def write(self, path: Path, seed: int) -> None:
        g = Graph("zipformer", seed)
        h = g.input("x", [1, self.T, FEATURES])
        frames, stacks = self.chunk // 2, range(len(self.dims))
        for name in self._shapes(0):
            for i in stacks:
                (g.integer_input if name == "cached_len" else g.input)(f"{name}_{i}", self._shapes(i)[name])
        h = g.op("Transpose", self._embed(g, h, frames), perm=[1, 0, 2])
        new: list[dict[str, str]] = []
        for i, dim in enumerate(self.dims):
            by, rows = self.down[i], -(-frames // self.down[i])
            inner = g.downsample(h, frames, by, dim)
            states: list[dict[str, str]] = []
            for layer in range(self.layers[i]):
                inner, state = self._layer(g, inner, i, layer, rows)
                states.append(state)
            h = inner if by == 1 else g.bypass(h, g.upsample(inner, frames, by, dim), dim)
            new.append(
                {
                    n: g.op("Concat", *[g.op("Unsqueeze", s[n], g.integers(0)) for s in states], axis=0)
                    for n in states[0]
                }
            )
        out = g.op("Transpose", g.downsample(h, frames, 2, self.dims[-1]), perm=[1, 0, 2])
        g.output("encoder_out", g.dense(out, self.dims[-1], JOINER, scale=4.0), [1, frames // 2, JOINER])
        for name in self._shapes(0):
            for i in stacks:
                output = g.integer_output if name == "cached_len" else g.output
                output(f"new_{name}_{i}", new[i][name], self._shapes(i)[name])
        g.finish(path, self.metadata())

    def _embed(self, g: Graph, x: str, frames: int) -> str:
        x = g.op("Unsqueeze", x, g.integers(1))
        x = g.double_swish(g.conv(x, 1, 8, (3, 3), pads=[0, 1, 0, 1]))
        x = g.double_swish(g.conv(x, 8, 16, (3, 3), strides=[2, 2]))
        x = g.double_swish(g.conv(x, 16, 32, (3, 3), strides=[1, 2]))
        y = g.reshape(g.op("Transpose", x, perm=[0, 2, 1, 3]), 1, frames, 32 * 19)
        return g.rms_norm(g.dense(y, 32 * 19, self.dims[0]), self.dims[0], 0.25)

    def _layer(self, g: Graph, x: str, i: int, layer: int, frames: int) -> tuple[str, dict[str, str]]:
        dim, wide, left, reach = self.dims[i], self.attention[i], self.left[i], self.kernels[i] - 1
        scale = 0.5
        cache = {
            n: g.op("Squeeze", g.cut(f"{n}_{i}", 0, layer, layer + 1), g.integers(0)) for n in self._shapes(i)
        }
        new: dict[str, str] = {}

        def feed(x: str) -> str:
            return g.dense(g.double_swish(g.dense(x, dim, self.feed)), self.feed, dim, scale=scale)

        def convolution(x: str, name: str) -> str:
            y, gate = g.split(g.dense(x, dim, 2 * dim), [dim, dim])
            y = g.op("Transpose", g.op("Mul", y, g.op("Sigmoid", gate)), perm=[1, 2, 0])
            both, new[name] = g.extended(cache[name], y, reach, axis=2)
            y = g.op("Transpose", g.conv(both, dim, dim, (reach + 1,), groups=dim), perm=[2, 0, 1])
            return g.dense(g.double_swish(y), dim, dim, scale=scale)

        start = x
        x = g.sum(x, feed(x))
        # Pooling: the mean of all frames up to each one.
        count = g.op("Cast", cache["cached_len"], to=TensorProto.FLOAT)
        total = g.op("Mul", cache["cached_avg"], g.op("Unsqueeze", count, g.integers(1)))
        total = g.sum(g.op("CumSum", x, g.constant(np.array(0, np.int64))), total)
        counts = g.sum(g.constant(np.arange(1, frames + 1, dtype=np.float32)[:, None]), count)
        mean = g.op("Div", total, g.op("Unsqueeze", counts, g.integers(2)))
        new["cached_len"] = g.op("Add", cache["cached_len"], g.integers(frames))
        new["cached_avg"] = g.op("Squeeze", g.cut(mean, 0, -1), g.integers(0))
        x = g.sum(x, g.dense(mean, dim, dim, scale=scale, bias=False))
        sizes = [wide, wide, wide // 2, self.heads * self.position]
        q, k, v, p = g.split(g.dense(x, dim, sum(sizes)), sizes)
        k, new["cached_key"] = g.extended(cache["cached_key"], k, left)
        v, new["cached_val"] = g.extended(cache["cached_val"], v, left)
        scores = g.op("MatMul", g.to_heads(q, self.heads), g.to_heads(k, self.heads, (2, 1, 3, 0)))
        where = g.relative(g.to_heads(p, self.heads), self.heads, frames, left + frames, self.position)
        weights = g.op("Softmax", g.sum(scores, where), axis=-1)
        x = g.sum(x, g.dense(g.attend(weights, v, self.heads), wide // 2, dim, scale=scale))
        x = g.sum(x, convolution(x, "cached_conv1"))
        x = g.sum(x, feed(x))
        v, new["cached_val2"] = g.extended(cache["cached_val2"], g.dense(x, dim, wide // 2, bias=False), left)
        x = g.sum(x, g.dense(g.attend(weights, v, self.heads), wide // 2, dim, scale=scale))
        x = g.sum(x, convolution(x, "cached_conv2"))
        x = g.rms_norm(g.sum(x, feed(x)), dim, 0.25)
        return g.bypass(start, x, dim), {n: new[n] for n in self._shapes(i)}


class BilingualSize(Zipformer1):
    """The shape of sherpa-mnn-streaming-zipformer-bilingual-zh-en-2023-02-20, to time on."""

    dims, attention, layers, kernels = (384,) * 5, (192,) * 5, (2, 4, 3, 2, 4), (31,) * 5
    left, down = (64, 32, 16, 8, 32), (1, 2, 4, 8, 2)
    heads, feed = 8, 1024


ENCODERS = {"zipformer": Zipformer1, "zipformer2": Zipformer2, "bilingual-size": BilingualSize}


def write_decoder(path: Path, seed: int) -> None:
    """The prediction network: embeddings of the last tokens, a convolution over them."""
    g = Graph("decoder", seed)
    y = g.integer_input("y", ["N", CONTEXT])
    known = g.op("Cast", g.op("GreaterOrEqual", y, g.integers(0)), to=TensorProto.FLOAT)
    rows = g.op(
        "Gather", g.constant(g.weights(len(SYMBOLS), 24, scale=4.0)), g.op("Max", y, g.integers(0)), axis=0
    )
    rows = g.op("Mul", rows, g.op("Unsqueeze", known, g.integers(2)))
    x = g.op("Relu", g.conv(g.op("Transpose", rows, perm=[0, 2, 1]), 24, 24, (CONTEXT,), groups=6))
    x = g.dense(g.op("Squeeze", g.op("Transpose", x, perm=[0, 2, 1]), g.integers(1)), 24, JOINER, scale=1.5)
    g.output("decoder_out", x, ["N", JOINER])
    g.finish(path, {"context_size": str(CONTEXT), "vocab_size": str(len(SYMBOLS))})


def write_joiner(path: Path, seed: int, blank: float) -> None:
    """Sum, tanh, projection; ``blank`` is added to the score of the blank."""
    g = Graph("joiner", seed)
    encoder, decoder = g.input("encoder_out", ["N", JOINER]), g.input("decoder_out", ["N", JOINER])
    bias = g.weights(len(SYMBOLS), scale=0.3)
    bias[0] += blank
    bias[[1, *range(3, 259)]] -= 100.0  # no text: the end of sentences, and bytes at random
    g.output(
        "logit",
        g.linear(g.op("Tanh", g.sum(encoder, decoder)), g.weights(len(SYMBOLS), JOINER, scale=5.0), bias),
        ["N", len(SYMBOLS)],
    )
    g.finish(path, {"joiner_dim": str(JOINER)})


def make(folder: Path, kind: str, seed: int = 1) -> Path:
    """Writes one transducer.

    Args:
        folder: Made if missing.
        kind: A key of `ENCODERS`.
        seed: Of the weights.

    Returns:
        The folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ENCODERS[kind]().write(folder / "encoder.onnx", seed)
    write_decoder(folder / "decoder.onnx", seed + 100)
    write_joiner(folder / "joiner.onnx", seed + 200, blank=8.0)
    (folder / "tokens.txt").write_text("".join(f"{s} {i}\n" for i, s in enumerate(SYMBOLS)), encoding="utf-8")
    for part in ("encoder", "decoder", "joiner"):
        convert_onnx(folder / f"{part}.onnx", folder / f"{part}.mnn")
    return folder


if __name__ == "__main__":
    for each in ENCODERS:
        make(Path(sys.argv[1]) / each, each)
