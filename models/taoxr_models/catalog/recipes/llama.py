"""A plain Llama (such as SmolLM2) from its GGUF.

The graph is written by code, the blocks are repacked exactly, the tokenizer comes from the metadata.
"""

import json
from pathlib import Path
from typing import Any

from taoxr.engine.convert import convert
from taoxr_models.catalog.recipes.gguf import Gguf
from taoxr_models.catalog.recipes.llama_graph import LlamaGraph
from taoxr_models.catalog.recipes.llama_weights import write_weights
from taoxr_models.catalog.recipes.mtok import Vocabulary, write_bytes, write_tokenizer


def convert_llama(source: Path, target: Path) -> None:
    """Turns a plain Llama's GGUF into a folder that MNN's LLM engine loads.

    Args:
        source: The ``.gguf`` file: Q4_0, Q4_1 or Q8_0 matrices, F32 norms.
        target: Existing folder to write into.

    Raises:
        ModelError: The model has parts or types that cannot be repacked.
    """
    convert_gguf(Gguf(source), target)


def convert_gguf(gguf: Gguf, target: Path) -> None:
    """The same from what was read; see `convert_llama`."""
    graph = LlamaGraph.build(gguf)
    write_weights(gguf, graph.slots, target / "llm.mnn.weight")
    description = target / "graph.json"
    _write_json(description, graph.json())
    convert(description, target / "llm.mnn", "JSON")
    description.unlink()
    vocabulary = Vocabulary(gguf)
    write_tokenizer(vocabulary, target / "tokenizer.mtok")
    write_bytes(vocabulary, target / "vocab.bin")
    _write_json(target / "llm_config.json", _model_config(gguf, graph, vocabulary))
    _write_json(
        target / "config.json",
        {
            "llm_model": "llm.mnn",
            "llm_weight": "llm.mnn.weight",
            "backend_type": "cpu",
            "thread_num": 1,
            "precision": "low",
            "memory": "low",
            "dynamic_option": 2,  # activations quantised per block: a tenth of the divergence of per row
            "sampler_type": "greedy",
            "tokenizer_file": "tokenizer.mtok",
        },
    )


def _model_config(gguf: Gguf, graph: LlamaGraph, vocabulary: Vocabulary) -> dict[str, Any]:
    embedding = graph.embedding()
    indexes = embedding.offset + embedding.header
    return {
        "model_type": "llama",
        "hidden_size": graph.shape.hidden,
        "layer_nums": graph.shape.layers,
        "attention_mask": "float",
        "attention_type": "full",
        "is_mrope": False,
        # Offsets of indexes and scales, size of the scales, bits, block.
        "tie_embeddings": [indexes, indexes + embedding.indexes, embedding.scales, embedding.bits, 32],
        "jinja": {
            "chat_template": gguf.text("tokenizer.chat_template"),
            "bos": vocabulary.tokens[vocabulary.begin],
            "eos": vocabulary.tokens[vocabulary.end],
        },
    }


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
