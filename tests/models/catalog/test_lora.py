"""LoRA adapters: merged on all projections, or refused where MNN would drop a part."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models.catalog.test_catalog_llm import (
    SMALL,
    divergence,
    forward,
    read_weights,
    run_mnn,
    small_gguf,
)
from tests.models.catalog.test_conversion_llm import gguf, hugging_face, weights  # noqa: F401  fixtures

from taoxr.engine.convert import convert, describe
from taoxr.errors import ModelError
from taoxr_models.catalog.add import add
from taoxr_models.catalog.conversion.huggingface import PROJECTIONS
from taoxr_models.catalog.conversion.language import convert_language_model
from taoxr_models.catalog.conversion.lora import merged
from taoxr_models.catalog.conversion.precision import Storage
from taoxr_models.catalog.recipes.gguf import Gguf
from taoxr_models.catalog.recipes.llama import convert_llama
from taoxr_models.llm.adapters import check_adapters, read_adapter

pytestmark = pytest.mark.models

LLAMA = SMALL[0]
RANK = 4
ALPHA = 8.0


def adapter(folder: Path, weights: dict[str, np.ndarray], **config: Any) -> dict[str, np.ndarray]:  # noqa: F811
    """Writes a random adapter of all projections as PEFT does; returns what it adds to each matrix."""
    random, changes, arrays = np.random.default_rng(9), dict[str, np.ndarray](), dict[str, np.ndarray]()
    for name, matrix in weights.items():
        if ".".join(name.split(".")[3:5]) in PROJECTIONS:
            a = random.standard_normal((RANK, matrix.shape[1])).astype(np.float32) / np.sqrt(matrix.shape[1])
            b = random.standard_normal((matrix.shape[0], RANK)).astype(np.float32) / 4
            stem = f"base_model.model.{name.removesuffix('.weight')}"
            arrays |= {f"{stem}.lora_A.weight": a, f"{stem}.lora_B.weight": b}
            changes[name] = ALPHA / RANK * b.astype(np.float64) @ a
    folder.mkdir()
    settings = {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "bias": "none"} | config
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    write_safetensors(folder / "adapter_model.safetensors", arrays)
    return changes


def write_safetensors(path: Path, arrays: dict[str, np.ndarray]) -> None:
    header, body = dict[str, Any](), b""
    for name, array in arrays.items():
        data = array.astype("<f4").tobytes()
        span = [len(body), len(body) + len(data)]
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": span}
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def reference(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:  # noqa: F811
    """The same by the names of `forward`."""
    top = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}
    norms = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
    named = dict[str, np.ndarray]()
    for name, values in weights.items():
        _, _, layer, *part = name.removesuffix(".weight").split(".") if name not in top else ("", "", "", "")
        known = (PROJECTIONS | norms).get(".".join(part), "")
        named[top.get(name) or f"blk.{layer}.{known}.weight"] = values
    return named


def test_a_merged_export_is_right_on_all_projections(
    gguf: Path,  # noqa: F811
    weights: dict[str, np.ndarray],  # noqa: F811
    tmp_path: Path,
) -> None:
    changes = adapter(tmp_path / "lora", weights)
    assert len(changes) == LLAMA.layers * len(PROJECTIONS)
    folder = hugging_face(tmp_path / "hf", weights, "F32")
    made = tmp_path / "model"
    convert_language_model(folder, "huggingface", made, Storage("int8"), text=None, lora=tmp_path / "lora")
    ids = np.random.default_rng(3).integers(0, LLAMA.vocabulary, 40).tolist()
    logits = run_mnn(made, tmp_path, [], ids[:25], ids[25:])["logits"]

    def error(left_out: tuple[str, ...] = ()) -> float:
        """Divergence from a float64 pass of base + adapter, without the adapter of some projections."""
        kept = {n: c for n, c in changes.items() if not n.endswith(tuple(f"{p}.weight" for p in left_out))}
        whole = {n: w.astype(np.float32).astype(np.float64) + kept.get(n, 0.0) for n, w in weights.items()}
        return divergence(forward(reference(whole), LLAMA, ids)[24:], logits)

    # What is left is the rounding to int8; without any one projection's adapter it is 2 to 4.
    whole = error()
    assert whole < 1e-2
    for projection in PROJECTIONS:
        assert error((projection,)) > 100 * whole, projection
    stored = read_weights(made / "llm.mnn.weight", LLAMA)
    for name, values in reference({n: w + changes.get(n, 0.0) for n, w in weights.items()}).items():
        np.testing.assert_allclose(stored[name], values, atol=np.abs(values).max() / 200, err_msg=name)


def test_what_cannot_be_merged_is_refused(
    gguf: Path,  # noqa: F811
    weights: dict[str, np.ndarray],  # noqa: F811
    tmp_path: Path,
) -> None:
    model = Gguf(gguf)
    lora = tmp_path / "lora"
    with pytest.raises(ModelError, match=r"adapter_config\.json"):
        merged(model, lora)
    adapter(lora, weights)
    config = json.loads((lora / "adapter_config.json").read_text())
    for key, value in {"use_dora": True, "bias": "all", "modules_to_save": ["lm_head"]}.items():
        (lora / "adapter_config.json").write_text(json.dumps(config | {key: value}))
        with pytest.raises(ModelError, match=f"{key} is"):
            merged(model, lora)
    (lora / "adapter_config.json").write_text(json.dumps(config))
    weight = lora / "adapter_model.safetensors"
    stem = "base_model.model.model.layers.0.self_attn.q_proj"
    a, b = np.ones((2, 64)), np.ones((64, 2))
    for arrays, told in (
        ({f"{stem}.lora_A.weight": a}, "one half"),
        ({f"{stem}.lora_A.weight": a, f"{stem}.lora_B.weight": np.ones((32, 2))}, "another model"),
        ({"base_model.model.lm_head.lora_A.weight": a}, "belongs to none"),
        ({}, "no adapter"),
    ):
        write_safetensors(weight, arrays)
        with pytest.raises(ModelError, match=told):
            merged(model, lora)
    write_safetensors(weight, {f"{stem}.lora_A.weight": a, f"{stem}.lora_B.weight": b})
    changed = merged(model, lora).tensors
    assert [n for n, t in changed.items() if t is not model.tensors[n]] == ["blk.0.attn_q.weight"]


def split(folder: Path, name: str, projections: dict[str, str], *, attach: bool) -> None:
    """Adds adapters to a graph as MNN's exporter does with --lora_split; `attach` mends what it forgets."""
    graph = describe(folder / "llm.mnn")
    operators = list[dict[str, Any]]()
    renamed = dict[int, int]()

    def added(kind: str, main: str, op_name: str, inputs: list[int], value: dict[str, Any]) -> int:
        output = len(graph["tensorName"])
        graph["tensorName"].append(op_name)
        operators.append(
            {
                "type": kind,
                "name": op_name,
                "inputIndexes": inputs,
                "outputIndexes": [output],
                "main_type": main,
            }
            | {"main": value, "defaultDimentionFormat": "NHWC"}
        )
        return output

    for operator in graph["oplists"]:
        operators.append(operator)
        layer, _, part = operator.get("name", "").removeprefix("layer_").partition("/")
        if operator["type"] == "Convolution" and part in projections:
            tag, common = f"{layer}{projections[part]}", operator["main"]["common"]
            sizes = common["inputCount"], 2, common["outputCount"]
            x = operator["inputIndexes"][0]
            for half, (columns, rows) in zip("AB", ((sizes[0], sizes[1]), (sizes[1], sizes[2])), strict=True):
                shape = common | {"inputCount": columns, "outputCount": rows}
                main = {"common": shape, "weight": [0.01] * (rows * columns), "bias": [0.0] * rows}
                x = added("Convolution", "Convolution2D", f"{tag}_{half}", [x], main)
            binary = {"opType": "ADD", "T": "DT_FLOAT", "activationType": 0}
            base = operator["outputIndexes"][0]
            renamed[base] = added("BinaryOp", "BinaryOp", f"{tag}_add", [base, x], binary)
    for operator in operators:
        if (operator["type"] == "ConvertTensor" or attach) and not operator["name"].endswith("_add"):
            operator["inputIndexes"] = [renamed.get(i, i) for i in operator.get("inputIndexes", [])]
    graph["oplists"] = [
        {k: v for k, v in operator.items() if k != "inputIndexes" or v} for operator in operators
    ]
    (folder / "graph.json").write_text(json.dumps(graph))
    convert(folder / "graph.json", folder / name, "JSON")
    (folder / "graph.json").unlink()


def test_an_adapter_that_would_be_dropped_is_found_by_what_the_files_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAOXR_HOME", str(tmp_path / "home"))
    source, folder = tmp_path / "small.gguf", tmp_path / "model"
    source.write_bytes(small_gguf(LLAMA))
    folder.mkdir()
    convert_llama(source, folder)
    check_adapters(folder, "llm.mnn")
    plain = (folder / "llm.mnn").read_bytes()

    # Beside the graph, by any name: the engine would not run it.
    split(folder, "style.mnn", {"qkv": "q_proj", "gate_up": "gate_proj"}, attach=False)
    found = read_adapter(folder / "style.mnn")
    assert found is not None
    assert (found.attached, found.dropped) == (["0.q_proj", "1.q_proj"], ["0.gate_proj", "1.gate_proj"])
    with pytest.raises(
        ModelError, match=r"style\.mnn .*q_proj in 2 layers, gate_proj in 2 layers.*drop gate_proj"
    ):
        add(folder, "small")
    # As the graph itself: part of it would be dropped.
    (folder / "style.mnn").rename(folder / "llm.mnn")
    with pytest.raises(ModelError, match=r"llm\.mnn .*drop gate_proj in 2 layers"):
        check_adapters(folder, "llm.mnn")
    # One that reaches all its projections is right.
    (folder / "llm.mnn").write_bytes(plain)
    split(folder, "llm.mnn", {"qkv": "q_proj", "gate_up": "gate_proj", "down": "down_proj"}, attach=True)
    check_adapters(folder, "llm.mnn")
    whole = read_adapter(folder / "llm.mnn")
    assert whole is not None
    assert len(whole.attached) == 6

    write_safetensors(folder / "adapter_model.safetensors", {"x.q_proj.lora_A.weight": np.ones((2, 4))})
    with pytest.raises(ModelError, match=r"adapter_model\.safetensors .*convert MODEL FOLDER --lora"):
        check_adapters(folder, "llm.mnn")
