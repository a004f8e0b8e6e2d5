"""The graph of a plain Llama, or of a Qwen2, for MNN's LLM engine, as the JSON that MNN's converter compiles.

The graph holds no weights: each layer norm and linear layer carries the offsets of its data in
``llm.mnn.weight`` (``external``). What the engine expects of it was measured on MNN 3.6.1: inputs
``input_ids`` (embeddings, despite the name), ``attention_mask``, ``position_ids``,
``logits_index``; outputs ``logits`` and ``hidden_states``; one `Attention` op per layer, which keeps
the KV cache itself.

Architecture: Touvron et al. 2023, "LLaMA"; rotary embedding: Su et al. 2021, "RoFormer". Qwen2 (Yang et
al. 2024) has biases on query, key and value besides, and llama.cpp leaves its rows in their order.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from taoxr.errors import ModelError
from taoxr_models.catalog.recipes.gguf import Q8_0, Gguf

BLOCK: Final = 32  # elements that share a scale and a zero
_END: Final = 1 << 30  # "up to the end" of a slice


@dataclass(frozen=True)
class Shape:
    """What distinguishes one such model from another, besides its weights."""

    layers: int
    hidden: int
    feed_forward: int
    heads: int
    kv_heads: int
    vocabulary: int
    rope_theta: float
    epsilon: float
    tied: bool
    qwen2: bool = False

    @property
    def head(self) -> int:
        """Elements per attention head."""
        return self.hidden // self.heads

    @classmethod
    def of(cls, gguf: Gguf) -> "Shape":
        """Reads the shape from GGUF metadata.

        Raises:
            ModelError: The model is of another kind, or has parts that this graph lacks.
        """
        arch = gguf.text("general.architecture")
        if arch not in ("llama", "qwen2"):
            raise ModelError(f"GGUF architecture {arch!r}: only 'llama' and 'qwen2' can be repacked")
        qwen2 = arch == "qwen2"
        unknown = ["rope_freqs.weight", "blk.0.attn_q_norm.weight"]
        extra = [n for n in unknown + ["blk.0.attn_q.bias"] * (not qwen2) if n in gguf.tensors]
        if extra:
            raise ModelError(f"GGUF holds {', '.join(extra)}: not a plain {arch}")
        heads = gguf.integer(f"{arch}.attention.head_count")
        shape = cls(
            layers=gguf.integer(f"{arch}.block_count"),
            hidden=gguf.integer(f"{arch}.embedding_length"),
            feed_forward=gguf.integer(f"{arch}.feed_forward_length"),
            heads=heads,
            kv_heads=gguf.integer(f"{arch}.attention.head_count_kv", heads),
            vocabulary=len(gguf.texts("tokenizer.ggml.tokens")),
            # The header stores float32; nine digits give back the number that was meant.
            rope_theta=round(gguf.real(f"{arch}.rope.freq_base", 10000.0), 3),
            epsilon=round(gguf.real(f"{arch}.attention.layer_norm_rms_epsilon"), 9),
            tied="output.weight" not in gguf.tensors,
            qwen2=qwen2,
        )
        rotated = gguf.integer(f"{arch}.rope.dimension_count", shape.head)
        if rotated != shape.head:
            raise ModelError(f"rotary embedding over {rotated} of {shape.head} elements: not a plain {arch}")
        return shape


@dataclass(frozen=True)
class Slot:
    """A place in ``llm.mnn.weight``.

    Attributes:
        tensor: GGUF tensor that fills it.
        permuted_heads: For query and key weights: the heads within which rows are re-ordered; else 0.
        bits: 4 or 8 for a quantised matrix, 0 for a norm.
        rows: Output features (1 for a norm).
        columns: Input features.
        offset: Where it starts, in bytes.
        header: Bytes before the indexes.
        indexes: Bytes of the quantised values (of the gamma, for a norm).
        scales: Bytes of the scales and zeros (of the beta, for a norm).
        bias: GGUF tensor of the bias, or empty.
    """

    tensor: str
    permuted_heads: int
    bits: int
    rows: int
    columns: int
    offset: int
    header: int
    indexes: int
    scales: int
    bias: str = ""

    @property
    def biases(self) -> int:
        """Bytes of the bias."""
        return 4 * self.rows if self.bias else 0

    @property
    def wide(self) -> bool:
        """Whether its header holds the dimensions in 32 bits instead of 16."""
        return max(self.rows, self.columns) > 0xFFFF

    @property
    def end(self) -> int:
        """Offset of the first byte after it."""
        return self.offset + self.header + self.indexes + self.scales + self.biases


@dataclass
class LlamaGraph:
    """The graph as it grows; `build` makes a whole one.

    Attributes:
        shape: Model shape.
        gguf: Where tensor types are looked up.
        operators: MNN operators in order of execution.
        names: Tensor names by index.
        slots: Weight file layout.
    """

    shape: Shape
    gguf: Gguf
    operators: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    names: list[str] = field(default_factory=list[str])
    slots: list[Slot] = field(default_factory=list[Slot])

    @classmethod
    def build(cls, gguf: Gguf) -> "LlamaGraph":
        """Lays out the graph and the weight file of a GGUF model."""
        shape = Shape.of(gguf)
        graph = cls(shape, gguf)
        graph._build()
        return graph

    def json(self) -> dict[str, Any]:
        """The graph in the form that MNN's converter takes with ``-f JSON``."""
        return {
            "bizCode": "taoxr",
            "oplists": self.operators,
            "outputName": ["logits", "hidden_states"],
            "preferForwardType": "CPU",
            "sourceType": "ONNX",
            "tensorName": self.names,
            "tensorNumber": 0,
            "usage": "INFERENCE",
        }

    def embedding(self) -> Slot:
        """Where the engine reads token embeddings: the head if tied, else a slot after it."""
        return self.slots[-1]

    def _build(self) -> None:
        shape = self.shape
        embeddings = self._input("input_ids", "DT_FLOAT", [1, 1, shape.hidden])
        mask = self._input("attention_mask", "DT_FLOAT", [1, 1, -1, -1])
        positions = self._input("position_ids", "DT_INT32", [1, -1])
        logits_index = self._input("logits_index", "DT_INT32", [1])
        self._zero, self._one = self._integers("zero", 0), self._integers("one", 1)
        self._last_axis, self._end = self._integers("axis_3", 3), self._integers("end", _END)
        self._half = self._integers("half_head", shape.head // 2)
        self._cos, self._sin = self._rotary(positions)
        # The engine passes [tokens, 1, hidden].
        x = self._reshape("embeddings", embeddings, [1, -1, shape.hidden])
        for layer in range(shape.layers):
            x = self._layer(layer, x, mask)
        last = self._slice("last", x, logits_index, self._end, self._one)
        hidden = self._norm("hidden_states", last, "output_norm.weight")
        head = "token_embd.weight" if shape.tied else "output.weight"
        logits = self._linear("lm_head", self._packed("lm_head_in", hidden), head)
        self._unpacked("logits", logits, [1, -1, shape.vocabulary])
        if not shape.tied:
            self._matrix_slot("token_embd.weight", 0)

    def _layer(self, layer: int, x: int, mask: int) -> int:
        shape, block, name = self.shape, f"blk.{layer}", f"layer_{layer}"
        h = self._packed(f"{name}/attn_in", self._norm(f"{name}/attn_norm", x, f"{block}.attn_norm.weight"))
        q = self._rotated(
            f"{name}/q", self._attention_in(f"{name}/q", h, f"{block}.attn_q", shape.heads), shape.heads
        )
        k = self._rotated(
            f"{name}/k",
            self._attention_in(f"{name}/k", h, f"{block}.attn_k", shape.kv_heads),
            shape.kv_heads,
        )
        v = self._attention_in(f"{name}/v", h, f"{block}.attn_v", 0)
        parameters = {
            "kv_cache": True,
            "layer_index": layer,
            "kv_shared_layer_index": -1,
            "output_c4": True,
            "attnScale": 0.0,
        }
        h = self._op("Attention", "AttentionParam", f"{name}/attention", [q, k, v, mask], parameters)
        h = self._unpacked(
            f"{name}/o_out",
            self._linear(f"{name}/o", h, f"{block}.attn_output.weight"),
            [1, -1, shape.hidden],
        )
        x = self._binary("ADD", f"{name}/after_attention", x, h)
        h = self._packed(f"{name}/ffn_in", self._norm(f"{name}/ffn_norm", x, f"{block}.ffn_norm.weight"))
        gate = self._linear(f"{name}/gate", h, f"{block}.ffn_gate.weight")
        up = self._linear(f"{name}/up", h, f"{block}.ffn_up.weight")
        h = self._binary("MUL_SILU", f"{name}/gated", up, gate)
        h = self._unpacked(
            f"{name}/down_out",
            self._linear(f"{name}/down", h, f"{block}.ffn_down.weight"),
            [1, -1, shape.hidden],
        )
        return self._binary("ADD", f"{name}/out", x, h)

    def _rotary(self, positions: int) -> tuple[int, int]:
        """Cosine and sine of each position's angles, float32 [1, tokens, 1, head]."""
        half = self.shape.head // 2
        exponents = np.arange(half, dtype=np.float32) * np.float32(2) / np.float32(2 * half)
        frequencies = 1.0 / (np.float64(self.shape.rope_theta) ** exponents.astype(np.float64))
        # JSON numbers: nine digits identify a float32.
        blob = {
            "dims": [half],
            "dataFormat": "NCHW",
            "dataType": "DT_FLOAT",
            "float32s": [float(f"{f:.9g}") for f in frequencies.astype(np.float32)],
        }
        f = self._op("Const", "Blob", "rotary/frequencies", [], blob)
        p = self._op(
            "Cast", "CastParam", "rotary/positions", [positions], {"srcT": "DT_INT32", "dstT": "DT_FLOAT"}
        )
        angles = self._binary("MUL", "rotary/angles", self._reshape("rotary/column", p, [-1, 1]), f)
        both = self._concat("rotary/both", [angles, angles])
        both = self._reshape("rotary/per_head", both, [1, -1, 1, 2 * half])
        return tuple(
            self._op("UnaryOp", "UnaryOp", f"rotary/{op.lower()}", [both], {"opType": op, "T": "DT_FLOAT"})
            for op in ("COS", "SIN")
        )  # pyright: ignore[reportReturnType]  two by construction

    def _rotated(self, name: str, packed: int, heads: int) -> int:
        """Splits into heads and turns each by its position: x cos + (-x2, x1) sin."""
        x = self._unpacked(f"{name}_heads", packed, [1, -1, heads, self.shape.head])
        first = self._slice(f"{name}_first", x, self._zero, self._half, self._last_axis)
        second = self._slice(f"{name}_second", x, self._half, self._end, self._last_axis)
        minus = self._op("UnaryOp", "UnaryOp", f"{name}_minus", [second], {"opType": "NEG", "T": "DT_FLOAT"})
        turned = self._concat(f"{name}_turned", [minus, first])
        return self._binary(
            "ADD",
            f"{name}_rotated",
            self._binary("MUL", f"{name}_cos", x, self._cos),
            self._binary("MUL", f"{name}_sin", turned, self._sin),
        )

    def _norm(self, name: str, x: int, tensor: str) -> int:
        size = 4 * self.shape.hidden
        slot = self._slot(tensor, 0, 0, 1, self.shape.hidden, 0, size, size)
        main = {
            "axis": [-1],
            "epsilon": self.shape.epsilon,
            "group": 1,
            "external": [slot.offset, size, size],
            "useRMSNorm": True,
        }
        return self._op("LayerNorm", "LayerNorm", name, [x], main)

    def _attention_in(self, name: str, x: int, part: str, permuted_heads: int) -> int:
        if not self.shape.qwen2:
            return self._linear(name, x, f"{part}.weight", permuted_heads)
        return self._linear(name, x, f"{part}.weight", bias=f"{part}.bias")

    def _linear(self, name: str, x: int, tensor: str, permuted_heads: int = 0, bias: str = "") -> int:
        """A linear layer as MNN has it: a quantised 1x1 convolution, packed in and out."""
        slot = self._matrix_slot(tensor, permuted_heads, bias)
        common = {
            "padX": 0, "padY": 0, "kernelX": 1, "kernelY": 1, "strideX": 1, "strideY": 1,
            "dilateX": 1, "dilateY": 1,
            "padMode": "CAFFE", "group": 1, "outputCount": slot.rows, "inputCount": slot.columns,
            "relu": False, "relu6": False, "hasOutputShape": False,
        }  # fmt: skip
        quantised = {
            "type": 1,
            "useInt32": False,
            "quantScale": 1.0,
            "scaleIn": 0.0,
            "scaleOut": 0.0,
            "aMaxOrBits": slot.bits,
            "aMin": 1,  # asymmetric: a zero beside each scale
            "readType": slot.rows * slot.columns // BLOCK,
            "has_scaleInt": False,
            "shapeInt32": slot.wide,
            "weightSize": 0,
            "scaleStorage": "FP32",
        }
        external = [slot.offset, slot.header + slot.indexes, slot.scales, slot.biases, 0]
        main = {"common": common, "quanParameter": quantised, "external": external}
        return self._op("Convolution", "Convolution2D", name, [x], main)

    def _matrix_slot(self, name: str, permuted_heads: int, bias: str = "") -> Slot:
        tensor = self.gguf.tensors.get(name)
        if tensor is None or (bias and bias not in self.gguf.tensors):
            raise ModelError(f"GGUF lacks tensor {name if tensor is None else bias}")
        bits = 8 if tensor.kind == Q8_0 else 4
        values = tensor.rows * tensor.columns
        header = 2 + (8 if max(tensor.rows, tensor.columns) > 0xFFFF else 4) + (1 << bits)
        return self._slot(
            name,
            permuted_heads,
            bits,
            tensor.rows,
            tensor.columns,
            header,
            values * bits // 8,
            values // BLOCK * 8,
            bias,
        )

    def _slot(
        self,
        tensor: str,
        heads: int,
        bits: int,
        rows: int,
        columns: int,
        header: int,
        indexes: int,
        scales: int,
        bias: str = "",
    ) -> Slot:
        offset = self.slots[-1].end if self.slots else 0
        slot = Slot(tensor, heads, bits, rows, columns, offset, header, indexes, scales, bias)
        self.slots.append(slot)
        return slot

    def _packed(self, name: str, x: int) -> int:
        """Rows in the layout of MNN's convolutions: NC4HW4 [tokens, hidden, 1, 1]."""
        rows = self._reshape(f"{name}_rows", x, [-1, self.shape.hidden, 1, 1])
        return self._op(
            "ConvertTensor", "TensorConvertInfo", name, [rows], {"source": "NCHW", "dest": "NC4HW4"}
        )

    def _unpacked(self, name: str, x: int, dims: list[int]) -> int:
        plain = self._op(
            "ConvertTensor", "TensorConvertInfo", f"{name}_plain", [x], {"source": "NC4HW4", "dest": "NCHW"}
        )
        return self._reshape(name, plain, dims)

    def _reshape(self, name: str, x: int, dims: list[int]) -> int:
        return self._op("Reshape", "Reshape", name, [x], {"dims": dims, "dimType": "NCHW"})

    def _binary(self, operation: str, name: str, a: int, b: int) -> int:
        main = {"opType": operation, "T": "DT_FLOAT", "activationType": 0}
        return self._op("BinaryOp", "BinaryOp", name, [a, b], main)

    def _concat(self, name: str, parts: list[int]) -> int:
        return self._op("Concat", "Axis", name, parts, {"axis": -1})

    def _slice(self, name: str, x: int, begin: int, end: int, axis: int) -> int:
        main = {
            "Index": "DT_INVALID", "T": "DT_INVALID", "beginMask": 0, "endMask": 0, "ellipsisMask": 0,
            "newAxisMask": 0, "shrinkAxisMask": 0, "fromType": 1,
        }  # fmt: skip
        return self._op("StridedSlice", "StridedSliceParam", name, [x, begin, end, axis, self._one], main)

    def _integers(self, name: str, value: int) -> int:
        blob = {"dims": [1], "dataFormat": "NCHW", "dataType": "DT_INT32", "int32s": [value]}
        return self._op("Const", "Blob", name, [], blob)

    def _input(self, name: str, dtype: str, dims: list[int]) -> int:
        return self._op("Input", "Input", name, [], {"dims": dims, "dtype": dtype, "dformat": "NCHW"})

    def _op(self, kind: str, main_type: str, name: str, inputs: list[int], main: dict[str, Any]) -> int:
        output = len(self.names)
        self.names.append(name)
        operator = {
            "type": kind,
            "main_type": main_type,
            "main": main,
            "name": name,
            "outputIndexes": [output],
            "defaultDimentionFormat": "NHWC",
        }
        if inputs:
            operator["inputIndexes"] = inputs
        self.operators.append(operator)
        return output
