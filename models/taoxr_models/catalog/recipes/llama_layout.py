"""What makes one Llama differ from another, and where its tensors lie in ``llm.mnn.weight``."""

from dataclasses import dataclass
from typing import Final

from taoxr.errors import ModelError
from taoxr_models.catalog.recipes.gguf import Gguf

BLOCK: Final = 32
"""Elements that share a scale and a zero."""


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
class Part:
    """A GGUF tensor, alone or above others in one matrix.

    Attributes:
        tensor: Its name.
        permuted_heads: For query and key weights: the heads within which rows are re-ordered; else 0.
        bias: GGUF tensor of the bias, or empty.
    """

    tensor: str
    permuted_heads: int = 0
    bias: str = ""


@dataclass(frozen=True)
class Slot:
    """A place in ``llm.mnn.weight``.

    Attributes:
        parts: What fills it, row after row.
        bits: 4 or 8 for a quantised matrix, 0 for a norm.
        centred: Whether its blocks have a scale only, and no zero.
        rows: Output features (1 for a norm).
        columns: Input features.
        offset: Where it starts, in bytes.
        header: Bytes before the indexes.
        indexes: Bytes of the quantised values (of the gamma, for a norm).
        scales: Bytes of the scales and zeros (of the beta, for a norm).
    """

    parts: tuple[Part, ...]
    bits: int
    centred: bool
    rows: int
    columns: int
    offset: int
    header: int
    indexes: int
    scales: int

    @property
    def biases(self) -> int:
        """Bytes of the bias."""
        return 4 * self.rows if self.parts[0].bias else 0

    @property
    def wide(self) -> bool:
        """Whether its header holds the dimensions in 32 bits instead of 16."""
        return max(self.rows, self.columns) > 0xFFFF

    @property
    def end(self) -> int:
        """Offset of the first byte after it."""
        return self.offset + self.header + self.indexes + self.scales + self.biases
