"""Language models to a folder for MNN's engine, with their perplexity before and after quantising.

The source is the GGUF or the Hugging Face folder of a plain Llama. What GGUF blocks hold is repacked as it
is, unless other weights are asked for; floats must be quantised, for MNN's engine runs quantised weights
here.
"""

import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from taoxr.errors import InvalidInputError, ModelError
from taoxr_models.catalog.conversion.blocks import requantised
from taoxr_models.catalog.conversion.formats import Format
from taoxr_models.catalog.conversion.huggingface import read_folder
from taoxr_models.catalog.conversion.lora import merged
from taoxr_models.catalog.conversion.precision import Storage
from taoxr_models.catalog.recipes.gguf import Q4_0, Q4_1, Q8_0, Gguf
from taoxr_models.catalog.recipes.llama import convert_gguf
from taoxr_models.catalog.report import Reporter, Silent

BLOCK: Final = 32
_TIMEOUT_S: Final = 600
_QUANTISED: Final = (Q4_0, Q4_1, Q8_0)
DEFAULT_TEXT: Final = (
    "The sun had gone down behind the hills when the last train of the day came into the station. A woman "
    "with a small bag stepped out and looked around. Nobody was there to meet her. She had written a letter "
    "two weeks before, but letters were slow in those days, and the road from the village was long. So she "
    "sat down on a bench under the clock, opened her book, and began to read while the light faded."
)
"""Own text, for want of another: about 85 tokens."""


@dataclass(frozen=True, slots=True)
class LanguageReport:
    """What a conversion cost.

    Attributes:
        source_bytes: Size of the source's weights.
        target_bytes: Size of the result's.
        before: Perplexity with weights as near to the source's as the engine has them; None if not asked for.
        after: Perplexity of the result.
        tokens: How many tokens it was measured on.
    """

    source_bytes: int
    target_bytes: int
    before: float | None = None
    after: float | None = None
    tokens: int = 0


def convert_language_model(
    source: Path,
    kind: Format,
    target: Path,
    storage: Storage,
    *,
    text: str | None = DEFAULT_TEXT,
    lora: Path | None = None,
    report: Reporter | None = None,
) -> LanguageReport:
    """Writes the folder; it appears only when everything went well.

    Args:
        source: A ``.gguf`` file or a Hugging Face folder.
        kind: Which.
        target: The folder to make.
        storage: ``fp32`` keeps quantised blocks as they are, and takes int8 for floats.
        text: What perplexity is measured on; None does not measure.
        lora: Folder of an adapter to merge; the model is then quantised anew.
        report: Hears of the steps.

    Raises:
        InvalidInputError: The target exists, or the storage is none of MNN's engine.
        ModelError: The model cannot be converted.
    """
    report = report or Silent()
    if target.exists():
        raise InvalidInputError("TARGET", str(target), "a folder that does not exist yet")
    if storage.precision == "fp16" or storage.block not in (0, BLOCK):
        raise InvalidInputError("--precision", storage.precision, f"int8 or int4, in blocks of {BLOCK}")
    report.step("reading")
    gguf = Gguf(source) if kind == "gguf" else read_folder(source)
    if lora is not None:
        gguf = merged(gguf, lora)
    floats = any(t.kind not in _QUANTISED and t.rows > 1 for t in gguf.tensors.values())
    finest = requantised(gguf, 8) if floats else gguf
    wanted = requantised(gguf, storage.bits) if storage.bits else finest
    with tempfile.TemporaryDirectory(prefix=".convert-", dir=target.absolute().parent) as name:
        made, plain = Path(name) / "model", Path(name) / "before"
        _write(wanted, made, report)
        before = after = None
        tokens = 0
        if text is not None:
            report.step("measuring perplexity")
            after, tokens = perplexity(made, text)
            before = after
            if wanted is not finest:
                _write(finest, plain, report)
                report.step("measuring perplexity before quantising")
                before, _ = perplexity(plain, text)
        size = (made / "llm.mnn.weight").stat().st_size
        shutil.move(made, target)
    held = sum(t.data.nbytes for t in gguf.tensors.values())
    return LanguageReport(held, size, before, after, tokens)


def _write(gguf: Gguf, folder: Path, report: Reporter) -> None:
    report.step("writing the folder")
    folder.mkdir()
    convert_gguf(gguf, folder)


def perplexity(folder: Path, text: str) -> tuple[float, int]:
    """Perplexity of a text, token by token after the first, and the number of tokens.

    Runs in a process of its own: MNN's engine works once in a process.

    Raises:
        InvalidInputError: The text has fewer than two tokens.
        ModelError: MNN refused the folder, or crashed.
    """
    with tempfile.TemporaryDirectory() as name:
        given = Path(name) / "text.txt"
        given.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", __name__, str(folder.absolute()), str(given)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise ModelError(f"{folder.name} did not get through the text within {_TIMEOUT_S} s") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ModelError(f"MNN could not run {folder.name} (exit {done.returncode}): {last}")
    losses: Sequence[float] = json.loads(done.stdout.strip().splitlines()[-1])
    if not losses:
        raise InvalidInputError("--text", text, "a text of two tokens or more")
    return math.exp(sum(losses) / len(losses)), len(losses) + 1


def _child(folder: str, text: str) -> None:
    import os

    import numpy as np

    from taoxr.engine import Llm

    model = Llm(Path(folder), len(_tokens(Path(folder) / "vocab.bin")))
    ids = model.encode(Path(text).read_text(encoding="utf-8"))
    losses: list[float] = []
    for i, following in pairwise(ids):
        logits = model.feed([i]).astype(np.float64)
        shifted = logits - logits.max()
        losses.append(float(np.log(np.exp(shifted).sum()) - shifted[following]))
    sys.stdout.write("\n" + json.dumps(losses) + "\n")
    sys.stdout.flush()
    os._exit(0)  # MNN crashes when its engine is destroyed at exit


def _tokens(path: Path) -> Sequence[bytes]:
    data, tokens, at = path.read_bytes(), list[bytes](), 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 2], "little")
        tokens.append(data[at + 2 : at + 2 + size])
        at += 2 + size
    return tokens


if __name__ == "__main__":
    _child(*sys.argv[1:])
