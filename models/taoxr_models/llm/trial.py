"""Loads a folder that nobody vouches for in a child process: ``python -m taoxr_models.llm.trial FOLDER``."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from taoxr.errors import ModelError, TaoxrError
from taoxr_models.llm.chat import ChatModel

_TIMEOUT_S: Final = 300


def try_folder(folder: Path) -> None:
    """Loads a language model and lets it read and write a word; MNN crashes on some damaged files.

    Raises:
        ModelError: It does not load; the text says why.
    """
    command = [sys.executable, "-m", "taoxr_models.llm.trial", str(folder)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"{folder} did not load within {_TIMEOUT_S} s") from error
    if ended.returncode != 0:
        why = ended.stderr.strip().split("\n")[-1] if ended.returncode > 0 else ""
        raise ModelError(
            why or f"{folder}: the engine crashed while it loaded the model; its files are damaged"
        )


if __name__ == "__main__":
    try:
        ChatModel(Path(sys.argv[1])).warm_up()
    except TaoxrError as problem:
        sys.exit(str(problem))
