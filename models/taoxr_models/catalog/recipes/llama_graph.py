"""The graph of a plain Llama, or of a Qwen2, for MNN's LLM engine, as the JSON that MNN's converter compiles.

The graph holds no weights: each layer norm and linear layer carries the offsets of its data in
``llm.mnn.weight`` (``external``). What the engine expects of it was measured on MNN 3.6.1: inputs
``input_ids`` (embeddings, despite the name), ``attention_mask``, ``position_ids``,
``logits_index``; outputs ``logits`` and ``hidden_states``; one `Attention` op per layer, which keeps
the KV cache itself.

Architecture: Touvron et al. 2023, "LLaMA"; rotary embedding: Su et al. 2021, "RoFormer". Qwen2 (Yang et
al. 2024) has biases on query, key and value besides, and llama.cpp leaves its rows in their order.

What reads the same values is one matrix: query, key and value, and gate and up. They then quantise their
input once, and query and key are turned together. With centred blocks stored without their zeros, writing
takes a tenth less time, and every logit stays the same to the last bit.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from taoxr.errors import ModelError
from taoxr_models.catalog.recipes.gguf import Q4_1, Q8_0, Gguf
from taoxr_models.catalog.recipes.llama_layout import BLOCK, Part, Shape, Slot

_END: Final = 1 << 30  # "up to the end" of a slice


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
        self._head_axis, self._last_axis = self._integers("axis_2", 2), self._integers("axis_3", 3)
        self._end = self._integers("end", _END)
        self._half = self._integers("half_head", shape.head // 2)
        self._keys = self._integers("first_key", shape.heads)
        self._values = self._integers("first_value", shape.heads + shape.kv_heads)
        self._up = self._integers("first_up", shape.feed_forward)
        self._cos, self._sin = self._rotary(positions)
        # The engine passes [tokens, 1, hidden].
        x = self._reshape("embeddings", embeddings, [1, -1, shape.hidden])
        for layer in range(shape.layers):
            x = self._layer(layer, x, mask)
        last = self._slice("last", x, logits_index, self._end, self._one)
        hidden = self._norm("hidden_states", last, "output_norm.weight")
        head = "token_embd.weight" if shape.tied else "output.weight"
        logits = self._linear("lm_head", self._packed("lm_head_in", hidden), Part(head))
        self._unpacked("logits", logits, [1, -1, shape.vocabulary])
        if not shape.tied:
            self._matrix_slot((Part("token_embd.weight"),))

    def _layer(self, layer: int, x: int, mask: int) -> int:
        shape, block, name = self.shape, f"blk.{layer}", f"layer_{layer}"
        h = self._packed(f"{name}/attn_in", self._norm(f"{name}/attn_norm", x, f"{block}.attn_norm.weight"))
        q, k, v = self._attention_in(name, h, block)
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
            self._linear(f"{name}/o", h, Part(f"{block}.attn_output.weight")),
            [1, -1, shape.hidden],
        )
        x = self._binary("ADD", f"{name}/after_attention", x, h)
        h = self._packed(f"{name}/ffn_in", self._norm(f"{name}/ffn_norm", x, f"{block}.ffn_norm.weight"))
        both = self._linear(
            f"{name}/gate_up", h, Part(f"{block}.ffn_gate.weight"), Part(f"{block}.ffn_up.weight")
        )
        gate = self._slice(f"{name}/gate", both, self._zero, self._up, self._one)
        up = self._slice(f"{name}/up", both, self._up, self._end, self._one)
        h = self._binary("MUL_SILU", f"{name}/gated", up, gate)
        h = self._unpacked(
            f"{name}/down_out",
            self._linear(f"{name}/down", h, Part(f"{block}.ffn_down.weight")),
            [1, -1, shape.hidden],
        )
        return self._binary("ADD", f"{name}/out", x, h)

    def _rotary(self, positions: int) -> tuple[int, int]:
        """Of each position's angles, float32 [1, tokens, 1, head]: cosines; sines, half of them negated."""
        half = self.shape.head // 2
        exponents = np.arange(half, dtype=np.float32) * np.float32(2) / np.float32(2 * half)
        frequencies = 1.0 / (np.float64(self.shape.rope_theta) ** exponents.astype(np.float64))
        f = self._floats("rotary/frequencies", frequencies.astype(np.float32))
        p = self._op(
            "Cast", "CastParam", "rotary/positions", [positions], {"srcT": "DT_INT32", "dstT": "DT_FLOAT"}
        )
        angles = self._binary("MUL", "rotary/angles", self._reshape("rotary/column", p, [-1, 1]), f)
        both = self._concat("rotary/both", [angles, angles])
        both = self._reshape("rotary/per_head", both, [1, -1, 1, 2 * half])
        cos, sin = (
            self._op("UnaryOp", "UnaryOp", f"rotary/{op.lower()}", [both], {"opType": op, "T": "DT_FLOAT"})
            for op in ("COS", "SIN")
        )
        signs = self._floats("rotary/signs", np.repeat(np.array([-1, 1], np.float32), half))
        return cos, self._binary("MUL", "rotary/signed", sin, signs)

    def _attention_in(self, name: str, x: int, block: str) -> tuple[int, int, int]:
        """Queries and keys, turned by their position, and values: each [1, tokens, heads, head]."""
        shape = self.shape

        def part(letter: str, permuted_heads: int) -> Part:
            tensor = f"{block}.attn_{letter}"
            if shape.qwen2:
                return Part(f"{tensor}.weight", bias=f"{tensor}.bias")
            return Part(f"{tensor}.weight", permuted_heads)

        packed = self._linear(
            f"{name}/qkv", x, part("q", shape.heads), part("k", shape.kv_heads), part("v", 0)
        )
        heads = shape.heads + 2 * shape.kv_heads
        both = self._unpacked(f"{name}/heads", packed, [1, -1, heads, shape.head])
        turned = self._rotated(
            f"{name}/qk", self._slice(f"{name}/qk", both, self._zero, self._values, self._head_axis)
        )
        q = self._slice(f"{name}/q", turned, self._zero, self._keys, self._head_axis)
        k = self._slice(f"{name}/k", turned, self._keys, self._end, self._head_axis)
        return q, k, self._slice(f"{name}/v", both, self._values, self._end, self._head_axis)

    def _rotated(self, name: str, x: int) -> int:
        """Turns each head by its position: x cos + (-x2, x1) sin."""
        first = self._slice(f"{name}_first", x, self._zero, self._half, self._last_axis)
        second = self._slice(f"{name}_second", x, self._half, self._end, self._last_axis)
        turned = self._concat(f"{name}_turned", [second, first])  # the sines have the sign
        return self._binary(
            "ADD",
            f"{name}_rotated",
            self._binary("MUL", f"{name}_cos", x, self._cos),
            self._binary("MUL", f"{name}_sin", turned, self._sin),
        )

    def _norm(self, name: str, x: int, tensor: str) -> int:
        size = 4 * self.shape.hidden
        slot = self._slot((Part(tensor),), 0, False, 1, self.shape.hidden, 0, size, size)
        main = {
            "axis": [-1],
            "epsilon": self.shape.epsilon,
            "group": 1,
            "external": [slot.offset, size, size],
            "useRMSNorm": True,
        }
        return self._op("LayerNorm", "LayerNorm", name, [x], main)

    def _linear(self, name: str, x: int, *parts: Part) -> int:
        """A linear layer as MNN has it: a quantised 1x1 convolution, packed in and out."""
        slot = self._matrix_slot(parts)
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
            # Not 0: a zero beside each scale.
            "aMin": 0 if slot.centred else 1,
            "readType": 0 if slot.centred else slot.rows * slot.columns // BLOCK,
            "has_scaleInt": False,
            "shapeInt32": slot.wide,
            "weightSize": 0,
            "scaleStorage": "FP32",
        }
        external = [slot.offset, slot.header + slot.indexes, slot.scales, slot.biases, 0]
        main = {"common": common, "quanParameter": quantised, "external": external}
        return self._op("Convolution", "Convolution2D", name, [x], main)

    def _matrix_slot(self, parts: tuple[Part, ...]) -> Slot:
        names = [part.tensor for part in parts] + [part.bias for part in parts if part.bias]
        if missing := [name for name in names if name not in self.gguf.tensors]:
            raise ModelError(f"GGUF lacks tensor {missing[0]}")
        tensors = [self.gguf.tensors[part.tensor] for part in parts]
        bits = 8 if any(tensor.kind == Q8_0 for tensor in tensors) else 4
        centred = all(tensor.kind != Q4_1 for tensor in tensors)
        rows, columns = sum(tensor.rows for tensor in tensors), tensors[0].columns
        header = 2 + (8 if max(rows, columns) > 0xFFFF else 4) + (1 << bits)
        indexes = rows * columns * bits // 8
        scales = rows * columns // BLOCK * (4 if centred else 8)
        return self._slot(parts, bits, centred, rows, columns, header, indexes, scales)

    def _slot(
        self,
        parts: tuple[Part, ...],
        bits: int,
        centred: bool,
        rows: int,
        columns: int,
        header: int,
        indexes: int,
        scales: int,
    ) -> Slot:
        offset = self.slots[-1].end if self.slots else 0
        slot = Slot(parts, bits, centred, rows, columns, offset, header, indexes, scales)
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

    def _floats(self, name: str, values: NDArray[np.float32]) -> int:
        # JSON numbers: nine digits identify a float32.
        numbers = [float(f"{value:.9g}") for value in values]
        blob = {"dims": [len(numbers)], "dataFormat": "NCHW", "dataType": "DT_FLOAT", "float32s": numbers}
        return self._op("Const", "Blob", name, [], blob)

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
