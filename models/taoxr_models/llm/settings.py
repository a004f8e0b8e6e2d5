"""What an exported folder says about itself: ``config.json`` and ``llm_config.json`` of MNN-LLM.

The keys are those of MNN 3.6 (transformers/llm/engine/src/llmconfig.hpp) and its exporter. A key that nothing
reads is told in the log; one that asks for something that would be done silently wrong is an error.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import structlog

from taoxr.engine.backends import has_backend
from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.llm.adapters import check_adapters
from taoxr_models.llm.sampling import Sampling

# Read by the engine itself.
_ENGINE: Final = frozenset(
    (
        *("base_dir", "llm_config", "llm_model", "llm_weight", "embedding_file", "tokenizer_file"),
        *("backend_type", "thread_num", "precision", "memory", "power", "dynamic_option"),
        *("attention_mode", "quant_qkv", "qkv_quant_option", "kvcache_limit", "kvcache_mmap", "use_mmap"),
        *("use_cached_mmap", "tmp_path", "chunk", "chunk_limits", "prefill_thread_num", "prefer_decode"),
        *("cpu_sme2_neon_division_ratio", "cpu_sme_core_num", "cpu_attention_tile", "mmap_dir"),
    )
)
# Ours: the context, the sampler's defaults, and what ends an answer.
_OURS: Final = frozenset(
    (
        *("max_all_tokens", "max_new_tokens", "sampler_type", "mixed_samplers", "seed", "stop", "reuse_kv"),
        *("temperature", "topK", "top_k", "topP", "top_p", "minP", "min_p"),
        *("penalty", "repetition_penalty"),
    )
)
_SAMPLERS: Final = ("topK", "topP", "minP", "min_p", "temperature", "penalty")
# Parts that a talking avatar has no use for: the folder works without them.
_IGNORED: Final = frozenset(
    (
        *("system_prompt", "app_type", "mllm", "visual_model", "audio_model", "talker_model", "is_visual"),
        *("llm_bak", "jinja", "ppl_stride", "dataset", "async"),
    )
)
# SmolLM2 knows 8192, but a CPU reads 2048 in 6 s when nothing can be reused.
DEFAULT_CONTEXT: Final = 2048
_LEAST_CONTEXT: Final = 256


@dataclass(frozen=True)
class ModelSettings:
    """What a model's folder asks for.

    Attributes:
        sampling: The sampler's defaults.
        max_tokens: Most tokens of an answer; 0: nothing is said.
        context_tokens: Prompt and answer together.
        hidden_size: Width of the model.
        stops: Texts that end an answer, beside the tokenizer's own stop tokens.
    """

    sampling: Sampling
    max_tokens: int
    context_tokens: int
    hidden_size: int
    stops: tuple[str, ...]


def read_settings(folder: Path) -> ModelSettings:
    """Reads and checks a folder's two files.

    Raises:
        ModelError: A file is missing or wrong, the back end is not there, or a part would be left out.
    """
    config, described = _read(folder / "config.json"), _read(folder / "llm_config.json")
    unknown = sorted(config.keys() - _ENGINE - _OURS - _IGNORED)
    if unknown:
        structlog.get_logger().warning("unknown keys", file=str(folder / "config.json"), keys=unknown)
    _check_backend(config)
    check_adapters(folder, str(config.get("llm_model", "llm.mnn")))
    hidden, context = described.get("hidden_size", 0), config.get("max_all_tokens", DEFAULT_CONTEXT)
    stops: Any = config.get("stop", [])
    if not isinstance(hidden, int):
        raise ModelError(f"{folder / 'llm_config.json'}: hidden_size is {hidden!r}, expected an integer")
    if not isinstance(context, int) or context < _LEAST_CONTEXT:
        raise ModelError(
            f"{folder / 'config.json'}: max_all_tokens is {context!r}, expected {_LEAST_CONTEXT} or more"
        )
    if not isinstance(stops, list) or not all(isinstance(s, str) and s for s in cast("list[Any]", stops)):
        raise ModelError(f"{folder / 'config.json'}: stop is {stops!r}, expected a list of texts")
    most = config.get("max_new_tokens", 0)
    return ModelSettings(
        _sampling(folder, config),
        most if isinstance(most, int) else 0,
        context,
        hidden,
        tuple(cast("list[str]", stops)),
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot read {path}: {error}") from error
    if not isinstance(value, dict):
        raise ModelError(f"{path} holds no JSON object")
    return cast("dict[str, Any]", value)


def _check_backend(config: dict[str, Any]) -> None:
    # The engine itself would run on the CPU without a word.
    name = str(config.get("backend_type", "cpu"))
    if not has_backend(name):
        raise ModelError(
            f"config.json asks for the back end {name!r}, which the installed MNN does not have; "
            'write "cpu", or install an MNN that has it'
        )


def _sampling(folder: Path, config: dict[str, Any]) -> Sampling:
    def number(default: float, *names: str) -> float:
        for name in names:
            value = config.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return float(value)
            if value is not None:
                raise ModelError(f"{folder / 'config.json'}: {name} is {value!r}, expected a number")
        return default

    others = [s for s in config.get("mixed_samplers", []) if s not in _SAMPLERS]
    if others:
        structlog.get_logger().warning("samplers that do not exist here", names=others)
    greedy = config.get("sampler_type") == "greedy"
    penalty = number(Sampling.repetition_penalty, "repetition_penalty", "penalty")
    try:
        return Sampling(
            temperature=0.0 if greedy else number(Sampling.temperature, "temperature"),
            top_k=round(number(Sampling.top_k, "topK", "top_k")),
            top_p=number(Sampling.top_p, "topP", "top_p"),
            min_p=number(Sampling.min_p, "minP", "min_p"),
            # MNN writes 0 for none.
            repetition_penalty=penalty or 1.0,
            seed=round(number(Sampling.seed, "seed")),
        )
    except InvalidInputError as error:
        raise ModelError(f"{folder / 'config.json'}: {error}") from error
