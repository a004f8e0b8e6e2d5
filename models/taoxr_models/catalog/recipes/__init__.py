"""Recipes: code that turns source files into the files a model worker loads.

A recipe takes its input files by name and an existing folder to write into. Same inputs, same bytes,
on any machine: that is what lets the catalogue pin the result's sha256.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from taoxr.errors import ModelError

Recipe = Callable[[Mapping[str, Path], Path], None]

# Imports inside: `onnx` takes half a second, and checking or listing models needs no recipe.


def _copy(inputs: Mapping[str, Path], target: Path) -> None:
    """For models that come ready for MNN: inputs are called as the files shall be."""
    for name, path in inputs.items():
        shutil.copyfile(path, target / name)


def _llama(inputs: Mapping[str, Path], target: Path) -> None:
    from taoxr_models.catalog.recipes.llama import convert_llama

    convert_llama(inputs["model"], target)


def _piper(inputs: Mapping[str, Path], target: Path) -> None:
    from taoxr_models.catalog.recipes.piper import convert_piper

    convert_piper(inputs["model"], inputs["config"], target)


def _silero(inputs: Mapping[str, Path], target: Path) -> None:
    from taoxr_models.catalog.recipes.silero import convert_silero

    convert_silero(inputs["model"], target)


def _whisper(inputs: Mapping[str, Path], target: Path) -> None:
    from taoxr_models.catalog.recipes.whisper import convert_whisper

    convert_whisper(inputs["model"], inputs["config"], inputs["tokenizer"], target)


RECIPES: Final[dict[str, Recipe]] = {
    "copy": _copy,
    "llama-gguf": _llama,
    "piper": _piper,
    "sherpa-transducer": _copy,
    "silero": _silero,
    "unitalker": _copy,
    "whisper-ct2": _whisper,
}


def convert(recipe: str, inputs: Mapping[str, Path], target: Path) -> None:
    """Runs a recipe.

    Args:
        recipe: A key of `RECIPES`.
        inputs: Source files by the names that the catalogue gives them.
        target: Existing folder to write into.

    Raises:
        ModelError: Unknown recipe, or the conversion failed.
    """
    if recipe not in RECIPES:
        raise ModelError(f"no recipe {recipe!r}; there are {', '.join(sorted(RECIPES))}")
    RECIPES[recipe](inputs, target)
