"""LoRA adapters that MNN would leave out, found by what the files of a folder hold.

MNN's exporter can keep an adapter apart (``--lora_split``): a copy of the whole graph, with two small
convolutions and a sum beside each adapted projection (transformers/llm/export/utils/lora.py of MNN). Only
conversions of layout are made to read the sum. What else reads a projection still reads its old output, and
the sum leads nowhere: MNN drops it without a word (seen with v). And this engine runs one graph, so an
adapter in any other file is dropped whole.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from taoxr.engine.convert import describe
from taoxr.errors import ModelError
from taoxr_models.catalog.conversion.huggingface import safetensors_header

_ADVICE: Final = (
    "merge the adapter: export the model again without --lora_split, or use "
    "`taoxr models convert MODEL FOLDER --lora ADAPTER`"
)
# How the exporter, and one that kept PEFT's names, call the halves of an adapter: layer, projection, half.
_HALF: Final = re.compile(r"(\d+)([A-Za-z]\w*)_[AB]|.*layers[./](\d+)\D.*?(\w+)/lora_[AB]\b.*")
# Names lie in the file as they are; looking for them first saves reading the graph of nearly every model.
_TRACE: Final = re.compile(rb"lora_[AB]|\w_[AB]\0")


@dataclass(frozen=True, slots=True)
class Adapter:
    """What a graph holds of an adapter.

    Attributes:
        attached: Projections, such as ``"0.q_proj"``, that it changes.
        dropped: Projections whose adapter leads nowhere.
    """

    attached: Sequence[str]
    dropped: Sequence[str]


def check_adapters(folder: Path, graph: str) -> None:
    """Refuses a folder with an adapter that would not reach all that it was made for.

    Args:
        folder: The model's folder.
        graph: Name of the file that the engine runs.

    Raises:
        ModelError: It says which projections are concerned, and what to do.
    """
    for path in sorted(folder.glob("*.mnn")):
        adapter = read_adapter(path)
        if path.name != graph and (adapter is not None or "lora" in path.name.lower()):
            what = f" for {_listed([*adapter.attached, *adapter.dropped])}" if adapter else ""
            lost = f" (and MNN would drop {_listed(adapter.dropped)})" if adapter and adapter.dropped else ""
            raise ModelError(
                f"{path} holds a LoRA adapter{what} in a file of its own, which is not run{lost}: {_ADVICE}"
            )
        if adapter is not None and adapter.dropped:
            raise ModelError(
                f"{path} holds a LoRA adapter, of which MNN would drop {_listed(adapter.dropped)}: {_ADVICE}"
            )
    for path in sorted(folder.glob("*.safetensors")):
        if any(".lora_A." in name for name in safetensors_header(path)):
            raise ModelError(f"{path} holds a LoRA adapter, which the engine does not read: {_ADVICE}")


def read_adapter(path: Path) -> Adapter | None:
    """What a graph holds of an adapter; None for a graph without.

    Raises:
        ModelError: MNN cannot read the file.
    """
    if _TRACE.search(path.read_bytes()) is None:
        return None
    graph = describe(path)
    operators: list[dict[str, Any]] = graph["oplists"]
    outputs = {graph["tensorName"].index(name) for name in graph["outputName"]}
    alive = _leading_to(operators, outputs)
    by_projection: dict[str, bool] = {}
    for i, operator in enumerate(operators):
        if half := _HALF.fullmatch(operator.get("name", "")):
            name = f"{half[1] or half[3]}.{half[2] or half[4]}"
            by_projection[name] = by_projection.get(name, True) and i in alive
    if not by_projection:
        return None
    return Adapter(
        [name for name, attached in by_projection.items() if attached],
        [name for name, attached in by_projection.items() if not attached],
    )


def _leading_to(operators: Sequence[Mapping[str, Any]], outputs: set[int]) -> set[int]:
    """Indices of the operators that an output depends on; each comes after what it reads."""
    wanted, alive = set(outputs), set[int]()
    for i in range(len(operators) - 1, -1, -1):
        if wanted.intersection(operators[i].get("outputIndexes", ())):
            alive.add(i)
            wanted.update(operators[i].get("inputIndexes", ()))
    return alive


def _listed(projections: Iterable[str]) -> str:
    """``"v_proj in 30 layers, gate_proj in 30 layers"``."""
    counts: dict[str, int] = {}
    for projection in projections:
        name = projection.partition(".")[2]
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(f"{name} in {count} layer{'s' * (count > 1)}" for name, count in counts.items())
