"""What exported folders ask for: keys, sampler, back end, adapters."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import structlog

from taoxr.errors import ModelError
from taoxr.v1 import common_pb2
from taoxr.worker.v1 import llm_pb2
from taoxr_models.llm.request import checked
from taoxr_models.llm.sampling import Sampler, Sampling
from taoxr_models.llm.settings import DEFAULT_CONTEXT, read_settings

pytestmark = pytest.mark.unit

# As the exporter of MNN 3.6 writes it for Qwen2.5.
EXPORTED = {
    "llm_model": "llm.mnn",
    "llm_weight": "llm.mnn.weight",
    "backend_type": "cpu",
    "thread_num": 4,
    "precision": "low",
    "memory": "low",
    "sampler_type": "mixed",
    "mixed_samplers": ["penalty", "topK", "topP", "min_p", "temperature"],
    "penalty": 1.1,
    "temperature": 0.8,
    "topP": 0.9,
    "topK": 20,
    "min_p": 0.05,
    "reuse_kv": True,
    "system_prompt": "You are Qwen.",
}


def write(folder: Path, **config: Any) -> Path:
    (folder / "config.json").write_text(json.dumps(EXPORTED | config))
    (folder / "llm_config.json").write_text('{"hidden_size": 1536}')
    return folder


def test_an_exported_folder(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as logs:
        settings = read_settings(write(tmp_path, max_new_tokens=300))
    assert settings.sampling == Sampling(0.8, 20, 0.9, 0.05, 1.1)
    assert (settings.max_tokens, settings.context_tokens, settings.hidden_size) == (
        300,
        DEFAULT_CONTEXT,
        1536,
    )
    assert logs == []


def test_keys_that_nothing_reads_are_told(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as logs:
        read_settings(write(tmp_path, temprature=0.1, mixed_samplers=["tfs", "topK"]))
    assert [(log["event"], log.get("keys"), log.get("names")) for log in logs] == [
        ("unknown keys", ["temprature"], None),
        ("samplers that do not exist here", None, ["tfs"]),
    ]


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"backend_type": "opencl"}, "back end 'opencl'"),
        ({"backend_type": "npu"}, "back end 'npu'"),
        ({"temperature": "hot"}, "temperature is 'hot'"),
        ({"topK": 0}, "top_k"),
        ({"max_all_tokens": 16}, "max_all_tokens is 16"),
        ({"stop": ["", "x"]}, "stop is"),
    ],
)
def test_what_would_be_done_wrong_is_an_error(tmp_path: Path, config: dict[str, Any], text: str) -> None:
    with pytest.raises(ModelError, match=text):
        read_settings(write(tmp_path, **config))


def test_files_that_are_missing_or_no_objects(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"config\.json"):
        read_settings(tmp_path)
    write(tmp_path)
    (tmp_path / "llm_config.json").write_text("[]")
    with pytest.raises(ModelError, match="no JSON object"):
        read_settings(tmp_path)


def test_an_adapter_beside_the_model_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "lora.mnn").touch()
    with pytest.raises(ModelError, match=r"lora\.mnn.*merge"):
        read_settings(tmp_path)


def test_a_request_goes_before_the_folder(tmp_path: Path) -> None:
    settings = read_settings(write(tmp_path, seed=5))
    request = llm_pb2.GenerateRequest(
        messages=[common_pb2.ChatMessage(role=common_pb2.ROLE_USER, content="Hi")], top_k=3
    )
    assert checked(request, settings.sampling).sampling == Sampling(0.8, 3, 0.9, 0.05, 1.1, 5)
    request.temperature = 0.0
    assert checked(request, settings.sampling).sampling.temperature == 0.0


def test_min_p_keeps_what_is_likely_enough() -> None:
    logits = np.log(np.array([0.5, 0.3, 0.15, 0.05], np.float32))
    for min_p, possible in ((0.0, {0, 1, 2, 3}), (0.2, {0, 1, 2}), (0.5, {0, 1}), (0.9, {0})):
        options = Sampling(temperature=1.0, top_p=1.0, min_p=min_p, repetition_penalty=1.0, seed=1)
        sampler = Sampler(options)
        assert {sampler.pick(logits) for _ in range(400)} == possible
